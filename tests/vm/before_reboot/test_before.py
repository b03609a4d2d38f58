"""The first of three boots of one host: devices are prepared, and one is cordoned."""

from collections.abc import Iterator

import pytest

from vm.carried import carried_laneway
from vm.changing import ON_VFIO, allocated, devices_of, done, prepared, standing
from vm.commands import Laneway
from vm.devices import GPU, NIC_PF, NIC_VFS, NVME, NVME_WITHOUT_ACS


@pytest.fixture(scope="module")
def laneway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laneway]:
    with carried_laneway(tmp_path_factory.mktemp("boot")) as laneway:
        yield laneway


def test_devices_are_prepared_and_one_is_cordoned(laneway: Laneway) -> None:
    done(laneway("vfs", NIC_PF, "2"))
    assert allocated(laneway, "network", place="vf") == [NIC_VFS[0]]
    done(laneway("cordon", NVME_WITHOUT_ACS))
    assert allocated(laneway, "storage", place="disk") == [NVME]
    for consumer, address in (("network", NIC_VFS[0]), ("storage", NVME)):
        assert address in prepared(laneway, consumer)
        assert standing(address) == ON_VFIO
    done(laneway("cordon", GPU))
    assert {a: d["prepared"] for a, d in devices_of(laneway).items() if d["prepared"]} == {
        NIC_VFS[0]: True,
        NVME: True,
    }
