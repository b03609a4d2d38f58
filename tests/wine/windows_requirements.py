"""Prints what of pinned requirements files the suite needs on Windows: ``windows_requirements.py FILE...``."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

NEEDED = {
    *("alembic", "click", "msgspec", "rich", "sqlalchemy", "oslo-config"),
    *("mako", "markupsafe", "markdown-it-py", "mdurl", "pygments", "typing-extensions"),
    *("netaddr", "oslo-i18n", "pbr", "pyyaml", "rfc3986", "stevedore"),
    *("pytest", "pytest-xdist", "execnet", "iniconfig", "packaging", "pluggy"),
    *("hypothesis", "attrs", "sortedcontainers", "jsonschema", "jsonschema-specifications", "referencing"),
    *("hatchling", "pathspec", "tomlkit", "trove-classifiers"),
}
"""What ``laneway`` and its tests import, but for rpds (see ``stand_ins``); the checkers of code run on the host."""


def selected(texts: Iterable[str]) -> str:
    """The pins of the packages that are needed, each with its hashes."""
    blocks = [block for text in texts for block in re.split(r"\n(?=[a-z])", text)]
    found = {name: block for block in blocks if (name := block.partition("==")[0]) in NEEDED}
    missing = NEEDED - found.keys()
    assert not missing, f"the requirements do not pin {sorted(missing)}"
    return "\n".join(found.values()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(selected(Path(file).read_text() for file in sys.argv[1:]))
