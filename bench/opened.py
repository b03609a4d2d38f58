"""Says what discovery opens and reads below a directory, as JSON: its files, directories and links, in order.

A process of its own, as what watches a Python process cannot be taken away again, and slows it.
"""

import json
import os
import sys
from pathlib import Path

from laneway.hosts.registry import open_driver


def main() -> None:
    root = sys.argv[1]
    found: dict[str, list[str]] = {"files": [], "directories": [], "links": []}
    kinds = {"open": "files", "os.listdir": "directories", "os.scandir": "directories"}
    read_link = os.readlink

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        kind = kinds.get(event)
        if kind is not None and str(arguments[0]).startswith(root):
            found[kind].append(str(arguments[0]))

    def watched_link(path: str) -> str:
        found["links"].append(path)
        return read_link(path)

    driver = open_driver("linux", root=Path(root))
    os.readlink = watched_link  # type: ignore[assignment] # no event tells of links
    sys.addaudithook(watch)
    driver.discover()
    there = {kind: [path for path in paths if os.path.lexists(path)] for kind, paths in found.items()}
    print(json.dumps(there))


if __name__ == "__main__":
    main()
