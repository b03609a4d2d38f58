"""Why a claim does not fit: as data, and as sentences for a person.

Rules are applied to each device in one fixed order (``Rule``), and the first that a device fails is
the one that removes it. So the counts add up: what is found, and what each rule removed, are
together all devices of the host.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from laneway.domain.address import PciAddress


class Rule(StrEnum):
    """What can remove a device from a request, in the order in which it is asked."""

    IDS = "ids"
    TYPE = "type"
    TAGS = "tags"
    PROVIDER = "provider"
    NOT_ADMITTED = "not_admitted"
    ONLY_IF_ASKED = "only_if_asked"
    HELD = "held"
    UNCLAIMABLE = "unclaimable"
    BLOCKED = "blocked"
    NUMA = "numa_policy"
    CONSTRAINT = "constraint"
    CLAIM = "claim"


ASKED_FOR = frozenset({Rule.IDS, Rule.TYPE, Rule.TAGS})
"""Rules by which a device is simply not what the request asks for."""

_ORDER = {rule: place for place, rule in enumerate(Rule)}
_SHOWN = 3
_MOST_NAMES = 6
_MOST_KINDS = 16


@dataclass(frozen=True, slots=True)
class Removal:
    """Why a device is no choice: what it is, to follow "is" or "are", such as "held by vm1"."""

    rule: Rule
    state: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A device, and what removes it from a request; None if the request could have it."""

    address: PciAddress
    removal: Removal | None = None


@dataclass(frozen=True, slots=True)
class JudgedRequest:
    """All devices of the host, judged for one request."""

    name: str
    wanted: int
    devices: tuple[Judged, ...]

    @property
    def found(self) -> frozenset[PciAddress]:
        """The devices that the request could have."""
        return frozenset(judged.address for judged in self.devices if judged.removal is None)


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many devices a rule removed for one reason, and which; ``code`` is the rule's."""

    code: Rule
    message: str
    removed: int
    addresses: tuple[PciAddress, ...]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The device that passed the most rules before one removed it."""

    address: PciAddress
    code: Rule
    message: str


@dataclass(frozen=True, slots=True)
class RequestExplanation:
    """What a request wants and could have, each by itself; ``rules`` in their order."""

    name: str
    wanted: int
    found: int
    rules: tuple[RuleCount, ...]
    nearest: NearMiss | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a claim does not fit. ``reason`` says it in one sentence."""

    requests: tuple[RequestExplanation, ...]
    reason: str


def explain_requests(requests: Sequence[JudgedRequest]) -> Explanation:
    """Why a claim does not fit of which at least one request finds too few devices."""
    explained = tuple(_explained(request) for request in requests)
    short = [f"request {one.name} finds {one.found} of {one.wanted}" for one in explained if one.found < one.wanted]
    return Explanation(explained, f"too few devices: {'; '.join(short)}")


def explain_interaction(requests: Sequence[JudgedRequest], hindrances: Sequence[str] = ()) -> Explanation:
    """Why a claim does not fit of which each request would fit alone.

    Requests that compete for too few devices are named; else the hindrances: conditions that the
    caller found by leaving out one at a time, to follow "if it were not for", such as "match on
    pcie_root over gpu and net".
    """
    explained = tuple(_explained(request) for request in requests)
    rivals = _rivals(requests)
    if rivals:
        names = _listed([request.name for request in rivals])
        wanted = sum(request.wanted for request in rivals)
        reason = (
            f"requests {names} together want {wanted}, and only {_devices(len(_found_by(rivals)))} could serve them"
        )
    elif hindrances:
        conditions = ", or for ".join(hindrances)
        reason = f"each request fits alone, and together they would if it were not for {conditions}"
    else:
        reason = "each request fits alone, but no choice of devices satisfies all of them at once"
    return Explanation(explained, reason)


