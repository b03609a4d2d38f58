"""The host as a user without privileges sees it."""

from dataclasses import replace

import pytest

from laneway.contracts.inventory import decode_inventory
from laneway.domain.inventory import Inventory, PciFunction
from vm.commands import PROGRAM, output_of
from vm.devices import GPU, NVME, NVME_PF, NVME_WITHOUT_ACS
from vm.host_use import look

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


@pytest.fixture(scope="module")
def seen(vfs: None) -> Inventory:
    return decode_inventory(output_of(*NOBODY, *PROGRAM, "capture").encode())


def test_all_but_what_only_root_may_see_is_the_same(seen: Inventory) -> None:
    assert list(seen.functions) == [for_all(function) for function in look().functions]


def for_all(function: PciFunction) -> PciFunction:
    """docs/host-facts.md and docs/host-use.md: what is null without root."""
    has_nodes = str(function.address) in (NVME_PF, NVME, NVME_WITHOUT_ACS)
    in_use_by = None if has_nodes and not function.in_use_by else function.in_use_by
    return replace(function, device_serial_number=None, vpd=None, in_use_by=in_use_by)


def test_what_is_known_all_the_same_is_told(seen: Inventory) -> None:
    (gpu,) = (function for function in seen.functions if str(function.address) == GPU)
    assert [use.code for use in gpu.in_use_by or ()] == ["boot_console"]


def test_it_is_said_what_cannot_be_seen(seen: Inventory) -> None:
    assert {problem.attribute for problem in seen.problems} == {"in_use_by"}
    assert all("root" in (problem.message or "") for problem in seen.problems)
