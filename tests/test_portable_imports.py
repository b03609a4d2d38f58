"""Nothing of ours but the Linux driver needs POSIX, and nothing but the host drivers knows where Linux keeps its facts.

A Windows machine has neither the modules refused here nor the folders looked for.
"""

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from posix_refused import REFUSED

PACKAGE = Path(__file__).parents[1] / "src/laneway"
NOT_HERE = ("laneway.hosts.linux", "laneway.store.migrations.env")
"""The driver that is meant for one system, and the script that only Alembic can run."""

HOOK = f"""
import sys
sys.path.append({str(Path(__file__).parent)!r})
from posix_refused import refuse_posix_modules
refuse_posix_modules()
"""
IMPORT_ALL = """
import importlib
for name in sys.argv[1:]:
    importlib.import_module(name)
print(len(sys.argv[1:]))
"""


def modules() -> list[str]:
    """The names of all modules of ours but those that are not for every system."""
    names = [
        ".".join(("laneway", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
    ]
    return [name for name in names if not f"{name}.".startswith(tuple(f"{prefix}." for prefix in NOT_HERE))]


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)


def test_every_module_is_imported_where_posix_is_not() -> None:
    names = modules()
    assert {"laneway.bootstrap", "laneway.hosts.hyperv.setupapi", "laneway.domain.tracking.tracker"} <= set(names)
    ran = run(HOOK + IMPORT_ALL, *names)
    assert ran.stderr == ""
    assert ran.stdout == f"{len(names)}\n"


@pytest.mark.parametrize("name", modules())
def test_no_import_in_the_middle_of_a_module_needs_posix_either(name: str) -> None:
    file = importlib.util.find_spec(name)
    assert file is not None
    assert file.origin is not None
    assert set(imported_in(ast.parse(Path(file.origin).read_bytes()))) & set(REFUSED) == set()


def imported_in(tree: ast.AST) -> Iterator[str]:
    """The first part of each module that is imported, also in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_the_suite_itself_runs_with_the_hook() -> None:
    with pytest.raises(ImportError, match="which Windows does not have"):
        exec("import pwd", {"__name__": "laneway.some.module"})


@pytest.mark.parametrize("name", REFUSED)
def test_the_hook_refuses_us_and_nobody_else(name: str) -> None:
    ours = f"exec('import {name}', {{'__name__': 'laneway.some.module'}})"
    assert "which Windows does not have" in run(HOOK + ours).stderr
    assert "which Windows does not have" not in run(HOOK + ours.replace("laneway.", "lanewayish.")).stderr


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] != "hosts"],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_no_module_outside_of_hosts_knows_a_folder_of_linux(path: Path) -> None:
    code = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    assert [text for text in texts(code) if text.startswith(("/sys", "/proc"))] == []


def test_a_folder_of_linux_is_found_wherever_it_stands() -> None:
    nested = "def f():\n    class C:\n        paths = ('/dev', ['/sys/bus', ('/proc/self',)])\n    return f'/sys/{C}'"
    told = set(texts(compile(nested, "nested", "exec")))
    assert {"/sys/bus", "/proc/self", "/sys/"} <= told


def texts(constant: object) -> Iterator[str]:
    """The texts among the constants of compiled code, and of all code, tuples and sets in it."""
    if isinstance(constant, str):
        yield constant
    elif isinstance(constant, CodeType):
        for inner in constant.co_consts:
            yield from texts(inner)
    elif isinstance(constant, tuple | frozenset):
        for inner in constant:
            yield from texts(inner)
