"""The command lines that pages show are ones that the program takes."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from laneway import cli

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(PROJECT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/*.md", "packaging/**/*.md")
    for path in PROJECT.glob(pattern)
    if path.name != "cli.md"  # the program's own pages, which other tests hold
)
ROOT = click.Context(cli.root, info_name="laneway", **cli.root.context_settings)
_BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`((?:sudo )?laneway [^`\n]+)`")
_LINE = re.compile(r"^(?:[$#] )?(?:sudo )?(laneway (?:[^\n]|(?<=\\)\n)*)", re.MULTILINE)


def in_blocks() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in _BLOCK.findall((PROJECT / page).read_text(encoding="utf-8")):
            yield from ((page, line) for line in _LINE.findall(block))


def in_sentences() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = _BLOCK.sub("", (PROJECT / page).read_text(encoding="utf-8"))
        yield from ((page, line.removeprefix("sudo ")) for line in _INLINE.findall(text))


def words_of(line: str) -> list[str]:
    words = shlex.split(line.replace("\\\n", " "), comments=True)
    end = next((place for place, word in enumerate(words) if word in ("|", ">", "<", "&&", ";", "&")), len(words))
    return words[1:end]


def command_named(name: str) -> click.Command:
    command = cli.root.get_command(ROOT, name)
    assert command is not None, f"there is no command {name}"
    return command


def ids(found: Iterator[tuple[str, str]]) -> list[object]:
    return [pytest.param(*each, id=": ".join(each)) for each in dict.fromkeys(found)]


@pytest.mark.parametrize(("page", "line"), ids(in_blocks()))
def test_a_line_of_an_example_is_one_that_the_program_takes(page: str, line: str) -> None:
    words = words_of(line)
    if words == ["--help"]:
        return
    with command_named(words[0]).make_context(words[0], words[1:], parent=ROOT):
        pass


@pytest.mark.parametrize(("page", "line"), ids(in_sentences()))
def test_a_command_in_a_sentence_exists_with_its_options(page: str, line: str) -> None:
    name, *words = words_of(line)
    params = (ROOT.command if name.startswith("-") else command_named(name)).get_params(ROOT)
    options = {option for param in params for option in param.opts}
    assert {word.partition("=")[0] for word in (name, *words) if word.startswith("-")} <= options
