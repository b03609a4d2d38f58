"""What the process finds around it: environment, home folder, user. Decides where files are looked for."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

CONFIG_VARIABLE = "LANEWAY_CONFIG"
"""The environment variable that names the config file."""

PROGRAM_DATA = "PROGRAMDATA"
"""Windows' own variable, in capitals as Python has all of them there."""

FILE_NAME = "laneway.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The facts that decide which config is found and where the state stands. ``root`` is ``/`` but in tests."""

    environment: Mapping[str, str]
    home: Path
    is_root: bool
    root: Path = Path("/")
    is_windows: bool = False

    @classmethod
    def here(cls) -> Self:
        """Those of this process. Without a notion of root (Windows) the user is none.

        A user without a home folder, as a container may have, is at the root, as after a login.
        """
        effective_user = getattr(os, "geteuid", lambda: None)()
        try:
            home = Path.home()
        except RuntimeError:
            home = Path("/")
        return cls(environment=os.environ, home=home, is_root=effective_user == 0, is_windows=os.name == "nt")

    @property
    def named_config(self) -> Path | None:
        """The file that the environment names; an empty name is none."""
        name = self.environment.get(CONFIG_VARIABLE)
        return Path(name) if name else None

    @property
    def usual_configs(self) -> tuple[Path, ...]:
        """Where a config is looked for that nobody named; the first that exists is used."""
        return (self._system_folder / FILE_NAME, self._user_folder("XDG_CONFIG_HOME", ".config") / FILE_NAME)

    @property
    def state_path(self) -> Path:
        """The folder of the state where the config names none."""
        if self.is_root:
            return self.root / "var" / "lib" / "laneway"
        return self._user_folder("XDG_STATE_HOME", ".local/state")

    def resolve(self, named: str, *, beside: Path) -> Path:
        """A path that the file ``beside`` names: ``~/`` is the home folder, a relative one counts from its folder."""
        if named == "~" or named.startswith("~/"):
            return self.home / named[2:]
        return beside.absolute().parent / named

    @property
    def _system_folder(self) -> Path:
        """Where the configs of all users stand. Windows tells where it keeps what belongs to all of them."""
        if not self.is_windows:
            return self.root / "etc" / "laneway"
        named = Path(self.environment.get(PROGRAM_DATA, ""))
        return (named if named.is_absolute() else self.root / "ProgramData") / "Laneway"

    def _user_folder(self, variable: str, default: str) -> Path:
        """Laneway's folder of this kind; a relative path in the variable does not count (XDG base directories)."""
        named = Path(self.environment.get(variable, ""))
        return (named if named.is_absolute() else self.home / default) / "laneway"
