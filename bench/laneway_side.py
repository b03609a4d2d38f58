"""Laneway's part of the comparison with nova: the same work on the same hosts. Prints measures as JSON."""

import json
from collections.abc import Sequence
from dataclasses import replace

from bench import shapes
from bench.claims import claim_latencies
from bench.timing import calls, seconds, seconds_each, seconds_on
from laneway.contracts.inventory import decode_inventory
from laneway.domain.errors import Findings
from laneway.domain.inventory import DevType, Inventory, PciFunction
from laneway.domain.report import HostReport
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.specs.admission import admit
from laneway.domain.specs.device_spec import DeviceSpecs
from laneway.domain.specs.device_spec_parser import parse_device_specs
from laneway.domain.tracking.tracker import PciDeviceTracker

SIZES = (128, 1024, 4096)

_Pair = tuple[PciFunction, PciFunction | None]


def main() -> None:
    measures: dict[str, float] = {}
    for size in SIZES:
        measures |= _matching(size)
        measures |= _syncing(size)
        measures |= _claiming(size)
    print(json.dumps(measures | _exact_addresses() | claim_latencies()))


def _matching(size: int) -> dict[str, float]:
    specs = _specs(shapes.SPECS)
    inventory = _inventory(size)
    pairs = _with_parents(inventory)
    assert all(specs.match(function, parent) for function, parent in pairs)
    return {
        f"match.{size}": seconds_each(lambda: [specs.match(function, parent) for function, parent in pairs], times=5),
        f"admit.{size}": seconds(lambda: admit(inventory, specs)),
    }


def _exact_addresses() -> dict[str, float]:
    """One match against few and many exact addresses, of functions that both name and that neither names."""
    pairs = [pair for pair in _with_parents(_inventory(4096)) if pair[1] is not None]
    many = [str(function.address) for function, _ in pairs[: 4 * 1000 : 4]]
    cases = {"named": pairs[: 4 * 10 : 4], "other": pairs[1::4]}
    measures: dict[str, float] = {}
    for addresses in (many[:10], many):
        specs = _specs(shapes.exact_specs(addresses))
        for case, some in cases.items():

            def match_all(specs: DeviceSpecs = specs, some: Sequence[_Pair] = some) -> None:
                for function, parent in some:
                    specs.match(function, parent)

            name = f"{case}.{len(addresses)}"
            measures[f"match_exact_{name}"] = seconds_each(match_all, times=4096 // len(some)) / len(some)
            measures[f"match_exact_calls_{name}"] = calls(match_all) / len(some)
    return measures


def _syncing(size: int) -> dict[str, float]:
    """Each report is decoded from JSON anew, so that it shares no object with the one before."""
    specs = _specs(shapes.SPECS)
    same, other = shapes.inventory(shapes.functions(size)), shapes.inventory(shapes.functions(size), numa_node=7)
    tracker = PciDeviceTracker(_report(same, specs))
    assert not tracker.sync(_report(same, specs)).changed
    assert len(tracker.sync(_report(other, specs)).changed) == 1
    return {
        f"first_sync.{size}": seconds_on(lambda: _report(same, specs), PciDeviceTracker),
        f"resync_same.{size}": seconds_on(lambda: _report(same, specs), tracker.sync),
        f"resync_one.{size}": seconds_on(lambda: _report(other, specs), tracker.sync),
        f"decode.{size}": seconds(lambda: decode_inventory(same)),
    }


def _claiming(size: int) -> dict[str, float]:
    tracker = PciDeviceTracker(HostReport(_inventory(size), _specs(shapes.SPECS)))
    a_vf, a_pf = _claim(shapes.A_VF), _claim(shapes.A_PF)

    def claim(request: ClaimRequest) -> None:
        tracker.apply(tracker.claim(request).update)

    def free() -> None:
        tracker.apply(tracker.free(consumer=a_vf.consumer))

    def claim_and_free() -> None:
        claim(a_vf)
        free()

    claim(a_pf)
    assert [device.dev_type for device in tracker.view.held.values()] == [DevType.PF]
    claim_pf = seconds_on(free, lambda _: claim(a_pf), repeat=21)
    free()
    return {
        f"claim_pf.{size}": claim_pf,
        f"claim_free.{size}": seconds_each(claim_and_free, times=500),
        f"claim_free_calls.{size}": calls(claim_and_free),
    }


def _claim(wanted: shapes.Facts) -> ClaimRequest:
    alternative = Alternative(**wanted | {"dev_type": DevType(wanted["dev_type"])})
    return ClaimRequest(consumer="vm", claim="c", requests=(DeviceRequest(name="r", alternatives=(alternative,)),))


def _specs(raw: Sequence[object]) -> DeviceSpecs:
    findings = Findings()
    specs = parse_device_specs(raw, findings)
    findings.raise_errors()
    return specs


def _inventory(size: int) -> Inventory:
    return decode_inventory(shapes.inventory(shapes.functions(size)))


def _report(document: bytes, specs: DeviceSpecs) -> HostReport:
    """As a driver makes it: decoding has looked at addresses already, a copy has not."""
    return HostReport(replace(decode_inventory(document)), specs)


def _with_parents(inventory: Inventory) -> list[_Pair]:
    found = inventory.by_address
    return [
        (function, None if function.parent_addr is None else found.get(function.parent_addr))
        for function in inventory.functions
    ]


if __name__ == "__main__":
    main()
