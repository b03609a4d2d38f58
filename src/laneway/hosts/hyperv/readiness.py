"""Whether a Windows host can give functions to VMs, and what to do where it cannot. Pure."""

from collections.abc import Iterator, Sequence

from laneway.domain.inventory import PciFunction, Platform, ReadinessNote
from laneway.hosts.hyperv.recording import Recording

_CLIENT = "WinNT"
_IOMMU_TABLES = {"DMAR": "intel", "IVRS": "amd", "IORT": "arm"}
_SEVERITIES = ("error", "warning", "info")


def readiness(recording: Recording, functions: Sequence[PciFunction]) -> tuple[Platform, tuple[ReadinessNote, ...]]:
    """What the host can do, and what stands in the way of Discrete Device Assignment, worst first."""
    iommu = _iommu(recording)
    notes = (*_notes(recording, iommu), *_function_notes(functions))
    platform = Platform(iommu=iommu, dda=_dda(recording, iommu))
    return platform, tuple(sorted(notes, key=lambda note: _SEVERITIES.index(note.severity)))


def _iommu(recording: Recording) -> str | None:
    """The kind of IOMMU by the firmware's table; "off" where it has none.

    A table alone does not say that Hyper-V uses it, so it counts only with IovSupport.
    """
    tables = recording.machine.acpi_tables
    if tables is None:
        return None
    kind = next((kind for signature, kind in _IOMMU_TABLES.items() if signature in tables), None)
    if kind is None:
        return "off"
    return kind if recording.answers.iov_support else None


def _dda(recording: Recording, iommu: str | None) -> bool | None:
    """True or False only if all that decides it is known."""
    machine = recording.machine
    if machine.product_type == _CLIENT or machine.hyperv_role is False or iommu == "off":
        return False
    if recording.answers.iov_support is False:
        return False
    known = machine.product_type is not None and machine.hyperv_role and recording.answers.iov_support
    return True if known else None


def _notes(recording: Recording, iommu: str | None) -> Iterator[ReadinessNote]:
    machine, answers = recording.machine, recording.answers
    if machine.product_type == _CLIENT:
        yield ReadinessNote(
            code="client_windows",
            severity="error",
            message="This is a client edition of Windows: Discrete Device Assignment needs Windows Server",
            remedy="use Windows Server 2016 or later on this machine",
        )
    if machine.hyperv_role is False:
        yield ReadinessNote(
            code="hyperv_missing",
            severity="error",
            message="The role Hyper-V is not installed",
            remedy="Install-WindowsFeature -Name Hyper-V -IncludeManagementTools -Restart",
        )
    if iommu == "off":
        yield ReadinessNote(
            code="iommu_off",
            severity="error",
            message="The firmware describes no IOMMU: no function can be given to a VM",
            remedy="turn on VT-d (Intel) or the IOMMU (AMD-Vi) in the firmware setup",
        )
    elif answers.iov_support is False:
        why = "; ".join(answers.iov_reasons) or "it gives no reason"
        yield ReadinessNote(
            code="iov_not_supported",
            severity="error",
            message=f"Hyper-V cannot give devices to VMs on this machine: {why}",
            remedy="turn on the IOMMU, SR-IOV and native PCI Express control in the firmware setup; see Get-VMHost"
            " | Format-List IovSupport, IovSupportReasons",
        )
    if machine.product_type is None and machine.hyperv_role is None:
        yield ReadinessNote(
            code="host_not_recorded",
            severity="warning",
            message="Only devices were recorded: whether this host can give any to a VM is not known",
            remedy="record the whole host, on itself: python -m laneway.hosts.hyperv",
        )
    if answers.failures:
        yield ReadinessNote(
            code="powershell_silent",
            severity="warning",
            message="PowerShell did not answer everything, so some facts of Hyper-V are not known: "
            + "; ".join(answers.failures),
            remedy="run as a member of Administrators or Hyper-V Administrators, with the Hyper-V module installed",
        )


def _function_notes(functions: Sequence[PciFunction]) -> Iterator[ReadinessNote]:
    kept = [
        str(function.address)
        for function in functions
        if any(reason.code == "express_not_controlled" for reason in function.not_assignable or ())
    ]
    if kept:
        yield ReadinessNote(
            code="express_not_controlled",
            severity="warning",
            message=f"The firmware kept control of PCI Express for {', '.join(kept)}",
            remedy="give control to the operating system in the firmware setup (often 'Enable SR-IOV')",
        )
