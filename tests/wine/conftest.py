"""Tests of what calls Windows: collected only where there is one, if only Wine's."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from wine.pci_bus import PciBus


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if sys.platform != "win32" else None


@pytest.fixture
def bus() -> "Iterator[PciBus]":
    """A PCI bus without devices."""
    from wine.pci_bus import PciBus  # noqa: PLC0415 - it can be imported on Windows only

    plugged = PciBus()
    yield plugged
    plugged.clear()
