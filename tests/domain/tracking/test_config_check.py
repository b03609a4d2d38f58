"""What a config does on a host, and what of it is dangerous."""

from collections.abc import Mapping

import pytest

from domain.hosts import at, function, pf, take, tracker, used, vf, wants
from laneway.domain.errors import ConfigProblem, Findings
from laneway.domain.inventory import DevType, PciFunction
from laneway.domain.requests.alias import Aliases, parse_aliases
from laneway.domain.tracking.config_check import ConfigCheck, check_config
from laneway.domain.tracking.host_view import IommuGroups

NIC = "0000:31:00.0"
VFS = [vf(f"0000:31:01.{index}", NIC) for index in range(3)]
"""Nobody knows whether the host uses them."""

INTEL = {"vendor_id": "8086"}


def aliases(**ids: str) -> Aliases:
    """Aliases by name; the value is ``vendor:product`` or ``vendor:product:type``."""
    entries: list[object] = []
    for name, text in ids.items():
        vendor_id, product_id, *dev_type = text.split(":")
        entry = {"name": name, "vendor_id": vendor_id, "product_id": product_id}
        entries.append({**entry, **({"device_type": dev_type[0]} if dev_type else {})})
    return parse_aliases(entries, Findings())


def check(
    *functions: PciFunction, specs: list[object], names: Aliases | None = None, ignore_groups: bool = False
) -> ConfigCheck:
    groups = IommuGroups.IGNORE if ignore_groups else IommuGroups.ENFORCE
    return check_config(tracker(*functions, specs=specs, iommu_groups=groups).view, names or Aliases())


def dangers(checked: ConfigCheck) -> list[str]:
    return [danger.code for danger in checked.dangers]


def test_an_entry_admits_functions_in_order_of_address() -> None:
    entry = check(*reversed(VFS), specs=[INTEL]).entries[0]
    assert entry.admitted == tuple(vf.address for vf in VFS)
    assert (entry.spec.entry, entry.blocked, entry.passed_over) == (0, {}, {})


def test_what_an_entry_admits_and_cannot_offer_is_blocked() -> None:
    entry = check(function(NIC, in_use_by=used()), specs=[INTEL]).entries[0]
    assert list(entry.blocked) == [at(NIC)]
    assert entry.blocked[at(NIC)][0].code == "in_use_by"


def test_what_an_entry_fits_and_an_earlier_one_admits_is_passed_over() -> None:
    first, second = check(*VFS, specs=[{"address": "0000:31:01.1"}, INTEL]).entries
    assert first.admitted == (VFS[1].address,)
    assert second.admitted == (VFS[0].address, VFS[2].address)
    assert [(str(a), why.code, why.message) for a, why in second.passed_over.items()] == [
        ("0000:31:01.1", "admitted_by_another", "entry 0 admits it first")
    ]


def test_what_an_entry_fits_and_may_not_admit_is_passed_over_with_the_reason() -> None:
    entry = check(pf(NIC), *VFS, specs=[{**INTEL, "remote_managed": True}]).entries[0]
    assert {why.code for why in entry.passed_over.values()} == {"remote_managed_pf", "remote_managed_no_serial"}
    assert entry.admitted == ()


def alias_check(*functions: PciFunction, names: Aliases, specs: list[object] | None = None) -> Mapping[str, object]:
    (found,) = check(*functions, specs=specs or [INTEL], names=names).aliases
    return {"devices": found.devices, "available": found.available, "hint": found.hint}


@pytest.mark.parametrize(
    ("tags", "alias", "devices"),
    [
        pytest.param({}, {}, 1, id="the class that both ids make"),
        pytest.param({"resource_class": "gpu"}, {}, 0, id="a class that the alias does not ask for"),
        pytest.param({"resource_class": "gpu"}, {"resource_class": "CUSTOM_GPU"}, 1, id="one class in two forms"),
        pytest.param({"resource_class": "custom_pci_10de_20b0"}, {}, 1, id="the same as by the ids"),
    ],
)
def test_with_placement_an_alias_counts_what_placement_finds(
    tags: dict[str, str], alias: dict[str, str], devices: int
) -> None:
    """Rules P3 and P11."""
    gpu = {"vendor_id": "10de", "product_id": "20b0"}
    names = parse_aliases([{"name": "g", **gpu, **alias}], Findings(), pci_in_placement=True)
    view = tracker(function(NIC, vendor_id="10de", product_id="20b0"), specs=[{**gpu, **tags}]).view
    (found,) = check_config(view, names, pci_in_placement=True).aliases
    assert (found.devices, found.available) == (devices, devices)
    assert (found.hint is None) is bool(devices)
    (without,) = check_config(view, parse_aliases([{"name": "g", **gpu}], Findings())).aliases
    assert without.devices == 1


