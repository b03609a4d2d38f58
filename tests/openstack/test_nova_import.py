"""nova's records of a host are taken over, and what is inconsistent in them is told."""

from collections.abc import Sequence
from typing import Any

import pytest

import nova_rows as rows
from domain.hosts import allocate, at, function, pf, statuses, tracker, vf, wants
from laneway.domain.device import Attach, Binding, PciDevice, Status
from laneway.domain.inventory import DevType, NetDevice, PciFunction
from laneway.domain.tracking.host_view import IommuGroups
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.openstack.nova_import import NovaImport, plan_import
from laneway.openstack.nova_records import read_records
from laneway.openstack.port_records import read_ports

CARD, OTHER = "0000:05:00.0", "0000:06:00.0"
NIC, VF0, VF1 = "0000:31:00.0", "0000:31:01.0", "0000:31:01.1"
CARDS = (function(CARD), function(OTHER))
NICS = (pf(NIC), vf(VF0, NIC), vf(VF1, NIC))
SPECS: list[object] = [
    {"product_id": "37c8"},
    {"product_id": "154c", "physical_network": "physnet1"},
    {"product_id": "1572"},
]
CLAIM = f"nova-{rows.VM}"


def host_of(*functions: PciFunction, specs: list[object] | None = None) -> PciDeviceTracker:
    return tracker(*functions, specs=SPECS if specs is None else specs, iommu_groups=IommuGroups.IGNORE)


def imported(
    host: PciDeviceTracker,
    devices: Sequence[rows.Row],
    *,
    instances: Sequence[rows.Row] | None = (rows.instance(),),
    extra: Sequence[rows.Row] = (rows.extra(rows.flavor_request()),),
    ports: Sequence[rows.Row] = (),
) -> NovaImport:
    tables: dict[str, Any] = {"compute_nodes": [rows.NODE], "pci_devices": devices, "instance_extra": extra}
    if instances is not None:
        tables["instances"] = instances
    records = read_records(tables)
    return plan_import(host, records, records.nodes[0], read_ports(list(ports)))


def codes(plan: NovaImport) -> list[str]:
    return [finding.code for finding in plan.findings]


def held(plan: NovaImport, address: str) -> PciDevice:
    device = plan.update.held[at(address)]
    assert device is not None
    return device


# what is taken over


def test_a_device_goes_to_its_owner_with_its_request() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.VM), rows.device(OTHER)])
    assert (codes(plan), plan.is_clean) == ([], True)
    device = held(plan, CARD)
    assert (device.consumer, device.claim, device.request) == (rows.VM, CLAIM, rows.REQUEST)
    assert (device.status, device.entry, device.attach) == (Status.ALLOCATED, 0, Attach.VFIO)
    record = plan.update.claims[CLAIM]
    assert record is not None
    assert (record.request.consumer, record.devices) == (rows.VM, {rows.REQUEST: (at(CARD),)})
    assert record.request.requests[0].alias == "card"


def test_the_host_stands_as_if_it_were_recorded() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.VM)])
    assert statuses(host) == {CARD: Status.ALLOCATED, OTHER: Status.AVAILABLE}
    assert host.state.claims == plan.update.claims


def test_what_is_claimed_stays_claimed_until_the_guest_has_it() -> None:
    host = host_of(*CARDS)
    imported(host, [rows.device(CARD, rows.VM, status="claimed")])
    assert statuses(host)[CARD] is Status.CLAIMED
    host.apply(host.allocate(claim=CLAIM))
    assert statuses(host)[CARD] is Status.ALLOCATED


def test_done_again_it_changes_nothing() -> None:
    host = host_of(*CARDS)
    devices = [rows.device(CARD, rows.VM), rows.device(OTHER, rows.VM, request_id="gone")]
    first = imported(host, devices)
    again = imported(host, devices)
    assert again.update.is_empty
    assert codes(again) == codes(first) == ["device_without_request"]
    assert [device.known for device in again.devices] == [True, True]


def test_a_device_that_came_later_joins_the_claim() -> None:
    host = host_of(*CARDS)
    two = [rows.extra(rows.flavor_request(count=2))]
    imported(host, [rows.device(CARD, rows.VM)], extra=two)
    imported(host, [rows.device(CARD, rows.VM), rows.device(OTHER, rows.VM)], extra=two)
    assert host.view.claims[CLAIM].devices == {rows.REQUEST: (at(CARD), at(OTHER))}


def test_devices_of_other_nodes_are_theirs() -> None:
    assert imported(host_of(*CARDS), [rows.device(CARD, rows.VM, compute_node_id=8)], extra=[]).devices == ()


