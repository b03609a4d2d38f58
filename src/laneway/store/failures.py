"""What is told of a database that cannot be used. Imports nothing that is slow: the quick read tells it too."""

from pathlib import Path

from laneway.domain.errors import ErrorCode, LanewayError


def unreachable(database: str, reason: str) -> LanewayError:
    """The error for a database that cannot be used now, with what to do about it."""
    return LanewayError(
        ErrorCode.DATABASE_UNREACHABLE,
        f"the database {database} cannot be used: {reason}; {_remedy(reason)}",
        {"database": database, "reason": reason},
    )


def foreign(database: str, table: str) -> LanewayError:
    """The error for a database that has tables but no revision: it is something else's."""
    return unreachable(database, f"not a database of Laneway (it has a table {table!r})")


def refuse_folder(path: Path) -> None:
    """Raises LanewayError(database_unreachable) where there is a folder in the place of the file."""
    if path.is_dir():
        raise unreachable(str(path), "it is a folder")


def no_permission(path: Path) -> LanewayError:
    """The error for a database that this user may not use."""
    return LanewayError(
        ErrorCode.NO_PERMISSION,
        f"this user may not read and write the database {path}; run it as the owner of the file, "
        "or give another one as state.path",
        {"database": str(path)},
    )


def _remedy(reason: str) -> str:
    for sign, remedy in _REMEDIES.items():
        if sign in reason:
            return remedy
    return "look at the file and its folder, or give another one as state.path"


_REMEDIES = {
    "is a folder": "name a file in it",
    "locked": "another process has been writing for too long: look who has the file open, then try again",
    "readonly": "its folder and file must be writable for this user",
    "unable to open": "its folder must exist and be writable for this user",
    "full": "make room on the file system, then try again",
    "not a database": "give another file as state.path, or put a backup in its place",
    "malformed": "put a backup in its place (laneway db backup makes them)",
}
