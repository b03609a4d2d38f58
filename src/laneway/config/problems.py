"""Problems of a config file, worded alike."""

from collections.abc import Sequence
from difflib import get_close_matches

from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode


def problem(
    place: str,
    fault: str,
    remedy: str,
    *,
    option: str | None = None,
    key: str | None = None,
    value: object = None,
    code: ErrorCode | str = ErrorCode.INVALID_CONFIG,
) -> ConfigProblem:
    """Something wrong at ``place`` (file and line), told with what would be right."""
    return ConfigProblem(code, f"{place}: {fault}; {remedy}", option, None, key, value, remedy, place)


def unusable(place: str, fault: str, remedy: str, code: ErrorCode = ErrorCode.INVALID_CONFIG) -> ConfigError:
    """The error for a file of which nothing can be used."""
    return ConfigError([problem(place, fault, remedy, code=code)])


def suggestion(word: str, known: Sequence[str], otherwise: str) -> str:
    """The remedy for an unknown name: the known one that is near it, if any is."""
    close = get_close_matches(word.lower().replace("-", "_"), known, n=1)
    return f'did you mean "{close[0]}"?' if close else otherwise