def test_requests_are_kept_as_they_were_stored() -> None:
    """Rule C68."""
    host = host_of(*CARDS)
    imported(host, [rows.device(CARD, rows.VM)], extra=[rows.extra(rows.flavor_request(product_id="beef"))])
    (request,) = host.view.claims[CLAIM].request.requests
    assert request.alternatives[0].product_id == "beef"


def test_a_device_that_names_no_request_serves_the_one_that_it_fits() -> None:
    """So nova had them before 2023.1 (Antelope)."""
    requests = rows.extra(rows.flavor_request(None, product_id="154c"), rows.flavor_request(None))
    devices = [rows.device(CARD, rows.VM, request_id=None), rows.vf(VF0, NIC, rows.VM, request_id=None)]
    host = host_of(*CARDS, *NICS)
    assert codes(imported(host, devices, extra=[requests])) == []
    assert host.view.claims[CLAIM].devices == {"request-0": (at(VF0),), "request-1": (at(CARD),)}


@pytest.mark.parametrize(
    ("dev_type", "vnic_type", "attach"),
    [
        pytest.param(DevType.VF, "direct", Attach.VFIO, id="a direct port by vfio"),
        pytest.param(DevType.VF, "macvtap", Attach.MACVTAP, id="a macvtap port by macvtap"),
        pytest.param(DevType.VDPA, "vdpa", Attach.VDPA, id="a vdpa device by vdpa"),
    ],
)
def test_a_device_is_attached_as_its_port_says(dev_type: DevType, vnic_type: str, attach: Attach) -> None:
    plan = imported(
        host_of(pf(NIC), function(VF0, dev_type, parent_addr=NIC, product_id="154c")),
        [rows.vf(VF0, NIC, rows.VM, request_id=rows.PORT_REQUEST, dev_type=str(dev_type))],
        extra=[rows.extra(rows.port_request())],
        ports=[rows.port(VF0) | {"binding:vnic_type": vnic_type}],
    )
    assert held(plan, VF0).attach is attach


CAPABILITIES = (
    '{"network": ["rx"], "sriov": {"pf_mac_address": "02:00:00:00:31:00", "vf_num": 4}, '
    '"vpd": {"card_serial_number": "MT1"}}'
)


def test_what_the_host_does_not_show_while_a_guest_has_the_pf_is_what_nova_recorded() -> None:
    """Rule C31: the MAC of a PF in a guest, and the number of a VF below it."""
    recorded = {"capabilities": CAPABILITIES, "parent_ifname": "ens5", "mac_address": "02:00:00:00:31:00"}
    host = host_of(*NICS)
    plan = imported(host, [rows.vf(VF0, NIC, rows.VM, extra_info=recorded)])
    extra = held(plan, VF0).extra_info
    assert (extra.pf_mac_address, extra.vf_num, extra.card_serial_number) == ("02:00:00:00:31:00", 4, "MT1")
    assert (extra.network_capabilities, extra.parent_ifname) == (("rx",), "ens5")
    assert extra.tags == {"physical_network": "physnet1"}


def test_what_the_host_shows_counts_more_than_what_nova_recorded() -> None:
    shown = pf(NIC, netdevs=(NetDevice(name="ens9", permanent_mac="02:00:00:00:99:00"),))
    plan = imported(
        host_of(shown, vf(VF0, NIC, vf_index=0)),
        [rows.vf(VF0, NIC, rows.VM, extra_info={"capabilities": CAPABILITIES})],
    )
    extra = held(plan, VF0).extra_info
    assert (extra.pf_mac_address, extra.vf_num, extra.parent_ifname) == ("02:00:00:00:99:00", 0, "ens9")


@pytest.mark.parametrize("broken", ["{", '"text"', '{"sriov": "x", "network": 1}'])
def test_capabilities_that_make_no_sense_count_as_none(broken: str) -> None:
    plan = imported(host_of(*NICS), [rows.vf(VF0, NIC, rows.VM, extra_info={"capabilities": broken})])
    assert held(plan, VF0).extra_info.pf_mac_address is None


# what is inconsistent


def test_an_owner_that_does_not_exist_holds_nothing() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.OTHER_VM)], extra=[])
    (device,) = plan.devices
    assert device.refusal is not None
    assert (device.refusal.code, codes(plan), plan.is_clean) == ("owner_unknown", ["owner_unknown"], True)
    assert statuses(host)[CARD] is Status.AVAILABLE


def test_without_a_list_of_instances_every_owner_is_believed() -> None:
    host = host_of(*CARDS)
    assert codes(imported(host, [rows.device(CARD, rows.VM)], instances=None)) == []
    assert statuses(host)[CARD] is Status.ALLOCATED


def test_an_owner_that_is_elsewhere_may_be_on_the_move() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.VM)], instances=[rows.instance(host="compute-2")])
    assert (codes(plan), statuses(host)[CARD]) == (["owner_elsewhere"], Status.ALLOCATED)
    assert "which is on compute-2" in plan.findings[0].message


