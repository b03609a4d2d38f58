"""Names of vendors, devices and classes, from the system's pci.ids (https://pci-ids.ucw.cz)."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

PLACES = (
    Path("/usr/share/hwdata/pci.ids"),
    Path("/usr/share/misc/pci.ids"),
    Path("/usr/share/pci.ids"),
    Path("/var/lib/pciutils/pci.ids"),
)
"""Where distributions keep the file; the first that can be read counts."""


class PciNames:
    """The names in the file, which is read when a name is asked for, and once.

    Without a file nothing has a name. Names are found by searching, not by taking the file apart:
    few of its tens of thousands of lines are ever asked for.
    """

    def __init__(self, places: Iterable[Path] = PLACES) -> None:
        self._places = tuple(places)
        self._sections: dict[bytes, bytes] = {}

    def __call__(self, vendor_id: str, product_id: str) -> str | None:
        """Vendor and device, as much of it as is known, such as ``Intel Corporation Ethernet Controller X710``."""
        return " ".join(filter(None, (self.vendor(vendor_id), self.device(vendor_id, product_id)))) or None

    def vendor(self, vendor_id: str) -> str | None:
        return _first_line(self._section(vendor_id))

    def device(self, vendor_id: str, product_id: str) -> str | None:
        return _entry(self._section(vendor_id), f"\n\t{product_id}  ")

    def class_name(self, class_code: str) -> str | None:
        """The name of the subclass, else that of the base class, of a code such as ``030200``."""
        section = self._section(f"C {class_code[:2]}")
        return _entry(section, f"\n\t{class_code[2:4]}  ") or _first_line(section)

    def _section(self, key: str) -> bytes:
        """The name of a vendor or base class, and all lines that are indented below it."""
        start = f"\n{key}  ".encode()
        if start not in self._sections:
            at = self._text.find(start)
            end = _end_of_section(self._text, at + 1)
            self._sections[start] = self._text[at + len(start) : end] if at >= 0 else b""
        return self._sections[start]

    @cached_property
    def _text(self) -> bytes:
        for place in self._places:
            try:
                return b"\n" + place.read_bytes()
            except OSError:
                continue
        return b""


def _end_of_section(text: bytes, start: int) -> int:
    end = text.find(b"\n", start)
    while end >= 0 and text[end + 1 : end + 2] in (b"\t", b"#"):
        end = text.find(b"\n", end + 1)
    return len(text) if end < 0 else end


def _first_line(section: bytes, start: int = 0) -> str | None:
    end = section.find(b"\n", start)
    return section[start : len(section) if end < 0 else end].decode("utf-8", "replace").strip() or None


def _entry(section: bytes, start: str) -> str | None:
    at = section.find(start.encode())
    return _first_line(section, at + len(start)) if at >= 0 else None
