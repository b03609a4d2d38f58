"""Addresses of a device spec: exact, partial, glob (rules C7, C8) and regular expressions (C9)."""

import re
import warnings
from dataclasses import dataclass, field

from laneway.domain.address import MAX_ASSIGNABLE_DOMAIN, MAX_BUS, MAX_DOMAIN, MAX_FUNCTION, MAX_SLOT, PciAddress
from laneway.domain.config_entry import EntryReport
from laneway.domain.errors import ErrorCode
from laneway.domain.tags import nearest_key

_FIELDS = {
    "domain": (MAX_ASSIGNABLE_DOMAIN, 4, 16),
    "bus": (MAX_BUS, 2, 8),
    "slot": (MAX_SLOT, 2, 3),
    "function": (MAX_FUNCTION, 1, 0),
}
"""Of each field the most it can be, its digits, and its place in a ``PciAddress``."""

_HEX = re.compile(r"[0-9a-fA-F]+")
_ANY = "*"
_ANY_TEXT = ".*"
_EXAMPLE = 'write domain:bus:slot.function, such as "0000:3b:00.0", with * for any'


@dataclass(frozen=True, slots=True)
class AddressGlob:
    """An address of which any field may be open (None)."""

    domain: int | None = None
    bus: int | None = None
    slot: int | None = None
    function: int | None = None
    mask: int = field(init=False, repr=False, compare=False)
    value: int = field(init=False, repr=False, compare=False)
    """An address matches if ``address & mask == value``."""

    def __post_init__(self) -> None:
        mask = value = 0
        # A function may stand in a domain that is larger than any that a spec can name.
        widest = (MAX_DOMAIN, MAX_BUS, MAX_SLOT, MAX_FUNCTION)
        for (_, _, shift), most, part in zip(_FIELDS.values(), widest, self._parts, strict=True):
            if part is not None:
                mask |= most << shift
                value |= part << shift
        object.__setattr__(self, "mask", mask)
        object.__setattr__(self, "value", value)

    @property
    def exact(self) -> PciAddress | None:
        """The one address that matches, if no field is open."""
        return PciAddress(self.value) if None not in self._parts else None

    @property
    def _parts(self) -> tuple[int | None, ...]:
        return self.domain, self.bus, self.slot, self.function

    def matches(self, address: PciAddress) -> bool:
        return address & self.mask == self.value

    def __str__(self) -> str:
        texts = [
            _ANY if part is None else f"{part:0{digits}x}"
            for part, (_, digits, _) in zip(self._parts, _FIELDS.values(), strict=True)
        ]
        return ":".join(texts[:3]) + "." + texts[3]


