"""A machine of its own for each test: no environment, no file outside the test's folder."""

from pathlib import Path

import pytest

from laneway.config import Surroundings


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    """An empty machine with a user who is not root."""
    return Surroundings(environment={}, home=tmp_path / "home", is_root=False, root=tmp_path / "root")
