"""Laneway with the real Placement: every request that the client makes, and what it makes of the answers."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from signal import SIGTERM
from typing import Any
from uuid import uuid4

import pytest
from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session
from keystoneauth1.token_endpoint import Token

from compute.agent_process import HostFolder
from domain.hosts import PLAIN, allocate, function, give_back, inventory, pf, take, tracker, vf, wants
from interfaces.fake_placement import NAMES
from laneway.domain.errors import ConfigError, ErrorCode, LanewayError
from laneway.domain.requests.request import DeviceRequest
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.interfaces.placement import Candidate, NewProvider, Provider, ResourceInventory, TreeChanges
from laneway.openstack.placement_client import PlacementClient
from laneway.openstack.placement_requests import candidate_query, placed_requests, request_groups
from laneway.openstack.provider_reporting import ReportingOff, ReportingOn
from laneway.openstack.service import Access, OpenedService, open_service

URL = os.environ["LANEWAY_TEST_PLACEMENT"]
CARD = function("0000:3b:00.0", vendor_id="10de", product_id="20b0")
PF = pf("0000:81:00.0")
VFS = [vf(f"0000:81:02.{number}", "0000:81:00.0") for number in range(4)]
ONLY_VFS = {"product_id": "154c"}
ALL = [ONLY_VFS, {"vendor_id": "10de"}]
GPU_CLASS, VF_CLASS = "CUSTOM_PCI_10DE_20B0", "CUSTOM_PCI_8086_154C"
NOVA = {"OpenStack-API-Version": "placement 1.39"}


def access_by_nova_conf(folder: Path) -> Access:
    file = folder / "nova.conf"
    file.write_text(f"[placement]\nauth_type = admin_token\nendpoint = {URL}\ntoken = admin\n")
    return Access(nova_conf=(file,))


def access_by_clouds_yaml(folder: Path) -> Access:
    (folder / "clouds.yaml").write_text(
        f"clouds: {{here: {{auth_type: admin_token, auth: {{endpoint: '{URL}', token: admin}}}}}}\n"
    )
    return Access(cloud="here")


@pytest.fixture(scope="session")
def http() -> OpenedService:
    """As a user with the roles that nova's has: what a token would say stands in a header, as there is no Keystone."""
    session = Session(auth=Token(URL, "admin"), timeout=60)
    adapter = Adapter(session, service_type="placement", additional_headers={"X-Roles": "admin,service"})
    return OpenedService(adapter, "Placement", ErrorCode.PLACEMENT_UNREACHABLE)


@pytest.fixture
def client(http: OpenedService) -> PlacementClient:
    return PlacementClient(http)


class Compute:
    """A compute host of a test's own, with what nova would do for it."""

    def __init__(self, http: OpenedService, client: PlacementClient) -> None:
        self.name, self.uuid = f"node-{uuid4()}", str(uuid4())
        self._http, self._client = http, client
        self._reporter = ReportingOn(lambda: client)
        self.ask("POST", "/resource_providers", {"name": self.name, "uuid": self.uuid})
        inventories = {"VCPU": {"total": 64}}
        body = {"resource_provider_generation": 0, "inventories": inventories}
        self.ask("PUT", f"/resource_providers/{self.uuid}/inventories", body)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        answer = self._http.request(method, path, body=body, headers=NOVA)
        assert answer.status < 300, answer
        return answer.content

    def report(self, host: PciDeviceTracker) -> None:
        self._reporter.report(self.name, host.view)

    def providers(self) -> dict[str, Provider]:
        tree = self._client.tree(self.name)
        assert tree is not None
        return {provider.name.rpartition("_")[2]: provider for provider in tree.providers}

    def start_vm(self, candidate: Candidate | None = None, consumer: str | None = None) -> str:
        """As a scheduler does: allocations of a VM with a VCPU, and of what a candidate says."""
        uuid = consumer or str(uuid4())
        devices = candidate.allocations if candidate is not None else {}
        allocations = {provider: {"resources": dict(amounts)} for provider, amounts in devices.items()}
        allocations[self.uuid] = {"resources": {"VCPU": 1}}
        body = {"allocations": allocations, "project_id": "p", "user_id": "u", "consumer_generation": None}
        self.ask("PUT", f"/allocations/{uuid}", {**body, "consumer_type": "INSTANCE"})
        return uuid

    def end_vm(self, uuid: str) -> None:
        self.ask("DELETE", f"/allocations/{uuid}")

    def candidates(self, *requests: DeviceRequest, **options: Any) -> tuple[Candidate, ...]:
        groups = request_groups(requests, self._client.standard_names())
        return self._client.candidates(candidate_query(groups, root=self.uuid, **options))


