"""Laneway's units on a host that systemd has started, after a reboot, with all that they keep from a process."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from laneway.contracts.inventory import decode_inventory
from laneway.domain.inventory import PciFunction
from vm.changing import ON_VFIO, allocated, devices_of, done, prepared, standing, status_of
from vm.commands import Laneway, output_of
from vm.devices import NIC_ON_SWITCH, NIC_PF, NIC_VFS, NVME, disk_of, interface_of
from vm.units import as_the_agent, journal_of, property_of, systemctl

CONFIG = Path("/etc/laneway/laneway.toml")
STATE = Path("/var/lib/laneway")
RESTORE, AGENT, LIBVIRTD = "laneway-restore.service", "laneway-agent.service", "libvirtd.service"


@pytest.fixture
def laneway() -> Laneway:
    return Laneway(config=CONFIG, database=STATE / "laneway.db")


@contextmanager
def config_of(text: str) -> Iterator[None]:
    before = CONFIG.read_text()
    CONFIG.write_text(text)
    try:
        yield
    finally:
        CONFIG.write_text(before)


def when(unit: str, what: str) -> int:
    """When something happened to a unit in this boot, in microseconds."""
    return int(property_of(unit, f"{what}TimestampMonotonic"))


# at boot


def test_devices_are_restored_before_libvirt_and_the_agent_start() -> None:
    assert property_of(RESTORE, "Result") == "success", journal_of(RESTORE)
    restored = when(RESTORE, "ExecMainExit")
    assert 0 < restored <= when(LIBVIRTD, "ExecMainStart")
    assert restored <= when(AGENT, "ExecMainStart")


def test_what_was_prepared_is_prepared_again(laneway: Laneway) -> None:
    """VFs are made, vfio-pci is loaded, functions are bound and VFs have their settings."""
    assert [standing(address) for address in (NVME, *NIC_VFS[:2])] == [ON_VFIO] * 3, journal_of(RESTORE)
    assert {a for a, device in devices_of(laneway).items() if device["prepared"]} == {NVME, *NIC_VFS[:2]}
    assert address_of_vf(1) == "02:00:00:00:00:77"


def address_of_vf(index: int) -> str:
    (link,) = json.loads(output_of("ip", "-details", "-json", "link", "show", "dev", interface_of(NIC_PF)))
    address = link["vfinfo_list"][index]["address"]
    assert isinstance(address, str)
    return address


# the agent


def test_the_agent_is_up_and_feeds_its_watchdog() -> None:
    assert property_of(AGENT, "ActiveState") == "active", journal_of(AGENT)
    assert property_of(AGENT, "WatchdogUSec") == "1min"
    fed = when(AGENT, "Watchdog")
    while when(AGENT, "Watchdog") == fed:
        assert property_of(AGENT, "ActiveState") == "active", journal_of(AGENT)
    assert property_of(AGENT, "NRestarts") == "0"


def test_it_sees_all_that_root_sees(tmp_path: Path) -> None:
    inside, outside = STATE / "inside.json", tmp_path / "outside.json"
    as_the_agent(f"/opt/laneway/bin/laneway capture --output {inside}")
    output_of("/opt/laneway/bin/laneway", "capture", "--output", str(outside))
    assert functions_in(inside) == functions_in(outside)
    assert any(function.vpd or function.device_serial_number for function in functions_in(outside))


def functions_in(path: Path) -> tuple[PciFunction, ...]:
    return decode_inventory(path.read_bytes()).functions


def test_what_is_freed_is_given_back(laneway: Laneway) -> None:
    """A VF loses its settings; a disk goes to no driver of the host."""
    for consumer in ("tagged", "storage", "cut"):
        done(laneway("free", consumer))
    until_available(laneway, NIC_VFS[1], NVME, NIC_ON_SWITCH)
    assert address_of_vf(1) != "02:00:00:00:00:77"
    assert standing(NVME).driver == "vfio-pci"


def test_a_disk_is_formatted_and_the_host_does_not_look_at_it(laneway: Laneway) -> None:
    done(laneway("release", "--device", NVME))
    Path("/dev", disk_of(NVME)).write_bytes(b"what a guest wrote".ljust(4096))
    had_by_a_guest(laneway, NVME, place="disk")
    assert not list(Path("/run/udev/rules.d").glob("*laneway*"))
    assert standing(NVME).driver == "vfio-pci"
    done(laneway("release", "--device", NVME))
    with Path("/dev", disk_of(NVME)).open("rb") as disk:
        assert disk.read(4096) == bytes(4096)


def test_a_vf_is_reset_and_a_command_is_run(laneway: Laneway) -> None:
    had_by_a_guest(laneway, NIC_VFS[1], place="vf")
    had_by_a_guest(laneway, NIC_ON_SWITCH, place="nic")
    assert (STATE / "cleaned").read_bytes()[:2] == b"\x86\x80"


def had_by_a_guest(laneway: Laneway, address: str, **wanted: str) -> None:
    """A guest gets the device and gives it up, and the agent makes it fit for the next one."""
    assert allocated(laneway, "guest", **wanted) == [address]
    prepared(laneway, "guest")
    done(laneway("free", "guest"))
    until_available(laneway, address)


def until_available(laneway: Laneway, *addresses: str) -> None:
    """Waits for the agent, which is told that there is something to do."""
    while any(status_of(laneway, address) != "available" for address in addresses):
        systemctl("reload", AGENT)
        blocked = {a: devices_of(laneway)[a]["blocked_by"] for a in addresses}
        assert not any(blocked.values()), (blocked, journal_of(AGENT))


def test_a_config_that_is_wrong_is_refused_with_its_reasons_and_the_last_good_one_stays() -> None:
    with config_of('[[device_spec]]\nvendor_id = "no"\n'):
        assert systemctl("reload", AGENT) != 0
        assert "vendor_id" in journal_of(AGENT)
        assert property_of(AGENT, "ActiveState") == "active"
    assert systemctl("reload", AGENT) == 0


def test_it_ends_at_once_and_is_no_failure() -> None:
    assert systemctl("stop", AGENT) == 0
    assert (property_of(AGENT, "Result"), property_of(AGENT, "ActiveState")) == ("success", "inactive")


def test_with_a_config_that_is_wrong_it_does_not_start_and_is_not_tried_again() -> None:
    with config_of('[[device_spec]]\nvendor_id = "no"\n'):
        assert systemctl("start", AGENT) != 0
    assert (property_of(AGENT, "ExecMainStatus"), property_of(AGENT, "ActiveState")) == ("78", "failed")
    assert property_of(AGENT, "NRestarts") == "0"
    assert "vendor_id" in journal_of(AGENT)
    assert systemctl("start", AGENT) == 0


# who cannot have a device


def test_a_host_that_lacks_a_device_says_so_and_goes_on(laneway: Laneway) -> None:
    """As at a boot: the state is that of an earlier one, in which a card was there that is not any more."""
    systemctl("stop", AGENT)
    carried = Path("/job/carried")
    for path in carried.iterdir():
        (STATE / path.name).write_bytes(path.read_bytes())
    Path("/sys/bus/pci/devices", NVME, "remove").write_text("1")
    assert systemctl("restart", RESTORE) != 0
    assert property_of(RESTORE, "ExecMainStatus") == "1"
    assert NVME in journal_of(RESTORE)
    assert systemctl("start", AGENT) == 0
