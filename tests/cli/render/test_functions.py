"""One function in words, and which functions share a line."""

from typing import Any

import pytest

from cli.render.views import AVAILABLE, IN_USE, NO_NAMES, KnownNames, function, owned_by, vfs, view
from laneway.cli.render.class_words import class_words
from laneway.cli.render.columns import Cell
from laneway.cli.render.functions import (
    fold,
    is_plumbing,
    remarks,
    short_vendor,
    standing,
    summary,
    vf_remark,
    what_it_is,
)
from laneway.cli.render.screen import Tone
from laneway.cli.render.view import DeviceView, FunctionView
from laneway.domain.device import BlockReason, Status, TagValue
from laneway.domain.inventory import DevType, Sriov, Vpd

REASON = BlockReason("cordoned", "cordoned by an operator")
PF = "0000:31:00.0"


def free(status: Status = Status.AVAILABLE, *reasons: BlockReason) -> DeviceView:
    return DeviceView(status=status, blocked_by=reasons)


@pytest.mark.parametrize(
    ("seen", "cell"),
    [
        pytest.param(view(PF, device=free()), Cell("available", Tone.GOOD), id="a free device is available"),
        pytest.param(
            view(PF, device=owned_by("vm1")), Cell("claimed by vm1", Tone.HELD), id="an owned one has an owner"
        ),
        pytest.param(
            view(PF, device=free(Status.AVAILABLE, REASON)), Cell("blocked", Tone.WAITING), id="a blocked one says so"
        ),
        pytest.param(
            view(PF, device=free(Status.UNAVAILABLE)), Cell("unavailable", Tone.WAITING), id="a relative is in a guest"
        ),
        pytest.param(view(PF, device=free(Status.DIRTY)), Cell("dirty", Tone.WAITING), id="freed, and to be cleaned"),
        pytest.param(view(PF, in_use_by=IN_USE), Cell("in use", Tone.DIM), id="no device, and the host uses it"),
        pytest.param(view(PF), Cell("not offered", Tone.DIM), id="no device"),
        pytest.param(view(PF, class_code="060400"), Cell("bridge", Tone.DIM), id="a bridge"),
    ],
)
def test_how_a_function_stands(seen: FunctionView, cell: Cell) -> None:
    assert standing(seen) == cell


def test_the_remarks_on_a_device_are_its_reasons_and_its_tags() -> None:
    tags: dict[str, TagValue] = {"physical_network": "p1", "trusted": True, "note": None}
    device = DeviceView(status=Status.AVAILABLE, tags=tags, blocked_by=(REASON,))
    assert remarks(view(PF, device=device)) == (
        "cordoned by an operator",
        "physical_network=p1 trusted=true note=null",
    )


def test_the_remarks_on_what_is_no_device_say_why() -> None:
    seen = FunctionView(function=function(PF, in_use_by=IN_USE), not_admitted=(BlockReason("x", "it has no serial"),))
    assert remarks(seen) == ("mounted /dev/nvme0n1p2 on /", "it has no serial")


@pytest.mark.parametrize(
    ("sriov", "told"),
    [
        pytest.param(Sriov(total_vfs=64, num_vfs=8), ("has 8 of 64 VFs",), id="some of its VFs"),
        pytest.param(Sriov(num_vfs=8), ("has 8 of ? VFs",), id="it is not known how many it could have"),
        pytest.param(Sriov(total_vfs=64, num_vfs=0), (), id="none yet"),
        pytest.param(None, (), id="nothing is known"),
    ],
)
def test_how_many_vfs_a_pf_has(sriov: Sriov | None, told: tuple[str, ...]) -> None:
    assert vf_remark(function(PF, dev_type=DevType.PF, sriov=sriov)) == told


INTEL = KnownNames({"8086": "Intel Corporation"}, {"8086:1572": "Ethernet Controller X710"})


