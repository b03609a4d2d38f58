"""Cmdlets that change a host: the script that runs one, and what its answer means. Pure; ``powershell`` runs it.

The answer is JSON, and its errors go by HRESULT and FullyQualifiedErrorId: messages are in the
language of Windows.
"""

import json
import re
from enum import StrEnum
from typing import Any

from laneway.domain.errors import ErrorCode, LanewayError


class Cmdlet(StrEnum):
    """What is done to a device; a journal keeps the words."""

    DISABLE = "Disable-PnpDevice"
    DISMOUNT = "Dismount-VMHostAssignableDevice"
    MOUNT = "Mount-VMHostAssignableDevice"
    ENABLE = "Enable-PnpDevice"


_CALLS = {
    Cmdlet.DISABLE: "Disable-PnpDevice -Confirm:$false -InstanceId {}",
    # Without -Force only devices with a mitigation driver of their vendor's can be dismounted.
    Cmdlet.DISMOUNT: "Dismount-VMHostAssignableDevice -Force -LocationPath {}",
    Cmdlet.MOUNT: "Mount-VMHostAssignableDevice -LocationPath {}",
    Cmdlet.ENABLE: "Enable-PnpDevice -Confirm:$false -InstanceId {}",
}

_QUOTES = re.compile("(['\u2018\u2019\u201a\u201b])")
"""PowerShell ends a verbatim string at typographic single quotes, too (about_Quoting_Rules)."""
_HRESULT = re.compile(r"\b0x([0-9a-f]{8})\b", re.IGNORECASE)

_ADMINISTRATOR = "run this as a member of Administrators"
_MEANINGS: dict[int | str, tuple[ErrorCode, str]] = {
    0x80070005: (ErrorCode.NO_PERMISSION, _ADMINISTRATOR),  # E_ACCESSDENIED
    0x80041003: (ErrorCode.NO_PERMISSION, _ADMINISTRATOR),  # WBEM_E_ACCESS_DENIED
    0x80070490: (ErrorCode.UNKNOWN_DEVICE, "it is not where it was; run laneway devices"),  # ERROR_NOT_FOUND
    0x80041002: (ErrorCode.UNKNOWN_DEVICE, "it is not where it was; run laneway devices"),  # WBEM_E_NOT_FOUND
    0x800700AA: (ErrorCode.DEVICE_OPEN, "something has it open; close that first"),  # ERROR_BUSY
    0xC035001E: (  # ERROR_HV_FEATURE_UNAVAILABLE
        ErrorCode.NOT_ASSIGNABLE,
        "it needs Windows Server, and an IOMMU that the firmware and the hypervisor use (laneway check)",
    ),
    "accessdenied": (ErrorCode.NO_PERMISSION, _ADMINISTRATOR),
    "commandnotfoundexception": (
        ErrorCode.NOT_SUPPORTED,
        "install the Hyper-V module: Install-WindowsFeature Hyper-V-PowerShell",
    ),
}


def command_script(cmdlet: Cmdlet, target: str) -> str:
    """The script that runs the cmdlet on a device, by its instance id or its location path."""
    return "\n".join(
        (
            "$ErrorActionPreference = 'Stop'",
            "$ProgressPreference = 'SilentlyContinue'",
            "[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false",
            "$answer = @{ ok = $true }",
            f"try {{ {_CALLS[cmdlet].format(quoted(target))} | Out-Null }} catch {{",
            "$codes = @(); $error_ = $_.Exception",
            "while ($null -ne $error_) { $codes += $error_.HResult; $error_ = $error_.InnerException }",
            '$answer = @{ ok = $false; id = "$($_.FullyQualifiedErrorId)"; codes = $codes; message = "$_" } }',
            "$answer | ConvertTo-Json -Compress",
        )
    )


def quoted(text: str) -> str:
    """The text as a verbatim string of PowerShell, in which nothing is expanded.

    Raises LanewayError(not_supported) for a text with a NUL, at which Windows would end it.
    """
    if "\0" in text:
        raise LanewayError(ErrorCode.NOT_SUPPORTED, f"{text!r} holds a NUL, and no device of Windows is named so")
    doubled = _QUOTES.sub(r"\1\1", text)
    return f"'{doubled}'"


def require_done(cmdlet: Cmdlet, target: str, printed: str) -> None:
    """Reads what the script printed. Raises LanewayError where the cmdlet failed, or its answer is none."""
    try:
        answer = json.loads(printed)
        is_done = answer["ok"]
    except (ValueError, TypeError, KeyError):
        told = f"it printed {printed[:80]!r}" if printed.strip() else "it printed nothing"
        raise failed(cmdlet, target, f"PowerShell did not answer: {told}") from None
    if is_done is not True:
        raise _failure(cmdlet, target, answer)


def failed(cmdlet: Cmdlet, target: str, why: str, **detail: object) -> LanewayError:
    """A cmdlet of which nothing better is known than that it failed."""
    return LanewayError(
        ErrorCode.HOST_CHANGE_FAILED, f"{cmdlet} {target}: {why}", {"cmdlet": str(cmdlet), "target": target, **detail}
    )


def _failure(cmdlet: Cmdlet, target: str, answer: dict[str, Any]) -> LanewayError:
    identity, message = str(answer.get("id") or ""), str(answer.get("message") or "").strip()
    codes = _codes(answer.get("codes"), identity)
    detail = {"error_id": identity, "hresults": [f"0x{code:08x}" for code in codes]}
    told = message or identity or "it failed and does not say why"
    for key in (*codes, identity.partition(",")[0].lower()):
        if key in _MEANINGS:
            code, remedy = _MEANINGS[key]
            return LanewayError(
                code, f"{cmdlet} {target}: {told}; {remedy}", {"cmdlet": str(cmdlet), "target": target, **detail}
            )
    return failed(cmdlet, target, told, **detail)


def _codes(given: object, identity: str) -> list[int]:
    """HRESULTs of the exception and of those inside it, and of the id: CIM cmdlets write theirs there."""
    listed = given if isinstance(given, list) else [given]
    codes = [code & 0xFFFFFFFF for code in listed if isinstance(code, int) and not isinstance(code, bool)]
    return [*codes, *(int(code, 16) for code in _HRESULT.findall(identity))]
