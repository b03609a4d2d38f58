"""What is asked of PowerShell, and what its answer means. Pure; ``powershell`` runs it.

Every question stands alone: where a cmdlet is not installed, or this user may not call it, its
answer is missing and the failure says why. PowerShell writes a list of one as the element alone,
and nothing for an empty one.
"""

import json
from collections.abc import Iterator
from typing import Any

from laneway.hosts.hyperv.recording import AssignedDevice, PowerShellAnswers, UpperDevice

_QUESTIONS = {
    "host": "Get-VMHost | Select-Object IovSupport, IovSupportReasons",
    "switches": "Get-VMSwitch -SwitchType External | Select-Object Name, @{ n = 'Adapters'; e = {"
    ' @($_.NetAdapterInterfaceGuid | ForEach-Object { "$_" }) + @($_.NetAdapterInterfaceDescriptions) } }',
    "teams": "Get-NetLbfoTeamMember | Select-Object Team, Name",
    "assigned": "Get-VM | Get-VMAssignableDevice"
    " | Select-Object VMName, @{ n = 'VMId'; e = { \"$($_.VMId)\" } }, LocationPath",
    "disks": "Get-VM | Get-VMHardDiskDrive | Where-Object { $null -ne $_.DiskNumber } | Select-Object DiskNumber",
}
_HYPERV_QUESTIONS = tuple(question for question in _QUESTIONS if question != "teams")


def script(*, hyperv: bool) -> str:
    """The script that asks; ``hyperv`` tells whether the role Hyper-V is installed."""
    asked = [name for name in _QUESTIONS if hyperv or name not in _HYPERV_QUESTIONS]
    lines = [
        "$ErrorActionPreference = 'Stop'",
        "$ProgressPreference = 'SilentlyContinue'",
        "[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false",
        "$answers = @{}; $failures = @{}",
        *(
            f"try {{ $answers['{name}'] = @({_QUESTIONS[name]}) }} catch {{ $failures['{name}'] = \"$_\" }}"
            for name in asked
        ),
        "@{ answers = $answers; failures = $failures } | ConvertTo-Json -Compress -Depth 5",
    ]
    return "\n".join(lines)


def parse_answers(text: str, *, hyperv: bool) -> PowerShellAnswers:
    """What PowerShell printed. Without the role Hyper-V there is no switch and no VM, which is an answer too."""
    try:
        document = json.loads(text)
        answers, failures = _mapping(document["answers"]), _mapping(document["failures"])
    except (ValueError, TypeError, KeyError):
        told = f"it printed {text[:80]!r}" if text.strip() else "it printed nothing"
        return unanswered(f"PowerShell did not answer: {told}", hyperv=hyperv)
    told_host = next(_rows(answers.get("host")), {})
    iov_support = told_host.get("IovSupport")
    return PowerShellAnswers(
        iov_support=iov_support if isinstance(iov_support, bool) else None,
        iov_reasons=tuple(map(str, _list(told_host.get("IovSupportReasons")))),
        upper_devices=_upper_devices(answers, hyperv=hyperv),
        assigned=_assigned(answers, hyperv=hyperv),
        disks_of_vms=_disks(answers, hyperv=hyperv),
        failures=tuple(f"{question}: {why}" for question, why in sorted(failures.items())),
    )


def unanswered(why: str, *, hyperv: bool) -> PowerShellAnswers:
    """What is known where PowerShell told nothing."""
    nothing: tuple[Any, ...] | None = None if hyperv else ()
    return PowerShellAnswers(assigned=nothing, disks_of_vms=nothing, failures=(why,))


def _upper_devices(answers: dict[str, Any], *, hyperv: bool) -> tuple[UpperDevice, ...] | None:
    if "teams" not in answers or (hyperv and "switches" not in answers):
        return None
    found = [
        UpperDevice(name=f"virtual switch {row.get('Name')}", adapter=str(adapter))
        for row in _rows(answers.get("switches"))
        for adapter in _list(row.get("Adapters"))
        if adapter
    ]
    found += [
        UpperDevice(name=f"team {row.get('Team')}", adapter=str(row["Name"]))
        for row in _rows(answers["teams"])
        if row.get("Name")
    ]
    return tuple(found)


def _assigned(answers: dict[str, Any], *, hyperv: bool) -> tuple[AssignedDevice, ...] | None:
    if "assigned" not in answers:
        return None if hyperv else ()
    return tuple(
        AssignedDevice(
            vm=str(row.get("VMName") or row.get("VMId")),
            vm_id=str(row["VMId"]) if row.get("VMId") else None,
            location_path=str(row["LocationPath"]),
        )
        for row in _rows(answers["assigned"])
        if row.get("LocationPath")
    )


def _disks(answers: dict[str, Any], *, hyperv: bool) -> tuple[int, ...] | None:
    if "disks" not in answers:
        return None if hyperv else ()
    numbers = (row.get("DiskNumber") for row in _rows(answers["disks"]))
    return tuple(number for number in numbers if isinstance(number, int))


def _rows(value: object) -> Iterator[dict[str, Any]]:
    return (row for row in _list(value) if isinstance(row, dict))


def _list(value: object) -> list[Any]:
    """PowerShell's lists, as it writes them: ``{"value": [...], "Count": n}`` where it wraps one."""
    if isinstance(value, dict) and set(value) == {"value", "Count"}:
        value = value["value"]
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value
