from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.devices import device
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, PciDevice, TagValue
from laneway.domain.inventory import DevType, Inventory, NumaNode
from laneway.domain.requests.matching import constraint_values, satisfies, serves, unasked_tags
from laneway.domain.requests.numa import NumaTopology
from laneway.domain.requests.request import PLACE_ATTRIBUTES, Alternative, DeviceRequest, RequestedValue

VF = DevType.VF


def request(*alternatives: Alternative, attach: Attach = Attach.VFIO) -> DeviceRequest:
    return DeviceRequest(name="r", alternatives=alternatives, attach=attach)


@pytest.mark.parametrize(
    ("alternative", "holds"),
    [
        pytest.param(Alternative(), True, id="nothing asked"),
        pytest.param(Alternative(vendor_id="8086", product_id="154c"), True, id="both ids"),
        pytest.param(Alternative(vendor_id="10de"), False, id="another vendor"),
        pytest.param(Alternative(product_id="1572"), False, id="another product"),
        pytest.param(Alternative(dev_type=DevType.VF), True, id="its type"),
        pytest.param(Alternative(dev_type=DevType.PF), False, id="another type"),
        pytest.param(Alternative(parent_ifname="ens5"), True, id="the interface of its PF"),
        pytest.param(Alternative(parent_ifname="ENS5"), True, id="the interface in other case, as in nova"),
        pytest.param(Alternative(parent_ifname="ens6"), False, id="another interface"),
    ],
)
def test_ids_type_and_parent_interface(alternative: Alternative, holds: bool) -> None:
    """Rule C52."""
    assert satisfies(device(dev_type=VF, parent_ifname="ens5"), alternative) is holds


def test_a_device_without_a_parent_interface_does_not_have_the_one_asked() -> None:
    assert not satisfies(device(), Alternative(parent_ifname="ens5"))


NIC_TAGS: dict[str, TagValue] = {
    "physical_network": "PhysNet1",
    "trusted": True,
    "tunnel": None,
    "rack": "Blue, red",
    "number": "5",
    "traits": "blue,big",
}


@pytest.mark.parametrize(
    ("tag", "wanted", "holds"),
    [
        pytest.param("physical_network", "physnet1", True, id="text without regard to case (C22)"),
        pytest.param("physical_network", "physnet2", False, id="other text"),
        pytest.param("physical_network", None, False, id="null where there is text"),
        pytest.param("tunnel", None, True, id="null and null"),
        pytest.param("absent", None, True, id="null and absent"),
        pytest.param("absent", "x", False, id="text and absent"),
        pytest.param("tunnel", "none", False, id="text and null"),
        pytest.param("trusted", True, True, id="boolean"),
        pytest.param("trusted", "true", True, id="boolean as text"),
        pytest.param("trusted", "Yes", True, id="boolean as another text"),
        pytest.param("trusted", "no", False, id="the other boolean"),
        pytest.param("trusted", "perhaps", False, id="text that is no boolean"),
        pytest.param("trusted", None, False, id="null for a boolean that is given"),
        pytest.param("one_time_use", None, True, id="null for a boolean that is not given"),
        pytest.param("managed", True, True, id="managed is true by default"),
        pytest.param("one_time_use", False, True, id="one_time_use is false by default"),
        pytest.param("one_time_use", True, False, id="a default is not the other value"),
        pytest.param("trusted", ("true", "yes"), True, id="list of booleans"),
        pytest.param("trusted", ("true", "no"), False, id="list of both booleans"),
        pytest.param("rack", ("red",), True, id="one member of a list"),
        pytest.param("rack", ("RED", "blue"), True, id="all members in any order and case (C52)"),
        pytest.param("rack", ("red", "green"), False, id="one member missing"),
        pytest.param("absent", ("red",), False, id="member of what is absent"),
        pytest.param("absent", (), True, id="no members wanted"),
        pytest.param("rack", "red", False, id="text is no member"),
        pytest.param("rack", "blue, RED", True, id="the whole text"),
        pytest.param("number", True, False, id="boolean for a free tag"),
        pytest.param("traits", "big", True, id="one trait"),
        pytest.param("traits", "CUSTOM_BIG, blue", True, id="traits in Placement's names (D3)"),
        pytest.param("traits", ("big", "blue"), True, id="traits as a list"),
        pytest.param("traits", "red", False, id="a trait that it lacks"),
        pytest.param("traits", "!red", True, id="a forbidden trait that it lacks (D11)"),
        pytest.param("traits", "blue,!big", False, id="a forbidden trait that it has (D11)"),
        pytest.param("traits", "compute_managed_pci_device", True, id="the trait of every device (P5)"),
        pytest.param("resource_class", "CUSTOM_PCI_8086_154C", True, id="class made of the ids (P3)"),
        pytest.param("resource_class", "pci_8086_154c", True, id="class in short form"),
        pytest.param("resource_class", "gpu", False, id="another class"),
        pytest.param("resource_class", None, True, id="no class tag"),
    ],
)
def test_tags(tag: str, wanted: RequestedValue, holds: bool) -> None:
    """Rules C22 and C52."""
    nic = device(dev_type=VF, tags=NIC_TAGS)
    assert satisfies(nic, Alternative(tags={tag: wanted})) is holds


