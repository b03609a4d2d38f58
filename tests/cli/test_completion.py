"""Shell completion: the scripts, and the answers that they get from the program."""

import pytest

from laneway import cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_this_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    assert f"_LANEWAY_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        pytest.param("laneway comp", "plain,completion", id="a command"),
        pytest.param("laneway completion ", "plain,zsh", id="a value"),
        pytest.param("laneway completion --js", "plain,--json", id="an option"),
    ],
)
def test_the_program_completes_a_line(
    line: str, offered: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_LANEWAY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    assert cli.main([]) == 0
    assert offered in capsys.readouterr().out.splitlines()
