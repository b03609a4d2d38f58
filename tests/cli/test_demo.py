"""``laneway demo``: the transcript of each example host, word for word.

LANEWAY_UPDATE_GOLDEN=1 in the environment writes the transcripts anew; look at what changed.
"""

import os
from pathlib import Path

import pytest

from cli.documents import validated
from cli.render.views import KnownNames
from laneway import bootstrap, cli
from laneway.demo.script import HOSTS

GOLDEN = Path(__file__).parent / "golden"
NAMES = KnownNames(
    {
        "10de": "NVIDIA Corporation",
        "144d": "Samsung Electronics Co Ltd",
        "15b3": "Mellanox Technologies",
        "8086": "Intel Corporation",
    },
    {
        "10de:2206": "GA102 [GeForce RTX 3080]",
        "10de:24b0": "GA104GL [RTX A4000]",
        "10de:26b9": "AD102GL [L40S]",
        "15b3:101e": "ConnectX Family mlx5Gen Virtual Function",
        "15b3:1021": "MT2910 Family [ConnectX-7]",
        "8086:1592": "Ethernet Controller E810-C for QSFP",
        "8086:1889": "Ethernet Adaptive Virtual Function",
    },
)

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "device_names", lambda: NAMES)


@pytest.mark.parametrize("name", [host.name for host in HOSTS])
def test_the_transcript_of_a_host(name: str, tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "demo"
    assert cli.main(["demo", name, "--save", str(folder)]) == 0
    transcript = capsys.readouterr().out.replace(f"{folder}{os.sep}", "DIR/")
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("LANEWAY_UPDATE_GOLDEN") == "1":
        golden.write_text(transcript, encoding="utf-8")
    assert transcript == golden.read_text(encoding="utf-8")


def test_the_hosts_are_played_one_after_the_other_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["demo"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"{host.name}: {host.title}") for host in HOSTS]
    assert places == sorted(places)
    assert list(tmp_path.iterdir()) == []


def test_for_a_program_every_step_has_its_answer(capsys: Captured) -> None:
    assert cli.main(["demo", "desk", "--json"]) == 0
    (host,) = validated("demo", capsys.readouterr().out)["hosts"]
    answers = {step["command"]: step for step in host["steps"]}
    assert answers["laneway devices"]["answer"]["schema"] == "laneway.devices/1"
    assert answers["laneway explain linux --alias usb:1"]["exit_status"] == 1
    assert all(step["exit_status"] in (0, 1) for step in host["steps"])


def test_the_files_are_kept_on_demand_for_commands_of_ones_own(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "demo"
    cli.main(["demo", "desk", "--save", str(folder)])
    capsys.readouterr()
    options = ["--snapshot", f"{folder}/desk.json", "--config", f"{folder}/desk.toml", "--state", f"{folder}/desk.db"]
    assert cli.main(["claims", *options]) == 0
    assert capsys.readouterr().out.startswith("CONSUMER  CLAIM")


def test_a_folder_that_exists_is_not_written_to(tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["demo", "desk", "--save", str(tmp_path)]) == 2
    assert "cannot be made" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
