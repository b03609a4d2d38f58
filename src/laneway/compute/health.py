"""Devices that are ill are taken out of use by themselves, with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from laneway.compute.managed_host import ManagedHost
from laneway.contracts.changes import Change
from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason
from laneway.domain.errors import LanewayError
from laneway.domain.tracking.health import Health, unhealthy
from laneway.domain.tracking.host_view import HostView
from laneway.interfaces.host_changes import HealthReadingHostDriver


@runtime_checkable
class _ReadsHealth(HealthReadingHostDriver, Protocol):
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Which devices have become ill, and the counts of fatal errors to compare with next time."""

    ill: Mapping[PciAddress, BlockReason]
    fatal_errors: Mapping[PciAddress, int]


def examine(host: ManagedHost, view: HostView) -> Findings:
    """Looks at the tracked devices that are not out of use already. Reads only."""
    driver, before = host.changer.driver, host.journal.state().fatal_errors
    if not isinstance(driver, _ReadsHealth):
        return Findings(ill={}, fatal_errors=before)
    now = driver.health(sorted(view.addresses()))
    earlier = {address: Health(fatal_errors=count) for address, count in before.items()}
    return Findings(
        ill={address: reason for address, reason in unhealthy(earlier, now).items() if address not in view.marks},
        fatal_errors={a: health.fatal_errors for a, health in now.items() if health.fatal_errors is not None},
    )


def take_out_of_use(host: ManagedHost, found: Findings) -> tuple[Change, ...]:
    """Blocks what is ill, and remembers the counts once that is done; for whoever may change the host."""
    changes = []
    for address, reason in sorted(found.ill.items()):
        try:
            host.plane.block(host.name, address, reason.code, reason.message, reason.detail)
        except LanewayError as error:
            changes.append(Change(address=address, error=error))
        else:
            changes.append(Change(address=address, note=f"taken out of use: {reason.message}"))
    if not any(change.error for change in changes):
        host.changer.remember(replace(host.journal.state(), fatal_errors=found.fatal_errors))
    return tuple(changes)
