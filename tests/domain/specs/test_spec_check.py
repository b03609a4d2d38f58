"""Specs against the facts of a host: errors that contradict them, warnings of no effect (C18, D1, D8, D18, D35)."""

import pytest

from domain.hosts import function, inventory, pf, vf
from domain.reading import specs
from laneway.domain.errors import Findings
from laneway.domain.inventory import DevType, Inventory, NetDevice, PciFunction, Sriov, Vpd
from laneway.domain.specs.admission import check_against_facts

SERIAL = Vpd(card_serial_number="MT1")
DPU = function(
    "0000:82:00.0",
    DevType.PF,
    vendor_id="15b3",
    product_id="a2d6",
    vpd=SERIAL,
    netdevs=(NetDevice(name="p0"),),
    sriov=Sriov(total_vfs=8, num_vfs=1, vf_product_id="101e"),
)
DPU_VF = vf("0000:82:00.3", "0000:82:00.0", vendor_id="15b3", product_id="101e")
NIC = pf("0000:81:00.0", netdevs=(NetDevice(name="ens1"),))
NIC_VF = vf("0000:81:02.0", "0000:81:00.0")
NIC_VF1 = vf("0000:81:02.1", "0000:81:00.0")
GPU = function("0000:3b:00.0", vendor_id="10de", product_id="20b0", class_code="030200")
BRIDGE = function("0000:00:01.0", class_code="060400", product_id="2030")
HOST = inventory(DPU, DPU_VF, NIC, NIC_VF, NIC_VF1, GPU, BRIDGE)


def check(*values: object, host: Inventory = HOST, **options: bool) -> Findings:
    return check_against_facts(host, specs(*values), **options)


def codes(findings: Findings) -> list[tuple[str, int | None]]:
    return [(str(problem.code), problem.entry) for problem in (*findings.errors, *findings.warnings)]


@pytest.mark.parametrize(
    "content",
    [
        {"address": "0000:82:00.0"},
        {"address": "0000:82:00.0", "product_id": "a2d6"},
        {"address": "0000:82:00.0", "vendor_id": "15b3"},
        {"devname": "p0"},
    ],
    ids=str,
)
def test_a_remote_managed_spec_that_names_a_pf_itself_is_an_error(content: dict[str, object]) -> None:
    """Rule C18."""
    findings = check({**content, "remote_managed": True})
    (problem,) = findings.errors
    assert problem.code == "remote_managed_pf"
    assert problem.remedy == 'write "product_id": "101e" to mean its VFs'
    assert findings.warnings == []


@pytest.mark.parametrize("content", [{"address": "0000:82:00.0"}, {"devname": "p0"}], ids=str)
@pytest.mark.parametrize("host", [HOST, inventory(DPU)], ids=["with VFs", "before VFs are made"])
def test_a_pf_with_the_product_id_of_its_vfs_means_the_vfs(content: dict[str, object], host: Inventory) -> None:
    """Rules C19 and D1."""
    assert check({**content, "product_id": "101e", "remote_managed": True}, host=host).errors == []


@pytest.mark.parametrize("content", [{"product_id": "ffff"}, {"vendor_id": "8086", "product_id": "101e"}], ids=str)
def test_ids_that_fit_neither_the_pf_nor_its_vfs_are_an_error(content: dict[str, object]) -> None:
    """Rule C18."""
    (problem,) = check({"address": "0000:82:00.0", "remote_managed": True, **content}).errors
    assert (problem.code, problem.key) == ("invalid_device_spec", "address")
    assert "fits neither it nor its VFs" in problem.message


@pytest.mark.parametrize(
    ("sriov", "content", "errors"),
    [
        pytest.param(Sriov(total_vfs=8), {"product_id": "ffff"}, 0, id="an id that may be theirs"),
        pytest.param(None, {"product_id": "ffff"}, 0, id="no SR-IOV facts"),
        pytest.param(None, {"vendor_id": "8086", "product_id": "ffff"}, 1, id="VFs have the vendor id of their PF"),
    ],
)
def test_what_is_not_known_of_vfs_contradicts_nothing(
    sriov: Sriov | None, content: dict[str, object], errors: int
) -> None:
    bare = function("0000:82:00.0", DevType.PF, vendor_id="15b3", product_id="a2d6", sriov=sriov)
    findings = check({"address": "0000:82:00.0", "remote_managed": True, **content}, host=inventory(bare))
    assert len(findings.errors) == errors
    if errors:
        assert findings.errors[0].remedy == "add the product_id of its VFs"


def test_a_remote_managed_spec_may_name_a_vf() -> None:
    assert codes(check({"address": "0000:82:00.3", "remote_managed": True})) == []


