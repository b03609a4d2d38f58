"""Laneway with the real Neutron and OVN: remote-managed ports, whose network side is on a DPU (rule C75).

OVN's driver writes to the database in threads of its own, and SQLite has one writer: a request may be answered with
500 though it was done. So it is looked at how ports stand, not at the steps that it took.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from random import randrange
from uuid import uuid4

import pytest

from fleet.port_scenarios import port_of
from fleet.port_town import Town
from interfaces.real_neutron import RealCloud, RealNeutron, real_cloud
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.network import Profile
from laneway.store.memory import MemoryStore

NEUTRON = RealNeutron(os.environ["LANEWAY_TEST_NEUTRON_OVN"], Path(os.environ["LANEWAY_TEST_NEUTRON_OVN_DATA"]))
SCRIPT = Path(__file__).with_name("ovn.sh")


def chassis(kind: str, *serial: str) -> str:
    """A new host that OVN knows, by its name."""
    name, number = f"{kind}-{uuid4().hex[:6]}", randrange(1 << 17)
    address = str(ip_address("198.18.0.0") + number)
    subprocess.run([SCRIPT, "chassis", NEUTRON.folder / "ovn", name, address, *serial], check=True)
    return name


@pytest.fixture(scope="module")
def serial() -> str:
    """Of the card in a DPU, which OVN knows."""
    serial = f"MT{uuid4().hex[:6]}"
    chassis("dpu", serial)
    return serial


@pytest.fixture(scope="module")
def host() -> str:
    """A hypervisor."""
    return chassis("node")


@pytest.fixture
def cloud() -> Iterator[RealCloud]:
    with real_cloud(NEUTRON) as cloud:
        yield cloud


def bind(cloud: RealCloud, port: str, host: str, profile: Profile) -> None:
    for _ in range(3):
        with suppress_failures():
            cloud.service.bind(port_of(cloud, port), host, profile)
            return


@contextmanager
def suppress_failures() -> Iterator[None]:
    """Those of Neutron's own, of which the module tells."""
    try:
        yield
    except LanewayError as error:
        if error.code is not ErrorCode.NEUTRON_UNREACHABLE:
            raise


def test_c75_a_remote_managed_port_is_bound_with_all_six_keys(cloud: RealCloud, host: str, serial: str) -> None:
    """C75, C76: on the DPU with that serial number, for the host of the VM."""
    town = Town(MemoryStore(), cloud.service, (host,), serial=serial)
    port = cloud.add_port("remote-managed")
    town.start("vm1", port, vnic_type="remote-managed")
    town.keep()
    bound = port_of(cloud, port)
    assert (bound.host, bound.vif_type) == (host, "ovs")
    assert bound.profile == {
        "pci_vendor_info": "15b3:101e",
        "pci_slot": "0000:83:00.1",
        "physical_network": "physnet1",
        "card_serial_number": serial,
        "pf_mac_address": "b4:96:91:00:00:03",
        "vf_num": 3,
    }
    town.free("vm1")
    town.keep()
    assert (port_of(cloud, port).host, dict(port_of(cloud, port).profile)) == (None, {})


def test_c76_a_card_that_ovn_does_not_know_is_a_failure_of_that_port_alone(
    cloud: RealCloud, host: str, serial: str
) -> None:
    """C76: Neutron answers 500, which says nothing; the others are bound all the same."""
    unknown, known = (Town(MemoryStore(), cloud.service, (host,), serial=each) for each in ("MT-NOWHERE", serial))
    ports = [cloud.add_port("remote-managed") for _ in range(2)]
    unknown.start("vm1", ports[0], vnic_type="remote-managed")
    (error,) = unknown.kept().errors
    assert (error.code, error.detail["status"]) == (ErrorCode.NEUTRON_UNREACHABLE, 500)
    assert unknown.waited == [0.5, 1, 2]
    record = unknown.store.binding_records(host)[ports[0]]
    assert (record.is_bound, record.attempts) == (False, 1)
    unknown.free("vm1")
    unknown.keep()
    assert port_of(cloud, ports[0]).host is None
    known.start("vm2", ports[1], vnic_type="remote-managed")
    known.keep()
    assert port_of(cloud, ports[1]).vif_type == "ovs"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param({"vf_num": "3"}, "invalid type|Invalid", id="a number as text"),
        pytest.param({"card_serial_number": None}, "invalid type|Invalid|required", id="no serial number"),
    ],
)
def test_c75_ovn_wants_each_key_with_its_type(
    change: dict[str, object], complaint: str, cloud: RealCloud, host: str, serial: str
) -> None:
    """C75: so the number of a VF goes over the wire as a number."""
    full = {
        "pci_vendor_info": "15b3:101e",
        "pci_slot": "0000:83:00.1",
        "physical_network": None,
        "card_serial_number": serial,
        "pf_mac_address": "b4:96:91:00:00:03",
        "vf_num": 3,
    }
    port = cloud.add_port("remote-managed")
    with pytest.raises(LanewayError, match=complaint) as caught:
        bind(cloud, port, host, full | change)
    assert caught.value.code is ErrorCode.NEUTRON_REFUSED
    bind(cloud, port, host, full)
    assert port_of(cloud, port).vif_type == "ovs"