@pytest.fixture
def compute(http: OpenedService, client: PlacementClient) -> Compute:
    return Compute(http, client)


class NovaHost(HostFolder):
    """A host whose config is a ``nova.conf``."""

    @property
    def options(self) -> list[str]:
        by_nova = ["--nova-conf", str(self.config.with_name("nova.conf"))]
        return [*by_nova, "--snapshot", str(self.snapshot), "--state", str(self.state / "laneway.db")]


def some(total: int, reserved: int = 0) -> ResourceInventory:
    return ResourceInventory(total=total, max_unit=total, reserved=reserved)


def test_p1_p2_a_host_is_reported_and_reported_again_without_a_change(compute: Compute) -> None:
    """P1, P2, P3, P4, P5."""
    host = tracker(CARD, PF, *VFS, specs=[{**ONLY_VFS, "traits": "blue,HW_NIC_SRIOV"}, {"vendor_id": "10de"}])
    compute.report(host)
    found = compute.providers()
    assert {address: dict(provider.inventories) for address, provider in found.items()} == {
        "0000:3B:00.0": {GPU_CLASS: some(1)},
        "0000:81:00.0": {VF_CLASS: some(4)},
    }
    assert {provider.parent for provider in found.values()} == {compute.uuid}
    assert found["0000:81:00.0"].traits == {
        "CUSTOM_BLUE",
        "HW_NIC_SRIOV",
        "COMPUTE_MANAGED_PCI_DEVICE",
        "OWNER_NOVA",
    }
    compute.report(host)
    assert compute.providers() == found


def test_p3_p5_the_names_that_are_placement_s_own_are_read_from_it(client: PlacementClient) -> None:
    """P3, P5: and no custom ones that others have made."""
    names = client.standard_names()
    assert names.resource_classes >= NAMES.resource_classes
    assert names.traits >= NAMES.traits
    assert not any(name.startswith("CUSTOM_") for name in names.resource_classes | names.traits)


def test_p7_p8_a_device_that_is_gone_leaves_placement_once_nobody_has_it(compute: Compute) -> None:
    """P7, P8."""
    compute.report(tracker(CARD, PF, *VFS, specs=ALL))
    (candidate, *_) = compute.candidates(wants("nic", 2, vendor_id="8086", product_id="154c"))
    vm = compute.start_vm(candidate)
    compute.report(tracker(CARD, specs=ALL))
    assert dict(compute.providers()["0000:81:00.0"].inventories) == {VF_CLASS: some(2)}
    compute.end_vm(vm)
    compute.report(tracker(specs=ALL))
    assert compute.providers() == {}


def test_p7_reporting_is_not_turned_off_where_devices_were_reported(compute: Compute, client: PlacementClient) -> None:
    """P7, C87."""
    host = tracker(CARD)
    ReportingOff(lambda: client).report(compute.name, host.view)
    compute.report(host)
    with pytest.raises(ConfigError, match="report_in_placement is off, but Placement has 1 PCI devices"):
        ReportingOff(lambda: client).report(compute.name, host.view)