def test_a_device_that_no_spec_admits_is_kept_for_its_owner() -> None:
    """Rule C91."""
    host = host_of(*CARDS, specs=[])
    plan = imported(host, [rows.device(CARD, rows.VM, extra_info={"managed": "false"})])
    assert codes(plan) == ["not_admitted"]
    device = held(plan, CARD)
    assert (device.entry, device.extra_info.binding) == (None, Binding.OPERATOR)
    host.apply(host.free(consumer=rows.VM))
    assert statuses(host) == {}


def test_a_device_that_is_not_on_the_host_is_kept_for_its_owner() -> None:
    """Rule D28: it may come back."""
    host = host_of(*CARDS)
    plan = imported(host, [rows.vf("0000:99:00.1", NIC, rows.VM)])
    assert codes(plan) == ["not_on_host"]
    made = held(plan, "0000:99:00.1")
    assert (made.dev_type, made.product_id, made.parent_addr) == (DevType.VF, "154c", at(NIC))
    assert statuses(host)["0000:99:00.1"] is Status.ALLOCATED


def test_another_device_at_the_address_is_never_handed_over() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.VM, vendor_id="10de", product_id="20b0")])
    assert (codes(plan), plan.is_clean, plan.update.is_empty) == (["other_device"], False, True)
    assert "nova knows 10de:20b0 there, and the host has 8086:37c8" in plan.findings[0].message


def test_two_owners_of_one_device_are_told_and_one_has_it() -> None:
    """The one that exists."""
    devices = [rows.device(CARD, rows.OTHER_VM, id=1), rows.device(CARD, rows.VM, id=2)]
    plan = imported(host_of(*CARDS), devices)
    assert (codes(plan), plan.is_clean) == (["two_owners"], False)
    assert held(plan, CARD).consumer == rows.VM


def test_a_free_row_beside_one_with_an_owner_says_nothing() -> None:
    plan = imported(host_of(*CARDS), [rows.device(CARD, id=1), rows.device(CARD, rows.VM, id=2)])
    assert (codes(plan), held(plan, CARD).consumer) == ([], rows.VM)


BOTH = [rows.instance(), rows.instance(rows.OTHER_VM)]


def test_a_pf_and_its_vf_with_two_owners_cannot_be() -> None:
    """Rule D29: the VF is there to be seen, so its owner has it."""
    host = host_of(*NICS)
    devices = [rows.pf(NIC, rows.OTHER_VM), rows.vf(VF0, NIC, rows.VM)]
    plan = imported(host, devices, instances=BOTH)
    assert ("relative_held" in codes(plan), plan.is_clean) == (True, False)
    assert statuses(host) == {NIC: Status.UNAVAILABLE, VF0: Status.ALLOCATED, VF1: Status.AVAILABLE}


def test_that_holds_too_where_no_spec_admits_the_pf() -> None:
    host = host_of(*NICS, specs=[{"product_id": "154c"}])
    plan = imported(host, [rows.pf(NIC, rows.OTHER_VM), rows.vf(VF0, NIC, rows.VM)], instances=BOTH)
    assert list(plan.update.held) == [at(VF0)]


def test_not_even_one_instance_has_a_pf_and_its_vf() -> None:
    """Rule D21."""
    plan = imported(host_of(*NICS), [rows.pf(NIC, rows.VM), rows.vf(VF0, NIC, rows.VM)])
    assert "relative_held" in codes(plan)
    assert list(plan.update.held) == [at(VF0)]


@pytest.mark.parametrize(
    ("groups", "owners", "held_by"),
    [
        pytest.param(IommuGroups.IGNORE, (rows.VM, rows.OTHER_VM), 2, id="not where groups do not count, as in nova"),
        pytest.param(IommuGroups.ENFORCE, (rows.VM, rows.OTHER_VM), 1, id="two of one group with two owners"),
        pytest.param(IommuGroups.ENFORCE, (rows.VM, rows.VM), 2, id="two of one group with one owner"),
    ],
)
def test_iommu_groups_count_where_the_config_says_so(
    groups: IommuGroups, owners: tuple[str, str], held_by: int
) -> None:
    cards = [function(address, iommu_group=7) for address in (CARD, OTHER)]
    devices = [rows.device(address, owner) for address, owner in zip((CARD, OTHER), owners, strict=True)]
    plan = imported(tracker(*cards, iommu_groups=groups), devices, instances=BOTH, extra=[])
    assert len(plan.update.held) == held_by
    assert plan.is_clean is (held_by == 2)


