"""What all commands have in common: a summary, a help page, examples that are right."""

import shlex

import click
import pytest

from laneway import cli
from laneway.cli.command import LanewayCommand
from laneway.cli.commands import SUMMARIES

CONTEXT = click.Context(cli.root, info_name="laneway", **cli.root.context_settings)
"""As the program makes it: click keeps the help option of a command as its first context had it."""


def command_named(name: str) -> LanewayCommand:
    command = cli.root.get_command(CONTEXT, name)
    assert isinstance(command, LanewayCommand)
    return command


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_command_has_a_help_page_with_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: laneway {name} ")
    assert "\nExamples:\n" in page
    assert "\nOptions of all commands:\n" in page
    explained = page.partition("\nExamples:\n")[0]
    assert max(map(len, explained.splitlines())) <= 100


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_option_of_a_command_has_a_help_text(name: str) -> None:
    options = [param for param in command_named(name).params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_examples_of_a_command_are_command_lines_that_it_takes(name: str) -> None:
    command = command_named(name)
    assert command.examples
    for example in command.examples:
        words = shlex.split(example.line, comments=True)
        start = words.index("laneway")
        shell = [index for index, word in enumerate(words) if word in ("|", ">", "<", "&&")]
        end = min((index for index in shell if index > start), default=len(words))
        assert words[start + 1] == name
        with command.make_context(name, words[start + 2 : end], parent=CONTEXT):
            pass
