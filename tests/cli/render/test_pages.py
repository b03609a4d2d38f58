"""Whole pages: devices with readiness and next steps, and claims."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cli.render.views import AVAILABLE, IN_USE, NO_NAMES, function, vfs, view
from laneway.cli.render.claims import claims_page
from laneway.cli.render.device_page import device_page
from laneway.cli.render.first_spec import EmptyConfig, candidate
from laneway.cli.render.readiness import problems_block, readiness_block
from laneway.cli.render.screen import Screen
from laneway.cli.render.view import FunctionView
from laneway.domain.device import ExtraInfo, PciDevice, Status
from laneway.domain.inventory import DevType, Inventory, NotAssignable, Platform, Problem, ReadinessNote
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import ClaimRecord

PLAIN = Screen()
PF = "0000:31:00.0"
UNKNOWN = "It is not known whether the host is ready to give devices away"


def page(views: list[FunctionView], **options: Any) -> list[str]:
    inventory = Inventory(functions=tuple(seen.function for seen in views), host="h1")
    return device_page(inventory, views, NO_NAMES, options.pop("screen", PLAIN), **options)


VIEWS = [
    view("0000:00:01.0", class_code="060400"),
    view("0000:01:00.0", "144d:a80a", class_code="010802", in_use_by=IN_USE, driver="nvme"),
    view(PF, dev_type=DevType.PF, numa_node=0),
    *vfs(PF, 8, 5, AVAILABLE),
]


def test_the_page_of_a_host() -> None:
    assert page(VIEWS) == [
        "h1: 8 PCI functions; 5 available, 1 in use, 1 not offered",
        "",
        "ADDRESS       TYPE   ID         DEVICE               NUMA    GROUP  DRIVER  STATUS       NOTES",
        "0000:01:00.0  PCI    144d:a80a  NVMe controller         -        -  nvme    in use       "
        "mounted /dev/nvme0n1p2 on /",
        "0000:31:00.0  PF     8086:1572  Ethernet controller     0        -  -       not offered",
        "0000:31:01.0  VF x5  8086:154c  Ethernet controller     -  100-104  -       available    up to 0000:31:01.4",
        "",
        "1 bridge or system peripheral is not listed; --all lists every function.",
        "",
        UNKNOWN,
    ]


def test_on_demand_the_page_lists_every_function() -> None:
    lines = page(VIEWS, every=True)
    assert len(lines) == 2 + 1 + len(VIEWS) + 2
    assert not any("--all" in line for line in lines)


def test_the_page_as_a_tree() -> None:
    assert "   └─ 0000:31:00.0" in "\n".join(page(VIEWS, as_tree=True))


def test_the_page_of_a_host_without_functions() -> None:
    assert page([]) == ["h1: 0 PCI functions", "", UNKNOWN]


@pytest.mark.parametrize(
    ("platform", "line"),
    [
        pytest.param(
            Platform(iommu="intel", interrupt_remapping=True, vfio_pci=True),
            "Ready to give devices away: IOMMU intel, interrupt remapping, vfio-pci",
            id="all that it takes is there",
        ),
        pytest.param(Platform(dda=True), "Ready to give devices away: discrete device assignment", id="on Windows"),
        pytest.param(
            Platform(iommu="intel", vfio_pci=True),
            f"{UNKNOWN} (IOMMU intel, vfio-pci; not known: interrupt remapping)",
            id="something is not known",
        ),
        pytest.param(Platform(), UNKNOWN, id="nothing is known"),
        pytest.param(None, UNKNOWN, id="a driver that does not tell"),
    ],
)
def test_a_host_without_notes_says_what_is_known(platform: Platform | None, line: str) -> None:
    assert readiness_block(platform, (), PLAIN) == [line]


def test_what_stands_in_the_way_is_told_with_its_remedy() -> None:
    notes = (
        ReadinessNote(code="iommu_off", severity="error", message="the IOMMU is off", remedy="add intel_iommu=on"),
        ReadinessNote(code="x", severity="warning"),
    )
    assert readiness_block(None, notes, PLAIN) == [
        "Readiness",
        "  error    the IOMMU is off",
        "           add intel_iommu=on",
        "  warning  x",
    ]


def test_long_notes_are_wrapped_on_a_terminal() -> None:
    note = ReadinessNote(code="x", severity="error", message="one two three four five six seven eight nine")
    assert readiness_block(None, (note,), Screen(width=44))[1:] == [
        "  error    one two three four five six seven",
        "           eight nine",
    ]


def test_what_could_not_be_read_is_told() -> None:
    problems = (Problem(address="0000:00:1f.2", attribute="vendor_id", message="no such file"), Problem(message="x"))
    assert problems_block(problems, PLAIN) == ["Could not be read", "  0000:00:1f.2 vendor_id: no such file", "  x"]
    assert problems_block((), PLAIN) == []


GPU = view("0000:01:00.0", "10de:2206", class_code="030000", iommu_group=2)
GPU_AUDIO = view("0000:01:00.1", "10de:1aef", class_code="040300", iommu_group=2)
NIC = view("0000:05:00.0", dev_type=DevType.PF, iommu_group=9)
CONSOLE = view("0000:00:02.0", class_code="030000", in_use_by=IN_USE, iommu_group=1)


def test_with_no_device_spec_the_page_shows_how_to_write_one_for_a_device_of_this_host() -> None:
    lines = page([CONSOLE, GPU, GPU_AUDIO, NIC], empty_config=EmptyConfig("/etc/laneway/laneway.toml"))
    start = lines.index("Nothing is handed out: there is no device_spec.")
    assert lines[start + 1 :] == [
        "To let virtual machines have 0000:01:00.0 (VGA controller), write into /etc/laneway/laneway.toml:",
        "",
        "  [[device_spec]]",
        '  address = "0000:01:00.*"',
        "",
        "  [[alias]]",
        '  name = "gpu"',
        '  vendor_id = "10de"',
        '  product_id = "2206"',
        "",
        "and then see what it admits, and claim it for a virtual machine named vm1:",
        "",
        "  laneway check",
        "  laneway claim vm1 --alias gpu:1",
    ]


def test_the_entry_admits_the_whole_group_and_asks_for_a_pf_as_a_pf() -> None:
    other = view("0000:06:00.0", class_code="0c0330", iommu_group=9)
    lines = page([NIC, other], empty_config=EmptyConfig("laneway.toml"))
    assert '  address = "0000:05:00.0"' in lines
    assert '  address = "0000:06:00.0"' in lines
    assert '  device_type = "type-PF"' in lines


def test_for_a_nova_conf_the_entry_is_in_its_form() -> None:
    lines = page([NIC], empty_config=EmptyConfig("nova.conf", is_nova=True))
    start = lines.index("  [pci]")
    assert lines[start : start + 3] == [
        "  [pci]",
        '  device_spec = {"address": "0000:05:00.0"}',
        '  alias = {"name": "nic", "vendor_id": "8086", "product_id": "1572", "device_type": "type-PF"}',
    ]


def test_the_page_points_at_what_is_noted_about_the_config() -> None:
    assert page(VIEWS, notes=2)[-1] == "The config deserves a look (2 noted): laneway check"


@pytest.mark.parametrize(
    ("views", "address"),
    [
        pytest.param([NIC, GPU], "0000:01:00.0", id="a graphics card before a network card"),
        pytest.param([CONSOLE, NIC], "0000:05:00.0", id="not what the host uses"),
        pytest.param([GPU, view("0000:01:00.1", in_use_by=IN_USE, iommu_group=2)], None, id="nor its group"),
        pytest.param(
            [view("0000:01:00.0", not_assignable=(NotAssignable(code="reserved_memory"),))],
            None,
            id="nor what the platform keeps",
        ),
        pytest.param([view("0000:01:00.0", class_code="060400")], None, id="nor a bridge"),
        pytest.param([view("0000:01:00.0", class_code="040300")], None, id="nor a sound card"),
        pytest.param([view("0000:01:00.0", class_code="010802")], "0000:01:00.0", id="a disk that nobody uses"),
    ],
)
def test_the_device_that_an_operator_would_give_away_first(views: list[FunctionView], address: str | None) -> None:
    found = candidate(views)
    assert (None if found is None else str(found.address)) == address


def test_a_host_with_nothing_to_give_away_says_so() -> None:
    lines = page([CONSOLE], empty_config=EmptyConfig("laneway.toml"))
    assert lines[-1] == "No function of this host can be given to a guest as it stands."


def held(address: str, consumer: str | None, claim: str | None, request: str, status: Status) -> PciDevice:
    return PciDevice(
        function=function(address),
        extra_info=ExtraInfo(),
        status=status,
        consumer=consumer,
        claim=claim,
        request=request if consumer else None,
    )


def test_claims_are_listed_by_consumer_and_claim_without_repeats() -> None:
    devices = [
        held("0000:06:00.0", "vm1", "c1", "gpu", Status.CLAIMED),
        held("0000:05:00.0", "vm1", "c1", "gpu", Status.CLAIMED),
        held("0000:07:00.0", "vm1", "c1", "nic", Status.CLAIMED),
        held("0000:08:00.0", "db", "c2", "gpu", Status.ALLOCATED),
        held("0000:09:00.0", None, None, "", Status.DIRTY),
    ]
    until = datetime(2026, 12, 1, 9, 15, tzinfo=UTC)
    record = ClaimRecord(request=ClaimRequest(consumer="vm1", claim="c1", requests=()), devices={}, expires_at=until)
    before, after = until - timedelta(seconds=1), until
    assert claims_page(devices[:1], {"c1": record}, after, PLAIN)[1:] == [
        "vm1       c1     gpu      0000:06:00.0  claimed  2026-12-01 09:15:00+00:00, overdue"
    ]
    assert claims_page(devices, {"c1": record}, before, PLAIN) == [
        "CONSUMER  CLAIM  REQUEST  ADDRESS       STATUS     UNTIL",
        "-         -      -        0000:09:00.0  dirty",
        "db        c2     gpu      0000:08:00.0  allocated",
        "vm1       c1     gpu      0000:05:00.0  claimed    2026-12-01 09:15:00+00:00",
        "                          0000:06:00.0  claimed    2026-12-01 09:15:00+00:00",
        "                 nic      0000:07:00.0  claimed    2026-12-01 09:15:00+00:00",
    ]


def test_no_claims_are_said_to_be_none() -> None:
    assert claims_page([], {}, datetime(2026, 12, 1, tzinfo=UTC), PLAIN) == ["No device of this host is held."]