def sentences(explanation: Explanation) -> list[str]:
    """The explanation for a person: one line for each request, and the reason at the end."""
    return [*map(_sentence, explanation.requests), f"{explanation.reason[:1].upper()}{explanation.reason[1:]}."]


def _explained(request: JudgedRequest) -> RequestExplanation:
    removed: defaultdict[Removal, list[PciAddress]] = defaultdict(list)
    for judged in request.devices:
        if judged.removal is not None:
            removed[judged.removal].append(judged.address)
    counts = sorted(
        (_ORDER[removal.rule], -len(addresses), removal.state, tuple(sorted(addresses)))
        for removal, addresses in removed.items()
    )
    rules = tuple(Rule)
    return RequestExplanation(
        request.name,
        request.wanted,
        len(request.found),
        tuple(RuleCount(rules[place], state, len(addresses), addresses) for place, _, state, addresses in counts),
        _nearest(request.devices),
    )


def _nearest(devices: Iterable[Judged]) -> NearMiss | None:
    removed = [(-_ORDER[j.removal.rule], j.address, j.removal) for j in devices if j.removal is not None]
    if not removed:
        return None
    _, address, removal = min(removed, key=lambda item: item[:2])
    return NearMiss(address, removal.rule, removal.state)


def _rivals(requests: Sequence[JudgedRequest]) -> tuple[JudgedRequest, ...]:
    """Requests that together want more than all devices that any of them could have (Hall 1935).

    Those that could have the same devices are taken together. Only up to four such kinds are looked
    at at once, of those with the fewest devices: more are no explanation to a person.
    """
    alike: defaultdict[frozenset[PciAddress], list[JudgedRequest]] = defaultdict(list)
    for request in requests:
        alike[request.found].append(request)
    kinds = sorted(alike.values(), key=lambda kind: len(kind[0].found))[:_MOST_KINDS]
    for number in range(1, min(len(kinds), 4) + 1):
        for some in combinations(kinds, number):
            rivals = tuple(request for kind in some for request in kind)
            if len(rivals) > 1 and sum(request.wanted for request in rivals) > len(_found_by(rivals)):
                return rivals
    return ()


def _found_by(requests: Iterable[JudgedRequest]) -> frozenset[PciAddress]:
    return frozenset[PciAddress]().union(*(request.found for request in requests))


def _sentence(request: RequestExplanation) -> str:
    start = f"request {request.name}: wants {request.wanted}, found {request.found}"
    if not request.rules:
        return f"{start}." if request.found else f"{start}: the host has no devices to hand out."
    if request.found >= request.wanted:
        return f"{start}."
    refused = [count for count in request.rules if count.code not in ASKED_FOR]
    asked_for = request.found + sum(count.removed for count in refused)
    if not asked_for:
        total = _devices(sum(count.removed for count in request.rules))
        text = f"{start}. None of {total} has what it asks for: {_counted(request.rules)}."
    elif refused:
        text = f"{start}. Of {_devices(asked_for)} with what it asks for, {_counted(refused)}."
    else:
        text = f"{start}. The host has no more with what it asks for."
    nearest = request.nearest
    if nearest is None or (asked_for and nearest.code in ASKED_FOR):
        return text
    return f"{text} Nearest: {nearest.address}, but it is {nearest.message}."


def _counted(counts: Iterable[RuleCount]) -> str:
    return "; ".join(
        f"{count.removed} {'is' if count.removed == 1 else 'are'} {count.message} ({_some(count.addresses)})"
        for count in counts
    )


def _some(addresses: Sequence[PciAddress]) -> str:
    shown = ", ".join(map(str, addresses[:_SHOWN]))
    more = len(addresses) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _listed(names: Sequence[str]) -> str:
    most = _MOST_NAMES
    return " and ".join(
        names if len(names) <= most else (", ".join(names[: most - 1]), f"{len(names) - most + 1} more")
    )


def _devices(number: int) -> str:
    return f"{number} device" if number == 1 else f"{number} devices"
