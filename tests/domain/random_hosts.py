"""Random hosts and claims for the comparison with the model, drawn so that claims are often close.

Most devices of a host are alike and free, so that ties have to be broken; blocks, odd nodes and
groups come now and then.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from domain.hosts import function, inventory, opened, used
from domain.model import Model, Spec
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach
from laneway.domain.errors import Findings
from laneway.domain.inventory import DevType, NotAssignable, NumaNode, PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.request import (
    Alternative,
    ClaimRequest,
    Constraint,
    ConstraintKind,
    DeviceRequest,
    NumaPolicy,
)
from laneway.domain.specs.device_spec_parser import parse_device_specs

NODES = (
    NumaNode(id=0, socket=0, distances={0: 10, 1: 12, 2: 31}),
    NumaNode(id=1, socket=0, distances={0: 12, 1: 10, 2: 32}),
    NumaNode(id=2, socket=1, distances={0: 31, 1: 32, 2: 10}),
)
CONSUMERS = ("vm1", "vm2")
ATTRIBUTES = ("numa_node", "socket", "pcie_root", "parent", "iommu_group", "physical_network")
TAGS: Sequence[dict[str, Any]] = (
    {"rack": "r1"},
    {"physical_network": "p1"},
    {"physical_network": "p2", "rack": "r1"},
    {"one_time_use": True},
)

PF_BUSES = (0x81, 0x82)
CARD_BUSES = (0x3B, 0x3C, 0x5E, 0x80, 0x83, 0x90)

T = TypeVar("T")


def mostly(random: Random, usual: T, *others: T) -> T:
    """The usual value in two of three cases."""
    return random.choice(others) if random.random() < 1 / 3 else usual


def rarely(random: Random, odd: T, usual: T) -> T:
    """The odd value in one of twelve cases."""
    return odd if random.random() < 1 / 12 else usual


def a_function(
    random: Random, address: PciAddress, kind: DevType = DevType.PCI, parent: PciAddress | None = None
) -> PciFunction:
    return function(
        str(address),
        kind,
        parent_addr=parent,
        class_code=rarely(random, "060400", "020000") if kind is DevType.PCI else "020000",
        product_id=mostly(random, "37c8", "37c9"),
        numa_node=random.choice([0, 0, 1, 1, 2, None]),
        iommu_group=random.choice([None, None, None, 1, 2]),
        driver=rarely(random, "ixgbe", "vfio-pci"),
        pcie_roots=mostly(random, ("0000:3a",), ("0000:80",), ("0000:3a", "0000:80"), None),
        in_use_by=rarely(random, used(), ()),
        opened_by=rarely(random, opened(), ()),
        not_assignable=rarely(random, (NotAssignable(code="reserved_memory"),), None),
    )


def a_host(random: Random) -> Model:
    """One or two PFs with VFs, which may be alike in all, and cards; most of them are admitted."""
    functions: list[PciFunction] = []
    for bus in random.sample(PF_BUSES, random.randint(1, 2)):
        pf = pf_of(bus)
        functions.append(a_function(random, pf, DevType.PF))
        kind = mostly(random, DevType.VF, DevType.VDPA)
        alike, seed = random.random() < 0.5, random.random()
        for index in range(random.randint(1, 3)):
            facts = Random(seed) if alike else random
            parent = rarely(random, pf_of(PF_BUSES[index % 2]), pf)
            functions.append(a_function(facts, PciAddress.of(0, bus, 2, index), kind, parent))
    for bus in random.sample(CARD_BUSES, random.randint(1, 4)):
        functions.append(a_function(random, PciAddress.of(0, bus, 0x10, 0)))
    specs = {one.address: a_spec(random) for one in functions if random.random() < 0.9}
    return Model({one.address: one for one in functions}, specs, NODES, groups_count=random.random() < 0.8)


def pf_of(bus: int) -> PciAddress:
    return PciAddress.of(0, bus, 0, 0)


def a_spec(random: Random) -> Spec:
    return Spec(tags=mostly(random, {}, *TAGS), allow_in_use=random.random() < 0.2)


def a_claim(random: Random, claim_id: str) -> ClaimRequest:
    requests = tuple(
        DeviceRequest(
            name=f"r{number}",
            alternatives=tuple(an_alternative(random) for _ in range(mostly(random, 1, 2))),
            count=mostly(random, 1, 2),
            numa_policy=mostly(random, NumaPolicy.PREFERRED, *NumaPolicy),
            attach=random.choice([Attach.VFIO] * 6 + [Attach.VDPA, Attach.MACVTAP]),
        )
        for number in range(mostly(random, 1, 2, 2, 3))
    )
    constraint = Constraint(
        kind=random.choice(list(ConstraintKind)),
        attribute=random.choice(ATTRIBUTES),
        requests=tuple(request.name for request in requests),
    )
    return ClaimRequest(
        consumer=random.choice(CONSUMERS),
        claim=claim_id,
        requests=requests,
        constraints=mostly(random, (), (constraint,)),
        guest_numa_nodes=frozenset(mostly(random, (0,), (), (0, 2))),
    )


def a_plain_claim(random: Random, claim_id: str) -> ClaimRequest:
    """One device: what is looked up rather than searched, if it is for VFIO and the consumer holds nothing."""
    attach = random.choice([Attach.VFIO] * 4 + [Attach.VDPA, Attach.MACVTAP])
    alternatives = tuple(an_alternative(random) for _ in range(mostly(random, 1, 2)))
    request = DeviceRequest(
        name="r",
        alternatives=(Alternative(dev_type=DevType.VDPA),) if attach is Attach.VDPA else alternatives,
        numa_policy=NumaPolicy.PREFERRED,
        attach=attach,
    )
    return ClaimRequest(
        consumer=random.choice([*CONSUMERS, "vm3"]),
        claim=claim_id,
        requests=(request,),
        guest_numa_nodes=frozenset(mostly(random, (), (0,))),
    )


def an_alternative(random: Random) -> Alternative:
    return Alternative(
        product_id=mostly(random, None, "37c8"),
        dev_type=mostly(random, None, DevType.PF, DevType.VF, DevType.VF, DevType.VDPA),
        tags=mostly(random, {}, {"physical_network": "p1"}, {"rack": None}, {"rack": "r1"}),
    )


def report_of(model: Model) -> HostReport:
    """The host of a model, with one spec for each address that is admitted."""
    entries = [
        {"address": by_fields(address), "allow_in_use": spec.allow_in_use, **spec.tags}
        for address, spec in model.specs.items()
    ]
    findings = Findings()
    specs = parse_device_specs(entries, findings)
    findings.raise_errors()
    return HostReport(inventory(*model.functions.values(), nodes=NODES), specs)


def by_fields(address: PciAddress) -> dict[str, str]:
    """An address that means this function and, other than an exact one, not its VFs."""
    return {
        "domain": f"{address.domain:04x}",
        "bus": f"{address.bus:02x}",
        "slot": f"{address.slot:02x}",
        "function": f"{address.function:x}",
    }
