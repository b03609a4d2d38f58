"""A state that outlives the boots of the host: the test host carries it from one to the next."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vm.commands import Laneway

_CARRIED = Path("/job/carried")
CONFIG = Path(__file__).with_name("reboots.toml")


@contextmanager
def carried_laneway(folder: Path) -> Iterator[Laneway]:
    """The command line over the state of the boot before; what it is in the end the next boot has."""
    state = folder / "state"
    shutil.copytree(_CARRIED, state)
    yield Laneway(config=CONFIG, database=state / "laneway.db")
    shutil.copytree(state, _CARRIED, dirs_exist_ok=True)
