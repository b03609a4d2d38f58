"""From how a port is bound to how it shall be, one step at a time: between two of them it is looked at again.

Everything follows from what is wished and what is seen, so it does not matter where an earlier
attempt has ended, or whose it was.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.network import BindingRecord, NetworkPort, Profile, StandbyBinding, is_plugged
from laneway.network.binding_profile import BOUND_KEYS, without_binding
from laneway.network.port_steps import (
    Activate,
    AddStandby,
    Bind,
    ChangeStandby,
    DeleteStandby,
    RenewMac,
    Step,
    Take,
    Unbind,
)
from laneway.network.ports import NEED_DEVICES, VnicType
from laneway.network.wished_bindings import WishedBinding

_OF_OTHERS = frozenset({"allocation", "arq_uuid"})
"""Keys that a binding ends with, too, but that others write: Placement's choice, Cyborg's request (rule C78)."""


_OVN_NEEDS = ("card_serial_number", "pf_mac_address", "vf_num")
"""What OVN wants to know of a remote-managed port's device beside what every profile has (rule C75)."""


class Standing(Enum):
    """Why there is no next step: all is as it shall be, or another host has to do something first."""

    DONE = "done"
    WAITS = "waits"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPort:
    """What Neutron has of one port, seen from a host.

    ``standbys`` are its further bindings, ``rivals`` other ports on the host with the same device,
    ``same_mac`` other ports of its network with the MAC that the device brings along.
    ``elsewhere``: its VM needs it bound on another host; ``handled_on`` are the other hosts where it is recorded.
    """

    port: NetworkPort
    standbys: Sequence[StandbyBinding] = ()
    rivals: Sequence[NetworkPort] = ()
    same_mac: Sequence[NetworkPort] = ()
    elsewhere: bool = False
    handled_on: frozenset[str] = frozenset()

    def standby_on(self, host: str) -> StandbyBinding | None:
        """Its standby binding on a host."""
        return next((binding for binding in self.standbys if binding.host == host), None)


def next_step_to_bind(wish: WishedBinding, record: BindingRecord | None, seen: SeenPort | None) -> Step | Standing:
    """What is to be done next for a port that shall be bound.

    ``record`` is what is known of earlier attempts on the host. Raises LanewayError where nothing can be
    done: unknown_port, port_in_use, port_binding_failed, or the wish's own problem.
    """
    if seen is None:
        raise wish.problem or _unknown_port(wish.port)
    port = seen.port
    has_another_device = port.host == wish.host and port.slot != str(wish.device.address)
    problem = wish.problem or _unfit(wish, port) or _in_the_way(wish, seen)
    if problem is not None:
        if has_another_device and port.device_id == wish.consumer:
            return Unbind(without_binding(port.profile))  # it is another's, who may wait for it
        raise problem
    profile = bound_profile(port.profile, wish.profile or {})
    if port.host == wish.host:
        if port.device_id != wish.consumer:
            return Take(wish.consumer)
        if is_plugged(port.vif_type) and agree(port.profile, profile):
            return Standing.DONE
        return Bind(wish.host, profile)
    return _from_elsewhere(wish, record, seen)


def next_step_to_unbind(record: BindingRecord, host: str, seen: SeenPort | None) -> Step | Standing:
    """What is to be done next for a port that was bound on a host and shall not be.

    What has become somebody else's is left alone. A port that shall be bound on another host is taken over there first.
    """
    if seen is None:
        return Standing.DONE
    port = seen.port
    if seen.standby_on(host) is not None:
        return DeleteStandby(host)
    has_its_device = port.device_id is None and port.slot == str(record.address)
    if port.host == host and (port.device_id == record.consumer or has_its_device):
        if seen.elsewhere:
            return Standing.WAITS
        if seen.standbys:
            return DeleteStandby(seen.standbys[0].host)
        return Unbind(without_binding(port.profile))
    mac = record.profile.get("device_mac_address")
    if port.host is None and port.device_id is None and mac is not None and port.mac_address == mac:
        return RenewMac()
    if port.host is None and port.device_id == record.consumer:
        return Standing.WAITS if seen.elsewhere else Unbind(without_binding(port.profile))
    return Standing.DONE


