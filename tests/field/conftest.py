"""Tests on recorded data that are no part of the project: collected only where the folder is given."""

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if config.getoption("field_data") is None else None