@pytest.mark.parametrize(
    ("content", "code", "in_message"),
    [
        pytest.param(
            {"vendor_id": "1137"}, "admits_nothing", "it has no function 1137:*", id="ids that no function has"
        ),
        pytest.param(
            {"address": "0000:99:00.0"},
            "admits_nothing",
            "it has no function 0000:99:00.0",
            id="an address that is not there",
        ),
        pytest.param(
            {"address": "0000:3b:00.0", "product_id": "2330"},
            "admits_nothing",
            "0000:3b:00.0 is 10de:20b0",
            id="another card at the address",
        ),
        pytest.param(
            {"vendor_id": "10de", "address": "*:5e:*.*"},
            "admits_nothing",
            "no function with these ids is at *:5e:*.*",
            id="another place",
        ),
        pytest.param(
            {"devname": "ens9"},
            "devname_absent",
            'devname "ens9" is no network interface',
            id="an interface that is not there",
        ),
        pytest.param(
            {"devname": "ens9", "remote_managed": True}, "devname_absent", "ens9", id="the same, remote managed"
        ),
        pytest.param(
            {"devname": "ens1", "product_id": "ffff"},
            "admits_nothing",
            "0000:81:00.0 is 8086:1572",
            id="its card has other ids",
        ),
        pytest.param({"address": "0000:00:01.0"}, "admits_nothing", "of 0000:00:01.0, it is a bridge", id="a bridge"),
        pytest.param(
            {"vendor_id": "8086", "remote_managed": True},
            "admits_nothing",
            "of 0000:81:00.0, device_spec entry 0 is remote_managed, which a PF cannot be",
            id="remote-managed devices without a serial",
        ),
    ],
)
def test_a_spec_that_admits_nothing_is_a_warning_that_says_why(
    content: dict[str, object], code: str, in_message: str
) -> None:
    """Rules D18 and D35."""
    findings = check(content)
    assert findings.errors == []
    assert codes(findings) == [(code, 0)]
    assert in_message in findings.warnings[0].message


def test_each_reason_why_a_spec_admits_nothing_is_told_once() -> None:
    (warning,) = check({"vendor_id": "8086", "remote_managed": True}).warnings
    assert warning.message.count("which a PF cannot be") == 1
    assert warning.message.count("has a card serial number") == 1
    assert warning.message.count("it is a bridge") == 1


@pytest.mark.parametrize(
    ("values", "found"),
    [
        pytest.param([{"vendor_id": "10de"}, {"address": "0000:3b:00.0"}], [("shadowed", 1)], id="by one"),
        pytest.param(
            [{"product_id": "1572"}, {"product_id": "154c"}, {"address": "0000:81:00.0"}],
            [("shadowed", 2), ("pf_and_vfs", 0)],
            id="by two together",
        ),
        pytest.param(
            [{"product_id": "20b0"}, {"address": "*:3b:*.*"}, {"devname": "ens1v"}],
            [("shadowed", 1), ("devname_absent", 2)],
            id="a glob",
        ),
        pytest.param([{"address": "0000:81:02.0"}, {"product_id": "154c"}], [], id="not where one is left for it"),
        pytest.param(
            [{"devname": "ens1", "product_id": "154c"}, {"devname": "ens1"}],
            [("pf_and_vfs", 1)],
            id="not where the PF is left",
        ),
    ],
)
def test_a_spec_that_earlier_ones_leave_nothing_for_is_reported(
    values: list[object], found: list[tuple[str, int]]
) -> None:
    """Rule D18."""
    assert codes(check(*values)) == found


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        ([{"address": "*:81:*.*"}], "as entry 0 admits all that it fits"),
        ([{"product_id": "1572"}, {"product_id": "154c"}], "as entries 0 and 1 admit all that it fits"),
        (
            [{"address": "*:*:00.*"}, {"address": "*:*:02.0"}, {"address": "*:*:02.1"}],
            "as entries 0, 1 and 2 admit all that it fits",
        ),
    ],
    ids=["one", "two", "three"],
)
def test_the_entries_that_shadow_another_are_named(earlier: list[object], words: str) -> None:
    (shadowed,) = (
        problem for problem in check(*earlier, {"vendor_id": "8086"}).warnings if problem.entry == len(earlier)
    )
    assert words in shadowed.message


