"""The frame: how the command line starts, refuses and ends, with a command of our own in it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from laneway import cli
from laneway.cli.command import Settings
from laneway.cli.commands import SUMMARIES, completion
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def command_that(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Settings], int]], None]:
    """Makes ``laneway completion bash`` do something else, to see how its end is told."""

    def replace(body: Callable[[Settings], int]) -> None:
        monkeypatch.setattr(completion.command, "callback", lambda settings, shell: body(settings))

    return replace


def raising(error: BaseException) -> Callable[[Settings], int]:
    def body(_settings: Settings) -> int:
        raise error

    return body


CALL = ["completion", "bash"]


def test_no_arguments_show_the_help(capsys: Captured) -> None:
    assert cli.main([]) == 2
    assert "Commands:" in capsys.readouterr().out


def test_the_help_lists_every_command_without_importing_it() -> None:
    code = (
        "import sys; from laneway.cli import main; main(['--help']);"
        "print([name for name in sys.modules if name.startswith('laneway.cli.commands.')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.endswith("[]\n")
    assert all(f"  {name}  " in shown for name in SUMMARIES)


def test_the_version_is_printed(capsys: Captured) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("laneway ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["complition"], "there is no command 'complition'; did you mean `laneway completion`?", id="near"),
        pytest.param(["frobnicate"], "there is no command 'frobnicate'; `laneway --help` lists the", id="far"),
        pytest.param(["--json", "devices"], "--json goes behind the command", id="an option before the command"),
        pytest.param(["--wrong"], "--wrong", id="an option that is none"),
        pytest.param(["completion"], "Missing argument", id="a missing argument"),
        pytest.param(["completion", "bsh"], "'bsh' is not one of 'bash'", id="a wrong value"),
        pytest.param(["completion", "bash", "--jsn"], "--json", id="a misspelt option"),
    ],
)
def test_a_wrong_command_line_is_refused_with_what_would_be_right(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert message in captured.err
    assert "--help" in captured.err


def test_with_json_a_wrong_command_line_is_told_in_json(capsys: Captured) -> None:
    assert cli.main(["completion", "bsh", "--json"]) == 2
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert captured.err == ""
    assert answer["ok"] is False
    assert answer["error"]["code"] == "usage"
    assert answer["error"]["detail"] == {}


def test_a_refusal_is_a_no_on_stderr(
    command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(LanewayError(ErrorCode.NO_CLAIM, "vm1 has no claim", {"consumer": "vm1"})))
    assert cli.main(CALL) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "no: vm1 has no claim\n")


def test_an_error_that_is_no_answer_says_so(
    command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(LanewayError(ErrorCode.HOST_UNREACHABLE, "no driver works here\ntry another")))
    assert cli.main(CALL) == 69
    assert capsys.readouterr().err == "error: no driver works here\n       try another\n"


@pytest.mark.parametrize("option", [["--color", "always"], ["--color=always"]], ids=["two words", "one word"])
def test_the_label_is_coloured_on_demand(
    option: list[str], command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(LanewayError(ErrorCode.NO_CLAIM, "vm1 has no claim")))
    cli.main([*CALL, *option])
    assert capsys.readouterr().err == "\x1b[33mno:\x1b[0m vm1 has no claim\n"


def test_with_json_an_error_is_an_object_on_stdout(
    command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(LanewayError(ErrorCode.NO_CLAIM, "vm1 has no claim", {"consumer": "vm1"})))
    assert cli.main([*CALL, "--json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {
        "ok": False,
        "error": {"code": "no_claim", "message": "vm1 has no claim", "detail": {"consumer": "vm1"}},
    }
    assert captured.err == ""


PROBLEMS = ConfigError(
    [
        ConfigProblem(ErrorCode.INVALID_DEVICE_SPEC, "vendor_id 'xyz' is no id", place="a.toml:3", remedy="write 10de"),
        ConfigProblem(ErrorCode.INVALID_ALIAS, "an alias needs a name", option="alias", entry=1),
    ]
)


def test_of_a_config_every_problem_is_told(
    command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(PROBLEMS))
    assert cli.main(CALL) == 78
    assert capsys.readouterr().err.splitlines() == [
        "error: a.toml:3: vendor_id 'xyz' is no id",
        "       write 10de",
        "error: an alias needs a name",
    ]


def test_with_json_every_problem_of_a_config_is_an_object(
    command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(PROBLEMS))
    assert cli.main([*CALL, "--json"]) == 78
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"]["code"] == "invalid_device_spec"
    assert [problem["code"] for problem in answer["errors"]] == ["invalid_device_spec", "invalid_alias"]
    assert answer["errors"][0]["detail"]["place"] == "a.toml:3"
    assert answer["errors"][1]["detail"]["entry"] == 1


def test_a_fault_of_ours_says_how_to_report_it_and_shows_no_traceback(
    command_that: Callable[[Callable[[Settings], int]], None],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LANEWAY_DEBUG", raising=False)
    command_that(raising(ZeroDivisionError("by zero")))
    assert cli.main(CALL) == 70
    told = capsys.readouterr().err
    assert "ZeroDivisionError: by zero" in told
    assert "report it" in told
    assert "Traceback" not in told


def test_the_traceback_of_a_fault_is_shown_on_demand(
    command_that: Callable[[Callable[[Settings], int]], None],
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LANEWAY_DEBUG", "1")
    command_that(raising(ZeroDivisionError("by zero")))
    assert cli.main([*CALL, "--json"]) == 70
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert json.loads(captured.out)["error"]["code"] == "internal_error"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), click.Abort()], ids=["Ctrl-C", "end of input"])
def test_an_interrupt_ends_quietly(
    interrupt: BaseException, command_that: Callable[[Callable[[Settings], int]], None], capsys: Captured
) -> None:
    command_that(raising(interrupt))
    assert cli.main(CALL) == 130
    assert capsys.readouterr().err == "\n"


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    told = tmp_path / "stderr"
    program = "import sys; from laneway.cli import main; sys.exit(main(['--help']))"
    with told.open("w") as stderr:
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=stderr)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 141
    assert told.read_text() == ""


def test_the_settings_of_all_commands_reach_the_command(
    command_that: Callable[[Callable[[Settings], int]], None],
) -> None:
    seen: list[Settings] = []

    def body(settings: Settings) -> int:
        seen.append(settings)
        return 0

    command_that(body)
    options = ["--config", "c", "--nova-conf", "n", "--snapshot", "s", "--state", "d", "--root", "r", "--json"]
    assert cli.main([*CALL, *options, "--color", "never"]) == 0
    assert seen == [
        Settings(
            config=Path("c"),
            nova_conf=(Path("n"),),
            snapshot=Path("s"),
            state=Path("d"),
            root=Path("r"),
            as_json=True,
            color="never",
        )
    ]