def test_a_resource_class_tag_takes_the_place_of_the_ids() -> None:
    """Rule P3."""
    gpu = device(tags={"resource_class": "gpu-a"})
    assert satisfies(gpu, Alternative(tags={"resource_class": "CUSTOM_GPU_A"}))
    assert not satisfies(gpu, Alternative(tags={"resource_class": "CUSTOM_PCI_8086_154C"}))
    assert not satisfies(gpu, Alternative(tags={"resource_class": None}))


@pytest.mark.parametrize(
    ("trait", "tags"),
    [("HW_PCI_LIVE_MIGRATABLE", {"live_migratable": True}), ("HW_PCI_ONE_TIME_USE", {"one_time_use": True})],
)
def test_some_tags_are_traits_too(trait: str, tags: dict[str, TagValue]) -> None:
    """Rule P5."""
    wanted = Alternative(tags={"traits": trait})
    assert satisfies(device(tags=tags), wanted)
    assert not satisfies(device(), wanted)


@pytest.mark.parametrize(
    ("wanted", "given", "holds"),
    [
        (True, True, True),
        (True, False, False),
        (True, None, False),
        (False, True, False),
        (False, False, True),
        (False, None, True),
    ],
)
def test_live_migratable_no_is_the_default(wanted: bool, given: bool | None, holds: bool) -> None:
    """Rules C54 and D4."""
    tags: dict[str, TagValue] = {} if given is None else {"live_migratable": given}
    assert satisfies(device(tags=tags), Alternative(tags={"live_migratable": wanted})) is holds


@pytest.mark.parametrize("dev_type", DevType)
def test_remote_managed_is_false_by_default_only_for_sriov_and_vdpa(dev_type: DevType) -> None:
    """Rule C50: a port's request says "False", and a plain PCI device cannot serve it."""
    assert satisfies(device(dev_type=dev_type), Alternative(tags={"remote_managed": "False"})) is (
        dev_type is not DevType.PCI
    )


def test_tags_that_are_not_asked_for_are_counted() -> None:
    """Rule C51."""
    nic = device(tags={"physical_network": "p", "trusted": True, "rack": None})
    assert unasked_tags(nic, Alternative()) == 3
    assert unasked_tags(nic, Alternative(tags={"trusted": True, "other": "x"})) == 2
    assert unasked_tags(device(), Alternative(tags={"other": "x"})) == 0


def test_the_alternative_that_asks_for_the_most_tags_counts() -> None:
    nic = device(tags={"physical_network": "p", "rack": "1"})
    by_ids = Alternative(vendor_id="8086")
    by_tag = Alternative(tags={"rack": "1"})
    wrong = Alternative(tags={"rack": "2", "physical_network": "p"})
    assert serves(nic, request(by_ids)) == 2
    assert serves(nic, request(by_ids, by_tag, wrong)) == 1
    assert serves(nic, request(wrong)) is None


@pytest.mark.parametrize(
    ("dev_type", "asked", "served"),
    [
        pytest.param(DevType.PF, None, False, id="a PF that nobody asked for"),
        pytest.param(DevType.PF, DevType.PF, True, id="a PF that is asked for"),
        pytest.param(DevType.VDPA, None, False, id="a vDPA device that nobody asked for"),
        pytest.param(DevType.VDPA, DevType.VDPA, True, id="a vDPA device that is asked for"),
        pytest.param(DevType.VF, None, True, id="a VF without being asked for"),
        pytest.param(DevType.PCI, None, True, id="a plain device without being asked for"),
    ],
)
def test_some_types_must_be_asked_for(dev_type: DevType, asked: DevType | None, served: bool) -> None:
    """Rule C53."""
    found = serves(device(dev_type=dev_type), request(Alternative(vendor_id="8086", dev_type=asked)))
    assert found == (0 if served else None)


def test_it_is_the_request_that_asks_for_a_type_in_any_alternative() -> None:
    """As in nova; the PF still has to satisfy an alternative."""
    mixed = request(Alternative(vendor_id="8086"), Alternative(vendor_id="15b3", dev_type=DevType.PF))
    assert serves(device(dev_type=DevType.PF), mixed) == 0
    assert serves(device(dev_type=DevType.PF, vendor_id="10de"), mixed) is None


@pytest.mark.parametrize(
    ("provider", "served"),
    [
        pytest.param("0000:81:00.0", True, id="its PF"),
        pytest.param("0000:81:02.0", False, id="itself, as a VF has no provider of its own"),
        pytest.param("0000:af:00.0", False, id="another PF"),
    ],
)
def test_a_request_can_be_held_to_the_provider_that_placement_chose(provider: str, served: bool) -> None:
    """Rule P13."""
    asked = replace(request(Alternative()), provider=PciAddress.parse(provider))
    assert (serves(device("0000:81:02.0", VF, parent="0000:81:00.0"), asked) is not None) is served


