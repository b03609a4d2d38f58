"""The commands on example hosts: what they answer, to people and to programs."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from cli.conftest import ExampleHost
from cli.documents import validated
from laneway import bootstrap
from laneway.contracts.inventory import decode_inventory

L40S = "0000:19:00.0"
AUDIO = "0000:9b:00.1"
TWO_WITH_NIC = ("claim", "db-1", "--alias", "l40s:2,nic:1", "--id", "c1", "--numa-node", "0")
ONE_ROOT = ("--constraint", '{"match": "pcie_root", "requests": ["l40s", "nic"]}')


# devices


def test_devices_lists_every_function_for_a_program(gpu_server: ExampleHost) -> None:
    document = gpu_server.json("devices", "devices")
    by_address = {function["address"]: function for function in document["functions"]}
    assert (document["schema"], document["host"], len(by_address)) == ("laneway.devices/1", "gpu-1", 62)
    assert by_address[L40S]["device"] == {
        "status": "available",
        "consumer": None,
        "claim": None,
        "tags": {},
        "entry": 0,
        "blocked_by": [],
        "prepared": False,
    }
    assert by_address["0000:03:00.0"]["device"]["blocked_by"][0]["code"] == "in_use_by"
    assert by_address["0000:00:1c.0"]["device"] is None
    assert by_address["0000:00:1c.0"]["not_admitted"][0]["code"] == "bridge"


def test_devices_shows_who_holds_what_and_what_that_does_to_its_relatives(gpu_server: ExampleHost) -> None:
    gpu_server.run("claim", "r1", "--alias", "a4000:1", "--id", "c1")
    lines = gpu_server.run("devices").out.splitlines()
    gpu, audio = (next(line for line in lines if line.startswith(address)) for address in ("0000:9b:00.0", AUDIO))
    assert "claimed by r1" in gpu
    assert "unclaimable" in audio
    assert "its relative 0000:9b:00.0 is held by r1" in audio


def test_devices_as_a_tree(gpu_server: ExampleHost) -> None:
    assert "│  └─ bridge 0000:16:00.0" in gpu_server.run("devices", "--tree").out


def test_devices_without_a_config_says_how_to_write_one(desktop: ExampleHost) -> None:
    desktop.config.write_text("")
    answer = desktop.run("devices")
    assert f"write into {desktop.config}:" in answer.out
    indented = "\n".join(line[2:] for line in answer.out.splitlines() if line.startswith("  ") or not line)
    start, end = indented.index("[[device_spec]]"), indented.index("laneway check")
    desktop.config.write_text(indented[start:end])
    assert desktop.run("claim", "vm1", "--alias", "gpu:1").status == 0


def test_a_held_device_that_is_gone_stays_in_the_list(gpu_server: ExampleHost) -> None:
    gpu_server.run("claim", "db-1", "--alias", "l40s:1")
    snapshot = gpu_server.folder / "host.json"
    document = json.loads(snapshot.read_text())
    document["functions"] = [function for function in document["functions"] if function["address"] != L40S]
    snapshot.write_text(json.dumps(document))
    line = next(line for line in gpu_server.run("devices").out.splitlines() if line.startswith(L40S))
    assert "claimed by db-1" in line
    assert "the host has no such function any more" in line


# check


def test_check_says_what_each_entry_does(network_host: ExampleHost) -> None:
    document = network_host.json("check", "check")
    provider, storage, _, remote = document["entries"]
    assert len(provider["admitted"]) == 8
    assert list(storage["blocked"]) == ["0000:31:11.3"]
    assert remote["passed_over"]["0000:b1:01.3"]["code"] == "remote_managed_no_serial"
    assert document["aliases"][1] == {
        "name": "uplink",
        "devices": 0,
        "available": 0,
        "hint": "the host has such functions, but no device spec admits them as the alias wants them",
    }


def test_check_is_told_in_words(network_host: ExampleHost) -> None:
    out = network_host.run("check").out
    assert f"{network_host.config}\n" in out
    assert "device_spec entry 1 (line 6): " in out
    assert "  0000:31:11.3 is blocked: the host uses it" in out
    assert "  0000:b1:01.3, 0000:b1:01.4, 0000:b1:01.5, 0000:b1:01.6 are not admitted: " in out
    assert out.endswith("The config is good: 21 functions admitted, 1 of them blocked.\n")


def test_check_notes_what_is_probably_not_meant(desktop: ExampleHost) -> None:
    desktop.config.write_text('[[device_spec]]\nvendor_id = "10de"\nphsyical_network = "p1"\n')
    out = desktop.run("check").out
    assert "Noted\n" in out
    assert "physical_network" in out


def test_check_of_no_config_says_so(desktop: ExampleHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LANEWAY_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    options = ("--snapshot", str(desktop.folder / "host.json"), "--state", str(tmp_path / "state.db"))
    answer = desktop.run_alone("check", *options)
    assert (answer.status, answer.out) == (0, "There is no config, so nothing is handed out.\n")


def test_a_wrong_config_is_told_with_all_its_errors(desktop: ExampleHost) -> None:
    desktop.config.write_text('[[device_spec]]\nvendor_id = "nvidia"\n\n[[alias]]\nname = "gpu"\n')
    answer = desktop.run("check")
    assert answer.status == 78
    assert answer.out == ""
    assert answer.err.count("error: ") == 2
    assert f"({desktop.config}:2): " in answer.err
    assert answer.err.count(f"{desktop.config}:2") == 1
    failure = desktop.json("failure", "check", status=78)
    assert [error["code"] for error in failure["errors"]] == ["invalid_device_spec", "invalid_alias"]


# claim, allocate, free


def test_a_claim_is_answered_with_the_devices_and_the_next_steps(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run(*TWO_WITH_NIC, *ONE_ROOT)
    assert answer.status == 0
    assert answer.out.startswith("db-1 has claimed, under the id c1:\n")
    assert "l40s     0000:19:00.0" in answer.out
    assert "laneway hostdev db-1 --format libvirt" in answer.out
    assert "laneway allocate db-1" in answer.out


def test_for_a_program_a_claim_is_a_step(gpu_server: ExampleHost) -> None:
    step = gpu_server.json("step", *TWO_WITH_NIC, *ONE_ROOT)
    assert step["devices"] == {"l40s": [L40S, "0000:1a:00.0"], "nic": ["0000:18:00.0"]}
    assert (step["op"], step["ok"], step["proven_best"]) == ("claim", True, True)
    assert step["statuses"][L40S]["consumer"] == "db-1"


def test_the_same_claim_again_is_answered_the_same(gpu_server: ExampleHost) -> None:
    first = gpu_server.json("step", *TWO_WITH_NIC)
    assert gpu_server.json("step", *TWO_WITH_NIC) == first
    assert gpu_server.run(*TWO_WITH_NIC).out.startswith("db-1 has already claimed, under the id c1:")


def test_without_an_id_every_claim_is_a_new_one(gpu_server: ExampleHost) -> None:
    claims = {
        status["claim"]
        for _ in range(2)
        for status in gpu_server.json("step", "claim", "db-1", "--alias", "l40s:1")["statuses"].values()
        if "claim" in status
    }
    assert len(claims) == 2


def test_a_refused_claim_is_a_no_with_its_reason(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("claim", "db-1", "--alias", "l40s:5")
    assert (answer.status, answer.out) == (1, "")
    step = gpu_server.json("step", "claim", "db-1", "--alias", "l40s:5", status=1)
    assert (step["ok"], step["error"]["code"], step["devices"]) == (False, "does_not_fit", None)
    assert not any("consumer" in status for status in step["statuses"].values())


def test_requests_in_full_and_by_alias_go_together(gpu_server: ExampleHost) -> None:
    request = '{"name": "audio", "any_of": [{"vendor_id": "10de", "product_id": "228b"}], "count": 1}'
    step = gpu_server.json("step", "claim", "r1", "--alias", "a4000:1", "--request", request)
    assert step["devices"] == {"a4000": ["0000:9b:00.0"], "audio": [AUDIO]}


def test_a_claim_goes_from_claimed_to_allocated_to_free(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC)
    assert gpu_server.run("allocate", "db-1").out.startswith("Allocated:\n")
    assert gpu_server.json("step", "allocate", "db-1", status=1)["error"]["code"] == "no_claim"
    assert gpu_server.run("free", "db-1").out.startswith("Freed:\n")
    assert gpu_server.run("free", "db-1").out == "Nothing to do: there is nothing to be freed.\n"


def test_one_device_or_one_claim_can_be_freed(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC)
    gpu_server.run("claim", "db-1", "--alias", "a4000:1", "--id", "c2")
    freed = gpu_server.json("step", "free", "db-1", "--device", "19:00.0")["statuses"]
    assert freed[L40S]["status"] == "available"
    freed = gpu_server.json("step", "free", "db-1", "--claim", "c2")["statuses"]
    assert sorted(address for address in freed if "consumer" in freed[address]) == ["0000:18:00.0", "0000:1a:00.0"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        pytest.param(("claim", "vm1"), 2, "nothing is asked for", id="a claim of nothing"),
        pytest.param(("claim", "vm1", "--alias", "l40"), 2, "has no count", id="an alias without a count"),
        pytest.param(("claim", "vm1", "--alias", "l40:1"), 1, "did you mean 'l40s'?", id="an unknown alias"),
        pytest.param(("claim", "vm1", "--request", "{'name'"), 2, "is not JSON", id="a request that is no JSON"),
        pytest.param(
            ("claim", "vm1", "--alias", "nic:1", "--request", '{"name": "nic", "alias": "nic"}'),
            2,
            "two requests are named 'nic'",
            id="two requests of one name",
        ),
        pytest.param(("claim", "vm1", "--alias", "nic:1", "--ttl", "soon"), 2, "is no span of time", id="no time"),
        pytest.param(("claim", "vm1", "--alias", "nic:1", "--ttl", "0s"), 2, "is no time at all", id="no time at all"),
        pytest.param(("free", "vm1", "--claim", "c", "--device", "1:0.0"), 2, "exclude each other", id="too much"),
        pytest.param(("free", "vm1", "--device", "here"), 2, "'here' is not a PCI address", id="no address"),
        pytest.param(("allocate", "vm1"), 1, "claimed", id="nothing to allocate"),
        pytest.param(("cordon", "0000:00:1c.0"), 1, "is no tracked device", id="a bridge is no device"),
        pytest.param(("hostdev", "vm1", "--format", "qemu"), 1, "holds no device", id="no devices, no definition"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    words: tuple[str, ...], status: int, message: str, gpu_server: ExampleHost
) -> None:
    answer = gpu_server.run(*words)
    assert (answer.status, answer.out) == (status, "")
    assert message in answer.err
    assert answer.err.startswith("no: " if status == 1 else "error: ")


def test_the_policy_of_the_guest_beats_that_of_an_alias(gpu_server: ExampleHost) -> None:
    """Rule C60."""
    far = ("claim", "db-1", "--alias", "l40s:4", "--numa-node", "1", "--numa-policy")
    assert gpu_server.run(*far, "required").status == 1
    assert gpu_server.run(*far, "preferred").status == 0


# claims


def test_claims_are_listed(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC, "--ttl", "1h30m")
    gpu_server.run("claim", "other", "--alias", "a4000:1", "--id", "c2")
    document = gpu_server.json("claims", "claims")
    assert [(claim["consumer"], claim["claim"]) for claim in document["claims"]] == [("db-1", "c1"), ("other", "c2")]
    assert document["claims"][0]["guest_numa_nodes"] == [0]
    assert document["claims"][0]["expires_at"] is not None
    assert document["claims"][1]["expires_at"] is None
    assert [claim["overdue"] for claim in document["claims"]] == [False, False]
    assert len(document["devices"]) == 4
    assert len(gpu_server.run("claims").out.splitlines()) == 5


def test_a_claim_whose_time_is_over_is_overdue_as_long_as_it_is_there(
    gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu_server.run(*TWO_WITH_NIC, "--ttl", "1h30m")
    snapshot = gpu_server.folder / "host.json"
    host = json.loads(snapshot.read_text())
    (held,) = (one for one in host["functions"] if one["address"] == L40S)
    held["opened_by"] = [{"pid": 4711, "name": "qemu-system-x86_64"}]
    snapshot.write_text(json.dumps(host))
    later = bootstrap.now() + timedelta(hours=2)
    monkeypatch.setattr(bootstrap, "now", lambda: later)
    assert [claim["overdue"] for claim in gpu_server.json("claims", "claims")["claims"]] == [True]
    assert "overdue" in gpu_server.run("claims").out


def test_the_claims_of_one_consumer_are_listed(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC)
    assert gpu_server.json("claims", "claims", "other")["claims"] == []
    assert gpu_server.run("claims", "other").out == "No device of this host is held.\n"


def test_a_name_that_the_locale_cannot_show_is_shown_as_far_as_it_can(gpu_server: ExampleHost) -> None:
    gpu_server.run("claim", "日本\x1b[31m", "--alias", "a4000:1", "--id", "c1")
    program = "from laneway.cli import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", program, "claims", *gpu_server.options],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert shown.stdout.splitlines()[1].startswith(b"???[31m  c1")
    assert shown.stderr == b""


# explain


def test_explain_says_what_a_claim_would_get_and_changes_nothing(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("explain", "db-1", "--alias", "l40s:2").out.startswith("Yes, this can be claimed:\n")
    step = gpu_server.json("step", "explain", "db-1", "--alias", "l40s:2")
    assert step["op"] == "check"
    assert not any("consumer" in status for status in step["statuses"].values())


def test_explain_says_no_as_a_claim_would(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("explain", "db-1", "--alias", "disk:1").status == 1


# hostdev


def test_a_definition_is_printed_as_it_stands(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC)
    out = gpu_server.run("hostdev", "db-1", "--format", "libvirt").out
    assert out.count("<hostdev ") == 3
    document = gpu_server.json("hostdev", "hostdev", "db-1", "--format", "libvirt")
    assert document["definition"] + "\n" == out
    assert document["devices"] == ["0000:18:00.0", L40S, "0000:1a:00.0"]


def test_a_device_that_is_still_on_the_drivers_of_the_host_is_noted(gpu_server: ExampleHost) -> None:
    gpu_server.run(*TWO_WITH_NIC)
    answer = gpu_server.run("hostdev", "db-1", "--format", "libvirt")
    start = "note: 0000:18:00.0 is on the host's driver mlx5_core; before the VM starts: "
    assert answer.err == f"{start}laneway allocate db-1, then laneway prepare db-1\n"
    gpu_server.run("allocate", "db-1")
    assert gpu_server.run("hostdev", "db-1", "--format", "qemu").err == f"{start}laneway prepare db-1\n"
    assert gpu_server.json("hostdev", "hostdev", "db-1", "--format", "libvirt")["unbound"] == ["0000:18:00.0"]


@pytest.mark.parametrize("binding", ["operator", "libvirt"])
def test_a_device_that_others_bind_is_not_for_laneway_to_prepare(gpu_server: ExampleHost, binding: str) -> None:
    config = gpu_server.config.read_text()
    gpu_server.config.write_text(config.replace("[[device_spec]]", f'[[device_spec]]\nbinding = "{binding}"'))
    assert "laneway prepare" not in gpu_server.run(*TWO_WITH_NIC).out
    assert "laneway prepare" not in gpu_server.run("hostdev", "db-1", "--format", "qemu").err


def test_iommufd_is_for_qemu(desktop: ExampleHost) -> None:
    desktop.run("claim", "win11", "--alias", "gpu:1")
    assert "iommufd" in desktop.run("hostdev", "win11", "--format", "qemu", "--iommufd").out


@pytest.mark.parametrize(
    ("form", "option", "meant"), [("libvirt", "--iommufd", "qemu"), ("qemu", "--iommu", "cloud-hypervisor")]
)
def test_an_option_of_another_format_is_refused_rather_than_ignored(
    desktop: ExampleHost, form: str, option: str, meant: str
) -> None:
    desktop.run("claim", "win11", "--alias", "gpu:1")
    answer = desktop.run("hostdev", "win11", "--format", form, option)
    assert (answer.status, answer.out) == (2, "")
    assert f"{option} is an option of --format {meant}" in answer.err


@pytest.mark.parametrize(
    ("attach", "asked", "form", "words"),
    [
        pytest.param("vfio", "type-VF", "libvirt", ["<hostdev mode='subsystem' type='pci'"], id="libvirt, vfio"),
        pytest.param("vdpa", "vdpa", "libvirt", ["<interface type='vdpa'>", "/dev/vhost-vdpa-0"], id="libvirt, vdpa"),
        pytest.param(
            "macvtap",
            "type-VF",
            "libvirt",
            ["<interface type='direct'>", "mode='passthrough'"],
            id="libvirt, macvtap",
        ),
        pytest.param("vfio", "type-VF", "qemu", ["-device vfio-pci,host="], id="qemu, vfio"),
        pytest.param("vdpa", "vdpa", "qemu", ["-netdev vhost-vdpa,", "-device virtio-net-pci,"], id="qemu, vdpa"),
        pytest.param(
            "vfio", "type-VF", "cloud-hypervisor", ["--device path=/sys/bus/pci"], id="cloud hypervisor, vfio"
        ),
        pytest.param("vdpa", "vdpa", "cloud-hypervisor", ["--vdpa path=/dev/vhost"], id="cloud hypervisor, vdpa"),
    ],
)
def test_the_definition_of_each_kind_of_attachment(
    network_host: ExampleHost, attach: str, asked: str, form: str, words: list[str]
) -> None:
    request = json.dumps({"name": "n", "attach": attach, "any_of": [{"dev_type": asked}]})
    network_host.run("claim", "vm1", "--request", request)
    answer = network_host.run("hostdev", "vm1", "--format", form)
    assert answer.status == 0
    assert [word for word in words if word not in answer.out] == []


@pytest.mark.parametrize("form", ["qemu", "cloud-hypervisor", "hyperv"])
def test_what_a_format_cannot_say_is_refused_with_what_can(network_host: ExampleHost, form: str) -> None:
    request = json.dumps({"name": "n", "attach": "macvtap", "any_of": [{"dev_type": "type-VF"}]})
    network_host.run("claim", "vm1", "--request", request)
    answer = network_host.run("hostdev", "vm1", "--format", form)
    assert (answer.status, answer.out) == (1, "")
    assert "use --format libvirt" in answer.err


# cordon


def test_a_cordoned_device_is_not_offered_until_it_is_uncordoned(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("cordon", L40S, "--reason", "memory errors").out.startswith("Cordoned:\n")
    assert gpu_server.json("step", "claim", "db-1", "--alias", "l40s:4", status=1)["ok"] is False
    assert "cordoned by an operator: memory errors" in gpu_server.run("devices").out
    assert gpu_server.run("uncordon", "19:00.0").out.startswith("Uncordoned:\n")
    assert gpu_server.json("step", "claim", "db-1", "--alias", "l40s:4")["ok"] is True


def test_to_uncordon_what_is_not_cordoned_is_nothing_to_do(gpu_server: ExampleHost) -> None:
    assert gpu_server.run("uncordon", L40S).out == "Nothing to do: there is nothing to be uncordoned.\n"


# capture


def test_a_capture_is_the_inventory(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run("capture")
    document = validated("inventory", answer.out)
    assert document["host"] == "gpu-1"
    assert decode_inventory(answer.out) == decode_inventory((gpu_server.folder / "host.json").read_bytes())


def test_a_capture_for_others_has_no_serials_and_no_macs(gpu_server: ExampleHost) -> None:
    out = gpu_server.run("capture", "--blank").out
    assert "MT2342X" not in out
    assert "02:00:00" not in out


def test_a_capture_can_be_written_to_a_file(gpu_server: ExampleHost, tmp_path: Path) -> None:
    target = tmp_path / "capture.json"
    assert gpu_server.run("capture", "--output", str(target)).out == ""
    assert decode_inventory(target.read_bytes()).host == "gpu-1"


def test_a_capture_that_cannot_be_written_is_refused(gpu_server: ExampleHost, tmp_path: Path) -> None:
    answer = gpu_server.run("capture", "--output", str(tmp_path / "no" / "such.json"))
    assert answer.status == 2
    assert "cannot be written" in answer.err


def test_a_capture_does_not_look_at_the_config(gpu_server: ExampleHost) -> None:
    gpu_server.config.write_text("nonsense")
    assert gpu_server.run("capture").status == 0


def test_a_snapshot_that_is_none_is_refused(gpu_server: ExampleHost) -> None:
    (gpu_server.folder / "host.json").write_text('{"schema": "laneway.inventory/1"}')
    answer = gpu_server.run("devices")
    assert answer.status == 2
    assert "host.json" in answer.err


# simulate


SCENARIO = {"schema": "laneway.scenario/1", "id": "s1", "inventory": {"schema": "laneway.inventory/1", "functions": []}}


def test_scenarios_are_answered_line_by_line(gpu_server: ExampleHost, tmp_path: Path) -> None:
    file = tmp_path / "scenarios.jsonl"
    file.write_text(f"{json.dumps(SCENARIO)}\nnonsense\n{json.dumps({**SCENARIO, 'id': 's2'})}\n")
    answer = gpu_server.run_alone("simulate", str(file))
    answers = [validated("answer", line) for line in answer.out.splitlines()]
    assert [(one["id"], one["ok"]) for one in answers] == [("s1", True), (None, False), ("s2", True)]
    assert answers[1]["error"]["code"] == "invalid_json"
    assert answer.status == 2


def test_a_scenario_that_goes_wrong_is_an_answer_too(gpu_server: ExampleHost, tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps({**SCENARIO, "device_spec": [{"vendor_id": "x"}]}, indent=2))
    answer = gpu_server.run_alone("simulate", str(file))
    assert answer.status == 0
    assert validated("answer", answer.out)["error"]["code"] == "invalid_device_spec"


def test_scenarios_that_cannot_be_read_are_refused(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run_alone("simulate", "missing.json")
    assert (answer.status, answer.out) == (2, "")
    assert "cannot be read" in answer.err


def test_all_that_is_wrong_with_an_inventory_is_told(gpu_server: ExampleHost, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    function = {"address": "0000:3b:00.0", "vendor_id": "8", "product_id": "20b0", "dev_type": "PCI"}
    file.write_text(json.dumps({"schema": "laneway.inventory/1", "functions": [function]}))
    told = gpu_server.run_alone("devices", "--snapshot", str(file))
    assert (told.status, told.err.count(f"error: {file}: $.functions[0]")) == (2, 2)
    answer = gpu_server.run_alone("devices", "--snapshot", str(file), "--json")
    assert [error["detail"]["path"] for error in validated("failure", answer.out)["errors"]] == [
        "$.functions[0].vendor_id",
        "$.functions[0].dev_type",
    ]


def test_files_beside_one_that_cannot_be_read_are_answered(gpu_server: ExampleHost, tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(SCENARIO))
    answer = gpu_server.run_alone("simulate", str(file), "missing.json", str(file), "missing-too.json")
    assert answer.status == 2
    assert [validated("answer", line)["ok"] for line in answer.out.splitlines()] == [True, True]
    assert "missing.json" in answer.err
    assert "missing-too.json" in answer.err


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        pytest.param(["claim", "vm", "--alias", "nope:1"], "unknown_alias", 1, id="an alias that is not there"),
        pytest.param(["claim", "vm", "--alias", "gpu"], "invalid_request", 2, id="no count"),
        pytest.param(["claim", "vm", "--request", "[]"], "invalid_request", 2, id="no request"),
        pytest.param(["claim", "vm", "--request", "{"], "invalid_json", 2, id="no JSON"),
        pytest.param(["claim", "vm", "--request", '{"nam": "a"}'], "invalid_request", 2, id="another key"),
        pytest.param(["claim", "vm"], "usage", 2, id="nothing"),
        pytest.param(["explain", "vm", "--alias", "nope:1"], "unknown_alias", 1, id="would a claim"),
    ],
)
def test_a_claim_that_asks_for_what_cannot_be_is_a_step_too(
    gpu_server: ExampleHost, words: list[str], code: str, status: int
) -> None:
    answer = gpu_server.run(*words, "--json")
    assert answer.status == status
    step = validated("step", answer.out)
    assert step["error"]["code"] == code
    assert step["statuses"]


def test_explain_takes_what_claim_takes(gpu_server: ExampleHost) -> None:
    wanted = ("vm", "--alias", "l40s:1", "--id", "job-1", "--ttl", "15m", "--json")
    assert gpu_server.run("explain", *wanted).status == 0
    assert gpu_server.run("claim", *wanted).status == 0
    assert gpu_server.run("explain", *wanted).status == 0
    other = gpu_server.run("explain", "other", "--alias", "l40s:1", "--id", "job-1", "--json")
    assert validated("step", other.out)["error"]["code"] == "claim_conflict"


# claims whose time is over


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["devices"], "16 available", id="devices"),
        pytest.param(["hostdev", "vm1", "--format", "qemu"], "vm1 holds no device", id="a definition"),
        pytest.param(["check"], "nic          4          4", id="the config held against the host"),
    ],
)
def test_a_claim_whose_time_is_over_is_not_shown_as_held(
    words: list[str], told: str, gpu_server: ExampleHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = bootstrap.now() + timedelta(minutes=16)
    assert gpu_server.run("claim", "vm1", "--alias", "nic:1", "--ttl", "15m").status == 0
    assert "claimed by vm1" in gpu_server.run("devices").out
    monkeypatch.setattr(bootstrap, "now", lambda: later)
    answer = gpu_server.run(*words)
    assert told in answer.out + answer.err


# db


def test_the_database_is_looked_after(gpu_server: ExampleHost, tmp_path: Path) -> None:
    assert gpu_server.json("db", "db", "status")["condition"] == "empty"
    assert gpu_server.json("db", "db", "upgrade")["before"] is None
    assert gpu_server.json("db", "db", "status")["condition"] == "current"
    assert "is up to date already" in gpu_server.run("db", "upgrade").out
    assert gpu_server.json("db", "db", "backup", str(tmp_path / "copy.db"))["backup"] == str(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").exists()
    assert gpu_server.run("db", "status").out == f"{gpu_server.folder / 'state.db'}: the tables are up to date.\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("backup",), "backup needs the FILE to write", id="a backup to nowhere"),
        pytest.param(("status", "file"), "status takes no FILE", id="a file for nothing"),
    ],
)
def test_the_database_command_wants_a_file_for_a_backup_only(
    words: tuple[str, ...], message: str, gpu_server: ExampleHost
) -> None:
    answer = gpu_server.run("db", *words)
    assert answer.status == 2
    assert message in answer.err


# completion


def test_a_completion_script_is_a_document_too(gpu_server: ExampleHost) -> None:
    answer = gpu_server.run_alone("completion", "bash", "--json")
    assert "_LANEWAY_COMPLETE" in validated("completion", answer.out)["script"]
