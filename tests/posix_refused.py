"""Modules that Windows' Python does not have: no module of ours may import one, but for the Linux driver's."""

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

REFUSED = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
OURS = "laneway."
OF_LINUX = "laneway.hosts.linux."


def refuse_posix_modules() -> None:
    """From now on a module of ours that imports one of them, wherever it does so, gets an ImportError."""
    real_import = builtins.__import__

    def refusing(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        importer = f"{(globals or {}).get('__name__')}."
        if name.partition(".")[0] in REFUSED and importer.startswith(OURS) and not importer.startswith(OF_LINUX):
            raise ImportError(f"{importer[:-1]} imports {name}, which Windows does not have")
        return real_import(name, globals, locals, fromlist or (), level)

    builtins.__import__ = refusing
