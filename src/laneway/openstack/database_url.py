"""The URL of nova's database, as ``[database]connection`` of a nova.conf has it. Its password is never said."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from laneway.domain.errors import ErrorCode, LanewayError

SQLITE: Final = "sqlite"

_KINDS = {"mysql": "mysql", "mariadb": "mysql", "postgresql": "postgresql", "postgres": "postgresql", SQLITE: SQLITE}
_ADVISED = {"mysql": "pymysql", "postgresql": "psycopg"}
_PACKAGES = {
    "pymysql": "pymysql",
    "mysqldb": "mysqlclient",
    "psycopg": "'psycopg[binary]'",
    "psycopg2": "psycopg2-binary",
}
"""The package of each driver that is known to do, as pip calls it."""

_CONNECT_TIMEOUT = 10
"""Seconds. The drivers named above call it alike; that of PostgreSQL would wait for minutes."""

_FORM = (
    "write it as nova.conf has it in [database]connection, such as"
    " mysql+pymysql://reader:PASSWORD@HOST/nova_cell1, with %40 for @, %2F for / and %3A for : in the password"
)


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A URL of a database that nova can have. ``kind``: mysql (MariaDB too), postgresql or sqlite."""

    url: URL
    kind: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises LanewayError: usage, database_unreachable for a file that is not there."""
        try:
            url = _made(text.strip())
            kind = _KINDS.get(url.get_backend_name())
        except (ArgumentError, ValueError):
            raise LanewayError(ErrorCode.USAGE, f"this is no URL of a database; {_FORM}") from None
        if kind is None:
            message = f"nova has no database of the kind {url.get_backend_name()!r}; {_FORM}"
            raise LanewayError(ErrorCode.USAGE, message, {"driver": url.drivername})
        if kind == SQLITE:
            return cls(_of_existing_file(url), kind)
        return cls(_with_dialects_name(url).difference_update_query(["plugin"]), kind)

    @property
    def shown(self) -> str:
        """Without the password, and without what follows the ``?``, which may hold another."""
        return self.url.set(query={}).render_as_string(hide_password=True)

    @property
    def suspects(self) -> str:
        """What may be wrong in it where the database cannot be opened."""
        options = ", and at what follows the ?" if self.url.query else ""
        return f"look at the host, the port, the name of the database, the user and the password{options}"

    @property
    def connect_args(self) -> Mapping[str, object]:
        """What the driver is told beside the URL."""
        if self._driver not in _PACKAGES or "connect_timeout" in self.url.query:
            return {}
        return {"connect_timeout": _CONNECT_TIMEOUT}

    def reason(self, error: Exception) -> str:
        """What the driver says, in one line; not even what it quotes has a password."""
        cause = getattr(error, "orig", None)
        numbered = cause is not None and len(cause.args) == 2 and isinstance(cause.args[0], int)
        said = cause.args[1] if cause is not None and numbered else cause or error
        text = " ".join(str(said).split()) or type(error).__name__
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def without_driver(self) -> LanewayError:
        """What is to be installed where the driver is missing, or is none that can be used here."""
        advised = _ADVISED[self.kind]
        driver, package = self._driver, _PACKAGES.get(self._driver)
        other = f"write {self.url.get_backend_name()}+{advised}:// and install that: pip install {_PACKAGES[advised]}"
        if package is None:
            message = f"{self.shown}: Laneway cannot use the driver {driver}; {other}"
        else:
            message = (
                f"{self.shown}: the driver {driver} is not installed; install it beside Laneway: pip install {package}"
            )
            message += "" if driver == advised else f"; or {other}"
        return LanewayError(ErrorCode.USAGE, message, {"driver": driver, "package": package or _PACKAGES[advised]})

    @property
    def _driver(self) -> str:
        """That of a URL that names none is the dialect's own choice."""
        _, _, named = self.url.drivername.partition("+")
        return named or self.url.get_driver_name()

    @property
    def _secrets(self) -> tuple[str, ...]:
        query = [value for key, value in self.url.normalized_query.items() if "pass" in key.lower()]
        return tuple(filter(None, (self.url.password, *(one for values in query for one in values))))


def _made(text: str) -> URL:
    """Raises ValueError where an ``@`` of the password would end it, so that its rest were taken for the host."""
    _, _, with_password = text.partition("://")[2].partition(":")
    if with_password.count("@") > 1:
        raise ValueError
    return make_url(text)


def _with_dialects_name(url: URL) -> URL:
    """``postgres`` was once another name of ``postgresql``, and stands in old files."""
    backend, plus, driver = url.drivername.partition("+")
    return url.set(drivername=f"postgresql{plus}{driver}") if backend == "postgres" else url


def _of_existing_file(url: URL) -> URL:
    """SQLite would make a file that is missing; this way it is opened for reading only (sqlite.org/uri.html)."""
    if not url.database or not Path(url.database).is_file():
        message = f"there is no database {url.database!r}; name the file of one"
        raise LanewayError(ErrorCode.DATABASE_UNREACHABLE, message, {"database": url.database})
    file = Path(url.database).absolute().as_uri()
    return url.set(drivername=SQLITE, database=file, query={"mode": "ro", "uri": "true"})
