"""Scripts that change a Windows host, and their answers, which are of our own making: no PowerShell was at hand."""

import json
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hosts.hyperv.test_powershell import Shell
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.hosts.hyperv.powershell import change
from laneway.hosts.hyperv.powershell_commands import Cmdlet, command_script, quoted, require_done

PATH = "PCIROOT(3)#PCI(0200)#PCI(0000)"
QUOTES = "'\u2018\u2019\u201a\u201b"


def read_back(string: str) -> str:
    """What PowerShell makes of a verbatim string: a quote before a quote is one, a quote alone ends it."""
    assert string[0] == "'"
    made, rest = "", string[1:]
    while rest[0] not in QUOTES or (len(rest) > 1 and rest[1] in QUOTES):
        made += rest[0]
        rest = rest[2:] if rest[0] in QUOTES else rest[1:]
    assert len(rest) == 1, "it ends before its end"
    return made


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from(QUOTES + '`$";\n')))
def test_no_name_gets_out_of_its_quotes(name: str) -> None:
    assert read_back(quoted(name)) == name


@pytest.mark.parametrize(
    ("name", "string"),
    [
        (PATH, f"'{PATH}'"),
        ("it's", "'it''s'"),
        ('$(Remove-Item C:\\) `n "', "'$(Remove-Item C:\\) `n \"'"),
        ("\u2019; Stop-Computer #", "'\u2019\u2019; Stop-Computer #'"),
    ],
    ids=["a location path", "a quote", "what is expanded between double quotes", "a typographic quote"],
)
def test_names_in_quotes(name: str, string: str) -> None:
    assert quoted(name) == string


def test_a_nul_is_refused() -> None:
    with pytest.raises(LanewayError) as caught:
        quoted("PCI\\\0")
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("cmdlet", "call"),
    [
        (Cmdlet.DISABLE, "Disable-PnpDevice -Confirm:$false -InstanceId 'it''s'"),
        (Cmdlet.DISMOUNT, "Dismount-VMHostAssignableDevice -Force -LocationPath 'it''s'"),
        (Cmdlet.MOUNT, "Mount-VMHostAssignableDevice -LocationPath 'it''s'"),
        (Cmdlet.ENABLE, "Enable-PnpDevice -Confirm:$false -InstanceId 'it''s'"),
    ],
)
def test_the_script_runs_one_cmdlet_and_answers_in_json(cmdlet: Cmdlet, call: str) -> None:
    lines = command_script(cmdlet, "it's").splitlines()
    assert f"try {{ {call} | Out-Null }} catch {{" in lines
    assert lines[0] == "$ErrorActionPreference = 'Stop'"
    assert lines[-1] == "$answer | ConvertTo-Json -Compress"


def answer(error_id: str = "", *codes: int, message: str = "Zugriff verweigert") -> str:
    return json.dumps({"ok": False, "id": error_id, "codes": list(codes), "message": message})


def refused(printed: str, cmdlet: Cmdlet = Cmdlet.DISMOUNT) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        require_done(cmdlet, PATH, printed)
    return caught.value


def test_a_cmdlet_that_succeeded() -> None:
    require_done(Cmdlet.MOUNT, PATH, '{"ok":true}\r\n')


@pytest.mark.parametrize(
    ("printed", "code", "remedy"),
    [
        (answer("AccessDenied,Microsoft.HyperV.PowerShell.Commands.X"), ErrorCode.NO_PERMISSION, "Administrators"),
        (answer("HRESULT 0x80041003,Disable-PnpDevice"), ErrorCode.NO_PERMISSION, "Administrators"),
        (answer("Unspecified,X", -2147024891), ErrorCode.NO_PERMISSION, "Administrators"),
        (answer("Unspecified,X", -2146233087, -2147023728), ErrorCode.UNKNOWN_DEVICE, "laneway devices"),
        (answer("HRESULT 0x80041002,Enable-PnpDevice"), ErrorCode.UNKNOWN_DEVICE, "laneway devices"),
        (answer("Unspecified,X", -2147024726), ErrorCode.DEVICE_OPEN, "something has it open"),
        (answer("Unspecified,X", 0xC035001E), ErrorCode.NOT_ASSIGNABLE, "Windows Server"),
        (answer("CommandNotFoundException"), ErrorCode.NOT_SUPPORTED, "Install-WindowsFeature"),
        (answer("HRESULT 0x80041001,Disable-PnpDevice"), ErrorCode.HOST_CHANGE_FAILED, "Zugriff verweigert"),
        (answer("InvalidState,X", -2146233087), ErrorCode.HOST_CHANGE_FAILED, "Zugriff verweigert"),
        (answer(message=""), ErrorCode.HOST_CHANGE_FAILED, "does not say why"),
    ],
    ids=[
        *("refused by Hyper-V", "refused by CIM", "E_ACCESSDENIED", "not found, inside another", "not found by CIM"),
        *("busy", "no hypervisor for it", "no such cmdlet", "a generic failure", "a wrong state", "silence"),
    ],
)
def test_errors_go_by_their_codes_and_never_by_their_words(printed: str, code: ErrorCode, remedy: str) -> None:
    error = refused(printed)
    assert error.code is code
    assert f"Dismount-VMHostAssignableDevice {PATH}: " in error.message
    assert remedy in error.message


def test_the_codes_are_kept_for_whoever_looks_into_it() -> None:
    error = refused(answer("InvalidState,X", -2146233087))
    assert error.detail["error_id"] == "InvalidState,X"
    assert error.detail["hresults"] == ["0x80131501"]


@pytest.mark.parametrize(
    "printed",
    ["", "no JSON", "[]", "null", '{"id": "x"}', "3"],
    ids=["nothing", "text", "a list", "null", "an object without an answer", "a number"],
)
def test_what_is_no_answer_is_a_failure(printed: str) -> None:
    error = refused(printed)
    assert (error.code, "PowerShell did not answer" in error.message) == (ErrorCode.HOST_CHANGE_FAILED, True)


@pytest.mark.parametrize("codes", [None, [], 5, "x", [True, None, "y"]])
def test_codes_of_any_kind_are_looked_through(codes: object) -> None:
    error = refused(json.dumps({"ok": False, "id": None, "codes": codes, "message": "m"}))
    assert error.code is ErrorCode.HOST_CHANGE_FAILED


def test_powershell_is_given_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell(b'{"ok":true}')
    monkeypatch.setattr(subprocess, "run", shell)
    change(Cmdlet.MOUNT, PATH)
    assert shell.scripts == [command_script(Cmdlet.MOUNT, PATH)]


@pytest.mark.parametrize(
    "outcome", [FileNotFoundError("powershell.exe"), subprocess.TimeoutExpired("powershell.exe", 180)]
)
def test_a_powershell_that_cannot_be_run_is_a_failure(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> None:
    monkeypatch.setattr(subprocess, "run", Shell(outcome))
    with pytest.raises(LanewayError, match="PowerShell cannot be run"):
        change(Cmdlet.MOUNT, PATH)
