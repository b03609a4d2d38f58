"""From property bags to PCI functions. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from laneway.domain.address import PciAddress
from laneway.domain.inventory import Bar, Link, NetDevice, Opener, PciFunction, Problem, Sriov
from laneway.hosts.hyperv.assignability import not_assignable
from laneway.hosts.hyperv.host_use import HostUses
from laneway.hosts.hyperv.identity import Identity, read_identity
from laneway.hosts.hyperv.location import address_from_numbers, address_from_text, pci_location_path
from laneway.hosts.hyperv.property_bag import Key, PropertyBag, pci_enumerator
from laneway.hosts.hyperv.recording import Adapter, Recording
from laneway.hosts.hyperv.topology import Topology
from laneway.hosts.lineage import Lineage

_ABOVE_32_BITS = 1 << 32
_SPEEDS_GTS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0, 6: 64.0}
_MEGABIT = 1_000_000
_MAX_SERIAL = (1 << 64) - 1


class _Listed(NamedTuple):
    address: PciAddress
    identity: Identity
    location_path: str | None
    bag: PropertyBag


def read_functions(recording: Recording, problems: list[Problem]) -> tuple[PciFunction, ...]:
    """The functions that are there, by address.

    Devices that Windows remembers only are left out. One without an address or ids, or at the
    address of another, is noted and left out.
    """
    bags = [PropertyBag(properties, problems) for properties in recording.devices]
    listed = _list_functions(bags)
    topology = Topology((one.address, one.location_path, one.bag) for one in listed.values())
    uses = HostUses(recording, bags)
    return tuple(_function(listed[address], recording, topology, uses) for address in sorted(listed))


def _list_functions(bags: list[PropertyBag]) -> dict[PciAddress, _Listed]:
    found: dict[PciAddress, _Listed] = {}
    for bag in bags:
        if pci_enumerator(bag.instance_id) is None or not bag.is_present:
            continue
        address, identity = read_address(bag), read_identity(bag)
        if address is None or identity is None:
            continue
        if address in found:
            bag.note(None, f"it is at {address}, as {found[address].bag.instance_id} is; the first counts")
            continue
        found[address] = _Listed(address, identity, pci_location_path(bag.texts(Key.LOCATION_PATHS)), bag)
    return found


def read_address(bag: PropertyBag) -> PciAddress | None:
    """The address by the numeric properties, else by the text; None, with a note, where neither tells."""
    bus_number, device = bag.number(Key.BUS_NUMBER), bag.number(Key.ADDRESS)
    address = None if bus_number is None or device is None else address_from_numbers(bus_number, device)
    if address is None:
        text = bag.text(Key.LOCATION_INFO)
        address = None if text is None else address_from_text(text)
    if address is None:
        bag.note(Key.LOCATION_INFO, "neither the bus number and address nor the location text tell its PCI address")
    return address


def _function(listed: _Listed, recording: Recording, topology: Topology, uses: HostUses) -> PciFunction:
    address, identity, location_path, bag = listed
    place = topology.place(address, location_path)
    sriov = Sriov() if bag.has(Key.SRIOV_SUPPORT) else None
    return PciFunction(
        address=address,
        vendor_id=identity.vendor_id,
        product_id=identity.product_id,
        subsystem_vendor_id=identity.subsystem_vendor_id,
        subsystem_id=identity.subsystem_id,
        class_code=identity.class_code,
        revision=identity.revision,
        dev_type=Lineage().dev_type(None, sriov),
        numa_node=bag.number(Key.NUMA_NODE),
        driver=None if bag.is_disabled else bag.text(Key.SERVICE),
        pcie_roots=place.pcie_roots,
        bridges=place.bridges,
        path=place.path,
        netdevs=_netdevs(bag, recording, uses.adapters),
        sriov=sriov,
        device_serial_number=_serial_number(bag),
        bars=_bars(bag),
        link=_link(bag),
        in_use_by=uses.of(bag, identity.class_code),
        opened_by=_opened_by(location_path, recording),
        not_assignable=not_assignable(bag),
        location_path=location_path,
    )


def _netdevs(
    bag: PropertyBag, recording: Recording, adapters: Mapping[str, list[Adapter]]
) -> tuple[NetDevice, ...] | None:
    if recording.adapters is None:
        return None
    found = adapters.get(bag.instance_id.upper(), ())
    return tuple(
        NetDevice(
            name=adapter.name,
            mac=adapter.mac or None,
            permanent_mac=adapter.permanent_mac or None,
            speed_mbps=None if adapter.speed_bps is None else adapter.speed_bps // _MEGABIT,
            up=adapter.up,
        )
        for adapter in sorted(found, key=lambda adapter: adapter.name)
    )


def _serial_number(bag: PropertyBag) -> str | None:
    """The Device Serial Number as lspci writes it; all zeros and all ones are what unprogrammed cards say."""
    serial = bag.number(Key.SERIAL_NUMBER)
    return serial.to_bytes(8, "big").hex("-") if serial and serial < _MAX_SERIAL else None


def _bars(bag: PropertyBag) -> tuple[Bar, ...] | None:
    """The memory that the device has. Windows does not tell which register a range belongs to.

    A range above 4 GiB needs 64 bits; of one below it is not known.
    """
    ranges = bag.ranges()
    if ranges is None:
        return None
    return tuple(
        Bar(size=last - first + 1, bits=64 if last >= _ABOVE_32_BITS else None, prefetchable=prefetchable)
        for first, last, prefetchable in ranges
    )


def _link(bag: PropertyBag) -> Link | None:
    link = Link(
        speed_gts=_speed(bag, Key.CURRENT_LINK_SPEED),
        width=bag.number(Key.CURRENT_LINK_WIDTH) or None,
        max_speed_gts=_speed(bag, Key.MAX_LINK_SPEED),
        max_width=bag.number(Key.MAX_LINK_WIDTH) or None,
    )
    return None if link == Link() else link


def _speed(bag: PropertyBag, key: Key) -> float | None:
    return _SPEEDS_GTS.get(bag.number(key) or 0)


def _opened_by(location_path: str | None, recording: Recording) -> tuple[Opener, ...] | None:
    """The VMs that have the function by Discrete Device Assignment, whether they run or not."""
    assigned = recording.answers.assigned
    if assigned is None or location_path is None:
        return None
    return tuple(
        Opener(name=f"virtual machine {one.vm}")
        for one in assigned
        if one.location_path.upper() == location_path.upper()
    )
