"""What PowerShell printed, and what it means."""

import json
from typing import Any

import pytest

from laneway.hosts.hyperv.powershell_answers import parse_answers, script, unanswered
from laneway.hosts.hyperv.recording import AssignedDevice, PowerShellAnswers, UpperDevice

HOST = {"IovSupport": True, "IovSupportReasons": None}


def printed(answers: dict[str, Any], failures: dict[str, str] | None = None) -> str:
    return json.dumps({"answers": answers, "failures": failures or {}})


WHOLE = printed(
    {
        "host": HOST,
        "switches": [{"Name": "uplink", "Adapters": ["7c1b0e52", "ConnectX-6"]}, {"Name": "other", "Adapters": "X710"}],
        "teams": {"Team": "both", "Name": "Ethernet 1"},
        "assigned": [{"VMName": "db-1", "VMId": "6a2f", "LocationPath": "PCIROOT(3)#PCI(0200)"}],
        "disks": {"DiskNumber": 2},
    }
)


def test_a_whole_answer_with_lists_of_one_written_as_the_element_alone() -> None:
    assert parse_answers(WHOLE, hyperv=True) == PowerShellAnswers(
        iov_support=True,
        upper_devices=(
            UpperDevice(name="virtual switch uplink", adapter="7c1b0e52"),
            UpperDevice(name="virtual switch uplink", adapter="ConnectX-6"),
            UpperDevice(name="virtual switch other", adapter="X710"),
            UpperDevice(name="team both", adapter="Ethernet 1"),
        ),
        assigned=(AssignedDevice(vm="db-1", vm_id="6a2f", location_path="PCIROOT(3)#PCI(0200)"),),
        disks_of_vms=(2,),
    )


@pytest.mark.parametrize("empty", [[], None, {"value": [], "Count": 0}])
def test_an_empty_list_is_known_to_be_empty(empty: object) -> None:
    told = dict.fromkeys(("switches", "teams", "assigned", "disks"), empty)
    found = parse_answers(printed({"host": HOST, **told}), hyperv=True)
    assert (found.upper_devices, found.assigned, found.disks_of_vms) == ((), (), ())


def test_what_failed_is_not_known_and_said() -> None:
    failures = dict.fromkeys(("host", "switches", "assigned", "disks"), "no permission")
    found = parse_answers(printed({"teams": []}, failures), hyperv=True)
    assert (found.iov_support, found.upper_devices, found.assigned, found.disks_of_vms) == (None, None, None, None)
    assert found.failures[0] == "assigned: no permission"


def test_teams_that_are_not_told_leave_all_that_stands_above_adapters_unknown() -> None:
    assert parse_answers(printed({"switches": []}, {"teams": "not there"}), hyperv=True).upper_devices is None


def test_without_hyper_v_there_is_no_switch_and_no_vm() -> None:
    found = parse_answers(printed({"teams": []}), hyperv=False)
    assert (found.upper_devices, found.assigned, found.disks_of_vms) == ((), (), ())


def test_reasons_of_hyper_v() -> None:
    told = {"IovSupport": False, "IovSupportReasons": ["one", "two"]}
    found = parse_answers(printed({"host": told}), hyperv=True)
    assert (found.iov_support, found.iov_reasons) == (False, ("one", "two"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("", "it printed nothing", id="nothing"),
        pytest.param("Get-VMHost : error", "Get-VMHost", id="a message"),
        pytest.param("[]", "[]", id="a list"),
        pytest.param('{"answers": 5, "failures": {}}', "5", id="answers that are none"),
    ],
)
def test_what_is_no_answer_leaves_everything_unknown(text: str, why: str) -> None:
    found = parse_answers(text, hyperv=True)
    assert (found.iov_support, found.upper_devices, found.assigned, found.disks_of_vms) == (None, None, None, None)
    assert why in found.failures[0]


def test_a_silent_powershell_knows_as_much_of_vms_as_a_host_without_hyper_v_has() -> None:
    assert unanswered("why", hyperv=False).assigned == ()
    assert unanswered("why", hyperv=True).assigned is None


@pytest.mark.parametrize(("hyperv", "asked"), [(True, 5), (False, 1)])
def test_the_script_asks_each_question_by_itself(hyperv: bool, asked: int) -> None:
    lines = [line for line in script(hyperv=hyperv).splitlines() if line.startswith("try ")]
    assert len(lines) == asked
    assert all(line.endswith('= "$_" }') for line in lines)


def test_the_script_changes_nothing() -> None:
    cmdlets = {word for word in script(hyperv=True).replace("(", " ").split() if "-" in word and word[0].isupper()}
    assert {word.partition("-")[0] for word in cmdlets} <= {"Get", "Select", "Where", "ForEach", "ConvertTo", "New"}
