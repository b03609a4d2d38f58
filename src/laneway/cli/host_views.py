"""From the tracker of a host to what the renderers are given."""

from laneway.cli.render.view import DeviceView, FunctionView
from laneway.domain.address import MAX_ASSIGNABLE_DOMAIN, PciAddress
from laneway.domain.device import BlockReason, Status
from laneway.domain.inventory import PciFunction
from laneway.domain.specs.refusal import why_not
from laneway.domain.tracking.host_view import HostView

RELATIVE_HELD = "relative_held"
SHADOWED = (Status.UNCLAIMABLE, Status.UNAVAILABLE)
GONE = BlockReason("gone", "the host has no such function any more")


def function_views(host: HostView) -> list[FunctionView]:
    """All functions of the host, and devices that it does not have: held ones, and VFs whose PF is prepared.

    In order of address.
    """
    functions = host.report.inventory.by_address
    tracked = set(host.addresses())
    views = {
        address: FunctionView(
            function=function,
            device=_device_view(host, address) if address in tracked else None,
            not_admitted=() if address in tracked else _not_admitted(host, function),
        )
        for address, function in functions.items()
    }
    for address, device in host.held.items():
        if address not in views:
            views[address] = FunctionView(function=device.function, device=_device_view(host, address, GONE))
    for address, device in host.placeholders.items():
        views[address] = FunctionView(function=device.function, device=_device_view(host, address))
    return [views[address] for address in sorted(views)]


def _device_view(host: HostView, address: PciAddress, *more: BlockReason) -> DeviceView:
    device = host.device(address)
    assert device is not None
    status = host.status_of(address)
    if status in SHADOWED:
        more = (_shadow(host, address), *more)
    return DeviceView(
        status=status,
        consumer=device.consumer,
        claim=device.claim,
        tags=device.tags,
        entry=device.entry,
        blocked_by=(*host.blocked_by(address), *more),
    )


def _shadow(host: HostView, address: PciAddress) -> BlockReason:
    """Which relative is held, and by whom: a PF or VF of it, or a member of its IOMMU group."""
    first, *others = sorted(host.index.cohort_of[address].holders_beside(address), key=lambda held: held.address)
    more = f", and {len(others)} more are held" if others else ""
    return BlockReason(RELATIVE_HELD, f"its relative {first.address} is {first.standing}{more}", str(first.address))


def _not_admitted(host: HostView, function: PciFunction) -> tuple[BlockReason, ...]:
    """Why a spec that fits does not admit it, or why none could. That none fits goes without saying."""
    inventory, specs = host.report.inventory, host.report.specs
    parent = inventory.by_address.get(function.parent_addr) if function.parent_addr is not None else None
    if function.is_bridge or not (
        function.address.domain > MAX_ASSIGNABLE_DOMAIN or (specs.specs and specs.fitting(function, parent))
    ):
        return ()
    return tuple(BlockReason(refusal.code, refusal.message) for refusal in why_not(function, parent, specs))
