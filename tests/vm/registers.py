"""Registers in the configuration space of functions, read by setpci: what the device itself says."""

from vm.commands import output_of

SRIOV = "ECAP0010"
SERIAL_NUMBER = "ECAP0003"
EXPRESS = "CAP10"


def register(address: str, place: str, width: str) -> int:
    """``place`` such as ``ECAP0010+4``; ``width`` is ``b``, ``w`` or ``l``."""
    return int(output_of("setpci", "-s", address, f"{place}.{width}"), 16)


def virtual_functions(pf: str) -> list[str]:
    """The addresses of the VFs that are there: PCI Express Base Specification 9.3.3.8 to 9.3.3.10."""
    count, first, stride = (register(pf, f"{SRIOV}+{place}", "w") for place in ("10", "14", "16"))
    domain, bus, rest = pf.split(":")
    slot, function = rest.split(".")
    own = int(bus, 16) << 8 | int(slot, 16) << 3 | int(function)
    routing = (own + first + stride * index for index in range(count))
    return [f"{domain}:{one >> 8:02x}:{one >> 3 & 0x1F:02x}.{one & 7}" for one in routing]


def serial_number(address: str) -> str:
    """The Device Serial Number, with its most significant byte first (7.9.3)."""
    upper, lower = (register(address, f"{SERIAL_NUMBER}+{place}", "l") for place in ("8", "4"))
    return (upper << 32 | lower).to_bytes(8, "big").hex("-")


def link(address: str) -> tuple[int, int, int, int]:
    """Speed and width now, and at most, each as the register codes it (7.5.3.6, 7.5.3.8)."""
    now, most = register(address, f"{EXPRESS}+12", "w"), register(address, f"{EXPRESS}+c", "l")
    return now & 0xF, now >> 4 & 0x3F, most & 0xF, most >> 4 & 0x3F
