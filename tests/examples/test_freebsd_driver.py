"""The example of a driver outside of Laneway: it passes its tests, is found, and is what the guide shows."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from laneway.hosts.registry import GROUP, installed_drivers, open_driver

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "examples/freebsd_driver"
MODULE = EXAMPLE / "src/laneway_freebsd/__init__.py"
GUIDE = (PROJECT / "docs/writing-a-driver.md").read_text("utf-8")
LINE = (
    "em0@pci0:0:25:0:\tclass=0x020000 rev=0x03 hdr=0x00 vendor=0x8086 device=0x100e subvendor=0x1af4 subdevice=0x1100"
)


@pytest.fixture
def entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Installs the example as pip does in editable mode: its folder on the path, and its entry points beside."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    name, reference = next(iter(project["entry-points"][GROUP].items()))
    info = tmp_path / f"site/laneway_freebsd-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {reference}\n")
    monkeypatch.syspath_prepend(str(MODULE.parents[1]))
    monkeypatch.syspath_prepend(str(info.parent))
    assert installed_drivers(sys.path)[name] == reference
    return str(name)


def test_its_own_tests_and_with_them_the_conformance_suite_pass() -> None:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(EXAMPLE))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    done = subprocess.run(command, cwd=EXAMPLE, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_it_is_found_by_its_entry_point(entry_point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = subprocess.CompletedProcess(("pciconf", "-lv"), 0, stdout=LINE)
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("subprocess.run", lambda command, **_: answer if command == answer.args else None)
    found = open_driver(entry_point).discover()
    assert (found.driver, [str(one.address) for one in found.functions]) == ("freebsd", ["0000:00:19.0"])


def test_where_there_is_no_pciconf_it_says_so(entry_point: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    factory = import_module("laneway_freebsd").FreeBsdHostDriverFactory()
    assert factory.unavailable() == "there is no pciconf: this is no FreeBSD"


def test_it_has_100_lines_at_most() -> None:
    assert len(MODULE.read_text("utf-8").splitlines()) <= 100


@pytest.mark.parametrize("path", ["src/laneway_freebsd/__init__.py", "pyproject.toml"])
def test_the_guide_shows_it_word_for_word(path: str) -> None:
    assert (EXAMPLE / path).read_text("utf-8") in GUIDE
