"""Layers of block devices: whatever is built on what, all functions below are found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.host_tree import HostTreeBuilder
from laneway.hosts.linux.host_use import host_use

DISKS = 4


@st.composite
def layers(draw: st.DrawFn) -> list[tuple[str, list[str]]]:
    """Arrays and mapped devices, each over some of the disks and devices before it."""
    below = [f"nvme{number}n1" for number in range(DISKS)]
    found = []
    for number in range(draw(st.integers(1, 5))):
        name = f"{draw(st.sampled_from(('md', 'dm-')))}{number}"
        found.append((name, draw(st.lists(st.sampled_from(below), min_size=1, max_size=3, unique=True))))
        below.append(name)
    return found


def disks_below(name: str, built: Mapping[str, Sequence[str]]) -> set[str]:
    return set().union(*(disks_below(lower, built) for lower in built[name])) if name in built else {name}


@settings(max_examples=20, deadline=None)
@given(layers(), st.booleans(), st.booleans())
def test_a_mount_puts_all_functions_below_in_use_and_no_other(
    built: list[tuple[str, list[str]]], without_slaves: bool, without_holders: bool
) -> None:
    with TemporaryDirectory() as directory:
        host = HostTreeBuilder(Path(directory))
        for number in range(DISKS):
            place = host.function(f"0000:{number + 1:02x}:00.0", driver="nvme")
            host.disk(f"nvme{number}n1", f"{place}/nvme/nvme{number}")
        for name, over in built:
            if name.startswith("md"):
                host.array(name, over)
            else:
                host.mapped(name, f"label-{name}", "CRYPT-1", over)
            if without_slaves:
                drop_links(host, f"sys/devices/virtual/block/{name}/slaves")
            elif without_holders:
                for lower in over:
                    host.remove(f"sys/class/block/{lower}/holders/{name}")
        top = built[-1][0]
        host.mount("/", device=top)
        found, _ = host_use(host.root, host.functions, live=False, exclusive=lambda disks: dict.fromkeys(disks, False))
    used = {f"nvme{address.bus - 1}n1": {use.code for use in uses or ()} for address, uses in found.items()}
    below = {name: disks_below(name, dict(built)) for name, _ in built}
    assert {disk for disk, codes in used.items() if "mounted" in codes} == below[top]
    assert {disk for disk, codes in used.items() if codes} == set().union(*below.values())


def drop_links(host: HostTreeBuilder, directory: str) -> None:
    for link in (host.root / directory).iterdir():
        link.unlink()
