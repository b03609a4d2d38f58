"""The tree: NUMA nodes, roots, bridges where cards part, PFs with their VFs."""

import re
from typing import Any

import pytest

from cli.render.views import AVAILABLE, NO_NAMES, owned_by, vfs, view
from laneway.cli.render.device_tree import device_tree
from laneway.cli.render.screen import Screen
from laneway.cli.render.view import FunctionView
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, HostUse, Link, NumaNode

NODES = (NumaNode(id=0, socket=0), NumaNode(id=1))


def tree(views: list[FunctionView], **options: Any) -> list[str]:
    screen = options.pop("screen", Screen())
    return [line.rstrip() for line in device_tree(views, NODES, NO_NAMES, screen, **options)]


def below(*bridges: str, **facts: Any) -> dict[str, Any]:
    return {
        "numa_node": 0,
        "pcie_roots": ("0000:15",),
        "bridges": tuple(map(PciAddress.parse, bridges)),
        "class_code": None,
        **facts,
    }


def column(lines: list[str], title: str) -> list[str]:
    """What stands under a title, line by line."""
    start = lines[0].index(title)
    following = re.search(r"  (?=\S)", lines[0][start:])
    end = start + following.start() if following else None
    return [line[start:end].rstrip() for line in lines[1:]]


def places(lines: list[str]) -> list[str]:
    return column(lines, "PLACE")


def test_on_demand_every_bridge_is_a_line_with_what_it_is() -> None:
    views = [
        view("0000:15:01.0", **below(class_code="060400")),
        view("0000:16:00.0", **below("0000:15:01.0")),
        view("0000:15:02.0", **below(class_code="060400", numa_node=None)),
        view("0000:17:00.0", **below("0000:15:02.0")),
        view("0000:15:1f.0", **below(class_code="060100")),
    ]
    lines = tree(views, every=True)
    assert places(lines) == [
        "NUMA node 0, socket 0",
        "└─ root 0000:15",
        "   ├─ 0000:15:01.0",
        "   │  └─ 0000:16:00.0",
        "   ├─ 0000:15:1f.0",
        "   └─ 0000:17:00.0",
        "NUMA node unknown",
        "└─ root 0000:15",
        "   └─ 0000:15:02.0",
    ]
    assert [line.split()[-1] for line in lines if "0000:15:" in line] == ["bridge"] * 3
    assert not any("0000:15:0" in place for place in places(tree(views)))


def test_a_bridge_is_a_line_only_where_cards_part() -> None:
    switch = ("0000:15:01.0", "0000:16:00.0")
    views = [
        view("0000:15:00.0", **below()),
        view("0000:18:00.0", **below(*switch, "0000:17:00.0")),
        view("0000:19:00.0", **below(*switch, "0000:17:01.0")),
        view("0000:19:00.1", **below(*switch, "0000:17:01.0")),
    ]
    assert places(tree(views)) == [
        "NUMA node 0, socket 0",
        "└─ root 0000:15",
        "   ├─ 0000:15:00.0",
        "   └─ bridge 0000:16:00.0",
        "      ├─ 0000:18:00.0",
        "      ├─ 0000:19:00.0",
        "      └─ 0000:19:00.1",
    ]


def test_on_demand_a_bridge_above_one_card_is_a_line_too() -> None:
    views = [view(f"0000:19:00.{number}", **below("0000:15:01.0")) for number in (0, 1)]
    assert "   └─ bridge 0000:15:01.0" in places(tree(views, every=True))


def test_what_is_not_known_of_a_place_is_said() -> None:
    views = [
        view("0000:01:00.0", class_code=None),
        view("0000:02:00.0", class_code=None, numa_node=1, pcie_roots=("0000:00", "0000:80")),
        view("0000:03:00.0", class_code=None, numa_node=7),
    ]
    assert places(tree(views)) == [
        "NUMA node 1",
        "└─ root 0000:00+0000:80",
        "   └─ 0000:02:00.0",
        "NUMA node 7",
        "└─ root unknown",
        "   └─ 0000:03:00.0",
        "NUMA node unknown",
        "└─ root unknown",
        "   └─ 0000:01:00.0",
    ]


PF = "0000:31:00.0"


def test_many_vfs_are_counted_by_how_they_stand() -> None:
    views = [view(PF, dev_type=DevType.PF), *vfs(PF, 8, 63, AVAILABLE), *vfs(PF, 71, 1, owned_by("vm1"))]
    lines = tree(views)
    assert places(lines)[-3:] == ["   └─ 0000:31:00.0", "      ├─ 63 VFs", "      └─ 1 VF"]
    assert column(lines, "STATUS")[-3:] == ["not offered", "available", "claimed by vm1"]


def test_few_vfs_and_all_on_demand_are_listed() -> None:
    few = [view(PF, dev_type=DevType.PF), *vfs(PF, 8, 2, AVAILABLE)]
    many = [view(PF, dev_type=DevType.PF), *vfs(PF, 8, 9, AVAILABLE)]
    assert places(tree(few))[-1] == "      └─ 0000:31:01.1"
    assert len(tree(many, every=True)) == 1 + 1 + 1 + 1 + 9


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        pytest.param(Link(width=16, max_width=16), "x16", id="at its best"),
        pytest.param(Link(width=8, max_width=16), "x8 of x16", id="narrower than it could be"),
        pytest.param(Link(width=8), "x8", id="the most is not known"),
        pytest.param(Link(width=0, max_width=16), "", id="no link"),
        pytest.param(None, "", id="unknown"),
    ],
)
def test_the_width_of_a_link(link: Link | None, shown: str) -> None:
    lines = tree([view("0000:01:00.0", link=link), view("0000:02:00.0", link=Link(width=1))])
    assert column(lines, "LINK") == ["", "", shown, "x1"]


def test_without_unicode_the_branches_are_ascii() -> None:
    lines = tree([view("0000:01:00.0"), view("0000:02:00.0")], screen=Screen(unicode=False))
    assert places(lines) == ["NUMA node unknown", "`- root unknown", "   |- 0000:01:00.0", "   `- 0000:02:00.0"]


def test_the_lines_of_a_branch_go_on_beside_wrapped_notes() -> None:
    use = (HostUse(code="mounted", detail=" on ".join(["/a/long/path"] * 6)),)
    lines = tree([view("0000:01:00.0", in_use_by=use), view("0000:02:00.0")], screen=Screen(width=80))
    assert [place[:4] for place in places(lines)] == ["NUMA", "└─ r", "   ├", *["   │"] * (len(lines) - 5), "   └"]
    assert len(lines) > 5
