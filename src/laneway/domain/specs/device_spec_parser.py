"""From the values of the option ``device_spec`` to ``DeviceSpecs``, with everything that is wrong.

Pure: it reads text only. What a spec means on a host is asked in ``admission`` and
``spec_check``, where the facts are.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from laneway.domain.config_entry import Entry, EntryReport, read_entries
from laneway.domain.device import Binding, TagValue
from laneway.domain.errors import ErrorCode, Findings
from laneway.domain.requests.placement_terms import CUSTOM, MAX_NAME_LENGTH, normal_name, split_list
from laneway.domain.specs.address_pattern import AddressPattern, parse_address_pattern
from laneway.domain.specs.cleaning_parser import parse_cleaning
from laneway.domain.specs.device_spec import OPTION, DeviceSpecs, PciDeviceSpec, report_on
from laneway.domain.tags import KNOWN_TAGS, MATCHERS, OWN_KEYS, KnownTag, TagKind, nearest_key, parse_boolean

_EXAMPLE = '{"vendor_id": "8086", "product_id": "154c"}'
_NOVA_PREFIX = "laneway:"
_ID = re.compile(r"\s*(?:0[xX])?([0-9a-fA-F]+)\s*")


class Dialect(StrEnum):
    """Whose config an entry stands in.

    In ``nova`` Laneway's own keys are written ``laneway:binding`` and so on, the bare names are
    free tags, and a device is bound by libvirt unless its spec says otherwise (nova's ``managed``).
    """

    LANEWAY = "laneway"
    NOVA = "nova"


def parse_device_specs(
    values: Sequence[object],
    findings: Findings,
    *,
    dialect: Dialect = Dialect.LANEWAY,
    report_in_placement: bool = False,
    places: Sequence[str] | None = None,
) -> DeviceSpecs:
    """Reads all entries; each value is an object, a list of objects, or a string of either's JSON.

    All errors of all entries go into ``findings.errors``, what is noteworthy into
    ``findings.warnings``; the result holds the good entries (rules C1 to C23, D6, D15). ``places``
    says where each value stands. Raises nothing.
    """
    specs: list[PciDeviceSpec] = []
    entries = read_entries(
        values, findings, option=OPTION, code=ErrorCode.INVALID_DEVICE_SPEC, example=_EXAMPLE, places=places
    )
    for entry in entries:
        reader = _EntryReader(entry.report, dialect, report_in_placement)
        spec = reader.read(entry)
        if spec is not None:
            specs.append(spec)
    _warn_of_duplicates(specs, findings)
    return DeviceSpecs(tuple(specs))


@dataclass(frozen=True, slots=True)
class _EntryReader:
    """Reads one entry. What is wrong goes into the report; the value is then None or left out."""

    report: EntryReport
    dialect: Dialect
    report_in_placement: bool

    def read(self, entry: Entry) -> PciDeviceSpec | None:
        """The spec, or None if anything in the entry is wrong."""
        content = entry.content
        errors_before = len(self.report.findings.errors)
        own = {key: content[name] for key in OWN_KEYS if (name := self._own_name(key)) in content}
        matchers = {key: content[key] for key in MATCHERS if key in content}
        own_names = {self._own_name(key) for key in own}
        free = {key: value for key, value in content.items() if key not in matchers and key not in own_names}
        if not matchers:
            self._report_no_matcher(content)
        vendor_id = self._id("vendor_id", matchers)
        product_id = self._id("product_id", matchers)
        address = self._address(matchers)
        devname = self._devname(matchers)
        tags = {key: self._tag(key, value) for key, value in free.items()}
        binding = self._binding(own, tags)
        cleaning = None
        if "cleaning" in own:
            cleaning = parse_cleaning(own["cleaning"], self._own_name("cleaning"), self.report)
        allow_in_use = self._boolean(self._own_name("allow_in_use"), own.get("allow_in_use", False))
        if len(self.report.findings.errors) > errors_before:
            return None
        return PciDeviceSpec(
            entry=self.report.entry,
            vendor_id=vendor_id,
            product_id=product_id,
            address=address,
            devname=devname,
            tags=tags,
            binding=binding,
            cleaning=cleaning,
            allow_in_use=allow_in_use is True,
            source=json.dumps(content, ensure_ascii=False),
            dialect=self.dialect,
            place=self.report.place,
        )

    def _own_name(self, key: str) -> str:
        return f"{_NOVA_PREFIX}{key}" if self.dialect is Dialect.NOVA else key

    def _report_no_matcher(self, content: Mapping[str, object]) -> None:
        meant = {key: near for key in content if key not in KNOWN_TAGS and (near := nearest_key(key, MATCHERS))}
        remedy = f'name one of {", ".join(MATCHERS)}, or write "address": "*" if every device is meant'
        for key, near in meant.items():
            remedy = f'write "{near}" for "{key}"'
        self.report.error(None, dict(content), "has nothing that chooses devices", remedy)

    def _id(self, key: str, matchers: Mapping[str, object]) -> str | None:
        """Four lower-case hexadecimal digits, or None for any (rules C5, C6, D31, D32)."""
        if key not in matchers:
            return None
        value = matchers[key]
        remedy = 'write four hexadecimal digits in quotes, such as "8086", or "*" for any'
        if not isinstance(value, str):
            self.report.error(key, value, "is not a text", remedy)
            return None
        found = _ID.fullmatch(value)
        if found is not None and int(found[1], 16) <= 0xFFFF:
            return f"{int(found[1], 16):04x}"
        if value.strip() != "*":
            fault = "is not a hexadecimal number" if found is None else "is more than ffff"
            self.report.error(key, value, fault, remedy)
        return None

    def _address(self, matchers: Mapping[str, object]) -> AddressPattern | None:
        return parse_address_pattern(matchers["address"], self.report) if "address" in matchers else None

    def _devname(self, matchers: Mapping[str, object]) -> str | None:
        if "devname" not in matchers:
            return None
        devname = matchers["devname"]
        if not isinstance(devname, str) or not devname.strip():
            self.report.error("devname", devname, "is no name of a network interface", "name one, or leave the key out")
            return None
        if "address" in matchers:
            self.report.error("devname", devname, "stands beside an address", "keep one of the two")
        if self.report_in_placement:
            fault = "cannot be used with report_in_placement, as an interface changes its name"
            self.report.error("devname", devname, fault, "name the device by its address")
        return devname.strip()

    def _tag(self, key: str, value: object) -> TagValue:
        known = KNOWN_TAGS.get(key)
        if known is None:
            self._warn_of_unknown(key, value)
        elif known.kind is not TagKind.TEXT:
            return self._boolean_tag(known, value)
        if isinstance(value, str):
            self._check_placement_names(key, value)
            return value
        if value is None:
            return None
        self.report.error(key, value, "is neither a text nor null", f"write {_as_text(value)}")
        return None

    def _check_placement_names(self, key: str, value: str) -> None:
        """Placement bounds its names (rule P3)."""
        names = {"resource_class": (value,), "traits": split_list(value)}.get(key, ())
        if self.report_in_placement and any(len(CUSTOM + normal_name(name)) > MAX_NAME_LENGTH for name in names):
            fault = f"has a name of more than {MAX_NAME_LENGTH} characters, with {CUSTOM} before it"
            self.report.error(key, value, fault, "choose a shorter one")

    def _boolean_tag(self, known: KnownTag, value: object) -> bool | None:
        if known.kind is TagKind.LENIENT_BOOLEAN and isinstance(value, str) and parse_boolean(value) is None:
            fault = "is neither true nor false and counts as false"
            self.report.warning("unclear_boolean", known.name, value, fault, "write true or false")
            return False
        return self._boolean(known.name, value)

    def _boolean(self, key: str, value: object) -> bool | None:
        parsed = value if isinstance(value, bool) else parse_boolean(value) if isinstance(value, str) else None
        if parsed is None:
            self.report.error(key, value, "is neither true nor false", "write true or false")
        return parsed

    def _warn_of_unknown(self, key: str, value: object) -> None:
        """A key that is neither matcher nor known tag nor Laneway's own (rules C4 and D17)."""
        if self.dialect is Dialect.NOVA and key in OWN_KEYS:
            remedy = f'write "{self._own_name(key)}" if the key of Laneway is meant'
            self.report.warning("bare_own_key", key, value, "is a tag like any other in a nova.conf", remedy)
        elif self.dialect is Dialect.NOVA and key.startswith(_NOVA_PREFIX):
            near = nearest_key(key.removeprefix(_NOVA_PREFIX), OWN_KEYS)
            known = ", ".join(map(self._own_name, OWN_KEYS))
            remedy = f'write "{self._own_name(near)}"' if near else f"they are {known}"
            self.report.error(key, value, "is no key of Laneway", remedy)
        else:
            near = nearest_key(key, (*MATCHERS, *KNOWN_TAGS, *map(self._own_name, OWN_KEYS)))
            remedy = f'write "{near}" if that is meant' if near else "it is kept, and requests may name it"
            self.report.warning("unknown_tag", key, value, "is a tag without a meaning of its own", remedy)

    def _binding(self, own: Mapping[str, object], tags: Mapping[str, TagValue]) -> Binding:
        """Who binds to vfio-pci: as said, else as ``managed`` says, else as the config's owner does."""
        managed = tags.get("managed")
        if "binding" not in own:
            if managed is None:
                return Binding.LIBVIRT if self.dialect is Dialect.NOVA else Binding.LANEWAY
            return Binding.LIBVIRT if managed else Binding.OPERATOR
        key, value = self._own_name("binding"), own["binding"]
        if not isinstance(value, str) or value not in set(Binding):
            self.report.error(key, value, "is not known", f"write one of {', '.join(Binding)}")
            return Binding.LANEWAY
        binding = Binding(value)
        if managed is not None and managed is not (binding is Binding.LIBVIRT):
            self.report.error(
                key,
                value,
                f'contradicts "managed": {str(managed).lower()}',
                "keep one of the two: managed is true for the binding libvirt, and false for the others",
            )
        return binding


def _as_text(value: object) -> str:
    """How a value of another type is written as the text that a tag has."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return json.dumps(",".join(value), ensure_ascii=False)
    return json.dumps(json.dumps(value, default=repr), ensure_ascii=False)


def _warn_of_duplicates(specs: Sequence[PciDeviceSpec], findings: Findings) -> None:
    """Of entries with the same matchers only the first counts (rule C23)."""
    first: dict[tuple[object, ...], PciDeviceSpec] = {}
    for spec in specs:
        # One that is remote-managed leaves functions to a later one that is not.
        key = (spec.vendor_id, spec.product_id, spec.address, spec.devname, spec.remote_managed)
        earlier = first.setdefault(key, spec)
        if earlier is not spec:
            fault = f"chooses the same devices as entry {earlier.entry}, which counts"
            report_on(spec, findings).warning("duplicate_entry", None, spec.source, fault, "take one of them out")
