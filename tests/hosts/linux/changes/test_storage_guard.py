"""The guard over disks that a guest had: as steps, and as they are done."""

import errno

import pytest

from hosts.host_tree import HostTreeBuilder
from hosts.linux.changes.played import Bench, PlayedPrograms
from hosts.linux.changes.test_partitions import disk
from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes import steps
from laneway.hosts.linux.changes.guard_rule import guard_rule
from laneway.hosts.linux.changes.programs import Ended
from laneway.hosts.linux.changes.storage_guard import (
    do_forget_partitions,
    forget_partitions,
    guarded,
    is_guarded,
    lift_guard,
    raise_guard,
    restoring,
    set_guard,
)
from laneway.hosts.linux.tree import HostTree

ADDRESS = PciAddress.parse("0000:01:00.0")
OTHER = PciAddress.parse("0000:02:00.0")
RULE_FILE = "run/udev/rules.d/00-laneway-storage-0000:01:00.0.rules"
RELOAD, SETTLE = "udevadm control --reload", "udevadm settle --timeout=60"
OK = Ended(status=0)

FIRST = steps.set_override(ADDRESS, ADDRESS, "nvme", "vfio-pci")
BIND = steps.bind(ADDRESS, ADDRESS, "nvme")
GUARDED = (raise_guard(ADDRESS), BIND, forget_partitions(ADDRESS), lift_guard(ADDRESS))


def udev(**answers: Ended) -> PlayedPrograms:
    return PlayedPrograms({RELOAD: answers.get("reload", OK), SETTLE: answers.get("settle", OK)})


@pytest.fixture
def bench(host: HostTreeBuilder) -> Bench:
    """On a host with udev."""
    host.write("run/udev/control", "")
    return Bench(host.root, udev())


# steps


def test_the_guard_stands_around_the_binding() -> None:
    back = steps.set_override(ADDRESS, ADDRESS, None, "nvme")
    assert guarded([FIRST, BIND, back], {ADDRESS}) == (FIRST, *GUARDED, back)


def test_a_vf_is_storage_as_its_pf_is() -> None:
    bind = steps.bind(OTHER, ADDRESS, "nvme")
    assert [step.kind for step in guarded([bind], {OTHER})] == [step.kind for step in GUARDED]


def test_what_is_no_storage_needs_no_guard() -> None:
    assert guarded([FIRST, BIND], {OTHER}) == (FIRST, BIND)


@pytest.mark.parametrize("driver", ["vfio-pci", "nvme_vfio_pci"])
def test_a_driver_for_guests_reads_nothing(driver: str) -> None:
    bind = steps.bind(ADDRESS, ADDRESS, driver)
    assert guarded([bind], {ADDRESS}) == (bind,)


def test_a_guard_that_was_left_is_lifted_though_the_driver_has_the_function_already() -> None:
    assert guarded([], {ADDRESS}, {ADDRESS}) == (forget_partitions(ADDRESS), lift_guard(ADDRESS))


def test_a_guard_that_was_left_is_lifted_once() -> None:
    assert guarded([BIND], {ADDRESS}, {ADDRESS}) == GUARDED


def test_taking_a_raised_guard_back_lifts_it() -> None:
    step = restoring(raise_guard(ADDRESS))
    assert (step.value, step.target, step.undo) == ("lifted", RULE_FILE, None)


def test_a_lifted_guard_and_forgotten_partitions_are_not_taken_back() -> None:
    assert lift_guard(ADDRESS).undo is None
    assert forget_partitions(ADDRESS).undo is None


# raising and lifting


def test_raising_writes_the_rule_and_has_udev_read_it(host: HostTreeBuilder, bench: Bench) -> None:
    assert not is_guarded(HostTree(host.root), ADDRESS)
    set_guard(raise_guard(ADDRESS), bench.bench)
    assert (host.root / RULE_FILE).read_text() == guard_rule(ADDRESS)
    assert bench.programs.ran == [RELOAD]
    assert is_guarded(HostTree(host.root), ADDRESS)


def test_lifting_lets_udev_finish_and_removes_the_rule(host: HostTreeBuilder, bench: Bench) -> None:
    set_guard(raise_guard(ADDRESS), bench.bench)
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert not (host.root / RULE_FILE).exists()
    assert bench.programs.ran == [RELOAD, SETTLE, RELOAD]


def test_lifting_a_guard_that_is_gone_does_nothing(bench: Bench) -> None:
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert bench.programs.ran == []


def test_where_udev_does_not_read_the_rule_the_step_fails(host: HostTreeBuilder, bench: Bench) -> None:
    bench.programs.answers[RELOAD] = Ended(status=1, output="Failed to send reload request")
    with pytest.raises(OSError, match="udevadm control ended with status 1: Failed to send"):
        set_guard(raise_guard(ADDRESS), bench.bench)


def test_a_udev_that_does_not_settle_is_told_and_no_failure(host: HostTreeBuilder, bench: Bench) -> None:
    set_guard(raise_guard(ADDRESS), bench.bench)
    bench.programs.answers[SETTLE] = Ended(status=1)
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert bench.told == ["udevadm settle ended with status 1"]
    assert not (host.root / RULE_FILE).exists()


