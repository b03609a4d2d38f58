"""What keeps an admitted device from being offered, as far as the facts of the host tell.

Host use blocks the function itself and goes up (a VF in use blocks its PF), never down. A VFIO
group is viable only if no member is in the host's hands (kernel: Documentation/driver-api/vfio.rst).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice
from laneway.domain.inventory import Inventory, Opener, PciFunction

IN_USE = "in_use_by"
OPENED = "opened_by"
GROUP_NOT_VIABLE = "group_not_viable"
CORDONED = "cordoned"
WRONG_DEVICE = "wrong_device"
CLEANING_FAILED = "cleaning_failed"
RESET_FAILED = "reset_failed"
FATAL_ERRORS = "fatal_errors"
NOT_RESPONDING = "not_responding"
CHANGING_VFS = "changing_vfs"
"""For the moment: VFs come and go."""
OWN_CORDONS = frozenset({CLEANING_FAILED, RESET_FAILED, FATAL_ERRORS, NOT_RESPONDING})
"""Why Laneway itself takes a device out of use, until an operator uncordons it."""

Blocks = dict[PciAddress, tuple[BlockReason, ...]]


def is_vfio_driver(driver: str) -> bool:
    """vfio-pci and its variant drivers, such as mlx5_vfio_pci, serve VFIO users only."""
    return driver.replace("_", "-").endswith("vfio-pci")


def shared_groups(functions: Iterable[PciFunction]) -> dict[int, list[PciFunction]]:
    """The endpoints of each IOMMU group that has more than one; bridges do not count."""
    members: dict[int, list[PciFunction]] = defaultdict(list)
    for function in functions:
        if function.iommu_group is not None and not function.is_bridge:
            members[function.iommu_group].append(function)
    return {group: endpoints for group, endpoints in members.items() if len(endpoints) > 1}


def host_blocks(inventory: Inventory, devices: Mapping[PciAddress, PciDevice]) -> Blocks:
    """Devices that the host itself needs, or that the platform cannot give away."""
    blocks: dict[PciAddress, list[BlockReason]] = defaultdict(list)
    for function in inventory.functions:
        if function.in_use_by and _counts_as_used(function, devices):
            for address in (function.address, function.parent_addr):
                if address is not None and address in devices and not devices[address].extra_info.allow_in_use:
                    blocks[address].append(_in_use_reason(function, address))
        if function.not_assignable and function.address in devices:
            blocks[function.address].extend(
                BlockReason(
                    reason.code, reason.message or f"the platform cannot give this function away: {reason.code}"
                )
                for reason in function.not_assignable
            )
    return {address: tuple(reasons) for address, reasons in blocks.items()}


def group_blocks(groups: Mapping[int, list[PciFunction]], devices: Mapping[PciAddress, PciDevice]) -> Blocks:
    """Devices whose IOMMU group is not viable, with the members that stand in the way."""
    blocks: Blocks = {}
    for group, endpoints in groups.items():
        hindrances = [(member.address, why) for member in endpoints if (why := _hindrance(member, devices))]
        if not hindrances:
            continue
        for member in endpoints:
            others = [(address, why) for address, why in hindrances if address != member.address]
            if others and member.address in devices:
                blocks[member.address] = tuple(_group_reason(group, address, why) for address, why in others)
    return blocks


def opened_blocks(
    address: PciAddress,
    opened: Mapping[PciAddress, PciFunction],
    owned: Collection[PciAddress],
    relatives: Iterable[PciAddress],
) -> tuple[BlockReason, ...]:
    """Reasons from processes that hold a device which nobody owns: of the device, or of a relative.

    ``relatives`` are its VFs and the other members of its IOMMU group: taking the device would
    take theirs away from the process.
    """
    reasons = []
    for other in (address, *relatives):
        function = opened.get(other)
        if function is None or other in owned or not function.opened_by:
            continue
        who = ", ".join(map(_opener, function.opened_by))
        subject = "it is" if other == address else f"{other} is"
        reasons.append(
            BlockReason(
                OPENED,
                f"{subject} open in {who}, unknown to Laneway; stop it, or take its devices over with 'laneway adopt'",
                str(other),
            )
        )
    return tuple(reasons)


def _opener(opener: Opener) -> str:
    name = opener.name or "process"
    return name if opener.pid is None else f"{name} ({opener.pid})"


def _counts_as_used(function: PciFunction, devices: Mapping[PciAddress, PciDevice]) -> bool:
    device = devices.get(function.address)
    return device is None or not device.extra_info.allow_in_use


def _in_use_reason(function: PciFunction, blocked: PciAddress) -> BlockReason:
    uses = ", ".join(f"{use.code} {use.detail}" if use.detail else use.code for use in function.in_use_by or ())
    if function.address == blocked:
        return BlockReason(IN_USE, f"the host uses it: {uses}", uses)
    return BlockReason(IN_USE, f"the host uses its VF {function.address}: {uses}", uses)


def _hindrance(member: PciFunction, devices: Mapping[PciAddress, PciDevice]) -> str | None:
    if member.in_use_by and _counts_as_used(member, devices):
        return f"is in use by the host ({', '.join(use.code for use in member.in_use_by)})"
    if member.address not in devices and member.driver is not None and not is_vfio_driver(member.driver):
        return f"is on driver {member.driver} and no device spec admits it"
    return None


def _group_reason(group: int, member: PciAddress, why: str) -> BlockReason:
    return BlockReason(GROUP_NOT_VIABLE, f"{member} of its IOMMU group {group} {why}", str(member))
