"""Commands that change a host, from the claim to the host as it was; in words and in JSON."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.changing_host import ChangingHost, changing_host
from cli.conftest import ExampleHost
from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, SOUND
from laneway.domain.address import PciAddress
from laneway.interfaces.host_changes import Prepare
from laneway.store.journal import SqliteJournal, journal_path


@pytest.fixture
def host(
    quick_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[ChangingHost]:
    monkeypatch.chdir(tmp_path)
    with changing_host(quick_folder / tmp_path.name, capsys, monkeypatch) as made:
        yield made


def test_a_device_goes_to_a_guest_and_comes_back_as_it_was(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.done("claim db-1 --alias nic:1", "allocate db-1")
    assert "laneway prepare db-1" in host.run("hostdev", "db-1", "--format", "libvirt").err
    prepared = host.run("prepare", "db-1")
    assert (prepared.status, host.kernel.driver_of(CARD)) == (0, "vfio-pci")
    assert f"{CARD}  prepared (3 steps)" in prepared.out
    assert "Next: start the VM" in prepared.out
    assert f"sys/bus/pci/devices/{CARD}/driver_override" in prepared.err, "how it goes on is told"
    assert host.run("hostdev", "db-1", "--format", "libvirt").err == ""
    freed = host.run("free", "db-1")
    assert "laneway release" in freed.out
    released = host.run("release")
    assert (released.status, f"{CARD}  given back" in released.out) == (0, True)
    assert host.kernel.tree() == before
    assert host.run("release").out == "Nothing is to be given back: no device was freed.\n"


def test_a_vf_that_no_driver_takes_is_not_ready_either(host: ChangingHost) -> None:
    host.done(f"vfs {PF} 1", "claim db-1 --alias vf:1", "allocate db-1")
    note = f"note: {FIRST_VF} has no driver for guests; before the VM starts: laneway prepare db-1\n"
    assert host.run("hostdev", "db-1", "--format", "qemu").err == note
    host.done("prepare db-1")
    assert host.run("hostdev", "db-1", "--format", "qemu").err == ""


def test_what_was_never_prepared_is_free_at_once(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1", "allocate db-1")
    assert "laneway release" not in host.run("free", "db-1").out


def test_every_answer_keeps_to_its_schema(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1,display:1", "allocate db-1")
    planned = host.json("prepare", "prepare", "db-1", "--dry-run")
    assert (planned["dry_run"], planned["ok"], host.kernel.writes) == (True, True, [])
    done = host.json("prepare", "prepare", "db-1")
    assert done["devices"] == planned["devices"]
    assert [device["address"] for device in done["devices"]] == [CARD, DISPLAY]
    assert host.json("release", "release", "db-1", "--dry-run")["consumer"] == "db-1"
    assert host.json("release", "release", "db-1", "--device", DISPLAY)["devices"][0]["ok"]
    assert host.json("release", "release")["devices"] == []
    assert host.json("restore", "restore")["devices"] == []
    assert host.json("failure", "clean", CARD, status=1)["error"]["code"] in ("not_supported", "invalid_status")
    assert host.json("vfs", "vfs")["pfs"][0]["num_vfs"] == 0
    assert host.json("vfs", "vfs", PF, "2")["change"]["ok"]
    assert host.json("vfs", "vfs", PF)["pfs"][0]["kept"] == {"count": 2, "autoprobe": False}


def test_a_dry_run_prints_every_write_in_order(host: ChangingHost) -> None:
    host.done("claim db-1 --alias display:1", "allocate db-1")
    out = host.run("prepare", "db-1", "--dry-run").out
    lines = [line.strip() for line in out.splitlines() if line.startswith("  ")]
    assert [line.partition(". ")[0] for line in lines] == ["1", "2", "3", "4", "5", "6"]
    assert lines[0] == f"1. write vfio-pci to sys/bus/pci/devices/{DISPLAY}/driver_override (was empty)"
    assert SOUND in lines[3]
    assert out.endswith("Nothing is changed: this was a dry run.\n")
    assert host.kernel.writes == []


def test_a_refusal_says_what_to_do_first(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1")
    answer = host.run("prepare", "db-1")
    assert answer.status == 1
    assert "laneway allocate db-1" in answer.err
    assert host.json("failure", "prepare", "nobody", status=1)["error"]["code"] == "no_claim"


def test_what_could_not_be_given_back_is_told_beside_what_was(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1,display:1", "allocate db-1", "prepare db-1", "free db-1")
    host.kernel.open(CARD)
    answer = host.run("release")
    assert answer.status == 1
    assert f"{CARD}  no: " in answer.out
    assert f"{DISPLAY}  given back" in answer.out


def test_a_pf_gets_vfs_now_and_after_a_boot(host: ChangingHost) -> None:
    assert "PF" in host.run("vfs").out
    planned = host.run("vfs", PF, "2", "--dry-run").out
    assert f"write 2 to sys/bus/pci/devices/{PF}/sriov_numvfs" in planned
    host.done(f"vfs {PF} 2", "claim db-1 --alias vf:1", "allocate db-1", "prepare db-1")
    assert host.run("vfs", PF, "2").out.startswith(f"{PF} has as many already.")
    refused = host.run("vfs", PF, "3")
    assert (refused.status, f"its VF {FIRST_VF} is held by db-1" in refused.err) == (1, True)
    host.kernel.boot("two")
    assert host.run("restore").status == 0


def test_after_a_boot_what_was_prepared_is_prepared_again(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1", "allocate db-1", "prepare db-1")
    host.kernel.write(f"sys/bus/pci/devices/{CARD}/driver_override", "\n")
    host.kernel.write("sys/bus/pci/drivers/vfio-pci/unbind", CARD)
    host.kernel.write("sys/bus/pci/drivers_probe", CARD)
    host.kernel.boot("two")
    assert f"{CARD}  as before the boot (3 steps)" in host.run("restore").out
    assert host.kernel.driver_of(CARD) == "vfio-pci"
    host.kernel.boot("three")
    host.kernel.sysfs.remove(CARD)
    failed = host.run("restore")
    assert (failed.status, f"{CARD}  no: " in failed.out) == (1, True)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["prepare", "db-1", "--vf", "0000:81:10.0"], "has no setting"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,vlan=1", "--vf", "0000:81:10.0,vlan=2"], "twice"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,vlan=1,vlan=2"], "said twice"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,colour=red"], "is no setting"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,mac=01:00:00:00:00:01"], "unicast"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,vlan=4095"], "from 0"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,trust=maybe"], "on or off"),
        (["prepare", "db-1", "--vf", "0000:81:10.0,state=up"], "auto, enable or disable"),
        (["prepare", "db-1", "--vf", "nowhere,vlan=1"], "nowhere"),
        (["vfs", "--dry-run"], "without a COUNT"),
        (["vfs", PF, "--autoprobe"], "without a COUNT"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_command_line_that_is_wrong_is_refused_before_anything_is_looked_at(
    host: ChangingHost, words: list[str], fault: str
) -> None:
    answer = host.run(*words)
    assert answer.status == 2
    assert fault in answer.err
    assert not (host.folder / "state").exists()


def test_settings_of_a_vf_are_read_whole() -> None:
    from laneway.cli.vf_settings import parse_vf_settings  # noqa: PLC0415 - with the options that it reads
    from laneway.interfaces.host_changes import LinkState, VfSettings  # noqa: PLC0415

    (settings,) = parse_vf_settings(
        ["0000:81:10.0,mac=02:00:00:00:00:0A,vlan=0,trust=on,spoofchk=off,state=auto"]
    ).values()
    assert settings == VfSettings(
        mac="02:00:00:00:00:0a", vlan=0, trust=True, spoof_check=False, link_state=LinkState.AUTO
    )


@pytest.mark.parametrize(
    "words", [["prepare", "db-1"], ["release"], ["restore"], ["clean"], ["vfs", "0000:af:00.0", "1"]]
)
def test_a_captured_host_cannot_be_changed(gpu_server: ExampleHost, words: list[str]) -> None:
    answer = gpu_server.json("failure", *words, status=1)
    assert answer["error"]["code"] == "not_supported"
    assert "leave out --snapshot and --root" in answer["error"]["message"]
    assert "'snapshot'" in answer["error"]["message"]


def test_what_was_changed_on_this_machine_says_nothing_of_a_captured_one(host: ChangingHost) -> None:
    host.done(f"vfs {PF} 2", "claim db-1 --alias nic:1", "allocate db-1", "prepare db-1", "capture --output host.json")
    host.kernel.boot("two")
    capture = ("--snapshot", "host.json")
    assert host.json("vfs", "vfs", *capture)["pfs"][0]["kept"] is None
    assert host.json("check", "check", *capture)["drift"] == []
    assert host.json("check", "check")["drift"] != []


def test_the_vfs_of_a_captured_host_can_be_looked_at(network_host: ExampleHost) -> None:
    shown = network_host.json("vfs", "vfs")
    assert all(len(each["vfs"]) == each["num_vfs"] for each in shown["pfs"])
    assert any(each["num_vfs"] for each in shown["pfs"])


def test_what_was_interrupted_stands_in_the_status_until_something_ends_it(host: ChangingHost) -> None:
    driver = host.kernel.host_driver()
    function = driver.discover().by_address[PciAddress.parse(CARD)]
    host.done("vfs")
    with SqliteJournal(journal_path(host.folder / "state" / "laneway.db")) as journal:
        plan = driver.plan(Prepare(recorded=function))
        journal.begin(plan)
        journal.step(plan.steps[0])
    status = host.json("status", "status", status=1)
    assert status["change"] == {"action": "prepare", "address": CARD, "steps": 3, "begun": 1, "going_on": False}
    assert f"Interrupted: prepare of {CARD}, 1 of 3 steps begun" in host.run("status").out
    host.done("release")
    assert host.json("status", "status", status=1)["change"] is None


def test_what_is_not_as_recorded_is_told(host: ChangingHost) -> None:
    host.done("claim db-1 --alias nic:1", "allocate db-1", "prepare db-1")
    assert host.json("check", "check")["drift"] == []
    host.kernel.write("sys/bus/pci/drivers/vfio-pci/unbind", CARD)
    (drift,) = host.json("check", "check")["drift"]
    assert (drift["code"], drift["address"]) == ("other_driver", CARD)
    assert "is on no driver" in host.run("check").out
    host.kernel.boot("two")
    (drift,) = host.json("status", "status", status=1)["drift"]
    assert (drift["code"], drift["address"]) == ("not_restored", CARD)
    assert "laneway restore" in host.run("status").out
