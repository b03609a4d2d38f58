"""Which versions of the tables there are, and whether this program can use a database's.

Imports nothing that is slow: the quick read asks it too.
"""

from laneway.domain.errors import ErrorCode, LanewayError

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
"""All revisions in ``migrations/versions``, the newest last."""

HEAD = REVISIONS[-1]


def require_head(found: str, database: str) -> None:
    """Refuses a database whose tables are not those of this program.

    Raises LanewayError(database_too_new) or LanewayError(database_too_old).
    """
    if found == HEAD:
        return
    detail = {"database": database, "found": found, "known": HEAD}
    if found in REVISIONS:
        raise LanewayError(
            ErrorCode.DATABASE_TOO_OLD,
            f"the database {database} has tables of revision {found} and this program needs {HEAD}; "
            "make a backup with laneway db backup, then run laneway db upgrade",
            detail,
        )
    raise LanewayError(
        ErrorCode.DATABASE_TOO_NEW,
        f"the database {database} has tables of revision {found}, which this program does not know (it knows up to "
        f"{HEAD}); install the Laneway that wrote it, or give another file as state.path",
        detail,
    )
