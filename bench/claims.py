"""How long claims take that ask for much at once: 1,000 random ones on a large host, feasible and not.

Each has 8 requests over a host of 16 PFs with 64 VFs, of which guests hold a part that changes
from claim to claim. Constraints, NUMA policies, PFs beside VFs and counts are drawn at random, from
a fixed seed, so that a run can be repeated.
"""

import time
from collections.abc import Sequence
from random import Random

from bench import shapes
from bench.timing import percentile
from laneway.contracts.inventory import decode_inventory
from laneway.domain.errors import ErrorCode, Findings, LanewayError
from laneway.domain.inventory import DevType
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
from laneway.domain.tracking.tracker import PciDeviceTracker

CLAIMS = 1000
REQUESTS = 8
PFS = 16
VFS = 64
SEED = 2
MOST_CONSUMERS = 24

_ATTRIBUTES = ("numa_node", "pcie_root", "parent", "physical_network")
_NETWORKS = {"8086": ("physnet0", "physnet7"), "15b3": ("physnet1", "physnet2"), "14e4": ("physnet3",)}
_PERCENTS = (50, 90, 99, 100)


def claim_latencies() -> dict[str, float]:
    """Seconds by percentile, and the shares of claims that fit and that ran out of search nodes."""
    random = Random(SEED)
    tracker = _tracker()
    held: list[str] = []
    taken: list[float] = []
    outcomes: list[ErrorCode | None] = []
    for number in range(CLAIMS):
        request = _claim(random, f"vm{number}")
        start = time.process_time()
        try:
            update = tracker.claim(request).update
            outcome = None
        except LanewayError as error:
            outcome = error.code
        taken.append(time.process_time() - start)
        outcomes.append(outcome)
        if outcome is None:
            tracker.apply(update)
            held.append(request.consumer)
        while len(held) > random.randrange(MOST_CONSUMERS + 1):
            tracker.apply(tracker.free(consumer=held.pop(random.randrange(len(held)))))
    assert set(outcomes) <= {None, ErrorCode.DOES_NOT_FIT, ErrorCode.SEARCH_EXHAUSTED}
    return {
        **{f"claims.p{percent}": percentile(taken, percent) for percent in _PERCENTS},
        "claims.fit": outcomes.count(None) / CLAIMS,
        "claims.exhausted": outcomes.count(ErrorCode.SEARCH_EXHAUSTED) / CLAIMS,
    }


def _tracker() -> PciDeviceTracker:
    findings = Findings()
    specs = parse_device_specs(shapes.SPECS, findings)
    findings.raise_errors()
    inventory = decode_inventory(shapes.inventory(shapes.cards(PFS, VFS)))
    tracker = PciDeviceTracker(HostReport(inventory, specs))
    assert len(tracker.view.admitted) == PFS * (VFS + 1)
    return tracker


def _claim(random: Random, consumer: str) -> ClaimRequest:
    requests = tuple(_request(random, f"r{number}") for number in range(REQUESTS))
    return ClaimRequest(
        consumer=consumer,
        claim=consumer,
        requests=requests,
        constraints=tuple(_constraint(random, requests) for _ in range(random.choice((0, 0, 1, 1, 2, 3)))),
        guest_numa_nodes=frozenset(random.choice(((), (), (0,), (1,), (0, 1)))),
    )


def _request(random: Random, name: str) -> DeviceRequest:
    make = random.choice(shapes.MAKES)
    is_pf = random.random() < 0.1
    network = random.choice((None, None, *_NETWORKS[make.vendor_id]))
    return DeviceRequest(
        name=name,
        alternatives=(
            Alternative(
                vendor_id=make.vendor_id if network is None else random.choice((make.vendor_id, None)),
                dev_type=DevType.PF if is_pf else DevType.VF,
                tags={} if network is None else {"physical_network": network},
            ),
        ),
        count=1 if is_pf else random.choice((1, 1, 2, 4, 8)),
        numa_policy=random.choice(tuple(NumaPolicy)),
    )


def _constraint(random: Random, requests: Sequence[DeviceRequest]) -> Constraint:
    concerned = random.sample(requests, random.randint(2, 3))
    return Constraint(
        kind=random.choice(tuple(ConstraintKind)),
        attribute=random.choice(_ATTRIBUTES),
        requests=tuple(request.name for request in concerned),
    )
