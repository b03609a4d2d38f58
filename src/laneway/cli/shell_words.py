"""Command lines as people can copy them into the shell of this system."""
# ruff: noqa: PLC0415 - start-up counts

import os
from collections.abc import Sequence


def command_line(words: Sequence[str]) -> str:
    """The words in one line, quoted where a shell would take them apart: with ' in POSIX, with " on Windows."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)
