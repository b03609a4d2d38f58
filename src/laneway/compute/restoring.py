"""After a boot: devices that were prepared before are prepared again, before their VMs start."""

from laneway.compute.managed_host import ManagedHost, is_allocated_to
from laneway.compute.preparing import carry_out, orders
from laneway.compute.taken import prepared_now
from laneway.compute.vf_counts import restore_vf_counts
from laneway.contracts.changes import Change, Changes
from laneway.domain.address import PciAddress
from laneway.domain.errors import LanewayError
from laneway.domain.tracking.blocking import is_vfio_driver
from laneway.domain.tracking.drift import NOT_RESTORED, Drift
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.journal import JournalState, PreparedDevice


def restore(host: ManagedHost) -> Changes:
    """Gives PFs their VFs again, and allocated devices that an earlier boot prepared to their consumers.

    Each on its own: what cannot be restored stands in the answer with its error. In a boot in which that was
    done already it does nothing. Raises LanewayError: host_busy, and what keeps the host from being read.
    """
    with host.changer.changing():
        counts = restore_vf_counts(host.changer)
        view = host.settled()
        state = host.journal.state()
        waiting = [device for address, device in sorted(state.prepared.items()) if not _stands(view, state, address)]
        return Changes(host=host.name, of=(*counts, *(_prepared_again(host, view, device) for device in waiting)))


def not_restored(state: JournalState, view: HostView) -> tuple[Drift, ...]:
    """What an earlier boot prepared for its owner, and this one has not."""
    boot_id = view.report.inventory.boot_id
    return tuple(
        Drift(
            NOT_RESTORED,
            address,
            f"it was prepared for {device.consumer} before the boot; laneway restore does it again",
        )
        for address, device in sorted(state.prepared.items())
        if boot_id not in (None, device.boot_id) and is_allocated_to(view.held.get(address), device.consumer)
    )


def _stands(view: HostView, state: JournalState, address: PciAddress) -> bool:
    """Whether it is prepared as it was; where the host tells no boot, its driver tells."""
    function = view.report.inventory.by_address.get(address)
    is_with_guests_driver = function is not None and function.driver is not None and is_vfio_driver(function.driver)
    return address in prepared_now(state) and (view.report.inventory.boot_id is not None or is_with_guests_driver)


def _prepared_again(host: ManagedHost, view: HostView, device: PreparedDevice) -> Change:
    address = device.address
    settings = {} if device.vf_settings is None else {address: device.vf_settings}
    try:
        (change,) = carry_out(host, view, orders(host, view, device.consumer, [address], settings))
    except LanewayError as error:
        return Change(address=address, error=error)
    return change
