from pathlib import Path

import pytest

from hosts.host_tree import HostTreeBuilder


@pytest.fixture
def host(tmp_path: Path) -> HostTreeBuilder:
    return HostTreeBuilder(tmp_path)
