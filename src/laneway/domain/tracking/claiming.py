"""What is asked of a claim before devices are chosen for it, and how it is refused."""

import re
from dataclasses import replace

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import ClaimRecord

MAX_CONSUMER_LENGTH = 255
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
"""PostgreSQL keeps no NUL, and half a surrogate pair has no UTF-8."""


def check_claim(request: ClaimRequest) -> None:
    """Raises LanewayError(invalid_request) for a claim that no host could grant or store."""
    if not request.requests:
        raise LanewayError(ErrorCode.INVALID_REQUEST, "a claim needs at least one request", {"claim": request.claim})
    for what, text in (("consumer", request.consumer), ("claim id", request.claim)):
        if not 0 < len(text) <= MAX_CONSUMER_LENGTH:
            raise LanewayError(
                ErrorCode.INVALID_REQUEST,
                f"the {what} has {len(text)} characters; it needs 1 to {MAX_CONSUMER_LENGTH}",
                {"value": text[:MAX_CONSUMER_LENGTH]},
            )
        if not text.strip():
            raise LanewayError(
                ErrorCode.INVALID_REQUEST,
                f"the {what} {text!r} is blank; give it a name that can be seen",
                {"value": text},
            )
    for text in (request.consumer, request.claim, *(wanted.name for wanted in request.requests)):
        if _NOT_STORABLE.search(text):
            raise LanewayError(
                ErrorCode.INVALID_REQUEST,
                f"the name {text!r} has a character that no database keeps; leave NUL and half surrogate pairs out",
                {"value": text},
            )


def same_claim(known: ClaimRecord, request: ClaimRequest) -> ClaimRecord:
    """The claim that a repeated id stands for: of what was freed since, nothing is in it any more.

    Raises LanewayError(claim_conflict) where the content is another.
    """
    if _content(known.request) != _content(request):
        raise LanewayError(
            ErrorCode.CLAIM_CONFLICT,
            f"claim {request.claim} exists, of {known.request.consumer} and with other content; "
            "choose another id, or free that claim first",
            {"claim": request.claim, "consumer": known.request.consumer},
        )
    return known


def no_choice(request: ClaimRequest, *, exhausted: bool) -> LanewayError:
    """The refusal of a claim for which no devices were found."""
    detail = {"consumer": request.consumer, "requests": [wanted.name for wanted in request.requests]}
    if exhausted:
        return LanewayError(
            ErrorCode.SEARCH_EXHAUSTED,
            "no choice of devices was found within the bound of the search, which is no proof that there is none; "
            "ask for less at once, or with fewer constraints",
            detail,
        )
    return LanewayError(ErrorCode.DOES_NOT_FIT, "no choice of devices on this host satisfies the claim", detail)


def _content(request: ClaimRequest) -> ClaimRequest:
    """What was asked for: an alias by its name, whatever it stands for by now (rule C68)."""
    requests = (replace(one, alternatives=()) if one.alias is not None else one for one in request.requests)
    return replace(request, requests=tuple(requests))
