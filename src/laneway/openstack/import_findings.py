"""What is found to be inconsistent while nova's records are taken over."""

from dataclasses import dataclass
from enum import StrEnum

from laneway.domain.address import PciAddress


class Severity(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """Something is not taken over that may be with a guest: a person has to look at it first."""
    WARNING = "warning"
    """It is taken over, or need not be; a person should look at it."""
    NOTE = "note"
    """nova's records disagree with themselves, and Laneway's cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One inconsistency. ``code`` is stable; ``message`` names the device, the owner, and what is to be done."""

    code: str
    severity: Severity
    message: str
    address: PciAddress | None = None
    consumer: str | None = None
