"""docs/cli.md: every exit status, and the help page of every command, word for word.

LANEWAY_UPDATE_GOLDEN=1 in the environment writes the help pages anew.
"""

import os
from pathlib import Path

import click
import pytest

from laneway import cli
from laneway.cli.commands import SUMMARIES
from laneway.cli.exit_status import ExitStatus

PAGE = Path(__file__).parents[2] / "docs/cli.md"
MARK = "<!-- From here on: the help pages, as the program prints them. -->\n"
SCHEMAS = PAGE.parent / "schemas"


def help_pages() -> str:
    """The help page of each command, below a heading."""
    root = click.Context(cli.root, info_name="laneway", **cli.root.context_settings)
    pages = []
    for name in SUMMARIES:
        command = cli.root.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root, terminal_width=100)
        pages.append(f"\n## laneway {name}\n```\n{command.get_help(context)}\n```\n")
    return "".join(pages)


def test_the_page_has_the_help_of_every_command() -> None:
    written, _, pages = PAGE.read_text().partition(MARK)
    if os.environ.get("LANEWAY_UPDATE_GOLDEN") == "1":
        PAGE.write_text(written + MARK + help_pages())
        pages = help_pages()
    assert pages == help_pages()


@pytest.mark.parametrize("status", ExitStatus)
def test_the_page_lists_every_exit_status(status: ExitStatus) -> None:
    assert f"\n| {status.value} | " in PAGE.read_text()


@pytest.mark.parametrize("schema", [path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.json")])
def test_the_page_names_every_schema_of_an_answer(schema: str) -> None:
    parts_and_input = {"common", "scenario"}
    assert schema in parts_and_input or f"`{schema}`" in PAGE.read_text()
