"""What the renderers are given: a host's functions with what Laneway makes of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from laneway.domain.device import BlockReason, Status, TagValue
from laneway.domain.inventory import PciFunction


class Names(Protocol):
    """Names by ids; None where one is not known."""

    def vendor(self, vendor_id: str) -> str | None: ...

    def device(self, vendor_id: str, product_id: str) -> str | None: ...

    def class_name(self, class_code: str) -> str | None: ...


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
