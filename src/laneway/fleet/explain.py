"""Why a claim is refused, put into the error that refuses it."""

from collections.abc import Iterator
from contextlib import contextmanager

from laneway.contracts.codec import to_plain
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.explanation import sentences
from laneway.domain.tracking.judgement import explain
from laneway.domain.tracking.tracker import PciDeviceTracker


@contextmanager
def explained(tracker: PciDeviceTracker, request: ClaimRequest) -> Iterator[None]:
    """Adds the explanation to a refusal that is raised inside: as data in ``detail``, and in the message."""
    try:
        yield
    except LanewayError as error:
        if error.code is not ErrorCode.DOES_NOT_FIT:
            raise
        explanation = explain(tracker.view, request)
        lines = sentences(explanation)
        raise LanewayError(
            error.code,
            "\n".join((f"{error.message}.", *lines)),
            {**error.detail, "explanation": to_plain(explanation), "sentences": lines},
        ) from error
