"""Whether what stands at an address is still what was claimed there. Pure."""

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.identity import difference
from laneway.domain.inventory import PciFunction


def require_recorded(recorded: PciFunction, found: PciFunction) -> None:
    """Raises LanewayError(wrong_device), with both named, where ``found`` is another function than ``recorded``."""
    different = difference(recorded, found)
    if different is not None:
        raise LanewayError(
            ErrorCode.WRONG_DEVICE,
            f"{found.address} is {_ids(found)}, and what was claimed there is {_ids(recorded)} "
            f"({different}): another card stands at this address; free the claim and claim again",
            {"address": str(found.address), "recorded": _ids(recorded), "found": _ids(found)},
        )


def _ids(function: PciFunction) -> str:
    return f"{function.vendor_id}:{function.product_id}"
