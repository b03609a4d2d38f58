"""What a function is known by, whatever address it has: buses are renumbered when a card is added.

That is its ids, its subsystem, its serial (VPD, or the PCI Express Device Serial Number), and its
``path``: the root and the device and function of each hop, without bus numbers (Windows has a
location path, too). What is not known is not different: it neither breaks nor proves an identity.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from laneway.domain.address import PciAddress
from laneway.domain.function_facts import card_serial_number
from laneway.domain.inventory import DevType, PciFunction, Vpd

_NEVER_PROGRAMMED = ({"0"}, {"f"}, set[str]())
"""What a serial number consists of then, separators left out."""


def identifying(function: PciFunction) -> PciFunction:
    """The function with the facts alone that identify it."""
    serial = _card_serial(function)
    return PciFunction(
        address=function.address,
        vendor_id=function.vendor_id,
        product_id=function.product_id,
        dev_type=function.dev_type,
        subsystem_vendor_id=function.subsystem_vendor_id,
        subsystem_id=function.subsystem_id,
        parent_addr=function.parent_addr,
        vf_index=function.vf_index,
        path=function.path,
        location_path=function.location_path,
        vpd=None if serial is None else Vpd(card_serial_number=serial),
        device_serial_number=function.device_serial_number,
    )


def described(function: PciFunction) -> str:
    """The function for a person: its ids, and its serial where that is known."""
    serial = _card_serial(function) or _device_serial(function)
    known = f" with serial {serial}" if serial else ""
    return f"{function.vendor_id}:{function.product_id}{known}"


def difference(recorded: PciFunction, found: PciFunction | None) -> str | None:
    """What tells ``found`` from the function that was recorded; None where nothing does.

    Another path is another device, unless a serial says that the same one was moved.
    """
    if found is None:
        return "nothing is there"
    return _contradiction(recorded, found) or _other_path(recorded, found)


def is_surely(recorded: PciFunction, found: PciFunction) -> bool:
    """Whether no other function of a host can be a better match: what proves the identity is known and agrees."""
    if difference(recorded, found) is not None:
        return False
    if recorded.path is None:
        return not any(_serials(recorded))
    return recorded.path == found.path and (not any(_serials(recorded)) or _same_serial(recorded, found) is True)


class Census:
    """The functions of one host by what identifies them."""

    def __init__(self, functions: Mapping[PciAddress, PciFunction]) -> None:
        self.functions = functions

    def whereabouts(self, recorded: PciFunction) -> tuple[PciFunction, ...]:
        """The functions for which most speaks that they are the recorded one: several where nothing tells them apart.

        A serial counts for more than a path, and both for more than one. Of several with the
        evidence the one that kept its address counts, unless its path is another. Where the root
        that was recorded is no more, as root buses were renumbered, the rest of the path counts.
        """
        evidence = {one.address: self._evidence(recorded, one) for one in self._candidates(recorded)}
        best = max(evidence.values(), default=None)
        return tuple(self.functions[address] for address, weight in sorted(evidence.items()) if weight == best)

    def _candidates(self, recorded: PciFunction) -> Iterator[PciFunction]:
        keys: list[tuple[str, str]] = [(kind, serial) for kind, serial in _keys(recorded) if kind != "path"]
        if recorded.path is not None:
            root, below = _split(recorded.path)
            keys.append(("path", recorded.path) if root in self._roots else ("below", below))
        for key in keys:
            yield from (found for found in self._by_key.get(key, ()) if _contradiction(recorded, found) is None)

    def _evidence(self, recorded: PciFunction, found: PciFunction) -> tuple[bool, bool, bool]:
        stayed = found.address == recorded.address and _other_path(recorded, found) is None
        return _same_serial(recorded, found) is True, found.path == recorded.path is not None, stayed

    @cached_property
    def _by_key(self) -> Mapping[tuple[str, str], list[PciFunction]]:
        found: dict[tuple[str, str], list[PciFunction]] = defaultdict(list)
        for function in self.functions.values():
            for key in _keys(function):
                found[key].append(function)
            if function.path is not None:
                found["below", _split(function.path)[1]].append(function)
        return found

    @cached_property
    def _roots(self) -> frozenset[str]:
        return frozenset(_split(function.path)[0] for function in self.functions.values() if function.path is not None)


def _keys(function: PciFunction) -> Iterator[tuple[str, str]]:
    vpd, number = _serials(function)
    for kind, value in (("vpd", vpd), ("number", number), ("path", function.path)):
        if value is not None:
            yield kind, value


def _contradiction(recorded: PciFunction, found: PciFunction) -> str | None:
    """What cannot be of one device, wherever it stands."""
    if (recorded.vendor_id, recorded.product_id) != (found.vendor_id, found.product_id):
        return f"it is {described(found)}, not {described(recorded)}"
    subsystems = tuple(_known_pair(one.subsystem_vendor_id, one.subsystem_id) for one in (recorded, found))
    if None not in subsystems and subsystems[0] != subsystems[1]:
        return f"its subsystem is {subsystems[1]}, not {subsystems[0]}"
    if _same_serial(recorded, found) is False:
        mine, other = described(recorded), described(found)
        return f"it is {other}, not {mine}" if mine != other else "its serial number is another"
    return _other_unit(recorded, found)


def _other_unit(recorded: PciFunction, found: PciFunction) -> str | None:
    """Functions of one card have its serial, all of them."""
    units = [_is_vf(recorded), _is_vf(found)]
    if None not in units and units[0] is not units[1]:
        return "it is a VF" if units[1] else "it is no VF"
    indices = [recorded.vf_index, found.vf_index]
    if None not in indices and indices[0] != indices[1]:
        return f"it is VF {indices[1]} of its PF, not VF {indices[0]}"
    mine, other = _number(recorded), _number(found)
    if mine is not None and other is not None and mine != other:
        return f"it is function {other} of its card, not {mine}"
    return None


def _other_path(recorded: PciFunction, found: PciFunction) -> str | None:
    if _same_serial(recorded, found):
        return None
    for mine, other in ((recorded.path, found.path), (recorded.location_path, found.location_path)):
        if mine is not None and other is not None and mine != other:
            return f"it is at {other}, not at {mine}"
    return None


def _same_serial(recorded: PciFunction, found: PciFunction) -> bool | None:
    """None where no kind of serial is known of both."""
    pairs = [pair for pair in zip(_serials(recorded), _serials(found), strict=True) if None not in pair]
    return all(mine == other for mine, other in pairs) if pairs else None


def _serials(function: PciFunction) -> tuple[str | None, str | None]:
    return _card_serial(function), _device_serial(function)


def _card_serial(function: PciFunction) -> str | None:
    serial = card_serial_number(function, None)
    return serial if _means_something(serial) else None


def _device_serial(function: PciFunction) -> str | None:
    serial = function.device_serial_number
    return serial if _means_something(serial) else None


def _means_something(serial: str | None) -> bool:
    return serial is not None and set(serial.lower()) - set("-: .") not in _NEVER_PROGRAMMED


def _known_pair(one: str | None, other: str | None) -> str | None:
    return None if one is None or other is None else f"{one}:{other}"


def _is_vf(function: PciFunction) -> bool | None:
    """None of a vDPA device whose PF is not known."""
    if function.parent_addr is not None or function.vf_index is not None:
        return True
    return {DevType.VF: True, DevType.VDPA: None}.get(function.dev_type, False)


def _number(function: PciFunction) -> str | None:
    """Device and function number, which no renumbering of buses changes: of a VF its PF's, if that is known."""
    bearer = function.address if _is_vf(function) is False else function.parent_addr
    return None if bearer is None else f"{bearer.slot:02x}.{bearer.function}"


def _split(path: str) -> tuple[str, str]:
    """The root, and the hops below it."""
    root, _, below = path.partition("/")
    return root, below
