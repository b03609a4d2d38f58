"""The VMs that run on a Linux host already, for ``adopt``: libvirt's domains and QEMU processes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.domain_xml import parse_domain
from laneway.hosts.holdings import assign_functions
from laneway.hosts.linux.qemu_command_line import parse_qemu_command_line
from laneway.hosts.linux.tree import HostTree
from laneway.hosts.observed_vm import ObservedVm
from laneway.interfaces.running_vms import RunningVms

STATUS_DIRECTORY = "run/libvirt/qemu"


def running_vms(root: Path, functions: Sequence[PciFunction]) -> RunningVms:
    """The VMs that hold some of the functions, by libvirt's status files, the command lines of QEMU, and
    the handles that processes hold (``opened_by`` of the functions).

    A function that two VMs claim, that a VM has and the host does not list, or that a process holds
    which is no VM known here, goes to nobody and stands in the problems.
    """
    tree = HostTree(root)
    problems: list[Problem] = []
    domains = _libvirt_domains(tree, problems)
    pids = {domain.pid for domain in domains}
    uuids = {domain.uuid for domain in domains} - {None}
    others = [vm for vm in _qemu_processes(tree) if vm.pid not in pids and vm.uuid not in uuids]
    return assign_functions((*domains, *others), functions, problems)


def _libvirt_domains(tree: HostTree, problems: list[Problem]) -> list[ObservedVm]:
    names = tree.names(STATUS_DIRECTORY)
    if names is None and tree.exists(STATUS_DIRECTORY):
        problems.append(Problem(message=f"/{STATUS_DIRECTORY} can be read by root only: its domains are not known"))
    found = []
    for name in names or ():
        if name.endswith(".xml"):
            try:
                found.append(_libvirt_domain(tree, name))
            except ValueError as failure:
                problems.append(Problem(message=f"/{STATUS_DIRECTORY}/{name} cannot be understood: {failure}"))
    return found


def _libvirt_domain(tree: HostTree, file_name: str) -> ObservedVm:
    text = tree.text(f"{STATUS_DIRECTORY}/{file_name}")
    if text is None:
        raise ValueError("it cannot be read, or the domain has just stopped")
    domain = parse_domain(text)
    return domain if domain.name else replace(domain, name=file_name.removesuffix(".xml"))


def _qemu_processes(tree: HostTree) -> Iterator[ObservedVm]:
    for pid in tree.names("proc") or ():
        if pid.isdigit():
            arguments = (tree.text(f"proc/{pid}/cmdline") or "").rstrip("\0").split("\0")
            vm = parse_qemu_command_line(arguments, int(pid))
            if vm is not None:
                yield vm
