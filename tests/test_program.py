"""The program as it is started: ``laneway`` and ``python -m laneway``."""

import subprocess
import sys

import pytest

from laneway.__main__ import INTERRUPTED, main
from laneway.cli.exit_status import ExitStatus

INTERRUPTED_WHILE_LOADING = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs the tests may have it ignored
module, *sys.argv[1:] = sys.argv[1:]

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
from laneway.__main__ import main
sys.exit(main())
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "module", ["laneway.cli", "click", "laneway.domain.errors", "laneway.cli.streams", "laneway.cli.commands.devices"]
)
def test_ctrl_c_while_python_loads_the_program_prints_no_traceback(module: str) -> None:
    ended = run("-c", INTERRUPTED_WHILE_LOADING, module, "devices", "--help")
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (130, "", "")


def test_ctrl_c_has_one_exit_status() -> None:
    assert INTERRUPTED == ExitStatus.INTERRUPTED


def test_it_runs_as_a_module() -> None:
    ended = run("-m", "laneway", "--version")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("laneway ")


def test_its_exit_status_is_that_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["laneway", "frobnicate"])
    assert main() == 2
    assert "frobnicate" in capsys.readouterr().err
