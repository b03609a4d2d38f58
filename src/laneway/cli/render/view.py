"""What the renderers are given: a host's functions with what Laneway makes of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from laneway.domain.device import BlockReason, Status, TagValue
from laneway.domain.inventory import PciFunction

Names = Callable[[str, str], str | None]
"""The name of a device by vendor and product id, or None where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceView:
    """A tracked device, with the status that conflicts make of it."""

    status: Status
    consumer: str | None = None
    claim: str | None = None
    tags: Mapping[str, TagValue] = field(default_factory=dict)
    entry: int | None = None
    blocked_by: tuple[BlockReason, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionView:
    """A function; ``not_admitted`` says why it is no device, where more is to be said than that no spec matches."""

    function: PciFunction
    device: DeviceView | None = None
    not_admitted: tuple[BlockReason, ...] = ()