def test_p8_a_new_class_is_refused_while_the_device_is_allocated_and_taken_over_after_that(compute: Compute) -> None:
    """P8, C92: the real one would refuse it, too."""
    host = tracker(CARD)
    compute.report(host)
    (candidate,) = compute.candidates(wants("gpu", vendor_id="10de", product_id="20b0"))
    vm = compute.start_vm(candidate)
    allocate(host, vm, PLAIN)
    changed = tracker(CARD, specs=[{"address": "*", "resource_class": "gpu"}], state=host.state)
    with pytest.raises(ConfigError, match="is CUSTOM_GPU in the config, but allocated as CUSTOM_PCI_10DE_20B0"):
        compute.report(changed)
    give_back(changed, vm)
    compute.end_vm(vm)
    compute.report(changed)
    assert dict(compute.providers()["0000:3B:00.0"].inventories) == {"CUSTOM_GPU": some(1)}


def test_p9_a_device_for_one_use_is_burned_by_its_use_and_offered_again_when_it_is_clean(compute: Compute) -> None:
    """P9, D19."""
    host = tracker(CARD, specs=[{"address": "*", "one_time_use": True}])
    gpu = wants("gpu", vendor_id="10de", product_id="20b0")
    compute.report(host)
    (candidate,) = compute.candidates(gpu)
    vm = compute.start_vm(candidate)
    allocate(host, vm, PLAIN)
    compute.report(host)
    burned = compute.providers()["0000:3B:00.0"]
    assert (dict(burned.inventories), burned.used(GPU_CLASS)) == ({GPU_CLASS: some(1, reserved=1)}, 1)
    give_back(host, vm)
    compute.end_vm(vm)
    compute.report(host)
    assert compute.candidates(gpu) == ()
    host.apply(host.cleaned(CARD.address))
    compute.report(host)
    assert len(compute.candidates(gpu)) == 1


def test_p10_allocations_become_what_running_vms_own_whole_and_with_all_else_they_have(
    compute: Compute, client: PlacementClient
) -> None:
    """P10, P15: reporting is turned on while they run."""
    host = tracker(CARD, PF, *VFS, specs=ALL)
    vm, by_hand = compute.start_vm(), str(uuid4())
    allocate(host, vm, wants("a", 2, product_id="154c"), wants("b", vendor_id="10de"))
    allocate(host, by_hand, wants(product_id="154c"))
    compute.report(host)
    found = compute.providers()
    consumer = client.consumer(vm)
    assert consumer is not None
    assert dict(consumer.allocations) == {
        compute.uuid: {"VCPU": 1},
        found["0000:3B:00.0"].uuid: {GPU_CLASS: 1},
        found["0000:81:00.0"].uuid: {VF_CLASS: 2},
    }
    assert compute.ask("GET", f"/allocations/{vm}")["consumer_type"] == "INSTANCE"
    assert client.consumer(by_hand) is None
    assert dict(found["0000:81:00.0"].inventories) == {VF_CLASS: some(4, reserved=1)}


def test_p10_the_allocation_of_a_burned_device_is_healed(compute: Compute) -> None:
    """P10 with P9: what is reserved cannot be allocated."""
    host = tracker(CARD, specs=[{"address": "*", "one_time_use": True}])
    vm = str(uuid4())
    allocate(host, vm, PLAIN)
    compute.report(host)
    compute.start_vm(consumer=vm)
    compute.report(host)
    card = compute.providers()["0000:3B:00.0"]
    assert (dict(card.inventories), dict(card.allocations)) == (
        {GPU_CLASS: some(1, reserved=1)},
        {vm: {GPU_CLASS: 1}},
    )