def test_a_pf_and_its_vfs_are_noted_once_for_each_pair_of_entries() -> None:
    """Rule D8."""
    hosts = [function(f"0000:{bus:02x}:00.0", DevType.PF) for bus in (1, 2)]
    vfs = [vf(f"0000:{bus:02x}:02.{n}", f"0000:{bus:02x}:00.0") for bus in (1, 2) for n in (0, 1)]
    findings = check({"vendor_id": "8086"}, host=inventory(*hosts, *vfs))
    assert codes(findings) == [("pf_and_vfs", 0)]
    assert "admits the PF 0000:01:00.0, and entry 0 VFs of it" in findings.warnings[0].message


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ({}, "invalid_device_spec"),
        ({"physical_network": None}, "invalid_device_spec"),
        ({"physical_network": "p"}, "pf_and_vfs"),
    ],
    ids=["reported", "tunnelled ones are reported too", "those of a physical network are not"],
)
def test_a_pf_and_its_vfs_cannot_both_be_reported_to_placement(tags: dict[str, object], found: str) -> None:
    """Rules C88, D8 and P6."""
    findings = check({"vendor_id": "8086", **tags}, report_in_placement=True)
    assert codes(findings) == [(found, 0)]


@pytest.mark.parametrize(
    ("first", "second", "keys"),
    [
        ({"resource_class": "GOLD"}, {"resource_class": "SILVER"}, ["resource_class"]),
        ({"traits": "A,B"}, {}, ["traits"]),
        ({"traits": "A, b"}, {"traits": "B,a"}, []),
        ({"resource_class": "gold", "traits": "A"}, {"traits": "B"}, ["resource_class", "traits"]),
        ({"resource_class": "GOLD", "physical_network": "p"}, {}, []),
        ({"live_migratable": True}, {}, ["live_migratable"]),
        ({"resource_class": "nic"}, {"resource_class": "CUSTOM_NIC"}, []),
        ({"resource_class": "CUSTOM_PCI_8086_154C"}, {}, []),
        ({"traits": "A,b"}, {"traits": "CUSTOM_B, custom_a"}, []),
    ],
    ids=[
        *("classes differ", "traits differ", "the same traits", "both differ", "one is not reported"),
        *("one is live_migratable, which is a trait", "one class in two forms", "the class that the ids make"),
        "the same traits in two forms",
    ],
)
def test_vfs_of_one_pf_have_one_class_and_one_set_of_traits_in_placement(
    first: dict[str, object], second: dict[str, object], keys: list[str]
) -> None:
    """Rule C89."""
    values = ({"address": "0000:81:02.0", **first}, {"product_id": "154c", **second})
    assert [problem.key for problem in check(*values, report_in_placement=True).errors] == keys
    assert check(*values).errors == []


def test_traits_of_vfs_are_compared_once_for_each_set_of_entries() -> None:
    vfs = [vf(f"0000:{bus:02x}:02.{n}", f"0000:{bus:02x}:00.0") for bus in (1, 2) for n in (0, 1)]
    values = ({"address": "*:*:*.0", "traits": "A"}, {"address": "*:*:*.1", "traits": "B"})
    assert len(check(*values, host=inventory(*vfs), report_in_placement=True).errors) == 1


@pytest.mark.parametrize(
    ("content", "reporting", "errors"),
    [
        ({"product_id": "154c"}, True, 1),
        ({"product_id": "154c"}, False, 0),
        ({"product_id": "20b0"}, True, 0),
        ({"product_id": "154c", "physical_network": "p"}, True, 0),
    ],
    ids=["VFs that are reported", "VFs without Placement", "whole devices", "VFs that are not reported"],
)
def test_one_time_use_of_vfs_cannot_be_reported(content: dict[str, object], reporting: bool, errors: int) -> None:
    """Rules C90 and D19."""
    findings = check({**content, "one_time_use": True}, report_in_placement=reporting)
    assert [problem.key for problem in findings.errors] == ["one_time_use"] * errors


def test_scheduling_by_placement_without_reporting_to_it_is_noted() -> None:
    assert codes(check({"vendor_id": "10de"}, pci_in_placement=True)) == [("pci_in_placement_alone", None)]
    assert codes(check({"vendor_id": "10de"}, pci_in_placement=True, report_in_placement=True)) == []
    assert codes(check(pci_in_placement=True)) == []


def test_specs_that_are_right_for_the_host_say_nothing() -> None:
    findings = check(
        {"vendor_id": "10de"},
        {"address": "0000:81:00.0", "product_id": "154c"},
        {"product_id": "101e", "remote_managed": True},
    )
    assert codes(findings) == []


def test_the_place_of_a_spec_is_told() -> None:
    found = specs({"vendor_id": "1137"}, places=["laneway.toml:7"])
    (warning,) = check_against_facts(HOST, found).warnings
    assert warning.place == "laneway.toml:7"
    assert warning.message.startswith('device_spec entry 0 (laneway.toml:7): {"vendor_id": "1137"} admits nothing')


def test_a_vf_whose_pf_is_not_in_the_inventory_is_checked_without_it() -> None:
    orphan: PciFunction = vf("0000:81:02.0", "0000:81:00.0")
    assert codes(check({"address": "0000:81:00.0"}, host=inventory(orphan))) == []
