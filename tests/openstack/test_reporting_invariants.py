"""Whatever happens on a host and in Placement: after a report the two agree, and another one writes nothing."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.hosts import at, function, give_back, opened, pf, take, tracker, vf, wants
from interfaces.fake_placement import HOST, ROOT, FakePlacement, vm
from laneway.domain.device import Status
from laneway.domain.errors import LanewayError
from laneway.domain.inventory import PciFunction
from laneway.domain.requests.matching import provider_address
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.openstack.placement_report import provider_name
from laneway.openstack.provider_reporting import ReportingOn

CARDS = [function(f"0000:{bus}:00.0", vendor_id="10de", product_id="20b0") for bus in ("3b", "5e")]
VFS = [vf(f"0000:{bus}:02.{number}", f"0000:{bus}:00.0") for bus in ("81", "af") for number in range(3)]
PFS = [pf("0000:81:00.0"), pf("0000:af:00.0")]
SPECS: list[object] = [{"product_id": "154c"}, {"vendor_id": "10de", "one_time_use": True}]
CARD, VF = wants("gpu", vendor_id="10de"), wants("nic", product_id="154c")

KNOWN = (1, 2)
"""The VMs that Placement has something of on this host, from the start; vm(3) was started by hand."""


class World:
    """A host, its reporter and Placement."""

    def __init__(self) -> None:
        self.placement = FakePlacement()
        self.gone: set[str] = set()
        self.open: set[str] = set()
        self.host = self._synced(None)
        self._reporter = ReportingOn(lambda: self.placement)
        for number in KNOWN:
            self.placement.has(number)

    def _synced(self, host: PciDeviceTracker | None) -> PciDeviceTracker:
        functions: list[PciFunction] = [
            replace(one, opened_by=opened() if str(one.address) in self.open else ())
            for one in (*CARDS, *PFS, *VFS)
            if str(one.address) not in self.gone
        ]
        return tracker(*functions, specs=SPECS, state=None if host is None else host.state)

    def do(self, word: str, number: int, device: int) -> None:
        """Something that an operator, a guest, a scheduler or the hardware does."""
        host, address = self.host, str([*CARDS, *VFS][device].address)
        match word:
            case "claim a card" | "claim a VF":
                with suppress(LanewayError):
                    take(host, vm(number), CARD if "card" in word else VF, claim_id=f"{word}-{number}-{device}")
            case "allocate" if any(one.status is Status.CLAIMED for one in host.view.owned_by(vm(number))):
                host.apply(host.allocate(consumer=vm(number)))
            case "free":
                give_back(host, vm(number))
            case "clean" if host.view.device(at(address)) and host.view.status_of(at(address)) is Status.DIRTY:
                host.apply(host.cleaned(at(address)))
            case "cordon" if host.view.device(at(address)):
                host.apply(host.cordon(at(address)))
            case "unplug":
                self.gone ^= {address}
            case "open":
                self.open ^= {address}
            case "end in Placement" if vm(number) in self.placement.consumers:
                self.placement.forget(number)
        self.host = self._synced(self.host)

    def report(self) -> int:
        """The number of writes."""
        before = len(self.placement.applied)
        self._reporter.report(HOST, self.host.view)
        return len(self.placement.applied) - before

    def check(self) -> None:
        view = self.host.view
        devices = [device for address in view.addresses() if (device := view.device(address))]
        addresses = {provider_address(device) for device in devices}
        for provider in self.placement.tree(HOST).providers:  # type: ignore[union-attr]
            (resource_class, inventory), *more = provider.inventories.items()
            here = [one for one in devices if provider_name(HOST, provider_address(one)) == provider.name]
            used = provider.used(resource_class)
            free = max(0, inventory.total - inventory.reserved - used)  # below 0: burned, and still in use
            on_offer = [
                one
                for one in here
                if view.status_of(one.address) is Status.AVAILABLE and not view.blocked_by(one.address)
            ]
            assert more == []
            assert inventory.total == inventory.max_unit == max(len(here), used)
            assert free <= len(on_offer), "nothing is offered that a claim would not get"
            if all(any(one.consumer == consumer for one in here) for consumer in provider.allocations):
                waits_for_cleaning = [one for one in on_offer if one.tags.get("one_time_use")]
                assert free >= len(on_offer) - len(waits_for_cleaning), "and what it would get is offered"
            for consumer, resources in provider.allocations.items():
                owned = sum(1 for one in here if one.consumer == consumer)
                assert owned in (0, resources[resource_class])
        names = {provider.name for provider in self.placement.providers.values() if not self._is_used(provider.uuid)}
        assert names <= {provider_name(HOST, address) for address in addresses}
        assert all(ROOT in consumer.allocations for consumer in self.placement.consumers.values())

    def _is_used(self, uuid: str) -> bool:
        return any(uuid in consumer.allocations for consumer in self.placement.consumers.values())


WORDS = [
    *("claim a card", "claim a VF", "allocate", "free", "clean"),
    *("cordon", "unplug", "open", "end in Placement", "report"),
]
STEPS = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 3), st.integers(0, 7)), max_size=25)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_after_a_report_placement_offers_what_a_claim_would_get(steps: Sequence[tuple[str, int, int]]) -> None:
    """P4, P7, P8, P9, P10."""
    world = World()
    for word, number, device in steps:
        if word == "report":
            world.report()
        else:
            world.do(word, number, device)
    world.report()
    assert world.report() == 0, "there is nothing left to write"
    world.check()
