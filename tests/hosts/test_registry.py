"""Which driver is found, and why none is."""

import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from contracts.examples import FULL_INVENTORY
from hosts.sysfs_builder import SysfsBuilder
from laneway.contracts.inventory import encode_inventory
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Inventory
from laneway.hosts.linux import LinuxHostDriver, LinuxHostDriverFactory
from laneway.hosts.registry import CaptureReader, installed_drivers, open_driver
from laneway.hosts.snapshot import SnapshotHostDriver
from laneway.interfaces.host_driver import HostDriver

OURS = {
    "hyperv": "laneway.hosts.hyperv:HyperVHostDriverFactory",
    "libvirt": "laneway.hosts.libvirt:LibvirtHostDriverFactory",
    "linux": "laneway.hosts.linux:LinuxHostDriverFactory",
    "snapshot": "laneway.hosts.snapshot:SnapshotHostDriverFactory",
}


class Working:
    """A factory of another package, whose driver works anywhere and reads no captures."""

    def unavailable(self) -> str | None:
        return None

    def __call__(self) -> HostDriver:
        return SnapshotHostDriver(Inventory(functions=(), host="of another package"))


class Failing(Working):
    def unavailable(self) -> str | None:
        return "the moon is in the wrong phase"


class StandingBack(Working):
    stands_back = True

    def __call__(self) -> HostDriver:
        return SnapshotHostDriver(Inventory(functions=(), host="seen through other software"))


class ConnectingTo(Working):
    def connecting_to(self, uri: str) -> HostDriver:
        return SnapshotHostDriver(Inventory(functions=(), host=f"at {uri}"))


class ConnectingInVain(ConnectingTo, Failing):
    pass


