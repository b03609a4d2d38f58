"""Cleaning a function: what is planned, and what is done."""

import errno
import json
from dataclasses import replace

import pytest

from hosts.host_tree import HostTreeBuilder
from hosts.linux.changes.played import Bench, PlayedPrograms
from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType, HostUse, Inventory, Opener, PciFunction
from laneway.hosts.linux.changes.cleaning import do_clean, plan_cleaning
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.programs import Ended
from laneway.hosts.linux.changes.standing import Standing
from laneway.interfaces.host_changes import Clean, Step

ADDRESS = PciAddress.parse("0000:01:00.0")
DEVICE = f"sys/bus/pci/devices/{ADDRESS}"
RESET = Cleaning(kind=CleaningKind.RESET)
FORMAT = Cleaning(kind=CleaningKind.NVME_FORMAT, seconds=900.0)
COMMAND = Cleaning(kind=CleaningKind.COMMAND, command=("/usr/local/bin/wipe", "--pci={address}", "-q"), seconds=30.0)
TAKEN = Standing(driver="vfio-pci", override="vfio-pci", is_storage=True)


NVME = PciFunction(
    address=ADDRESS,
    vendor_id="1b36",
    product_id="0010",
    dev_type=DevType.PCI,
    class_code="010802",
    driver="vfio-pci",
    in_use_by=(),
    opened_by=(),
)
GPU = replace(NVME, class_code="030000")


def planned(cleaning: Cleaning, function: PciFunction = NVME, standing: Standing = TAKEN) -> tuple[Step, ...]:
    facts = HostFacts(inventory=Inventory(functions=(function,)), standings={ADDRESS: standing})
    return plan_cleaning(Clean(address=ADDRESS, cleaning=cleaning), facts, nvme_is_loaded=True)


def clean_step(cleaning: Cleaning) -> Step:
    return next(step for step in planned(cleaning) if step.kind == "clean")


# planning


def test_a_reset_is_one_step() -> None:
    (step,) = planned(RESET)
    assert (step.kind, step.undo, step.summary) == ("clean", None, "reset 0000:01:00.0 (within 600 s)")


def test_a_format_is_done_on_the_storage_driver_under_the_guard_and_all_is_as_before() -> None:
    steps = planned(FORMAT)
    assert [(step.kind, step.value) for step in steps if step.kind != "clean"] == [
        ("storage_guard", "raised"),
        ("unbind", None),
        ("driver_override", "nvme"),
        ("bind", "nvme"),
        ("unbind", None),
        ("driver_override", "vfio-pci"),
        ("bind", "vfio-pci"),
        ("storage_guard", "lifted"),
    ]
    assert [step.kind for step in steps].index("clean") == 4


def test_a_format_loads_the_driver_where_it_is_not_loaded() -> None:
    facts = HostFacts(inventory=Inventory(functions=(NVME,)), standings={ADDRESS: TAKEN})
    steps = plan_cleaning(Clean(address=ADDRESS, cleaning=FORMAT), facts, nvme_is_loaded=False)
    assert [(step.kind, step.target) for step in steps][1] == ("load_module", "nvme")


def test_a_function_without_a_driver_is_without_one_afterwards() -> None:
    kinds = [step.kind for step in planned(FORMAT, replace(NVME, driver=None), Standing(is_storage=True))]
    assert kinds == ["storage_guard", "driver_override", "bind", "clean", "unbind", "driver_override", "storage_guard"]


def test_a_command_for_storage_runs_under_the_guard() -> None:
    steps = planned(COMMAND)
    assert [step.kind for step in steps] == ["storage_guard", "clean", "storage_guard"]
    assert steps[1].summary == "run /usr/local/bin/wipe --pci=0000:01:00.0 -q (within 30 s)"


def test_a_command_for_anything_else_needs_no_guard() -> None:
    assert [step.kind for step in planned(COMMAND, GPU, replace(TAKEN, is_storage=False))] == ["clean"]


REFUSED = {
    "it is open": (RESET, replace(NVME, opened_by=(Opener(pid=7, name="qemu"),)), ErrorCode.DEVICE_OPEN),
    "the host uses it": (RESET, replace(NVME, in_use_by=(HostUse(code="mounted"),)), ErrorCode.DEVICE_IN_USE),
    "it is no NVMe controller": (FORMAT, GPU, ErrorCode.CLEANING_FAILED),
    "its class is not known": (FORMAT, replace(NVME, class_code=None), ErrorCode.CLEANING_FAILED),
}