def test_without_udevadm_there_is_no_guard(bench: Bench) -> None:
    del bench.programs.answers[RELOAD]
    with pytest.raises(OSError, match="udevadm cannot be run: No such file"):
        set_guard(raise_guard(ADDRESS), bench.bench)


def test_a_udev_that_does_not_forget_the_rule_at_once_is_told(host: HostTreeBuilder, bench: Bench) -> None:
    set_guard(raise_guard(ADDRESS), bench.bench)
    bench.programs.answers[RELOAD] = Ended(status=1, output="no answer")
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert bench.told == ["udevadm control ended with status 1: no answer"]
    assert not (host.root / RULE_FILE).exists()


def test_where_udev_does_not_run_that_is_told_and_no_failure(host: HostTreeBuilder) -> None:
    bench = Bench(host.root)
    set_guard(raise_guard(ADDRESS), bench.bench)
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert bench.told == ["udev does not run here, so no rule is needed: nothing reads new disks but the kernel"]
    assert (bench.programs.ran, bench.writer.writes) == ([], [])


def test_a_rule_that_was_left_is_removed_also_where_udev_has_ended(host: HostTreeBuilder, bench: Bench) -> None:
    set_guard(raise_guard(ADDRESS), bench.bench)
    host.remove("run/udev/control")
    set_guard(lift_guard(ADDRESS), bench.bench)
    assert not (host.root / RULE_FILE).exists()
    assert (bench.programs.ran, bench.told) == ([RELOAD], [])


# partitions


def test_the_partitions_are_forgotten_when_nothing_has_appeared_for_a_while(
    host: HostTreeBuilder, bench: Bench
) -> None:
    place = host.function(str(ADDRESS))
    bench.at_pause += [lambda: None] * 3
    bench.at_pause.append(lambda: disk(host, "nvme0n1", f"{place}/nvme/nvme0", 1, 2))
    do_forget_partitions(forget_partitions(ADDRESS), bench.bench)
    node = f"{host.root}/dev/nvme0n1"
    assert bench.forgotten == [(node, 1), (node, 2)]
    assert bench.seconds == pytest.approx(1.0 + 2.0, abs=0.2)
    assert bench.programs.ran == [SETTLE, SETTLE]


def test_a_controller_without_disks_is_waited_for_a_little(host: HostTreeBuilder, bench: Bench) -> None:
    host.function(str(ADDRESS))
    do_forget_partitions(forget_partitions(ADDRESS), bench.bench)
    assert bench.seconds == pytest.approx(10.0, abs=0.3)


def test_disks_that_go_on_appearing_are_waited_for_within_bounds(host: HostTreeBuilder, bench: Bench) -> None:
    place = host.function(str(ADDRESS))
    names = iter(range(200))
    bench.at_pause += [lambda: disk(host, f"nvme0n{next(names) + 1}", f"{place}/nvme/nvme0")] * 200
    do_forget_partitions(forget_partitions(ADDRESS), bench.bench)
    assert bench.seconds == pytest.approx(30.0, abs=0.3)


def test_a_partition_that_somebody_looks_at_is_waited_for(host: HostTreeBuilder, bench: Bench) -> None:
    disk(host, "nvme0n1", f"{host.function(str(ADDRESS))}/nvme/nvme0", 1)
    node = f"{host.root}/dev/nvme0n1"
    bench.refused[node, 1] = [errno.EBUSY, errno.EBUSY]
    do_forget_partitions(forget_partitions(ADDRESS), bench.bench)
    assert bench.forgotten == [(node, 1)]
    assert "waiting up to 10 s for partition 1 of nvme0n1 to be closed" in bench.told


def test_a_partition_that_stays_open_is_a_failure(host: HostTreeBuilder, bench: Bench) -> None:
    disk(host, "nvme0n1", f"{host.function(str(ADDRESS))}/nvme/nvme0", 1)
    bench.refused[f"{host.root}/dev/nvme0n1", 1] = [errno.EBUSY] * 1000
    with pytest.raises(OSError, match="somebody has partition 1 of nvme0n1 open"):
        do_forget_partitions(forget_partitions(ADDRESS), bench.bench)


def test_a_partition_that_is_gone_already_is_no_failure(host: HostTreeBuilder, bench: Bench) -> None:
    disk(host, "nvme0n1", f"{host.function(str(ADDRESS))}/nvme/nvme0", 1)
    bench.refused[f"{host.root}/dev/nvme0n1", 1] = [errno.ENXIO]
    do_forget_partitions(forget_partitions(ADDRESS), bench.bench)


def test_what_else_the_kernel_refuses_is_its_error(host: HostTreeBuilder, bench: Bench) -> None:
    disk(host, "nvme0n1", f"{host.function(str(ADDRESS))}/nvme/nvme0", 1)
    bench.refused[f"{host.root}/dev/nvme0n1", 1] = [errno.EACCES]
    with pytest.raises(PermissionError):
        do_forget_partitions(forget_partitions(ADDRESS), bench.bench)