@pytest.mark.parametrize(
    ("facts", "names", "name"),
    [
        pytest.param({}, INTEL, "Intel Ethernet Controller X710", id="by its ids"),
        pytest.param({"vpd": Vpd(product_name="A Card")}, NO_NAMES, "A Card", id="as its card calls itself"),
        pytest.param({}, KnownNames({"8086": "Intel Corporation"}), "Intel Ethernet controller", id="by its class"),
        pytest.param({}, NO_NAMES, "Ethernet controller", id="by its class alone"),
        pytest.param({"class_code": None}, NO_NAMES, "", id="not at all"),
        pytest.param(
            {"class_code": "030000"},
            KnownNames({"8086": "Intel Corporation"}, classes={"0300": "VGA compatible controller"}),
            "Intel VGA compatible controller",
            id="its class, as the system calls it",
        ),
    ],
)
def test_what_a_function_is_called(facts: dict[str, Any], names: KnownNames, name: str) -> None:
    assert what_it_is(function(PF, **facts), names) == name


@pytest.mark.parametrize(
    ("name", "short"),
    [
        pytest.param("Intel Corporation", "Intel", id="without the legal form"),
        pytest.param("Samsung Electronics Co Ltd", "Samsung Electronics", id="without two of them"),
        pytest.param("ASMedia Technology Inc.", "ASMedia Technology", id="without its dot"),
        pytest.param("Advanced Micro Devices, Inc. [AMD/ATI]", "AMD/ATI", id="as it stands in brackets"),
        pytest.param("Incomplete Cosmos", "Incomplete Cosmos", id="a word that begins like one stays"),
    ],
)
def test_the_short_name_of_a_vendor(name: str, short: str) -> None:
    assert short_vendor(name) == short


@pytest.mark.parametrize(
    ("code", "words"),
    [
        pytest.param("030200", "3D controller", id="by subclass"),
        pytest.param("038100", "display controller", id="else by class"),
        pytest.param("fe0000", None, id="else not at all"),
    ],
)
def test_a_class_in_words(code: str, words: str | None) -> None:
    assert class_words(code) == words


@pytest.mark.parametrize(
    ("seen", "plumbing"),
    [
        pytest.param(view(PF, class_code="060400"), True, id="a bridge"),
        pytest.param(view(PF, class_code="088000"), True, id="a system peripheral"),
        pytest.param(view(PF, class_code="088000", device=AVAILABLE), False, id="not where a spec admits it"),
        pytest.param(view(PF, class_code="088000", in_use_by=IN_USE), False, id="not where the host uses it"),
        pytest.param(view(PF), False, id="not a network card"),
        pytest.param(view(PF, class_code=None), False, id="not what nobody knows"),
    ],
)
def test_what_is_of_no_use_to_a_guest(seen: FunctionView, plumbing: bool) -> None:
    assert is_plumbing(seen) is plumbing


def test_vfs_that_stand_alike_share_a_line() -> None:
    views = [view(PF, dev_type=DevType.PF), *vfs(PF, 8, 6, AVAILABLE), *vfs(PF, 14, 1, owned_by("vm1"))]
    assert [len(lines.views) for lines in fold(views)] == [1, 6, 1]


def test_few_vfs_have_a_line_each() -> None:
    assert [len(lines.views) for lines in fold(vfs(PF, 8, 3, AVAILABLE))] == [1, 1, 1]


def test_all_functions_have_a_line_each_on_demand() -> None:
    assert [len(lines.views) for lines in fold(vfs(PF, 8, 6, AVAILABLE), every=True)] == [1] * 6


def test_cards_never_share_a_line() -> None:
    cards = [view(f"0000:{bus:02x}:00.0", device=AVAILABLE) for bus in range(8)]
    assert len(fold(cards)) == 8


def test_the_summary_counts_what_can_be_had_first() -> None:
    views = [view(PF), *vfs(PF, 8, 2, owned_by("vm1")), *vfs(PF, 12, 3, AVAILABLE), view(PF, in_use_by=IN_USE)]
    assert summary(views) == "3 available, 2 claimed, 1 in use, 1 not offered"
