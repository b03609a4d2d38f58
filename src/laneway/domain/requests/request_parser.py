"""From JSON values to the requests, constraints and guest nodes of a claim (contract of a step).

Every refusal names the place (``requests[0].count``), the value and what would be right.
"""

import json
import re
from collections.abc import Mapping, Sequence

from laneway.domain.config_entry import shown
from laneway.domain.device import Attach
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.json_repair import repair_json
from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.request import (
    Alternative,
    Constraint,
    ConstraintKind,
    DeviceRequest,
    NumaPolicy,
    RequestedValue,
)
from laneway.domain.requests.request_shape import (
    choice_at,
    is_whole,
    list_of,
    malformed,
    member_of,
    object_of,
    refused,
    text_at,
)
from laneway.domain.tags import BOOLEAN_TAGS, nearest_key, parse_boolean

REQUEST_KEYS = ("name", "count", "alias", "any_of", "numa_policy", "attach")
CONSTRAINT_KEYS = (*ConstraintKind, "requests")

_OWN_FACTS = ("vendor_id", "product_id", "dev_type", "parent_ifname")
"""The keys of an alternative that are no tags. A device has one value of each, and never none."""

_NEVER_TAGS = {
    "address": "a request asks for kinds of devices; tell them apart by a tag of their device spec",
    "devname": "write 'parent_ifname' for the interface of a VF's PF",
    "device_type": "write 'dev_type'",
}

_ID = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]+)\s*")


def parse_request_json(text: str) -> list[object]:
    """The JSON of one request, or of a list of them, as values for ``parse_requests``.

    Raises LanewayError(invalid_json) that shows what was probably meant.
    """
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()  # raises for half a character, as "\\ud800" is
    except (ValueError, RecursionError) as error:
        meant = repair_json(text) or '{"name": "gpu", "any_of": [{"vendor_id": "10de"}]}'
        raise LanewayError(
            ErrorCode.INVALID_JSON, f"the request {shown(text)} is not JSON: {error}; write {meant}", {"value": text}
        ) from None
    return value if isinstance(value, list) else [value]


def parse_requests(
    value: object, aliases: Aliases, *, guest_policy: NumaPolicy | None = None
) -> tuple[DeviceRequest, ...]:
    """The list ``requests``: at least one, each with a name of its own.

    ``guest_policy`` is that of flavor or image: a request's own beats it, and it beats an alias's (rule C60).
    Raises MalformedRequestError for a wrong shape, LanewayError(unknown_alias), and
    LanewayError(invalid_request) for everything else.
    """
    requests: dict[str, DeviceRequest] = {}
    for number, item in enumerate(list_of(value, "requests", "a list of requests")):
        place = f"requests[{number}]"
        request = _request(item, aliases, guest_policy, place)
        if request.name in requests:
            raise refused(f"{place}.name", request.name, "is the name of an earlier request; name each differently")
        requests[request.name] = request
    if not requests:
        raise refused("requests", value, "asks for nothing; name at least one request")
    return tuple(requests.values())


def parse_constraints(value: object, requests: Sequence[DeviceRequest]) -> tuple[Constraint, ...]:
    """The list ``constraints`` over these requests; None is no constraints.

    Raises MalformedRequestError for a wrong shape, and LanewayError(invalid_request).
    """
    if value is None:
        return ()
    names = tuple(request.name for request in requests)
    items = list_of(value, "constraints", "a list of constraints")
    return tuple(_constraint(item, names, f"constraints[{number}]") for number, item in enumerate(items))


def parse_guest_numa_nodes(value: object) -> frozenset[int]:
    """The list ``guest_numa_nodes``; None and [] are no NUMA filter (rule C59).

    Raises MalformedRequestError for a wrong shape, and LanewayError(invalid_request) for a negative number.
    """
    if value is None:
        return frozenset()
    nodes: set[int] = set()
    for number, node in enumerate(list_of(value, "guest_numa_nodes", "a list of the host's node numbers")):
        place = f"guest_numa_nodes[{number}]"
        if not is_whole(node):
            raise malformed(place, node, "is no node number, such as 0")
        if node < 0:
            raise refused(place, node, "is no node number; leave the key out where the guest has no NUMA nodes")
        nodes.add(node)
    return frozenset(nodes)


def _request(value: object, aliases: Aliases, guest_policy: NumaPolicy | None, place: str) -> DeviceRequest:
    content = object_of(value, place, REQUEST_KEYS)
    name = text_at(content, "name", place)
    if name is None or not name.strip():
        raise malformed(f"{place}.name", name, "is no name; give each request one, such as 'gpu'")
    alias_name, any_of = text_at(content, "alias", place), content.get("any_of")
    if (alias_name is None) == (any_of is None):
        both = "both alias and any_of" if any_of is not None else "neither alias nor any_of"
        raise refused(place, dict(content), f"has {both}; give one of the two")
    alias = None if alias_name is None else aliases.named(alias_name.strip(), f"{place}.alias")
    alternatives = alias.alternatives if alias else _any_of(any_of, f"{place}.any_of")
    default_policy = guest_policy or (alias.numa_policy if alias else NumaPolicy.LEGACY)
    return DeviceRequest(
        name=name,
        alternatives=alternatives,
        count=_count(content.get("count"), f"{place}.count"),
        numa_policy=choice_at(content, "numa_policy", place, NumaPolicy) or default_policy,
        attach=_attach(content, alternatives, place),
        alias=alias.name if alias else None,
    )


