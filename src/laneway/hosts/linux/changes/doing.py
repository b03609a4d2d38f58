"""Doing a step. What is so already is not done again."""

import errno
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.cleaning import CLEAN, do_clean
from laneway.hosts.linux.changes.function_files import FunctionFiles
from laneway.hosts.linux.changes.means import Means
from laneway.hosts.linux.changes.reset import reset_function
from laneway.hosts.linux.changes.steps import DRIVERS, DRIVERS_PROBE, Kind, function_of
from laneway.hosts.linux.changes.storage_guard import FORGET_PARTITIONS, STORAGE_GUARD, do_forget_partitions, set_guard
from laneway.hosts.linux.changes.vf_settings import KEPT_SETTINGS, VF_SETTINGS, VfSettingsSteps
from laneway.interfaces.host_changes import Progress, Step

DRIVER_SECONDS = 10.0
"""How long a driver may take until it has a function, or has let it go, once the kernel has been told."""

UNBIND_SECONDS = 60.0
VF_COUNT_SECONDS = 120.0
"""Making or removing hundreds of VFs, each with its driver, takes the kernel long."""

_MOMENT_SECONDS = 0.05


class StepError(Exception):
    """A step did not have the effect that it is for; the message says what stands in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """What steps are done with."""

    files: FunctionFiles
    means: Means
    progress: Progress

    def wait(self, until: Callable[[], bool], what: str, seconds: float = DRIVER_SECONDS) -> bool:
        """Whether it is so within the time. It is told that it is waited for."""
        if until():
            return True
        self.progress(f"waiting up to {seconds:g} s for {what}")
        end = self.means.clock() + seconds
        while self.means.clock() < end:
            self.means.pause(_MOMENT_SECONDS)
            if until():
                return True
        return False


Do = Callable[[Step, Workbench], None]
"""Does a step of one kind, if it is not so already. Raises OSError, StepError or LanewayError."""


def _load_module(step: Step, bench: Workbench) -> None:
    bench.means.load_module(step.target)


def _override(step: Step, bench: Workbench) -> None:
    function = function_of(step)
    if bench.files.override(function) == step.value:
        return
    # The kernel is not told of a write of nothing: what empties the override is an empty line.
    bench.means.writer.write(step.target, step.value or "\n")
    found = bench.files.override(function)
    if found != step.value:
        raise StepError(f"{step.target} is {found or 'empty'} after {step.value or 'an empty line'} was written to it")


def _unbind(step: Step, bench: Workbench) -> None:
    function = function_of(step)
    driver = bench.files.driver(function)
    if driver is None:
        return
    if driver != step.found:
        raise StepError(f"{function} is on {driver} by now, and no more on {step.found}")
    bench.means.writer.write_bounded(f"{DRIVERS}/{driver}/unbind", str(function), UNBIND_SECONDS)
    if not bench.wait(lambda: bench.files.driver(function) != driver, f"{driver} to let {function} go"):
        raise StepError(f"{driver} has not let {function} go within {DRIVER_SECONDS:g} s")


def _bind(step: Step, bench: Workbench) -> None:
    function = function_of(step)
    driver = bench.files.driver(function)
    if driver is None:
        bench.means.writer.write(DRIVERS_PROBE, str(function))
        # The write is good also where no driver took the function.
        bench.wait(lambda: bench.files.driver(function) is not None, f"{step.value} to take {function}")
        driver = bench.files.driver(function)
    if driver != step.value:
        raise StepError(_not_taken(function, step.value, driver, bench))


def _not_taken(function: PciAddress, wanted: str | None, driver: str | None, bench: Workbench) -> str:
    if driver is not None:
        return f"{driver} took {function}, and not {wanted}"
    if wanted is not None and not bench.files.has_driver(wanted):
        return f"the kernel has no driver {wanted} loaded that could take {function}: load its module"
    return f"{wanted} did not take {function}; the kernel says why: dmesg"


def _autoprobe(step: Step, bench: Workbench) -> None:
    name, wanted = "sriov_drivers_autoprobe", int(step.value or 0)
    if bench.files.number(function_of(step), name) != wanted:
        bench.means.writer.write(step.target, str(wanted))


_VF_COUNT_REASONS = {
    errno.ERANGE: "the device cannot have so many VFs",
    errno.EBUSY: "it has another number of VFs by now",
    errno.ENOENT: "its driver does not make VFs",
    errno.ENOMEM: "the firmware left no address space for so many VFs: turn on 'Above 4G decoding' and SR-IOV there",
    errno.ENOSPC: "the firmware left no address space for so many VFs: turn on 'Above 4G decoding' and SR-IOV there",
}


def _vf_count(step: Step, bench: Workbench) -> None:
    function, wanted = function_of(step), int(step.value or 0)
    if bench.files.number(function, "sriov_numvfs") == wanted:
        return
    try:
        bench.means.writer.write_bounded(step.target, str(wanted), VF_COUNT_SECONDS)
    except OSError as error:
        reason = _VF_COUNT_REASONS.get(error.errno or 0)
        if reason is None:
            raise
        raise StepError(f"{error.strerror}: {reason}") from error
    found = bench.files.number(function, "sriov_numvfs")
    if found != wanted:
        raise StepError(f"{function} has {found} VFs after {wanted} was written to {step.target}")


def _reset(step: Step, bench: Workbench) -> None:
    """Where the function can: of the functions of one slot a bus reset resets none alone."""
    try:
        reset_function(function_of(step), bench)
    except OSError as error:
        if error.errno != errno.ENOTTY:
            raise
        bench.progress(f"{error.strerror}; it is given back as it is")


def _vf_settings(step: Step, bench: Workbench) -> None:
    VfSettingsSteps(bench.files.tree, bench.means.vf_kernel).do(step)


def _nothing(_step: Step, _bench: Workbench) -> None:
    """What the step is for is that it stands in the journal."""


DOING: Mapping[str, Do] = {
    Kind.LOAD_MODULE: _load_module,
    Kind.OVERRIDE: _override,
    Kind.UNBIND: _unbind,
    Kind.BIND: _bind,
    Kind.AUTOPROBE: _autoprobe,
    Kind.VF_COUNT: _vf_count,
    Kind.RESET: _reset,
    VF_SETTINGS: _vf_settings,
    KEPT_SETTINGS: _nothing,
    CLEAN: do_clean,
    STORAGE_GUARD: set_guard,
    FORGET_PARTITIONS: do_forget_partitions,
}
"""How each kind of step is done: a new kind is one more entry here."""
