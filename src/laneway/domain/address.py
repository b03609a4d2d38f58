"""PCI addresses: where a function stands on the bus."""

import re
from typing import Self

from laneway.domain.errors import ErrorCode, LanewayError

MAX_DOMAIN = 0xFFFFFFFF
MAX_BUS = 0xFF
MAX_SLOT = 0x1F
MAX_FUNCTION = 0x7
MAX_ASSIGNABLE_DOMAIN = 0xFFFF
"""The highest domain that a guest can be given a device of (rules C8 and C14): QEMU takes 16 bits."""

_ADDRESS = re.compile(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})\.([0-7])")


class PciAddress(int):
    """The address of one PCI function: domain (32 bits), bus, slot and function.

    It is one number, as the kernel packs it (domain, bus, then devfn), so that it sorts in bus
    order, hashes and compares as an integer does. ``str`` gives the canonical text
    ``dddd:bb:ss.f``; a domain above ffff has as many digits as it needs.
    """

    __slots__ = ()

    @classmethod
    def of(cls, domain: int, bus: int, slot: int, function: int) -> Self:
        """The address with these parts.

        Raises LanewayError(invalid_address) where a part is outside its range.
        """
        parts = (("domain", domain, MAX_DOMAIN), ("bus", bus, MAX_BUS), ("slot", slot, MAX_SLOT))
        for name, value, most in (*parts, ("function", function, MAX_FUNCTION)):
            if not 0 <= value <= most:
                raise LanewayError(
                    ErrorCode.INVALID_ADDRESS,
                    f"PCI {name} {value:x} is not between 0 and {most:x}",
                    {"field": name, "value": value},
                )
        return cls(domain << 16 | bus << 8 | slot << 3 | function)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads ``0000:3b:00.0`` and the short form ``3b:00.0`` (domain 0), in either case.

        Raises LanewayError(invalid_address) for everything else (rules C7, C8, D10).
        """
        found = _ADDRESS.fullmatch(text)
        if found is None or int(found[3], 16) > MAX_SLOT:
            raise LanewayError(
                ErrorCode.INVALID_ADDRESS,
                f"{text!r} is not a PCI address; write it as domain:bus:slot.function, such as 0000:3b:00.0",
                {"value": text},
            )
        domain, bus, slot, function = found.groups()
        return cls(int(domain or "0", 16) << 16 | int(bus, 16) << 8 | int(slot, 16) << 3 | int(function))

    @property
    def domain(self) -> int:
        return self >> 16

    @property
    def bus(self) -> int:
        return self >> 8 & MAX_BUS

    @property
    def slot(self) -> int:
        return self >> 3 & MAX_SLOT

    @property
    def function(self) -> int:
        return self & MAX_FUNCTION

    def __str__(self) -> str:
        return f"{self >> 16:04x}:{self >> 8 & 0xFF:02x}:{self >> 3 & 0x1F:02x}.{self & 7:d}"

    def __repr__(self) -> str:
        return f"PciAddress({str(self)!r})"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)