@pytest.mark.parametrize("wanted", [True, "True", "yes"])
def test_remote_managed_devices_must_be_asked_for(wanted: RequestedValue) -> None:
    """Rule C53."""
    dpu_vf = device(dev_type=VF, tags={"remote_managed": True})
    assert serves(dpu_vf, request(Alternative())) is None
    assert serves(dpu_vf, request(Alternative(tags={"remote_managed": "False"}))) is None
    assert serves(dpu_vf, request(Alternative(tags={"remote_managed": wanted}))) == 0
    assert serves(device(dev_type=VF), request(Alternative(tags={"remote_managed": wanted}))) is None


NETWORK_VF = device(dev_type=VF, class_code="020000")


@pytest.mark.parametrize(
    ("candidate", "attach", "served"),
    [
        pytest.param(device(dev_type=DevType.VDPA), Attach.VDPA, True, id="vDPA device by vdpa"),
        pytest.param(NETWORK_VF, Attach.VDPA, False, id="VF by vdpa"),
        pytest.param(NETWORK_VF, Attach.MACVTAP, True, id="network VF by macvtap"),
        pytest.param(device(dev_type=VF, class_code="0b4000"), Attach.MACVTAP, False, id="VF of no NIC by macvtap"),
        pytest.param(device(dev_type=VF), Attach.MACVTAP, False, id="VF of unknown class by macvtap"),
        pytest.param(device(dev_type=VF, parent_ifname="e"), Attach.MACVTAP, True, id="VF of a netdev by macvtap"),
        pytest.param(
            device(dev_type=VF, tags={"physical_network": None}),
            Attach.MACVTAP,
            True,
            id="VF with a network by macvtap",
        ),
        pytest.param(device(class_code="020000"), Attach.MACVTAP, False, id="NIC without SR-IOV by macvtap"),
    ],
)
def test_the_kind_of_attachment_limits_the_types(candidate: PciDevice, attach: Attach, served: bool) -> None:
    asked = request(Alternative(dev_type=candidate.dev_type), attach=attach)
    assert (serves(candidate, asked) is not None) is served


TOPOLOGY = NumaTopology.of(Inventory(functions=(), numa_nodes=(NumaNode(id=1, socket=3), NumaNode(id=2))))


@pytest.mark.parametrize(
    ("subject", "attribute", "values"),
    [
        pytest.param(device(numa_node=1), "numa_node", {1}, id="node"),
        pytest.param(device(), "numa_node", None, id="node not known"),
        pytest.param(device(numa_node=1), "socket", {3}, id="socket of its node"),
        pytest.param(device(numa_node=2), "socket", None, id="node without a socket"),
        pytest.param(device(), "socket", None, id="socket of an unknown node"),
        pytest.param(device(pcie_roots=("0000:3a", "0000:40")), "pcie_root", {"0000:3a", "0000:40"}, id="roots"),
        pytest.param(device(), "pcie_root", None, id="roots not known"),
        pytest.param(device(pcie_roots=()), "pcie_root", None, id="no roots to share"),
        pytest.param(device("3b:00.2", VF, parent="3b:00.0"), "parent", {PciAddress.parse("3b:00.0")}, id="PF of a VF"),
        pytest.param(device("3b:00.0"), "parent", {PciAddress.parse("3b:00.0")}, id="itself where it has no PF"),
        pytest.param(device(iommu_group=7), "iommu_group", {7}, id="group"),
        pytest.param(device(), "iommu_group", None, id="group not known"),
        pytest.param(device(tags={"physical_network": "P1"}), "physical_network", {"p1"}, id="tag text in one case"),
        pytest.param(device(tags={"rack": None}), "rack", None, id="null tag"),
        pytest.param(device(), "rack", None, id="no such tag"),
        pytest.param(device(tags={"trusted": True}), "trusted", {True}, id="boolean tag"),
        pytest.param(device(), "trusted", {False}, id="boolean tag by default"),
    ],
)
def test_values_that_constraints_compare(subject: PciDevice, attribute: str, values: set[object] | None) -> None:
    assert constraint_values(subject, attribute, TOPOLOGY) == values


tag_values = st.none() | st.text(max_size=4)
tag_maps = st.dictionaries(st.text(min_size=1, max_size=4), tag_values, max_size=4)


@given(tags=tag_maps)
def test_a_device_satisfies_a_request_for_all_its_own_tags(tags: dict[str, TagValue]) -> None:
    wanted: dict[str, RequestedValue] = dict(tags)
    subject = device(tags=tags)
    assert satisfies(subject, Alternative(tags=wanted))
    assert unasked_tags(subject, Alternative(tags=wanted)) == 0


@given(tags=tag_maps, asked=tag_maps, more=tag_maps)
def test_asking_for_more_never_makes_more_devices_fit(
    tags: dict[str, TagValue], asked: dict[str, RequestedValue], more: dict[str, RequestedValue]
) -> None:
    subject = device(tags=tags)
    if satisfies(subject, Alternative(tags={**more, **asked})):
        assert satisfies(subject, Alternative(tags=asked))


@given(attribute=st.sampled_from(PLACE_ATTRIBUTES) | st.text())
def test_known_values_are_never_empty(attribute: str) -> None:
    values = constraint_values(device(numa_node=1), attribute, TOPOLOGY)
    assert values is None or values