def _count(value: object, place: str) -> int:
    if value is None:
        return 1
    if not is_whole(value):
        raise malformed(place, value, "is no whole number above 0")
    if value < 1:
        raise refused(place, value, "is no whole number above 0")
    return value


def _attach(content: Mapping[str, object], alternatives: Sequence[Alternative], place: str) -> Attach:
    """As said; else as the devices can be given: vDPA devices by vdpa, all others by vfio."""
    attach = choice_at(content, "attach", place, Attach)
    asked_types = {alternative.dev_type for alternative in alternatives}
    if attach is None:
        return Attach.VDPA if asked_types == {DevType.VDPA} else Attach.VFIO
    if attach is Attach.VDPA and DevType.VDPA not in asked_types:
        raise refused(f"{place}.attach", "vdpa", 'needs "dev_type": "vdpa" in any_of')
    return attach


def _any_of(value: object, place: str) -> tuple[Alternative, ...]:
    items = list_of(value, place, "a list of alternatives")
    if not items:
        raise refused(place, value, "names no alternative; name at least one")
    return tuple(_alternative(item, f"{place}[{number}]") for number, item in enumerate(items))


def _alternative(value: object, place: str) -> Alternative:
    content = object_of(value, place)
    for key, remedy in _NEVER_TAGS.items():
        if key in content:
            raise malformed(f"{place}.{key}", content[key], f"is under a key that no device is asked for by; {remedy}")
    own = {key: _single(content[key], f"{place}.{key}") for key in _OWN_FACTS if key in content}
    dev_type = own.get("dev_type")
    return Alternative(
        vendor_id=_id(own.get("vendor_id"), f"{place}.vendor_id"),
        product_id=_id(own.get("product_id"), f"{place}.product_id"),
        dev_type=None if dev_type is None else member_of(DevType, dev_type, f"{place}.dev_type"),
        parent_ifname=own.get("parent_ifname"),
        tags={key: _wanted(key, item, f"{place}.{key}") for key, item in content.items() if key not in _OWN_FACTS},
    )


def _single(value: object, place: str) -> str:
    """The one text of a fact; a list of one is the same (rule C52)."""
    members = value if isinstance(value, list) else [value]
    if len(members) > 1:
        raise refused(place, value, "can never all hold of one device; write alternatives in any_of in place of a list")
    if not members or not isinstance(members[0], str) or not members[0].strip():
        raise malformed(place, value, "is not a text; leave the key out where any will do")
    return members[0].strip()


def _id(text: str | None, place: str) -> str | None:
    """Four lower-case hexadecimal digits (rule C6); None and ``*`` are any."""
    if text is None or text == "*":
        return None
    found = _ID.fullmatch(text)
    if found is None or int(found[1], 16) > 0xFFFF:
        raise refused(place, text, "is no id; write four hexadecimal digits, such as '10de'")
    return f"{int(found[1], 16):04x}"


def _wanted(tag: str, value: object, place: str) -> RequestedValue:
    if isinstance(value, list):
        return tuple(_member_text(tag, member, f"{place}[{number}]") for number, member in enumerate(value))
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise malformed(place, value, f"is no value of a tag; write {json.dumps(shown(value))}")
    return _as_boolean(value, place) if tag in BOOLEAN_TAGS else value


def _member_text(tag: str, value: object, place: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        raise malformed(place, value, "is no member of a list; write a text")
    if tag in BOOLEAN_TAGS:
        _as_boolean(value, place)
    return value


def _as_boolean(text: str, place: str) -> bool:
    parsed = parse_boolean(text)
    if parsed is None:
        raise refused(place, text, "is neither true nor false")
    return parsed


def _constraint(value: object, names: Sequence[str], place: str) -> Constraint:
    content = object_of(value, place, CONSTRAINT_KEYS)
    kinds = [kind for kind in ConstraintKind if content.get(kind) is not None]
    if len(kinds) != 1:
        raise refused(place, value, "needs one of match and distinct, with the name of an attribute")
    attribute = text_at(content, kinds[0], place)
    if attribute is None or not attribute.strip():
        raise refused(f"{place}.{kinds[0]}", attribute, "names no attribute, such as 'pcie_root'")
    return Constraint(
        kind=kinds[0], attribute=attribute.strip(), requests=_named(content.get("requests"), names, f"{place}.requests")
    )


def _named(value: object, names: Sequence[str], place: str) -> tuple[str, ...]:
    """The requests that a constraint is about: all of them where it names none."""
    if value is None:
        return tuple(names)
    chosen: dict[str, None] = {}
    for number, name in enumerate(list_of(value, place, "a list of names of requests")):
        if not isinstance(name, str):
            raise malformed(f"{place}[{number}]", name, "is no name of a request")
        if name not in names:
            near = nearest_key(name, names)
            remedy = f"did you mean {near!r}?" if near else f"the requests are {', '.join(map(repr, names))}"
            raise refused(f"{place}[{number}]", name, f"is the name of no request; {remedy}")
        chosen[name] = None
    if not chosen:
        raise refused(place, value, "names no request; leave the key out where all are meant")
    return tuple(chosen)