def test_an_alias_counts_its_devices_and_those_that_can_be_had() -> None:
    host = tracker(*VFS, specs=[INTEL])
    take(host, "vm1", wants(dev_type=DevType.VF))
    (found,) = check_config(host.view, aliases(vf="8086:154c")).aliases
    assert (found.name, found.devices, found.available, found.hint) == ("vf", 3, 2, None)


@pytest.mark.parametrize(
    ("functions", "alias", "hint"),
    [
        pytest.param([pf(NIC)], "8086:1572", 'ask for device_type = "type-PF"', id="a PF has to be asked for"),
        pytest.param(
            [function("0000:31:01.0", DevType.VDPA, product_id="154c", parent_addr=NIC)],
            "8086:154c",
            "vDPA devices, which no alias asks for",
            id="no alias asks for vDPA",
        ),
        pytest.param([function(NIC, vendor_id="10de", product_id="20b0")], "10de:20b0", "no device spec", id="no spec"),
        pytest.param([function(NIC)], "10de:20b0", "the host has no such function", id="no such function"),
    ],
)
def test_an_alias_that_nothing_can_serve_says_why(functions: list[PciFunction], alias: str, hint: str) -> None:
    found = alias_check(*functions, names=aliases(a=alias))
    assert (found["devices"], found["available"]) == (0, 0)
    assert hint in str(found["hint"])


def test_a_blocked_device_serves_and_cannot_be_had() -> None:
    found = alias_check(function(NIC, in_use_by=used()), names=aliases(a="8086:37c8"))
    assert found == {"devices": 1, "available": 0, "hint": None}


@pytest.mark.parametrize(
    ("specs", "codes"),
    [
        pytest.param([{"address": "*"}], ["admits_everything"], id="an entry that admits everything"),
        pytest.param([{"address": "*", "vendor_id": "8086"}], [], id="not one that names a vendor"),
        pytest.param([{**INTEL, "allow_in_use": True}], ["allow_in_use"], id="what the host uses may be taken"),
        pytest.param([INTEL], [], id="what the host uses is blocked"),
    ],
)
def test_what_is_dangerous(specs: list[object], codes: list[str]) -> None:
    assert dangers(check(function(NIC, in_use_by=used()), specs=specs)) == codes


def test_a_danger_names_the_device_and_the_entry() -> None:
    (danger,) = check(function(NIC, in_use_by=used("ens1")), specs=[{**INTEL, "allow_in_use": True}]).dangers
    assert (danger.address, danger.entry) == (at(NIC), 0)
    assert "default_route ens1" in danger.message


def test_unknown_use_by_the_host_is_one_danger_for_all() -> None:
    (danger,) = check(*VFS, specs=[INTEL]).dangers
    assert danger.code == "host_use_unknown"
    assert "0000:31:01.0 and 2 more" in danger.message


GROUP = [
    function("0000:05:00.0", iommu_group=7, in_use_by=(), driver="vfio-pci"),
    function("0000:06:00.0", iommu_group=7, in_use_by=(), driver="iwlwifi", vendor_id="14c3"),
]


def test_where_groups_are_ignored_what_they_would_refuse_is_dangerous() -> None:
    (danger,) = check(*GROUP, specs=[INTEL], ignore_groups=True).dangers
    assert (danger.code, danger.address) == ("group_ignored", at("0000:05:00.0"))
    assert "0000:06:00.0" in danger.message


def test_where_groups_are_enforced_they_block() -> None:
    checked = check(*GROUP, specs=[INTEL])
    assert dangers(checked) == []
    assert checked.entries[0].blocked[at("0000:05:00.0")][0].code == "group_not_viable"


def test_the_warnings_of_the_config_are_passed_on() -> None:
    problem = ConfigProblem("unknown_tag", "a tag")
    assert check_config(tracker(specs=[]).view, Aliases(), [problem]).warnings == (problem,)
