"""Discovery of a host of 4,096 functions, beside a program that only reads the same files, and lspci.

Prints measures as JSON. The argument is the directory of the tree, as ``bench.tree`` makes it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.timing import seconds, seconds_of_command
from laneway.hosts.registry import open_driver

_MOST = 65536


def main() -> None:
    root = Path(sys.argv[1])
    watched = subprocess.run([sys.executable, "-m", "bench.opened", str(root)], check=True, stdout=subprocess.PIPE)
    opened = json.loads(watched.stdout)
    driver = open_driver("linux", root=root)
    files = opened["files"]
    read_files(files)  # so that neither side finds the files cold
    measures = {
        "discovery": seconds(driver.discover, repeat=3),
        "reading": seconds(lambda: read_files(files), repeat=3),
        "reading_plainly": seconds(lambda: read_plainly(files), repeat=3),
        "reading_all": seconds(lambda: read_all(files, opened["directories"], opened["links"]), repeat=3),
        "discovery_functions": len(driver.discover().functions),
        "reading_files": len(files),
    }
    print(json.dumps(measures | _lspci(root)))


def read_files(paths: Sequence[str]) -> None:
    """The least that a Python program can do to read files: three system calls for each."""
    for path in paths:
        file = os.open(path, os.O_RDONLY)
        os.read(file, _MOST)
        os.close(file)


def read_plainly(paths: Sequence[str]) -> None:
    """As most programs do it."""
    for path in paths:
        with open(path, "rb") as file:  # noqa: PTH123 - as most programs do it
            file.read()


def read_all(files: Sequence[str], directories: Sequence[str], links: Sequence[str]) -> None:
    """All that discovery reads."""
    read_files(files)
    for path in directories:
        os.listdir(path)  # noqa: PTH208 - the quick way
    for path in links:
        os.readlink(path)  # noqa: PTH115 - the quick way


def _lspci(root: Path) -> dict[str, float]:
    program = shutil.which("lspci")
    if program is None:
        return {}
    command = [program, "-vmmnnkD", "-O", f"sysfs.path={root}/sys/bus/pci"]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.count(b"\nSlot:") + 1
    return {"lspci": seconds_of_command(command), "lspci_functions": listed}


if __name__ == "__main__":
    main()