def test_p11_p13_placement_chooses_the_providers_and_the_claim_takes_devices_of_these(compute: Compute) -> None:
    """P11, P13: the whole way, two VFs beside a GPU."""
    others = [vf(f"0000:af:02.{number}", "0000:af:00.0") for number in range(4)]
    host = tracker(CARD, PF, pf("0000:af:00.0"), *VFS, *others, specs=ALL)
    compute.report(host)
    requests = (
        wants("nic", 2, vendor_id="8086", product_id="154c"),
        wants("größe", vendor_id="10de", product_id="20b0"),
    )
    found = compute.candidates(*requests)
    assert len(found) == 4, "each of the two VFs may be of either PF"
    names = {provider.uuid: provider.name for provider in compute.providers().values()}
    groups = request_groups(requests, NAMES)
    for candidate in found:
        vm = compute.start_vm(candidate)
        placed = placed_requests(requests, groups, candidate, names)
        buses = [str(request.provider)[5:7] for request in placed]
        assert [address[5:7] for address in take(host, vm, *placed)] == buses
        host.apply(host.allocate(consumer=vm))
        compute.report(host)
        assert sum(one.used(VF_CLASS) for one in compute.providers().values()) == 2
        give_back(host, vm)
        compute.end_vm(vm)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        pytest.param({"traits": ("blue",)}, 1, id="with it"),
        pytest.param({"traits": ("blue", "!big")}, 1, id="and without another (D11)"),
        pytest.param({"traits": ("!blue",)}, 0, id="without it"),
        pytest.param({"live_migratable": True}, 0, id="live_migratable (D12)"),
        pytest.param({"live_migratable": False}, 1, id="not live_migratable"),
    ],
)
def test_p11_traits_are_asked_for_and_forbidden(tags: dict[str, Any], found: int, compute: Compute) -> None:
    """P11, D11, D12."""
    compute.report(tracker(CARD, specs=[{"address": "*", "traits": "blue"}]))
    compute.ask("PUT", "/traits/CUSTOM_BIG")
    assert len(compute.candidates(wants("gpu", vendor_id="10de", product_id="20b0", tags=tags))) == found


def test_p12_providers_of_others_are_left_out_where_only_nova_s_are_asked_for(compute: Compute) -> None:
    """P12: nova says the same of its own providers, that of the host too."""
    gpu = wants("gpu", vendor_id="10de", product_id="20b0")
    compute.report(tracker(CARD))
    assert len(compute.candidates(gpu)) == 1
    assert compute.candidates(gpu, of_nova_only=True) == (), "the host has not said whose it is"
    root = compute.ask("GET", f"/resource_providers/{compute.uuid}")
    body = {"resource_provider_generation": root["generation"], "traits": ["OWNER_NOVA"]}
    compute.ask("PUT", f"/resource_providers/{compute.uuid}/traits", body)
    assert len(compute.candidates(gpu, of_nova_only=True)) == 1


def test_p15_requests_find_only_hosts_that_report_so_all_do_before_requests_look_there(
    http: OpenedService, client: PlacementClient
) -> None:
    """P15: the order of turning it on. A running VM keeps its device when its host begins to report."""
    early, late = Compute(http, client), Compute(http, client)
    entry = {"address": "*", "resource_class": f"only_here_{uuid4().hex}"}
    groups = request_groups([wants("gpu", tags={"resource_class": entry["resource_class"]})], NAMES)
    early.report(tracker(CARD, specs=[entry]))
    query = candidate_query(groups)
    assert len(client.candidates(query)) == 1
    other, vm = function("0000:5e:00.0"), late.start_vm()
    host = tracker(CARD, other, specs=[entry])
    allocate(host, vm, PLAIN)
    late.report(host)
    found = {uuid for candidate in client.candidates(query) for uuid in candidate.allocations}
    assert found == {early.providers()["0000:3B:00.0"].uuid, late.providers()["0000:5E:00.0"].uuid}


