"""A host's functions as a nova virt driver returns them for ``pci_passthrough_devices``.

So a driver of nova's, for an operating system whose PCI devices nova cannot read, has them from
Laneway's host drivers. It is nova's own config that admits them then, and nova's tracker that
hands them out.
"""

from laneway.domain.function_facts import (
    card_serial_number,
    first_netdev,
    has_assignable_domain,
    mac_address,
    network_capabilities,
    place_under_pf,
)
from laneway.domain.inventory import DevType, Inventory, PciFunction

NovaDevice = dict[str, object]


def nova_devices(inventory: Inventory) -> list[NovaDevice]:
    """Each function that a guest could have, in order of address.

    Bridges are left out, and so are functions of a domain above ffff, whose addresses nova cannot
    store (rule C14). Raises LanewayError(invalid_inventory).
    """
    functions = inventory.by_address
    return [
        _nova_device(function, functions.get(function.parent_addr) if function.parent_addr is not None else None)
        for _, function in sorted(functions.items())
        if has_assignable_domain(function) and not function.is_bridge
    ]


def _nova_device(function: PciFunction, parent: PciFunction | None) -> NovaDevice:
    """Rules C24 to C32; what is not known is left out, but ``numa_node``, which is null then."""
    device: NovaDevice = {
        "address": str(function.address),
        "vendor_id": function.vendor_id,
        "product_id": function.product_id,
        "dev_type": str(function.dev_type),
        "dev_id": _own_name(function),
        "label": f"label_{function.vendor_id}_{function.product_id}",
        "numa_node": function.numa_node,
    }
    if function.parent_addr is not None:
        device["parent_addr"] = str(function.parent_addr)
        pf_netdev = first_netdev(parent)
        if pf_netdev is not None:
            device["parent_ifname"] = pf_netdev.name
    capabilities = _capabilities(function, parent)
    if capabilities:
        device["capabilities"] = capabilities
    mac = mac_address(function)
    if function.dev_type is DevType.PF and mac is not None:
        device["mac_address"] = mac
    return device


def _own_name(function: PciFunction) -> str:
    """The hypervisor's name for it: Hyper-V's location path (rule D13), else that of libvirt's node device."""
    if function.location_path is not None:
        return function.location_path
    return "pci_" + str(function.address).replace(":", "_").replace(".", "_")


def _capabilities(function: PciFunction, parent: PciFunction | None) -> dict[str, object]:
    """What nova keeps of a VF for its port; of other functions only a serial number of their own."""
    is_vf = function.dev_type is DevType.VF
    capabilities: dict[str, object] = {}
    network = network_capabilities(function, parent)
    place = place_under_pf(function, parent)
    serial = card_serial_number(function, parent if is_vf else None)
    if is_vf and network:
        capabilities["network"] = list(network)
    if is_vf and place is not None:
        capabilities["sriov"] = {"pf_mac_address": place[0], "vf_num": place[1]}
    if serial is not None:
        capabilities["vpd"] = {"card_serial_number": serial}
    return capabilities
