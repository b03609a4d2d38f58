"""Problems of a config file, worded alike."""

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