def test_what_laneway_gave_to_another_stays_with_it() -> None:
    host = host_of(*CARDS)
    allocate(host, "somebody", wants(count=2))
    plan = imported(host, [rows.device(CARD, rows.VM), rows.device(OTHER)])
    assert (codes(plan), plan.is_clean, plan.update.is_empty) == (["held_by_another", "unknown_to_nova"], False, True)
    assert "here it is held by somebody" in plan.findings[0].message
    assert plan.findings[1].address == at(OTHER)


@pytest.mark.parametrize(
    ("devices", "code"),
    [
        pytest.param(
            [rows.pf(NIC), rows.vf(VF0, NIC, rows.VM)], "pf_available", id="a PF is available while a VF is taken"
        ),
        pytest.param(
            [rows.pf(NIC, rows.VM), rows.vf(VF0, NIC)], "vf_available", id="a VF is available while its PF is taken"
        ),
        pytest.param(
            [rows.pf(NIC, status="unavailable"), rows.vf(VF0, NIC)],
            "held_by_no_one",
            id="a PF is unavailable for no VF",
        ),
        pytest.param(
            [rows.pf(NIC), rows.vf(VF0, NIC, status="unclaimable")], "held_by_no_one", id="a VF is, for no PF"
        ),
    ],
)
def test_statuses_that_cannot_be_are_told_and_not_taken_over(devices: list[rows.Row], code: str) -> None:
    """Rule C36 and C37: here they follow from who holds what."""
    plan = imported(host_of(pf(NIC), vf(VF0, NIC)), devices)
    assert code in codes(plan)
    assert plan.is_clean


@pytest.mark.parametrize(
    "devices",
    [
        pytest.param([rows.pf(NIC, status="unavailable"), rows.vf(VF0, NIC, rows.VM)], id="a VF is taken"),
        pytest.param([rows.pf(NIC, rows.VM), rows.vf(VF0, NIC, status="unavailable")], id="a PF is taken"),
        pytest.param([rows.pf(NIC), rows.vf(VF0, NIC)], id="nothing is taken"),
        pytest.param([rows.vf(VF0, NIC, rows.VM)], id="the PF is not tracked"),
    ],
)
def test_statuses_that_can_be_are_no_finding(devices: list[rows.Row]) -> None:
    assert {"pf_available", "vf_available", "held_by_no_one"}.isdisjoint(
        codes(imported(host_of(pf(NIC), vf(VF0, NIC)), devices))
    )


def test_a_status_without_an_owner_counts_as_free() -> None:
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, status="allocated")], extra=[])
    assert (codes(plan), statuses(host)[CARD]) == (["status_without_owner"], Status.AVAILABLE)


def test_an_owner_without_a_status_has_the_device() -> None:
    """A device too much is kept rather than handed out twice."""
    host = host_of(*CARDS)
    plan = imported(host, [rows.device(CARD, rows.VM, status="available")])
    assert (codes(plan), statuses(host)[CARD]) == (["owner_without_status"], Status.ALLOCATED)


@pytest.mark.parametrize(
    ("requests", "devices", "expected"),
    [
        pytest.param([rows.flavor_request(count=2)], 1, ["request_without_device"], id="too few"),
        pytest.param([rows.flavor_request()], 0, ["request_without_device"], id="none at all"),
        pytest.param([rows.flavor_request()], 2, ["too_many_devices"], id="too many"),
        pytest.param([], 1, ["device_without_request"], id="no request"),
        pytest.param([rows.flavor_request(count=2)], 2, [], id="as many as asked for"),
    ],
)
def test_requests_and_devices_have_to_agree(requests: list[rows.Row], devices: int, expected: list[str]) -> None:
    taken = [rows.device(address, rows.VM) for address in (CARD, OTHER)[:devices]]
    plan = imported(host_of(*CARDS), taken, extra=[rows.extra(*requests)])
    assert codes(plan) == expected
    assert len(plan.update.held) == devices


def test_requests_of_instances_elsewhere_are_no_matter_of_this_host() -> None:
    """Such as one that is shelved, or runs on another."""
    shelved = rows.instance(host=None, node=None)
    assert codes(imported(host_of(*CARDS), [], instances=[shelved])) == []


def test_a_tag_that_nova_kept_and_the_config_has_changed_is_told() -> None:
    """Rule C41: the config of today counts from now on."""
    plan = imported(host_of(*CARDS), [rows.device(CARD, rows.VM, extra_info={"managed": "false"})])
    assert codes(plan) == ["tag_differs"]
    assert "managed of 0000:05:00.0 was false when it was allocated, and is not given now" in plan.findings[0].message


def test_a_row_that_cannot_be_read_waits_for_a_person() -> None:
    plan = imported(host_of(*CARDS), [rows.device("nowhere", rows.VM)], extra=[])
    assert (codes(plan), plan.is_clean) == (["row_unreadable"], False)
