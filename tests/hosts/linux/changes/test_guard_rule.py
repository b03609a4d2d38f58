"""The udev rule that keeps the host from reading disks. What udev makes of it is tried on a real host, in tests/vm."""

import re
import subprocess
from pathlib import Path

import pytest

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.guard_rule import guard_rule, leads_only_to, rule_file

ADDRESS = PciAddress.parse("0000:01:00.0")
RULE = guard_rule(ADDRESS)
KEYS = r'[A-Z]+(\{[A-Za-z_]+\})?(==|!=|:=|\+=|=)"[^"]*"'


def test_it_is_the_first_of_all_rules_and_named_after_the_function() -> None:
    assert rule_file(ADDRESS) == "run/udev/rules.d/00-laneway-storage-0000:01:00.0.rules"


def test_every_line_is_a_comment_or_a_rule() -> None:
    for line in filter(None, RULE.splitlines()):
        assert line.startswith("#") or re.fullmatch(f"{KEYS}(, {KEYS})*", line), line


def test_every_label_that_is_gone_to_is_there_and_of_this_function_alone() -> None:
    labels = set(re.findall(r'LABEL="([^"]+)"', RULE))
    assert set(re.findall(r'GOTO="([^"]+)"', RULE)) == labels
    assert not labels & set(re.findall(r'LABEL="([^"]+)"', guard_rule(PciAddress.parse("0000:02:00.0"))))


def test_disks_below_the_function_are_matched_by_its_address() -> None:
    assert 'SUBSYSTEMS=="pci", KERNELS=="0000:01:00.0", GOTO="laneway_0000:01:00.0"' in RULE


@pytest.mark.parametrize(
    "line",
    [
        'ENV{SYSTEMD_READY}="0"',
        'ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1"',
        'ENV{UDEV_DISABLE_PERSISTENT_STORAGE_BLKID_FLAG}="1"',
        'ENV{DM_UDEV_DISABLE_OTHER_RULES_FLAG}="1"',
        'ENV{UDISKS_IGNORE}="1"',
        'ENV{nompath}="1"',
        'OPTIONS:="nowatch"',
        'RUN:="/bin/true"',
    ],
)
def test_what_is_matched_gets(line: str) -> None:
    lines = RULE.splitlines()
    guard, end = lines.index('LABEL="laneway_0000:01:00.0"'), lines.index('LABEL="laneway_0000:01:00.0_end"')
    assert line in lines[guard:end]


def test_the_scripts_are_those_for_sh_once_udev_has_replaced_what_it_replaces() -> None:
    scripts = re.findall(r"PROGRAM==\"/bin/sh -c '([^']+)'\"", RULE)
    replaced = [
        re.sub(r"\$\$|%%|%k|%P", lambda found: {"$$": "$", "%%": "%"}.get(found[0], "nvme0n2"), s) for s in scripts
    ]
    assert replaced == [f"set -- nvme0n2; {leads_only_to(ADDRESS, '/sys')}"] * 2


PATHS = {
    "only by way of it": ({"nvme0c0n2": "0000:00:01.0/0000:01:00.0/nvme/nvme0"}, True),
    "by way of it, twice": (
        {"nvme0c0n2": "0000:01:00.0/nvme/nvme0", "nvme0c3n2": "0000:01:00.0/nvme/nvme3"},
        True,
    ),
    "also by way of another": (
        {"nvme0c0n2": "0000:01:00.0/nvme/nvme0", "nvme0c1n2": "0000:02:00.0/nvme/nvme1"},
        False,
    ),
    "by way of another": ({"nvme0c1n2": "0000:02:00.0/nvme/nvme1"}, False),
    "by way of it, and another namespace by way of another": (
        {"nvme0c0n2": "0000:01:00.0/nvme/nvme0", "nvme0c1n1": "0000:02:00.0/nvme/nvme1"},
        True,
    ),
    "by no way that is known": ({}, False),
}


@pytest.mark.parametrize(("paths", "expected"), PATHS.values(), ids=PATHS)
def test_a_multipath_disk_that_is_reached_counts(tmp_path: Path, paths: dict[str, str], expected: bool) -> None:
    block = tmp_path / "class/block"
    block.mkdir(parents=True)
    for name, place in paths.items():
        directory = tmp_path / "devices/pci0000:00" / place / name
        directory.mkdir(parents=True)
        (block / name).symlink_to(directory)
    script = f"set -- nvme0n2; {leads_only_to(ADDRESS, str(tmp_path))}"
    assert (subprocess.run(["/bin/sh", "-c", script], check=False).returncode == 0) is expected
