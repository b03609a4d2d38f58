"""What is installed: a wheel that has all it needs, and the dependencies that the code has."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SOURCE = PROJECT / "src/laneway"
METADATA = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
IMPORTED_AS = {"openstacksdk": "openstack", "oslo.config": "oslo_config", "libvirt-python": "libvirt"}
OF_AUTHORS_OF_DRIVERS = {"pytest"}
"""``laneway.hosts.conformance`` is a suite for those who have pytest anyway."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as pip does it, away from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = folder.glob("laneway-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def laneway(installed: Path, folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """The command line from the unpacked wheel alone, run in another folder."""
    program = "import sys; from laneway import cli; assert sys.argv.pop(1) in cli.__file__; sys.exit(cli.main())"
    found_first = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": found_first, "LANEWAY_DEBUG": "1"}
    return subprocess.run(
        [sys.executable, "-c", program, str(installed), *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_has_every_file_of_the_source(installed: Path) -> None:
    tracked = {
        path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.suffix == ".py" or path.name == "py.typed"
    }
    shipped = {path.relative_to(installed / "laneway") for path in (installed / "laneway").rglob("*") if path.is_file()}
    assert tracked == shipped


def test_the_wheel_names_its_program_and_its_drivers(installed: Path) -> None:
    (entry_points,) = installed.glob("*.dist-info/entry_points.txt")
    text = entry_points.read_text()
    assert "[console_scripts]\nlaneway = laneway.__main__:main\n" in text
    for name, reference in METADATA["entry-points"]["laneway.host_drivers"].items():
        assert f"{name} = {reference}\n" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("--help",), "Usage: laneway", id="help"),
        pytest.param(("--version",), f"laneway {METADATA['version']} ", id="the version"),
        pytest.param(("db", "upgrade", "--state", "new.db"), "new.db", id="the migrations"),
        pytest.param(("demo", "desk"), "win11 has claimed", id="the example hosts and the snapshot driver"),
    ],
)
def test_the_program_works_from_the_wheel_alone(
    installed: Path, tmp_path: Path, words: Sequence[str], told: str
) -> None:
    answer = laneway(installed, tmp_path, words)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert told in answer.stdout


def test_the_code_imports_what_the_wheel_depends_on_and_nothing_else() -> None:
    extras = [name for names in METADATA["optional-dependencies"].values() for name in names]
    names = [re.split(r"[<>=!~\[ ]", requirement)[0] for requirement in (*METADATA["dependencies"], *extras)]
    depends_on = {IMPORTED_AS.get(name, name) for name in names}
    imported = {root for path in SOURCE.rglob("*.py") for root in roots_of_imports(path)}
    third_party = imported - sys.stdlib_module_names - {"laneway"}
    assert third_party - OF_AUTHORS_OF_DRIVERS == depends_on


def roots_of_imports(path: Path) -> set[object]:
    """Of statements, and of ``import_module`` with a name."""
    found: set[object] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "import_module":
            found |= {name.value for name in node.args if isinstance(name, ast.Constant)}
    return found
