"""Command lines that people copy."""

import os
from collections.abc import Sequence

import pytest

from laneway.cli.shell_words import command_line


@pytest.mark.parametrize(
    ("words", "posix", "windows"),
    [
        (("free", "db-1"), "free db-1", "free db-1"),
        (("free", "my vm"), "free 'my vm'", 'free "my vm"'),
        (("--state", r"C:\demo\desk.db"), r"--state 'C:\demo\desk.db'", r"--state C:\demo\desk.db"),
        (("free", 'a"b'), "free 'a\"b'", r"free a\"b"),
    ],
    ids=["plain words", "a blank", "a path of Windows", "a quotation mark"],
)
@pytest.mark.parametrize("system", ["posix", "nt"])
def test_words_are_quoted_as_the_shell_of_the_system_reads_them(
    system: str, words: Sequence[str], posix: str, windows: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "name", system)
        line = command_line(words)
    assert line == {"posix": posix, "nt": windows}[system]