def test_p16_with_the_right_settings_a_wide_tree_is_answered_at_once(compute: Compute) -> None:
    """P16: eight providers of one class and four groups are 4,096 candidates, of which 1,000 are made at most."""
    ports = [pf(f"0000:{bus}:00.0") for bus in range(10, 18)]
    vfs = [vf(f"0000:{bus}:02.{number}", f"0000:{bus}:00.0") for bus in range(10, 18) for number in range(4)]
    compute.report(tracker(*ports, *vfs, specs=[ONLY_VFS]))
    found = compute.candidates(wants("nic", 4, vendor_id="8086", product_id="154c"))
    assert len(found) == 1000
    assert len(compute.candidates(wants("nic", 4, vendor_id="8086", product_id="154c"), limit=10)) == 10


def test_p17_a_write_with_an_old_generation_is_a_conflict(compute: Compute, client: PlacementClient) -> None:
    """P17."""
    compute.report(tracker(CARD))
    card = compute.providers()["0000:3B:00.0"]
    changes = TreeChanges(
        inventories={card.uuid: {GPU_CLASS: some(1, reserved=1)}}, generations={card.uuid: card.generation - 1}
    )
    with pytest.raises(LanewayError, match="resource provider generation conflict") as caught:
        client.apply(changes)
    assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT


def test_p17_what_is_in_use_is_not_taken_away(compute: Compute, client: PlacementClient) -> None:
    """P17: neither a class nor the provider."""
    compute.report(tracker(CARD))
    (candidate,) = compute.candidates(wants("gpu", vendor_id="10de", product_id="20b0"))
    compute.start_vm(candidate)
    card = compute.providers()["0000:3B:00.0"]
    for changes in (
        TreeChanges(inventories={card.uuid: {"VGPU": some(1)}}, generations={card.uuid: card.generation}),
        TreeChanges(delete=(card.uuid,)),
    ):
        with pytest.raises(LanewayError) as caught:
            client.apply(changes)
        assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT
    assert compute.providers()["0000:3B:00.0"] == card


def test_p17_to_make_a_provider_again_is_a_conflict_and_to_delete_it_again_is_none(
    compute: Compute, client: PlacementClient
) -> None:
    """P17: an answer got lost."""
    new = NewProvider(uuid=str(uuid4()), name=f"{compute.name}_0000:3B:00.0", parent=compute.uuid)
    client.apply(TreeChanges(create=(new,)))
    with pytest.raises(LanewayError) as caught:
        client.apply(TreeChanges(create=(new,)))
    assert caught.value.code is ErrorCode.PLACEMENT_CONFLICT
    compute.report(tracker(CARD))
    assert compute.providers()["0000:3B:00.0"].uuid == new.uuid
    for _ in range(2):
        client.apply(TreeChanges(delete=(new.uuid,)))


def test_p17_allocations_that_vanish_are_seen_though_no_generation_changes(compute: Compute) -> None:
    """P17: what of a provider is kept with its generation are not its allocations."""
    compute.report(tracker(CARD))
    (candidate,) = compute.candidates(wants("gpu", vendor_id="10de", product_id="20b0"))
    vm = compute.start_vm(candidate)
    before = compute.providers()["0000:3B:00.0"]
    compute.end_vm(vm)
    after = compute.providers()["0000:3B:00.0"]
    assert after.generation == before.generation
    assert (list(before.allocations), list(after.allocations)) == ([vm], [])


def test_p17_a_trait_that_placement_does_not_know_is_refused_with_its_own_words(
    compute: Compute, client: PlacementClient
) -> None:
    """P17."""
    compute.report(tracker(CARD))
    card = compute.providers()["0000:3B:00.0"]
    changes = TreeChanges(traits={card.uuid: frozenset({"HW_NOBODY_KNOWS"})}, generations={card.uuid: card.generation})
    with pytest.raises(LanewayError, match="HW_NOBODY_KNOWS") as caught:
        client.apply(changes)
    assert caught.value.code is ErrorCode.PLACEMENT_REFUSED


