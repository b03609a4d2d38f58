"""What the tests of stores share."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

IN_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def quick_folder() -> Iterator[Path]:
    """A folder for tests of thousands of transactions, in memory where there is such a place.

    Waiting for the disk proves nothing there: what a killed process wrote is in the kernel's hands.
    """
    base = IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as folder:
        yield Path(folder)