@dataclass(frozen=True, slots=True)
class AddressRegex:
    """A regular expression for each field, which has to match the whole field as it is written in
    an address: four, two, two and one lower-case digits (rule D7). Case does not count (rule D32).

    Raises one of ``BAD_EXPRESSION`` where one of them cannot be compiled.
    """

    domain: str = _ANY_TEXT
    bus: str = _ANY_TEXT
    slot: str = _ANY_TEXT
    function: str = _ANY_TEXT
    _domain: "re.Pattern[str] | None" = field(init=False, repr=False, compare=False)
    _buses: frozenset[int] = field(init=False, repr=False, compare=False)
    _slots_and_functions: frozenset[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        functions = _values_in_range(self.function, "function")
        slots = _values_in_range(self.slot, "slot")
        object.__setattr__(self, "_domain", None if self.domain == _ANY_TEXT else compiled(self.domain))
        object.__setattr__(self, "_buses", frozenset(_values_in_range(self.bus, "bus")))
        object.__setattr__(self, "_slots_and_functions", frozenset(s << 3 | f for s in slots for f in functions))

    def matches(self, address: PciAddress) -> bool:
        return (
            address & 0xFF in self._slots_and_functions
            and address >> 8 & 0xFF in self._buses
            and (self._domain is None or self._domain.fullmatch(f"{address >> 16:04x}") is not None)
        )

    def __str__(self) -> str:
        return (
            ", ".join(f"{name} ~ {getattr(self, name)}" for name in _FIELDS if getattr(self, name) != _ANY_TEXT) or _ANY
        )


BAD_EXPRESSION = (re.error, ValueError, OverflowError, RecursionError, Warning)
"""What a bad expression raises. A warning is one that Python may come to read in another way."""

AddressPattern = AddressGlob | AddressRegex


def compiled(expression: str) -> "re.Pattern[str]":
    """The expression of one address field. Raises one of BAD_EXPRESSION."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return re.compile(expression, re.IGNORECASE | re.ASCII)


def _values_in_range(expression: str, name: str) -> list[int]:
    pattern = compiled(expression)
    most, digits, _ = _FIELDS[name]
    return [value for value in range(most + 1) if pattern.fullmatch(f"{value:0{digits}x}")]


def parse_address_pattern(value: object, report: EntryReport) -> AddressPattern | None:
    """The address of a device spec; None if it is wrong, which is then in ``report``."""
    if isinstance(value, str):
        return _parse_glob(value, report)
    if isinstance(value, dict):
        return _parse_regex(value, report)
    report.error("address", value, "is neither a text nor an object of regular expressions", _EXAMPLE)
    return None


def _parse_glob(text: str, report: EntryReport) -> AddressGlob | None:
    place, _, function = text.partition(".")
    names = place.split(":")
    if len(names) > 3:
        report.error("address", text, "has more than three parts before the dot", _EXAMPLE)
        return None
    texts = [part.strip() for part in (*[_ANY] * (3 - len(names)), *names, function)]
    if not any(part.strip() for part in (*names, function)):
        report.error("address", text, "names no address", 'write "*" if every device is meant')
        return None
    parts: list[int | None] = []
    faulty = False
    for name, part in zip(_FIELDS, texts, strict=True):
        if part in {"", _ANY}:
            parts.append(None)
        elif _HEX.fullmatch(part) is None:
            remedy = f"{_EXAMPLE}; a part of a field needs the object form with regular expressions"
            report.error("address", text, f'has the {name} "{part}", which is neither hexadecimal nor *', remedy)
            faulty = True
        elif not _in_range(name, part, "address", text, report):
            faulty = True
        else:
            parts.append(int(part, 16))
    if faulty:
        return None
    if _HEX.fullmatch(text.strip()):
        report.warning(
            "slot_only_address",
            "address",
            text,
            "is a slot, on any bus",
            f'write "{text.strip()}:*.*" if a bus is meant',
        )
    return AddressGlob(*parts)


def _in_range(name: str, digits: str, key: str, value: object, report: EntryReport) -> bool:
    most = _FIELDS[name][0]
    if int(digits, 16) <= most:
        return True
    fault = f"has the {name} {digits}, and the highest is {most:x}"
    if name == "domain":
        remedy = "take the entry out: a guest's PCI domain has 16 bits, so this device cannot be handed out"
        report.error(key, value, fault, remedy, ErrorCode.DOMAIN_TOO_LARGE)
    else:
        report.error(key, value, fault, "correct it")
    return False


def _parse_regex(fields: dict[str, object], report: EntryReport) -> AddressRegex | None:
    faulty = not fields
    if not fields:
        report.error("address", fields, "names no address", 'write "*" if every device is meant')
    for name, expression in fields.items():
        if name not in _FIELDS:
            near = nearest_key(name, _FIELDS)
            remedy = f'write "{near}"' if near else f"the fields are {', '.join(_FIELDS)}"
            report.error(f"address.{name}", expression, "is no field of an address", remedy)
            faulty = True
        elif not _is_good_expression(name, expression, report):
            faulty = True
    if faulty:
        return None
    pattern = AddressRegex(**{name: str(expression) for name, expression in fields.items()})
    for name in fields:
        _warn_if_empty(name, getattr(pattern, name), report)
    return pattern


def _is_good_expression(name: str, expression: object, report: EntryReport) -> bool:
    key = f"address.{name}"
    if not isinstance(expression, str) or not expression.strip():
        report.error(
            key, expression, "is not a regular expression", 'write a text such as "0[0-3]", or leave the field out'
        )
        return False
    try:
        compiled(expression)
    except BAD_EXPRESSION as error:
        remedy = 'any value is ".*"' if expression == _ANY else 'write one such as "0[0-3]"'
        report.error(key, expression, f"is not a regular expression: {error}", remedy)
        return False
    return _HEX.fullmatch(expression) is None or _in_range(name, expression, key, expression, report)


def _warn_if_empty(name: str, expression: str, report: EntryReport) -> None:
    most, digits, _ = _FIELDS[name]
    pattern = compiled(expression)
    if any(pattern.fullmatch(f"{value:0{digits}x}") for value in range(most + 1)):
        return
    padded = expression.rjust(digits, "0")
    whole = f'write "{padded}"' if _HEX.fullmatch(expression) and len(expression) < digits else "mend it"
    report.warning(
        "address_matches_nothing",
        f"address.{name}",
        expression,
        f"matches no {name} from {0:0{digits}x} to {most:0{digits}x}: it has to match all {digits} digits",
        whole,
    )