@pytest.mark.parametrize(("cleaning", "function", "code"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_where(cleaning: Cleaning, function: PciFunction, code: ErrorCode) -> None:
    with pytest.raises(LanewayError) as refused:
        planned(cleaning, function)
    assert refused.value.code is code


def test_a_function_that_is_not_there_is_unknown() -> None:
    facts = HostFacts(inventory=Inventory(functions=()), standings={})
    with pytest.raises(LanewayError) as refused:
        plan_cleaning(Clean(address=ADDRESS, cleaning=RESET), facts, nvme_is_loaded=True)
    assert refused.value.code is ErrorCode.UNKNOWN_DEVICE


# doing


@pytest.fixture
def host(host: HostTreeBuilder) -> HostTreeBuilder:
    host.function(str(ADDRESS), driver="vfio-pci")
    return host


def failure(host: HostTreeBuilder, cleaning: Cleaning, programs: PlayedPrograms | None = None) -> LanewayError:
    bench = Bench(host.root, programs)
    bench.writer.refused[f"{DEVICE}/reset"] = OSError(errno.ENOTTY, "Inappropriate ioctl for device")
    with pytest.raises(LanewayError) as failed:
        do_clean(clean_step(cleaning), bench.bench)
    assert failed.value.code is ErrorCode.CLEANING_FAILED
    return failed.value


def test_a_reset_is_done(host: HostTreeBuilder) -> None:
    bench = Bench(host.root)
    do_clean(clean_step(RESET), bench.bench)
    assert bench.writer.writes == [(f"{DEVICE}/reset", "1")]


def test_a_reset_that_fails_says_why(host: HostTreeBuilder) -> None:
    failed = failure(host, RESET)
    assert failed.message == (
        "0000:01:00.0 is not clean (reset): 0000:01:00.0 cannot be reset: no method of the kernel's works for it"
    )
    assert failed.detail == {"address": "0000:01:00.0", "cleaning": "reset"}


def test_a_command_is_run_with_the_address_and_little_else(host: HostTreeBuilder) -> None:
    programs = PlayedPrograms({"/usr/local/bin/wipe": Ended(status=0, output="done")})
    do_clean(clean_step(COMMAND), Bench(host.root, programs).bench)
    assert programs.ran == ["/usr/local/bin/wipe --pci=0000:01:00.0 -q"]
    assert programs.environments == [{"LANEWAY_DEVICE": "0000:01:00.0"}]
    assert programs.seconds == [30.0]


def test_a_command_that_fails_is_named_with_its_status_and_its_last_lines(host: HostTreeBuilder) -> None:
    programs = PlayedPrograms({"/usr/local/bin/wipe": Ended(status=3, output="sector 7\nno answer")})
    failed = failure(host, COMMAND, programs)
    assert failed.message == (
        "0000:01:00.0 is not clean (command): /usr/local/bin/wipe ended with status 3: sector 7; no answer"
    )
    assert failed.detail == {
        "address": "0000:01:00.0",
        "cleaning": "command",
        "program": "/usr/local/bin/wipe",
        "status": 3,
        "output": "sector 7\nno answer",
    }


def test_a_command_that_takes_too_long_is_named(host: HostTreeBuilder) -> None:
    programs = PlayedPrograms({"/usr/local/bin/wipe": Ended(status=None)})
    assert "/usr/local/bin/wipe was stopped when its time was over" in failure(host, COMMAND, programs).message


def test_a_command_that_is_not_there_is_named(host: HostTreeBuilder) -> None:
    assert "/usr/local/bin/wipe cannot be run: No such file" in failure(host, COMMAND).message


def test_a_command_that_leaves_the_function_on_another_driver_has_failed(host: HostTreeBuilder) -> None:
    def leave() -> Ended:
        host.remove(f"{DEVICE}/driver")
        return Ended(status=0)

    programs = PlayedPrograms({"/usr/local/bin/wipe": leave})
    assert "has left it without a driver, and it was on vfio-pci" in failure(host, COMMAND, programs).message


def test_a_format_that_fails_says_what_failed(host: HostTreeBuilder) -> None:
    host.write(f"{DEVICE}/nvme/nvme0/state", "live\n")
    host.write("dev/nvme0", "")
    programs = PlayedPrograms({"nvme id-ctrl": Ended(status=1, output="failed to open /dev/nvme0")})
    failed = failure(host, FORMAT, programs)
    assert failed.message == (
        "0000:01:00.0 is not clean (nvme-format): nvme id-ctrl of nvme0 ended with status 1: failed to open /dev/nvme0"
    )


def test_what_is_to_be_done_stands_in_the_step_alone() -> None:
    assert json.loads(clean_step(COMMAND).value or "") == {
        "kind": "command",
        "command": ["/usr/local/bin/wipe", "--pci={address}", "-q"],
        "seconds": 30.0,
    }
