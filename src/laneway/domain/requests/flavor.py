"""The extra spec ``pci_passthrough:alias`` of a flavor, such as ``gpu:2, nic:1`` (rules C66, D23)."""

import re
from collections.abc import Container
from itertools import count as counting

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.request import DeviceRequest, NumaPolicy

_COUNT = re.compile(r"0*[1-9][0-9]*")
_MOST_DIGITS = 18


def parse_flavor(text: str, aliases: Aliases, *, guest_policy: NumaPolicy | None = None) -> tuple[DeviceRequest, ...]:
    """One request for each part of the text, named by its alias: ``gpu``, and ``gpu-2`` if repeated.

    ``guest_policy`` is that of the flavor or image, which beats the alias's (rule C60). Raises
    LanewayError(invalid_request) for a wrong form and LanewayError(unknown_alias), both with the
    part that is meant.
    """
    requests: dict[str, DeviceRequest] = {}
    parts = text.split(",")
    for number, part in enumerate(parts, 1):
        place = f"flavor {text!r}, part {number}" if len(parts) > 1 else f"flavor {text!r}"
        name, count = _name_and_count(part, place)
        alias = aliases.named(name, place)
        unique = _unique(name, requests)
        requests[unique] = DeviceRequest(
            name=unique,
            alternatives=alias.alternatives,
            count=count,
            numa_policy=guest_policy or alias.numa_policy,
            alias=name,
        )
    return tuple(requests.values())


def _name_and_count(part: str, place: str) -> tuple[str, int]:
    name, *counts = (piece.strip() for piece in part.split(":"))
    if not name:
        raise _refusal(place, part, "names no alias")
    if len(counts) != 1:
        raise _refusal(place, part, "has no count" if not counts else "has more than one ':'")
    if not _COUNT.fullmatch(counts[0]):
        raise _refusal(place, part, f"has the count {counts[0]!r}, which is no whole number above 0")
    if len(counts[0]) > _MOST_DIGITS:
        raise _refusal(place, part, f"has a count of {len(counts[0])} digits, which is more than any host has devices")
    return name, int(counts[0])


def _refusal(place: str, part: str, fault: str) -> LanewayError:
    return LanewayError(
        ErrorCode.INVALID_REQUEST,
        f"{place}: {part!r} {fault}; write NAME:COUNT, divided by commas, such as 'gpu:2,nic:1'",
        {"place": place, "value": part},
    )


def _unique(name: str, taken: Container[str]) -> str:
    candidates = (name if number == 1 else f"{name}-{number}" for number in counting(1))
    return next(candidate for candidate in candidates if candidate not in taken)
