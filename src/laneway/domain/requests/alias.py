"""Aliases: named templates of requests, read from the option ``alias`` with everything that is wrong."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from laneway.domain.config_entry import Entry, EntryReport, read_entries
from laneway.domain.errors import ErrorCode, Findings, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.placement_terms import FORBIDDEN, normal_name, split_list
from laneway.domain.requests.request import Alternative, NumaPolicy, RequestedValue
from laneway.domain.tags import nearest_key, parse_boolean

OPTION = "alias"
MAX_NAME = 256
KEYS = (
    "name",
    "vendor_id",
    "product_id",
    "device_type",
    "numa_policy",
    "live_migratable",
    "resource_class",
    "traits",
    "capability_type",
)
"""The keys that an alias may have (rule C63)."""

_EXAMPLE = '{"name": "gpu", "vendor_id": "10de", "product_id": "20b0"}'
_ID = re.compile(r"[0-9a-fA-F]{4}")
_DEVICE_TYPES = (DevType.PCI, DevType.PF, DevType.VF)
_IDS = ("vendor_id", "product_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """What a request of this name asks for. Its devices are always attached by VFIO."""

    name: str
    alternatives: tuple[Alternative, ...]
    numa_policy: NumaPolicy = NumaPolicy.LEGACY


@dataclass(frozen=True, slots=True)
class Aliases:
    """The aliases of a config, by name."""

    by_name: Mapping[str, Alias] = field(default_factory=dict)

    def named(self, name: str, place: str) -> Alias:
        """The alias of this name. ``place`` says where it is asked for.

        Raises LanewayError(unknown_alias) with the nearest name there is (rule C66).
        """
        alias = self.by_name.get(name)
        if alias is None:
            near = get_close_matches(name, self.by_name, n=1)
            known = ", ".join(map(repr, sorted(self.by_name))) or "none"
            remedy = f"did you mean {near[0]!r}?" if near else f"the aliases are: {known}"
            raise LanewayError(
                ErrorCode.UNKNOWN_ALIAS,
                f"{place}: there is no alias {name!r}; {remedy}",
                {"place": place, "alias": name, "nearest": near[0] if near else None},
            )
        return alias


def parse_aliases(
    values: Sequence[object],
    findings: Findings,
    *,
    pci_in_placement: bool = False,
    places: Sequence[str] | None = None,
) -> Aliases:
    """Reads all entries; each value is an object, a list of objects, or a string of either's JSON.

    All errors go into ``findings.errors``, what is noteworthy into ``findings.warnings``; the
    result holds the good entries (rules C63 to C65, D3 to D6, D11, D15, D31). Entries of one name
    are alternatives. With ``pci_in_placement`` an alias may name a resource class in place of ids;
    without it nova, and so Laneway, does not look at resource class and traits. Raises nothing.
    """
    entries = read_entries(
        values, findings, option=OPTION, code=ErrorCode.INVALID_ALIAS, example=_EXAMPLE, places=places
    )
    read = (_EntryReader(entry.report, pci_in_placement).read(entry) for entry in entries)
    return _joined((entry for entry in read if entry is not None), pci_in_placement)


@dataclass(frozen=True, slots=True)
class _AliasEntry:
    """One good entry: one alternative of an alias."""

    name: str
    alternative: Alternative
    numa_policy: NumaPolicy
    report: EntryReport


def _joined(entries: Iterable[_AliasEntry], pci_in_placement: bool) -> Aliases:
    """Puts the entries of one name together, where they agree on policy and type (rule C64)."""
    by_name: dict[str, Alias] = {}
    first: dict[str, _AliasEntry] = {}
    for entry in entries:
        head = first.setdefault(entry.name, entry)
        if head is not entry:
            _check_same_name(head, entry, pci_in_placement)
        earlier = by_name[entry.name].alternatives if head is not entry else ()
        by_name[entry.name] = Alias(
            name=entry.name, alternatives=(*earlier, entry.alternative), numa_policy=head.numa_policy
        )
    return Aliases(by_name)


def _check_same_name(head: _AliasEntry, entry: _AliasEntry, pci_in_placement: bool) -> None:
    other = f"of entry {head.report.entry}, which has the same name {head.name!r}"
    compared = (
        ("numa_policy", head.numa_policy, entry.numa_policy),
        ("device_type", head.alternative.dev_type, entry.alternative.dev_type),
    )
    for key, expected, found in compared:
        if found is not expected:
            meant = "no device_type" if expected is None else repr(expected.value)
            remedy = "write the same in both, or give one of them another name"
            entry.report.error(key, found, f"differs from {meant} {other}", remedy)
    if pci_in_placement:
        entry.report.error(
            "name",
            entry.name,
            f"is also the name of entry {head.report.entry}, and with pci_in_placement an alias has one entry",
            "give the devices of both one resource_class in device_spec, and ask for that",
        )


@dataclass(frozen=True, slots=True)
class _EntryReader:
    """Reads one entry. What is wrong goes into the report; the value is then None."""

    report: EntryReport
    pci_in_placement: bool

    def read(self, entry: Entry) -> _AliasEntry | None:
        """The alternative, or None if anything in the entry is wrong."""
        content = entry.content
        errors_before = len(self.report.findings.errors)
        self._report_unknown_keys(content)
        self._check_capability_type(content)
        self._report_what_is_missing(content)
        name = self._name(content)
        vendor_id, product_id = (self._id(key, content) for key in _IDS)
        dev_type = self._device_type(content)
        numa_policy = self._numa_policy(content)
        tags = self._tags(content)
        if name is None or len(self.report.findings.errors) > errors_before:
            return None
        alternative = Alternative(vendor_id=vendor_id, product_id=product_id, dev_type=dev_type, tags=tags)
        return _AliasEntry(name, alternative, numa_policy, self.report)

    def _report_unknown_keys(self, content: Mapping[str, object]) -> None:
        for key, value in content.items():
            if key not in KEYS:
                near = nearest_key(key, KEYS)
                remedy = f"write {near!r}" if near else f"an alias may have {', '.join(KEYS)}"
                self.report.error(key, value, "is under a key that an alias does not have", remedy)

    def _check_capability_type(self, content: Mapping[str, object]) -> None:
        value = content.get("capability_type", "pci")
        if value != "pci":
            self.report.error("capability_type", value, "is not known", 'write "pci", or leave the key out')
        elif "capability_type" in content:
            self.report.warning("ignored_key", "capability_type", value, "has no effect", "leave the key out")

    def _report_what_is_missing(self, content: Mapping[str, object]) -> None:
        """Rule C65: what an alias must name depends on who chooses the devices."""
        missing = [key for key in _IDS if key not in content]
        if not missing or (self.pci_in_placement and "resource_class" in content):
            return
        needs = "vendor_id and product_id" + (", or resource_class" if self.pci_in_placement else "")
        self.report.error(None, dict(content), f"does not say which devices are meant: {needs}", f"add {missing[0]!r}")

    def _name(self, content: Mapping[str, object]) -> str | None:
        """Outer blanks are dropped, inner ones kept."""
        value = content.get("name")
        name = value.strip() if isinstance(value, str) else ""
        if not 1 <= len(name) <= MAX_NAME:
            remedy = f"write a text of 1 to {MAX_NAME} characters"
            self.report.error("name", value, "is no name of an alias", remedy)
            return None
        if any(mark in name for mark in ":,"):
            fault = "cannot be named in a flavor, where ':' and ',' divide names and counts"
            self.report.warning("unusable_in_flavors", "name", value, fault, "choose a name without them")
        return name

    def _id(self, key: str, content: Mapping[str, object]) -> str | None:
        if key not in content:
            return None
        value = content[key]
        if isinstance(value, str) and _ID.fullmatch(value):
            return value.lower()
        remedy = 'write four hexadecimal digits in quotes, such as "10de"'
        self.report.error(key, value, "is no id", remedy)
        return None

    def _device_type(self, content: Mapping[str, object]) -> DevType | None:
        if "device_type" not in content:
            return None
        value = content["device_type"]
        if value in _DEVICE_TYPES:
            return DevType(str(value))
        remedy = f"write one of {', '.join(_DEVICE_TYPES)}"
        if value == DevType.VDPA:
            remedy += "; a vDPA device is asked for by a port or by any_of of a request"
        self.report.error("device_type", value, "is no type that an alias can ask for", remedy)
        return None

    def _numa_policy(self, content: Mapping[str, object]) -> NumaPolicy:
        value = content.get("numa_policy", NumaPolicy.LEGACY.value)
        if isinstance(value, str) and value in set(NumaPolicy):
            return NumaPolicy(value)
        near = nearest_key(value, NumaPolicy) if isinstance(value, str) else None
        remedy = f"write '{near}'" if near else f"write one of {', '.join(NumaPolicy)}"
        self.report.error("numa_policy", value, "is no NUMA policy", remedy)
        return NumaPolicy.LEGACY

    def _tags(self, content: Mapping[str, object]) -> Mapping[str, RequestedValue]:
        tags: dict[str, RequestedValue] = {}
        if "live_migratable" in content:
            tags["live_migratable"] = self._boolean("live_migratable", content["live_migratable"])
        placement: dict[str, RequestedValue] = {}
        if "resource_class" in content:
            placement["resource_class"] = self._resource_class(content["resource_class"])
        if "traits" in content:
            placement["traits"] = self._traits(content["traits"])
        if self.pci_in_placement:
            return {**tags, **placement}
        for key in placement:
            fault = "counts only with pci_in_placement, and is not looked at here"
            self.report.warning("placement_only", key, content[key], fault, "leave the key out, or turn that on")
        return tags

    def _boolean(self, key: str, value: object) -> bool | None:
        parsed = value if isinstance(value, bool) else parse_boolean(value) if isinstance(value, str) else None
        if parsed is None:
            self.report.error(key, value, "is neither true nor false", "write true or false")
        return parsed

    def _resource_class(self, value: object) -> str | None:
        if isinstance(value, str) and value.strip():
            return value.strip()
        self.report.error("resource_class", value, "is no resource class", 'write a text such as "GPU_A"')
        return None

    def _traits(self, value: object) -> tuple[str, ...]:
        """The wanted traits, and the forbidden ones with their mark (rules D3 and D11)."""
        if not isinstance(value, str):
            meant = ",".join(map(str, value)) if isinstance(value, list) else "blue,!big"
            remedy = f"write the traits in one text, divided by commas: {json.dumps(meant, ensure_ascii=False)}"
            self.report.error("traits", value, "is not a text", remedy)
            return ()
        traits = tuple(
            FORBIDDEN * (trait[0] == FORBIDDEN) + trait.lstrip(FORBIDDEN).strip() for trait in split_list(value)
        )
        if FORBIDDEN in traits:
            self.report.error("traits", value, "forbids a trait without a name", "write the name after the '!'")
        wanted = {normal_name(trait) for trait in traits if trait[0] != FORBIDDEN}
        for trait in traits:
            if trait[0] == FORBIDDEN and normal_name(trait[1:]) in wanted:
                self.report.error("traits", value, f"wants {trait[1:]!r} and forbids it", "keep one of the two")
        return traits
