"""The shape of a request's JSON: what is read, and how a refusal names the place and the value."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeGuard, TypeVar

from laneway.domain.config_entry import shown
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tags import nearest_key

PORT_KEYS = ("vnic_type", "physical_network", "numa_policy", "trusted", "id")
"""The keys of a port that a claim is for."""

_Choice = TypeVar("_Choice", bound=StrEnum)


class MalformedRequestError(LanewayError):
    """A request whose JSON has the wrong shape: an unknown or missing key, or a wrong type.

    Its code is invalid_request, as for a request of the right shape that makes no sense.
    """


def choice_at(content: Mapping[str, object], key: str, place: str, choices: type[_Choice]) -> _Choice | None:
    """The choice under a key; None where it is absent or null."""
    text = text_at(content, key, place)
    return None if text is None else member_of(choices, text, f"{place}.{key}")


def member_of(choices: type[_Choice], text: str, place: str) -> _Choice:
    """The choice that a text names. Raises LanewayError(invalid_request) with the nearest one."""
    if text in set(choices):
        return choices(text)
    near = nearest_key(text, choices)
    raise refused(place, text, f"is not known; write '{near}'" if near else f"is not one of {', '.join(choices)}")


def text_at(content: Mapping[str, object], key: str, place: str) -> str | None:
    """The text under a key; None where it is absent or null. Raises MalformedRequestError."""
    value = content.get(key)
    if value is not None and not isinstance(value, str):
        raise malformed(f"{place}.{key}", value, "is not a text")
    return value


def list_of(value: object, place: str, meaning: str) -> list[object]:
    """The value, if it is a list. Raises MalformedRequestError that says what it should be a list of."""
    if not isinstance(value, list):
        raise malformed(place, value, f"is not {meaning}")
    return value


def object_of(value: object, place: str, keys: Sequence[str] | None = None) -> Mapping[str, object]:
    """The value, if it is an object with these keys (None: any). Raises MalformedRequestError."""
    if not isinstance(value, dict):
        raise malformed(place, value, "is not an object")
    for key in value:
        if keys is not None and key not in keys:
            near = nearest_key(key, keys)
            remedy = f"write '{near}'" if near else f"it may have {', '.join(keys)}"
            raise malformed(place, key, f"is an unknown key; {remedy}")
    return value


def is_whole(value: object) -> TypeGuard[int]:
    """Whole numbers only: JSON's true is none, though Python's is."""
    return isinstance(value, int) and not isinstance(value, bool)


def malformed(place: str, value: object, fault: str) -> MalformedRequestError:
    """The refusal of a value for its type or its place."""
    return MalformedRequestError(*_problem(place, value, fault))


def refused(place: str, value: object, fault: str) -> LanewayError:
    """The refusal of a value of the right type for what it says."""
    return LanewayError(*_problem(place, value, fault))


def _problem(place: str, value: object, fault: str) -> tuple[ErrorCode, str, dict[str, object]]:
    return ErrorCode.INVALID_REQUEST, f"{place}: {shown(value)} {fault}", {"place": place, "value": value}
