"""Which VM has which function by Hyper-V's own account, for ``adopt``. Pure.

A VM has its devices whether it runs or not, until they are taken out of its definition.
"""

from collections.abc import Sequence

from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.holdings import assign_functions
from laneway.hosts.hyperv.recording import PowerShellAnswers
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.running_vms import RunningVms

SOURCE = "hyperv"


def running_vms(answers: PowerShellAnswers, functions: Sequence[PciFunction]) -> RunningVms:
    """The VMs that have some of the functions, by their location paths, and what could not be told."""
    if answers.assigned is None:
        why = "; ".join(answers.failures) or "it was not asked"
        return RunningVms(
            vms=(), problems=(Problem(message=f"Hyper-V does not tell which VM has which device: {why}"),)
        )
    by_path = {function.location_path.upper(): function.address for function in functions if function.location_path}
    problems = []
    paths: dict[tuple[str, str | None], list[str]] = {}
    for one in answers.assigned:
        if one.location_path.upper() in by_path:
            paths.setdefault((one.vm, one.vm_id), []).append(one.location_path.upper())
        else:
            problems.append(
                Problem(
                    attribute="location_path",
                    message=f"the virtual machine {one.vm} has {one.location_path}, which the host does not list",
                )
            )
    observed = [
        ObservedVm(source=SOURCE, name=vm, uuid=vm_id, addresses=tuple(by_path[path] for path in held))
        for (vm, vm_id), held in paths.items()
    ]
    return assign_functions(observed, functions, problems)
