"""Making a function that a guest had fit for the next: planned, and done."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from laneway.domain.address import PciAddress
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.hosts.linux.changes import steps
from laneway.hosts.linux.changes.course import Course
from laneway.hosts.linux.changes.facts import HostFacts
from laneway.hosts.linux.changes.nvme_format import NvmeError, format_namespaces
from laneway.hosts.linux.changes.refusals import require_closed, require_function, require_unused
from laneway.hosts.linux.changes.reset import reset_function
from laneway.hosts.linux.changes.storage_guard import lift_guard, raise_guard
from laneway.hosts.linux.changes.virtual_functions import require_removable_vfs
from laneway.interfaces.host_changes import Clean, Step

if TYPE_CHECKING:
    from laneway.hosts.linux.changes.doing import Workbench

CLEAN = "clean"
NVME = "nvme"
_NVME_CLASS = "0108"


def plan_cleaning(action: Clean, facts: HostFacts, *, nvme_is_loaded: bool) -> tuple[Step, ...]:
    """The steps, after which the function is on the driver on which it was.

    A command may bind a storage driver itself, so the guard stands then, too. Raises LanewayError.
    """
    address, kind = action.address, action.cleaning.kind
    function = require_function(facts, address, ErrorCode.UNKNOWN_DEVICE)
    require_closed((function,))
    require_unused(facts.inventory, function)
    require_removable_vfs(facts, address, on_vfio=False)
    if kind is CleaningKind.NVME_FORMAT:
        _require_nvme(function, action.cleaning)
    course = Course(facts.standings)
    is_guarded = kind is not CleaningKind.RESET and facts.standings[address].is_storage
    if is_guarded:
        course.add(raise_guard(address))
    if kind is CleaningKind.NVME_FORMAT:
        _add_format(course, action, nvme_is_loaded=nvme_is_loaded)
    else:
        course.add(_cleaning_step(action))
    if is_guarded:
        course.add(lift_guard(address))
    return course.steps


def _add_format(course: Course, action: Clean, *, nvme_is_loaded: bool) -> None:
    address = action.address
    before = course.standing(address)
    if before is None:
        return
    if not nvme_is_loaded:
        course.add(steps.load_module(address, NVME))
    course.unbind(address, address)
    course.override(address, address, NVME)
    course.bind(address, address, NVME)
    course.add(_cleaning_step(action))
    course.unbind(address, address)
    course.override(address, address, before.override)
    if before.driver is not None:
        course.bind(address, address, before.driver)


def _require_nvme(function: PciFunction, cleaning: Cleaning) -> None:
    if function.class_code is None or not function.class_code.startswith(_NVME_CLASS):
        why = f"it is no NVMe controller, but of class {function.class_code}: its device spec needs another cleaning"
        raise _not_clean(function.address, cleaning, why)


def _cleaning_step(action: Clean) -> Step:
    cleaning = action.cleaning
    words = {
        CleaningKind.RESET: f"reset {action.address}",
        CleaningKind.NVME_FORMAT: f"nvme format of every namespace of {action.address}",
        CleaningKind.COMMAND: f"run {' '.join(command_for(cleaning, action.address))}",
    }
    return Step(
        kind=CLEAN,
        address=action.address,
        target=f"{steps.DEVICES}/{action.address}",
        value=json.dumps(asdict(cleaning)),
        summary=f"{words[cleaning.kind]} (within {cleaning.seconds:g} s)",
    )


def command_for(cleaning: Cleaning, address: PciAddress) -> tuple[str, ...]:
    """The program and its arguments for one device."""
    return tuple(word.replace("{address}", str(address)) for word in cleaning.command)


def do_clean(step: Step, bench: "Workbench") -> None:
    """Raises LanewayError(cleaning_failed), which says what failed and how."""
    read = json.loads(step.value or "{}")
    cleaning = Cleaning(kind=CleaningKind(read["kind"]), command=tuple(read["command"]), seconds=read["seconds"])
    try:
        match cleaning.kind:
            case CleaningKind.RESET:
                reset_function(step.address, bench)
            case CleaningKind.NVME_FORMAT:
                format_namespaces(step.address, bench, cleaning.seconds)
            case CleaningKind.COMMAND:
                _run_command(step.address, cleaning, bench)
    except OSError as error:
        raise _not_clean(step.address, cleaning, error.strerror or str(error)) from error
    except NvmeError as error:
        raise _not_clean(step.address, cleaning, str(error)) from error


def _run_command(address: PciAddress, cleaning: Cleaning, bench: "Workbench") -> None:
    command: Sequence[str] = command_for(cleaning, address)
    before = bench.files.driver(address)
    try:
        ended = bench.means.programs.run(command, cleaning.seconds, {"LANEWAY_DEVICE": str(address)})
    except OSError as error:
        raise _not_clean(address, cleaning, f"{command[0]} cannot be run: {error.strerror}") from error
    if ended.status != 0:
        detail = {"program": command[0], "status": ended.status, "output": ended.output}
        raise _not_clean(address, cleaning, ended.said(command[0]), detail)
    after = bench.files.driver(address)
    if after != before:
        why = f"{command[0]} has left it {_on(after)}, and it was {_on(before)}"
        raise _not_clean(address, cleaning, why)


def _on(driver: str | None) -> str:
    return "without a driver" if driver is None else f"on {driver}"


def _not_clean(
    address: PciAddress, cleaning: Cleaning, why: str, detail: Mapping[str, object] | None = None
) -> LanewayError:
    return LanewayError(
        ErrorCode.CLEANING_FAILED,
        f"{address} is not clean ({cleaning.kind}): {why}",
        {"address": str(address), "cleaning": str(cleaning.kind), **(detail or {})},
    )