WORKING, FAILING, STANDING_BACK, CONNECTING, CONNECTING_IN_VAIN = (
    f"{__name__}:{kind.__name__}" for kind in (Working, Failing, StandingBack, ConnectingTo, ConnectingInVain)
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Makes the search path hold one package with these drivers, and nothing else that has any."""
    monkeypatch.setitem(sys.modules, __name__, sys.modules[__name__])

    def installed(drivers: dict[str, str]) -> None:
        info = tmp_path / "site/other-1.0.dist-info"
        info.mkdir(parents=True)
        lines = ["[console_scripts]", "linux = not.a:driver", "", "[laneway.host_drivers]", "# a comment"]
        lines += [f"{name} = {reference}" for name, reference in drivers.items()]
        (info / "entry_points.txt").write_text("\n".join([*lines, "[other]", "x = y:z"]))
        monkeypatch.setattr(sys, "path", [str(tmp_path / "nowhere"), str(tmp_path / "site")])

    return installed


def refusal(**asked: object) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        open_driver(**asked)  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.HOST_UNREACHABLE
    return caught.value


def test_entry_points_of_the_group_are_found_by_name(install) -> None:  # type: ignore[no-untyped-def]
    install({"linux": f"{OURS['linux']} [extra]", "hyperv": "a.b:C"})
    assert installed_drivers(sys.path) == {"linux": OURS["linux"], "hyperv": "a.b:C"}


def test_the_first_on_the_path_counts(tmp_path: Path) -> None:
    places = []
    for name in ("first", "second"):
        info = tmp_path / name / "p.dist-info"
        info.mkdir(parents=True)
        (info / "entry_points.txt").write_text(f"[laneway.host_drivers]\nlinux = {name}:X\n")
        places.append(str(tmp_path / name))
    assert installed_drivers(places) == {"linux": "first:X"}


def test_what_is_installed_is_what_importlib_finds() -> None:
    assert installed_drivers(sys.path) == {e.name: e.value for e in entry_points(group="laneway.host_drivers")}


def test_the_project_names_its_drivers_and_each_can_be_made() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["laneway.host_drivers"] == OURS


def test_auto_takes_the_first_that_works(install) -> None:  # type: ignore[no-untyped-def]
    install({"b": WORKING, "a": FAILING, "snapshot": OURS["snapshot"]})
    assert open_driver().discover().host == "of another package"


def test_auto_takes_a_second_choice_only_where_nothing_else_works(install) -> None:  # type: ignore[no-untyped-def]
    install({"a": STANDING_BACK, "b": FAILING, "c": WORKING})
    assert open_driver().discover().host == "of another package"
    assert open_driver("a").discover().host == "seen through other software"


def test_auto_takes_a_second_choice_that_is_all_that_works(install) -> None:  # type: ignore[no-untyped-def]
    install({"a": STANDING_BACK, "b": FAILING})
    assert open_driver().discover().host == "seen through other software"


def test_auto_tells_why_none_works(install) -> None:  # type: ignore[no-untyped-def]
    install({"a": FAILING, "snapshot": OURS["snapshot"]})
    error = refusal()
    assert "a: the moon is in the wrong phase" in error.message
    assert "snapshot: it needs an inventory" in error.message
    assert error.detail["reasons"] == {
        "a": "the moon is in the wrong phase",
        "snapshot": "it needs an inventory, which --snapshot FILE names",
    }


def test_without_drivers_there_is_none(install) -> None:  # type: ignore[no-untyped-def]
    install({})
    assert "none is installed" in refusal().message


def test_a_driver_by_name(install) -> None:  # type: ignore[no-untyped-def]
    install({"a": FAILING, "b": WORKING})
    assert open_driver("b").discover().host == "of another package"
    assert "wrong phase" in refusal(name="a").message
    assert "'c'; installed are a, b" in refusal(name="c").message


@pytest.mark.parametrize("name", ["auto", "c"])
def test_a_uri_is_for_the_drivers_that_connect_to_one(install, name: str) -> None:  # type: ignore[no-untyped-def]
    install({"a": WORKING, "b": CONNECTING_IN_VAIN, "c": CONNECTING})
    assert open_driver(name, uri="node-1").discover().host == "at node-1"
    assert open_driver("c").discover().host == "of another package"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("linux", "linux: it reaches no host by a URI"), ("b", "b: the moon is in the wrong phase")],
    ids=["a driver of this machine alone", "a driver that cannot work"],
)
def test_a_uri_that_no_driver_can_reach(install, name: str, reason: str) -> None:  # type: ignore[no-untyped-def]
    install({"linux": WORKING, "b": CONNECTING_IN_VAIN})
    for asked in (name, "auto"):
        assert "no host driver can reach node-1" in refusal(name=asked, uri="node-1").message
        assert reason in refusal(name=asked, uri="node-1").message


def test_a_capture_is_the_host_whatever_the_uri(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_bytes(encode_inventory(FULL_INVENTORY))
    assert open_driver("libvirt", uri="node-1", snapshot=file).discover() == FULL_INVENTORY


def test_a_captured_tree_is_read_by_the_driver_that_can(install, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    install(OURS | {"b": WORKING})
    SysfsBuilder(tmp_path / "tree").function("0000:81:00.0")
    for name in ("auto", "linux"):
        driver = open_driver(name, root=tmp_path / "tree")
        assert isinstance(driver, LinuxHostDriver)
        assert len(driver.discover().functions) == 1


def test_a_tree_that_no_driver_can_read(install, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    install(OURS | {"b": WORKING})
    message = refusal(root=tmp_path).message
    assert f"linux: there is no {tmp_path / 'sys/bus/pci/devices'}" in message
    assert "snapshot: an inventory is a file" in message
    assert "b: it reads no captures" in message


def test_a_tree_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert f"the captured tree {tmp_path / 'nowhere'} does not exist" in refusal(root=tmp_path / "nowhere").message


def test_an_inventory_is_no_captured_tree(tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_text("{}")
    message = refusal(root=file).message
    assert "snapshot: an inventory is read with --snapshot" in message
    assert "hyperv: the file does not begin as a recording of a Windows host" in message


def test_a_snapshot_is_the_host_whatever_the_name(install, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    install(OURS)
    file = tmp_path / "host.json"
    file.write_bytes(encode_inventory(FULL_INVENTORY))
    assert open_driver("linux", snapshot=file).discover() == FULL_INVENTORY


def test_our_factory_is_one_that_reads_captures() -> None:
    assert isinstance(LinuxHostDriverFactory(), CaptureReader)
    assert not isinstance(Working(), CaptureReader)


def test_help_for_a_search_path_that_is_not_there(tmp_path: Path) -> None:
    nowhere: Iterable[str] = [str(tmp_path / "nowhere"), ""]
    assert "x" not in installed_drivers(nowhere)
