"""From requests to a query of Placement, and from its answer to the devices that are claimed."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import at, claim, function, pf, take, tracker, vf, wants
from interfaces.fake_placement import HOST, NAMES, ROOT, FakePlacement
from laneway.contracts.codec import convert, encode, parse_json
from laneway.domain.errors import ErrorCode, Findings, LanewayError
from laneway.domain.requests.alias import parse_aliases
from laneway.domain.requests.flavor import parse_flavor
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.interfaces.placement import Candidate
from laneway.openstack.compute_traits import required_traits
from laneway.openstack.placement_requests import (
    MOST_GROUPS,
    candidate_query,
    is_in_placement,
    placed_requests,
    request_groups,
)
from laneway.openstack.provider_reporting import ReportingOn

VFS_OF_TWO = [vf(f"0000:{bus}:02.{number}", f"0000:{bus}:00.0") for bus in ("81", "af") for number in range(3)]
ONLY_VFS = {"product_id": "154c"}


def asked_by(flavor: str, **alias: Any) -> tuple[DeviceRequest, ...]:
    """The requests of a flavor whose alias ``gpu`` is this one."""
    findings = Findings()
    aliases = parse_aliases([{"name": "gpu", **alias}], findings, pci_in_placement=True)
    findings.raise_errors()
    return parse_flavor(flavor, aliases)


GPU = {"vendor_id": "10de", "product_id": "20b0"}


def test_p11_each_device_is_a_group_of_its_own() -> None:
    """P11: with a suffix of the request's name and the device's number."""
    groups = request_groups(asked_by("gpu:2", **GPU), NAMES)
    assert [(group.suffix, group.resource_class) for group in groups] == [
        ("gpu-0", "CUSTOM_PCI_10DE_20B0"),
        ("gpu-1", "CUSTOM_PCI_10DE_20B0"),
    ]
    assert candidate_query(groups) == (
        ("resources_gpu-0", "CUSTOM_PCI_10DE_20B0:1"),
        ("resources_gpu-1", "CUSTOM_PCI_10DE_20B0:1"),
        ("group_policy", "none"),
    )


@pytest.mark.parametrize(
    ("alias", "required"),
    [
        pytest.param({"resource_class": "a", "traits": "blue, big"}, "CUSTOM_BIG,CUSTOM_BLUE", id="blanks (D3)"),
        pytest.param({"resource_class": "a", "traits": "blue,!big"}, "CUSTOM_BLUE,!CUSTOM_BIG", id="forbidden (D11)"),
        pytest.param({"resource_class": "a", "traits": "hw_nic_sriov"}, "HW_NIC_SRIOV", id="Placement's own"),
        pytest.param({**GPU, "live_migratable": "yes"}, "HW_PCI_LIVE_MIGRATABLE", id="live_migratable: yes (D12)"),
        pytest.param({**GPU, "live_migratable": "no"}, "!HW_PCI_LIVE_MIGRATABLE", id="live_migratable: no"),
        pytest.param(GPU, None, id="none"),
    ],
)
def test_p11_traits_of_the_alias_are_asked_for(alias: dict[str, str], required: str | None) -> None:
    """P11, D3, D11, D12."""
    query = dict(candidate_query(request_groups(asked_by("gpu:1", **alias), NAMES)))
    assert query.get("required_gpu-0") == required


@pytest.mark.parametrize(
    ("wanted", "expected"), [("gpu", "CUSTOM_GPU"), ("CUSTOM_GPU", "CUSTOM_GPU"), ("vgpu", "VGPU")]
)
def test_p11_a_class_that_an_alias_names_is_asked_for_as_the_host_reports_it(wanted: str, expected: str) -> None:
    """P11, P3."""
    (group,) = request_groups(asked_by("gpu:1", resource_class=wanted), NAMES)
    placement = FakePlacement()
    ReportingOn(lambda: placement).report(
        HOST, tracker(function("0000:3b:00.0"), specs=[{"address": "*", "resource_class": wanted}]).view
    )
    assert group.resource_class == expected
    assert [*placement.named("0000:3B:00.0").inventories] == [expected]


def test_p12_only_nova_s_providers_are_asked_for_once_all_hosts_report_whose_they_are() -> None:
    """P12: of the host and of each device."""
    groups = request_groups(asked_by("gpu:1", **GPU, traits="blue"), NAMES)
    assert candidate_query(groups, of_nova_only=True) == (
        ("resources_gpu-0", "CUSTOM_PCI_10DE_20B0:1"),
        ("required_gpu-0", "CUSTOM_BLUE,OWNER_NOVA"),
        ("root_required", "OWNER_NOVA"),
    )


@pytest.mark.parametrize(
    ("of_nova_only", "root"),
    [(False, "COMPUTE_REMOTE_MANAGED_PORTS"), (True, "COMPUTE_REMOTE_MANAGED_PORTS,OWNER_NOVA")],
)
def test_c56_a_guest_with_remote_managed_ports_asks_for_hosts_that_have_such(of_nova_only: bool, root: str) -> None:
    """C56, C61: what is required of the host stands beside what is required of each device."""
    traits = required_traits([wants(tags={"remote_managed": True})])
    query = candidate_query(
        request_groups(asked_by("gpu:1", **GPU), NAMES), root_traits=traits, of_nova_only=of_nova_only
    )
    assert dict(query)["root_required"] == root


def test_p16_a_query_can_be_limited_and_held_to_one_host() -> None:
    """P16, P17."""
    query = candidate_query(request_groups(asked_by("gpu:1", **GPU), NAMES), root=ROOT, limit=10)
    assert query[1:] == (("in_tree_gpu-0", ROOT), ("limit", "10"))


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        pytest.param(wants(tags={"physical_network": "p1"}), False, id="of a physical network"),
        pytest.param(replace(wants(), requester="port-1"), False, id="of a port on a tunnelled network"),
        pytest.param(wants(), True, id="of an alias"),
    ],
)
def test_p14_what_ports_ask_for_is_not_in_placement(request_: DeviceRequest, asked: bool) -> None:
    """P14."""
    assert is_in_placement(request_) is asked


def test_p14_a_claim_of_ports_and_aliases_together_has_the_ports_chosen_by_the_claim() -> None:
    """P14."""
    port = replace(wants("port", product_id="154c"), requester="port-1")
    (gpu,) = asked_by("gpu:1", **GPU)
    groups = request_groups([port, gpu], NAMES)
    chosen = Candidate(allocations={}, serving={"gpu-0": "uuid-1"})
    placed = placed_requests([port, gpu], groups, chosen, {"uuid-1": f"{HOST}_0000:3B:00.0"})
    assert placed == (port, replace(gpu, name="gpu-0", provider=at("0000:3b:00.0")))


def nic_requests(count: int) -> tuple[DeviceRequest, ...]:
    return (wants("nic", count, vendor_id="8086", product_id="154c"),)


@pytest.mark.parametrize(
    "serving",
    [
        pytest.param(["81", "81", "81"], id="all of one provider"),
        pytest.param(["af", "81", "af"], id="two of one and one of the other"),
    ],
)
def test_p13_the_claim_takes_devices_of_exactly_the_providers_that_were_chosen(serving: list[str]) -> None:
    """P13: and each provider is one pool, so that any of its devices will do."""
    host = tracker(pf("0000:81:00.0"), pf("0000:af:00.0"), *VFS_OF_TWO, specs=[ONLY_VFS])
    assert [pool.key.parent for pool in host.pools()] == [at("0000:81:00.0"), at("0000:af:00.0")]
    groups = request_groups(nic_requests(3), NAMES)
    candidate = Candidate(
        allocations={}, serving={group.suffix: bus for group, bus in zip(groups, serving, strict=True)}
    )
    named = {bus: f"{HOST}_0000:{bus.upper()}:00.0" for bus in ("81", "af")}
    placed = placed_requests(nic_requests(3), groups, candidate, named)
    taken = take(host, "vm1", *placed)
    assert [address.split(":")[1] for address in taken] == serving


def test_p13_a_provider_without_a_free_device_refuses_the_claim_and_says_so() -> None:
    """P13: no other device takes its place, of which Placement does not know."""
    host = tracker(pf("0000:81:00.0"), pf("0000:af:00.0"), *VFS_OF_TWO, specs=[ONLY_VFS])
    placed = replace(wants("nic-0", product_id="154c"), provider=at("0000:3b:00.0"))
    with pytest.raises(LanewayError) as caught:
        host.claim(claim("vm1", placed))
    assert caught.value.code is ErrorCode.DOES_NOT_FIT


def test_p13_the_chosen_provider_is_kept_with_the_claim() -> None:
    """P13: a claim that is stored and read again is the same."""
    stored = claim("vm1", replace(wants(), provider=at("0000:81:00.0")))
    assert convert(parse_json(encode(stored)), ClaimRequest, ErrorCode.INVALID_JSON) == stored


@pytest.mark.parametrize(
    "serving",
    [
        pytest.param({}, id="that serves other groups"),
        pytest.param({"gpu-0": "uuid-9"}, id="of a provider that is not known"),
        pytest.param({"gpu-0": "root"}, id="of the host itself"),
    ],
)
def test_p13_a_candidate_is_refused(serving: dict[str, str]) -> None:
    """P13."""
    requests = asked_by("gpu:1", **GPU)
    groups = request_groups(requests, NAMES)
    with pytest.raises(LanewayError, match="no provider of a PCI device of this host") as caught:
        placed_requests(requests, groups, Candidate(allocations={}, serving=serving), {"root": HOST})
    assert caught.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        pytest.param(
            DeviceRequest(name="r", alternatives=(Alternative(vendor_id="1"), Alternative(vendor_id="2"))),
            "has alternatives",
            id="alternatives",
        ),
        pytest.param(wants(vendor_id="10de"), "names no resource class", id="neither a class nor both ids"),
        pytest.param(wants(count=MOST_GROUPS + 1), "more than 64 devices", id="more than one query can say"),
        pytest.param(wants(count=10**17), "more than 64 devices", id="more than any host has"),
    ],
)
def test_p11_what_cannot_be_asked_of_placement_is_refused(request_: DeviceRequest, why: str) -> None:
    """P11."""
    with pytest.raises(LanewayError, match=why) as caught:
        request_groups([request_], NAMES)
    assert caught.value.code is ErrorCode.INVALID_REQUEST


NAME = st.sampled_from(["a", "a-0", "a-1", "a-0-0", "request0", "a_", "größe", "x" * 70, "a b"])


@given(
    st.lists(st.tuples(NAME, st.integers(1, 3), st.booleans()), min_size=1, max_size=5, unique_by=lambda one: one[0])
)
def test_p11_suffixes_are_unique_and_such_as_placement_takes(asked: list[tuple[str, int, bool]]) -> None:
    """P11: whatever requests are called, also beside those of ports."""
    requests = [
        replace(wants(name, count, vendor_id="10de", product_id="20b0"), requester="port" if is_port else None)
        for name, count, is_port in asked
    ]
    groups = request_groups(requests, NAMES)
    chosen = Candidate(allocations={}, serving={group.suffix: "u" for group in groups})
    placed = placed_requests(requests, groups, chosen, {"u": f"{HOST}_0000:3B:00.0"})
    assert len(groups) == sum(count for _, count, is_port in asked if not is_port)
    assert all(len(group.suffix) <= 64 and group.suffix.replace("-", "").isascii() for group in groups)
    assert (
        len({request.name for request in placed})
        == len(placed)
        == sum(1 if is_port else count for _, count, is_port in asked)
    )
