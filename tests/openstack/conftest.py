"""What needs the optional libraries of OpenStack is there only with them."""

from importlib.util import find_spec
from pathlib import Path

import pytest

NEED_LIBRARIES = ("test_service.py",)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.name in NEED_LIBRARIES and find_spec("keystoneauth1") is None else None