def bound_profile(before: Profile, wished: Profile) -> Profile:
    """The whole profile of a bound port: a write replaces all of it, so what others have put in is repeated."""
    kept = {key: value for key, value in before.items() if key not in BOUND_KEYS or key in _OF_OTHERS}
    return {**kept, **wished}


def agree(there: Profile, wished: Profile) -> bool:
    """Whether a profile is of the wished device. What only one of the two knows is no difference.

    Of a running guest's device less can be found out than before, or after, it started, and to bind the port again
    would take it from the network for a while.
    """
    return there.get("pci_slot") == wished["pci_slot"] and all(
        there[key] == wished[key] for key in there.keys() & wished.keys()
    )


def _from_elsewhere(wish: WishedBinding, record: BindingRecord | None, seen: SeenPort) -> Step | Standing:
    """The active binding is on another host, or nowhere."""
    port, profile = seen.port, wish.profile or {}
    if wish.is_active and port.device_id is None:
        return Take(wish.consumer)
    standby = seen.standby_on(wish.host)
    if standby is not None:
        if not agree(standby.profile, whole := bound_profile(standby.profile, profile)):
            return ChangeStandby(wish.host, whole)
        if not wish.is_active:
            return Standing.DONE
        return Activate(wish.host)
    if not wish.is_active:
        if port.host is None:
            return Standing.WAITS
        return AddStandby(wish.host, bound_profile(port.profile, profile))
    is_of_others = port.host is not None and port.host not in seen.handled_on
    if record is not None and record.is_bound and is_of_others:
        raise _in_use(port, f"was bound on {wish.host}, and somebody has bound it on {port.host}", wish)
    return Bind(wish.host, bound_profile(port.profile, profile))


def _unfit(wish: WishedBinding, port: NetworkPort) -> LanewayError | None:
    """Why the port cannot have the device, or is another VM's; None where neither is so."""
    if port.vnic_type not in NEED_DEVICES:
        return LanewayError(
            ErrorCode.PORT_BINDING_FAILED,
            f"port {port.id} is of vnic_type {port.vnic_type}, to which no PCI device is bound;"
            f" make it one of {', '.join(NEED_DEVICES)}",
            {"port": port.id, "vnic_type": port.vnic_type},
        )
    missing = [key for key in _OVN_NEEDS if key not in (wish.profile or {})]
    if port.vnic_type == VnicType.REMOTE_MANAGED and missing:
        return LanewayError(
            ErrorCode.PORT_BINDING_FAILED,
            f"the device {wish.device.address} of the remote-managed port {port.id} lacks {', '.join(missing)}, without"
            " which OVN does not bind it; see whether the PF's netdev and the card's VPD can be read on the host",
            {"port": port.id, "address": str(wish.device.address), "missing": missing},
        )
    if port.device_id not in (None, wish.consumer):
        return _in_use(port, f"is a port of {port.device_id} already", wish)
    return None


def _in_the_way(wish: WishedBinding, seen: SeenPort) -> LanewayError | None:
    """Another port that has the device, which Neutron would not notice, or its MAC, with which it would hang."""
    if seen.rivals:
        rival = seen.rivals[0]
        fault = f"cannot have {wish.device.address}, which port {rival.id} of {rival.device_id} has on {wish.host}"
        return _in_use(seen.port, fault, wish, rival)
    if seen.same_mac:
        rival = seen.same_mac[0]
        fault = f"cannot have {rival.mac_address}, the MAC of {wish.device.address}, which port {rival.id} has"
        return _in_use(seen.port, f"{fault}: delete that port, or give it another MAC", wish, rival)
    return None


def _in_use(port: NetworkPort, fault: str, wish: WishedBinding, rival: NetworkPort | None = None) -> LanewayError:
    detail = {"port": port.id, "consumer": wish.consumer, "host": wish.host, "address": str(wish.device.address)}
    named = {} if rival is None else {"rival": rival.id}
    return LanewayError(ErrorCode.PORT_IN_USE, f"port {port.id} {fault}", detail | named)


def _unknown_port(port: str) -> LanewayError:
    message = f"Neutron has no port {port}; it was deleted, or the user may not see it"
    return LanewayError(ErrorCode.UNKNOWN_PORT, message, {"port": port})