def test_p18_a_provider_of_cyborg_is_left_alone(compute: Compute) -> None:
    """P18."""
    name = f"{compute.name}_0000:3B:00.0"
    body = {"name": name, "uuid": str(uuid4()), "parent_provider_uuid": compute.uuid}
    made = compute.ask("POST", "/resource_providers", body)
    traits = {"resource_provider_generation": made["generation"], "traits": ["OWNER_CYBORG"]}
    compute.ask("PUT", f"/resource_providers/{made['uuid']}/traits", traits)
    before = compute.providers()
    with pytest.raises(LanewayError, match="by another service"):
        compute.report(tracker(CARD))
    assert compute.providers() == before


def test_a_host_that_nova_has_not_reported_is_none(client: PlacementClient) -> None:
    assert client.tree(f"node-{uuid4()}") is None


@pytest.mark.filterwarnings("ignore:Support for InfluxDB:openstack.warnings.RemovedInSDK60Warning")
@pytest.mark.parametrize("access_by", [access_by_nova_conf, access_by_clouds_yaml])
def test_who_we_are_stands_in_nova_conf_or_clouds_yaml(
    access_by: Callable[[Path], Access], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compute: Compute
) -> None:
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    access = access_by(tmp_path)
    client = PlacementClient(open_service(access, "placement", ErrorCode.PLACEMENT_UNREACHABLE))
    tree = client.tree(compute.name)
    assert tree is not None
    assert tree.uuid == compute.uuid


@pytest.mark.parametrize(
    ("placement", "why"),
    [
        pytest.param("auth_type = admin_token\nendpoint = {url}\ntoken = someone", "403", id="not the admin"),
        pytest.param(
            "auth_type = admin_token\nendpoint = http://127.0.0.1:1\ntoken = admin", "cannot be reached", id="nobody"
        ),
    ],
)
def test_a_service_that_does_not_let_us_in_or_is_not_there(placement: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "nova.conf"
    file.write_text("[placement]\n" + placement.format(url=URL))
    service = open_service(Access(nova_conf=(file,)), "placement", ErrorCode.PLACEMENT_UNREACHABLE)
    with pytest.raises(LanewayError, match=re.escape(why)) as caught:
        PlacementClient(service).tree("node")
    assert caught.value.code is ErrorCode.PLACEMENT_UNREACHABLE


def test_an_agent_reports_with_nova_s_own_config(compute: Compute, tmp_path: Path) -> None:
    """P1, P7: the whole service, by its command; turned off it does not start again."""
    folder = NovaHost(tmp_path)
    folder.describe(inventory(CARD, PF, *VFS))
    by_nova = access_by_nova_conf(tmp_path).nova_conf[0]
    entries = [*ALL, {"address": "0000:99:00.0"}]
    pci = "[pci]\n" + "".join(f"device_spec = {json.dumps(entry)}\n" for entry in entries)
    text = by_nova.read_text() + f"[DEFAULT]\nhost = {compute.name}\n{pci}"
    by_nova.write_text(text + "report_in_placement = true\n")
    with folder.agent() as agent:
        agent.next("started")
        assert sorted(compute.providers()) == ["0000:3B:00.0", "0000:81:00.0"]
        assert agent.end(SIGTERM) == 0
    by_nova.write_text(text)
    refused = folder.failing_agent()
    assert refused.returncode == 78
    assert "report_in_placement is off, but Placement has 2 PCI devices" in refused.stderr


def test_an_inventory_that_others_gave_more_of_its_kind_is_set_right(compute: Compute) -> None:
    """P4."""
    compute.report(tracker(CARD))
    card = compute.providers()["0000:3B:00.0"]
    content = {"total": 1, "max_unit": 1, "allocation_ratio": 16.0}
    body = {"resource_provider_generation": card.generation, "inventories": {GPU_CLASS: content}}
    compute.ask("PUT", f"/resource_providers/{card.uuid}/inventories", body)
    compute.report(tracker(CARD))
    assert dict(compute.providers()["0000:3B:00.0"].inventories) == {GPU_CLASS: replace(some(1), allocation_ratio=1.0)}
