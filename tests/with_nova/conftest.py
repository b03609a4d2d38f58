"""nova's own code in its own environment, which ``make bench`` and ``make test-nova`` make."""

import os
from pathlib import Path

import pytest

NOVA = Path(__file__).parents[2] / "bench/.venv-nova/bin/python"
IS_THERE = os.name == "posix" and NOVA.exists()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """nova needs other releases than Laneway does: it is there only where its environment was made."""
    return None if IS_THERE else True


def pytest_report_header(config: pytest.Config) -> str:
    return f"nova: {NOVA}" if IS_THERE else "nova is not installed, so nothing here is run: use make test-nova"


@pytest.fixture(scope="session")
def nova_python() -> Path:
    return NOVA
