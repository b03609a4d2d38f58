"""Which ports shall be bound where: it follows from the claims, so it is stored nowhere (rules C71, C80, C83)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from laneway.domain.device import PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import ClaimRecord, HostState, MoveKind
from laneway.domain.tracking.displacement import refuse_displaced
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.network import Profile
from laneway.network.binding_profile import binding_profile

_PORT_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Neutron's ids are UUIDs; other requesters are names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WishedBinding:
    """A port as its device's consumer needs it on a host.

    ``is_active`` is false of the destination of a live migration whose guest runs on the source.
    ``profile`` is what a binding writes, None where ``problem`` says why there is none.
    """

    port: str
    host: str
    consumer: str
    device: PciDevice
    is_active: bool = True
    profile: Profile | None = None
    problem: LanewayError | None = None


@dataclass(frozen=True, slots=True)
class _Holder:
    host: str
    device: PciDevice
    claim: ClaimRecord

    @property
    def is_destination(self) -> bool:
        return self.claim.move is not None and not self.claim.move.confirmed

    @property
    def runs_meanwhile(self) -> bool:
        """Whether it is for a guest that runs on where it is until it is here."""
        return self.claim.move is not None and self.claim.move.kind is MoveKind.LIVE

    @property
    def is_allocated(self) -> bool:
        return self.device.status is Status.ALLOCATED


def wished_bindings(states: Mapping[str, HostState]) -> tuple[WishedBinding, ...]:
    """The bindings that follow from what is held on all hosts, by port; of one port at most one is active.

    A port is bound when its device is allocated. While its VM moves, it is bound on the destination
    from the moment on that the devices there are allocated, and on the source until then; of a live
    migration the destination has a standby binding before that (rule C83).
    """
    holders: defaultdict[str, list[_Holder]] = defaultdict(list)
    for host, state in states.items():
        for port, holder in _holders(host, state):
            holders[port].append(holder)
    return tuple(wish for port in sorted(holders) for wish in _wishes(port, holders[port]))


def refuse_ports_in_use(view: HostView, request: ClaimRequest) -> None:
    """Raises LanewayError(port_in_use) where a port has a device already, or stands in the claim twice.

    Neutron does not notice either. A repeated claim is none of these.
    """
    ports = [one.requester for one in request.requests if is_port(one.requester)]
    twice = next((port for port in ports if ports.count(port) > 1), None)
    if twice is not None:
        raise _port_in_use(twice, "stands twice in the claim; name each port once")
    taken = {port: holder for port, holder in _held_by(view) if holder.claim != request.claim}
    for port in ports:
        holder = taken.get(str(port))
        if holder is not None:
            raise _port_in_use(
                str(port),
                f"has {holder.address} already, by claim {holder.claim} of {holder.consumer}; free that first",
            )


def is_port(requester: str | None) -> bool:
    """Whether it is Neutron's id of a port for whom a device is requested."""
    return requester is not None and _PORT_ID.fullmatch(requester) is not None


def _held_by(view: HostView) -> Iterable[tuple[str, PciDevice]]:
    state = HostState(held=view.held, claims=view.claims)
    return ((port, holder.device) for port, holder in _holders("", state))


def _holders(host: str, state: HostState) -> Iterable[tuple[str, _Holder]]:
    for device in state.held.values():
        record = state.claims.get(device.claim or "")
        if record is None or not device.is_owned:
            continue
        for request in record.request.requests:
            if request.name == device.request and request.requester and is_port(request.requester):
                yield request.requester, _Holder(host, device, record)


def _wishes(port: str, holders: list[_Holder]) -> list[WishedBinding]:
    destinations = [holder for holder in holders if holder.is_destination]
    moved = [holder for holder in destinations if holder.is_allocated]
    settled = [holder for holder in holders if holder.is_allocated and not holder.is_destination]
    if len(moved) > 1 or len(settled) > 1:
        problem = _claimed_twice(port, moved if len(moved) > 1 else settled)
        return [_wish(port, holder, problem) for holder in (*settled, *moved)]
    active = next(iter(moved or settled), None)
    if active is None:
        return []
    beforehand = [one for one in destinations if one.runs_meanwhile and one.host != active.host]
    return [_wish(port, active), *(_wish(port, one, is_active=False) for one in beforehand if not moved)]


def _wish(port: str, holder: _Holder, problem: LanewayError | None = None, *, is_active: bool = True) -> WishedBinding:
    profile = None
    try:
        refuse_displaced((holder.device,))
        profile = binding_profile(holder.device) if problem is None else None
    except LanewayError as error:
        problem = error
    return WishedBinding(
        port=port,
        host=holder.host,
        consumer=holder.claim.request.consumer,
        device=holder.device,
        is_active=is_active,
        profile=profile,
        problem=problem,
    )


def _claimed_twice(port: str, holders: list[_Holder]) -> LanewayError:
    claims = ", ".join(f"{holder.claim.request.claim} on {holder.host}" for holder in holders)
    return _port_in_use(port, f"is claimed more than once: by {claims}; free all but one of them")


def _port_in_use(port: str, fault: str) -> LanewayError:
    return LanewayError(ErrorCode.PORT_IN_USE, f"port {port} {fault}", {"port": port})
