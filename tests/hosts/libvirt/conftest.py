"""What tests of the libvirt driver share."""

import pytest

from hosts.libvirt.fake_libvirt import FakeLibvirt, install


@pytest.fixture
def libvirt(monkeypatch: pytest.MonkeyPatch) -> FakeLibvirt:
    return install(monkeypatch)
