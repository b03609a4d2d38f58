"""Files that this user may not use, which end every command with the status for that (77), or that cannot be."""

import builtins
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import ExampleHost
from laneway import cli

SECRET = "secret"


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that nobody may look into, and that holds everything that is asked for; root could, elsewhere."""
    folder = tmp_path / SECRET

    def refusing(real: Callable[..., object]) -> Callable[..., object]:
        def refuse(path: object, *rest: object, **more: object) -> object:
            if SECRET in str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *rest, **more)

        return refuse

    for module, name in ((builtins, "open"), (io, "open"), *((os, name) for name in ("open", "stat", "mkdir"))):
        monkeypatch.setattr(module, name, refusing(getattr(module, name)))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["devices", "--snapshot", f"{SECRET}/x"], id="an inventory"),
        pytest.param(["devices", "--root", f"{SECRET}/x"], id="a captured tree"),
        pytest.param(["check", "--config", f"{SECRET}/x"], id="a config"),
        pytest.param(["check", "--nova-conf", f"{SECRET}/x"], id="a nova.conf"),
        pytest.param(["simulate", f"{SECRET}/x"], id="a scenario"),
        pytest.param(["db", "status", "--state", f"{SECRET}/x"], id="a database that is looked at"),
        pytest.param(["db", "upgrade", "--state", f"{SECRET}/x"], id="a database that is written"),
        pytest.param(["capture", "--output", f"{SECRET}/x"], id="an inventory that is written"),
        pytest.param(["demo", "--save", f"{SECRET}/x"], id="a folder that is made"),
    ],
)
@pytest.mark.usefixtures("secret")
def test_what_this_user_may_not_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 77
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        pytest.param(["devices", "--snapshot", "x" * 5_000], 69, id="an inventory"),
        pytest.param(["devices", "--root", "x" * 5_000], 69, id="a captured tree"),
        pytest.param(["check", "--config", "x" * 5_000], 78, id="a config"),
        pytest.param(["check", "--nova-conf", "x" * 5_000], 78, id="a nova.conf"),
        pytest.param(["simulate", "x" * 5_000], 2, id="a scenario"),
        pytest.param(["devices", "--state", "x" * 5_000], 69, id="a database"),
        pytest.param(["capture", "--output", "x" * 5_000], 2, id="an inventory that is written"),
        pytest.param(["demo", "--save", "x" * 5_000], 2, id="a folder that is made"),
    ],
)
def test_a_name_that_no_file_system_takes(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == status
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.usefixtures("secret")
def test_a_backup_that_may_not_be_written(gpu_server: ExampleHost) -> None:
    gpu_server.run("db", "upgrade")
    answer = gpu_server.run("db", "backup", f"{SECRET}/x")
    assert (answer.status, answer.out) == (77, "")
