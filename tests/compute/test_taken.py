"""What is remembered after any sequence of changes: no function is forgotten, and none is given back too early."""

from hypothesis import given
from hypothesis import strategies as st

from domain.hosts import at, function
from laneway.compute.taken import half_taken, in_boot, is_taken, prepared_now, release_of, remembered, with_prepared
from laneway.domain.address import PciAddress
from laneway.interfaces.host_changes import Ending, Outcome, Prepare, Release, Step
from laneway.interfaces.journal import JournalState, PreparedDevice

GROUP = tuple(at(f"0000:23:00.{number}") for number in range(3))
LONER = at("0000:22:00.0")


def bind(address: PciAddress) -> Step:
    return Step(kind="bind", address=address, target=str(address), value="vfio-pci", undo="")


class Host:
    """A host of which only bindings matter: who is with the driver for guests, by which step."""

    def __init__(self) -> None:
        self.state = JournalState(boot_id="one")
        self.bound: set[PciAddress] = set()
        self.guests: set[PciAddress] = set()

    def prepare(self, address: PciAddress) -> None:
        siblings = frozenset(GROUP) - {address} if address in GROUP else frozenset()
        action = Prepare(recorded=function(str(address)), siblings=siblings)
        steps = tuple(bind(one) for one in sorted({address, *siblings} - self.bound))
        self.bound.update(step.address for step in steps)
        self.state = remembered(self.state, action, Outcome(ending=Ending.DONE, taken=steps))
        device = PreparedDevice(recorded=action.recorded, consumer="vm", boot_id="one")
        self.state = with_prepared(self.state, [device])
        self.guests.add(address)

    def release(self, address: PciAddress, *, keep: bool) -> None:
        action = release_of(self.state, address, keep=keep)
        if not action.keep:
            self.bound.difference_update(step.address for step in action.taken)
        standing = action.taken if action.keep else ()
        self.state = remembered(self.state, action, Outcome(ending=Ending.DONE, taken=standing))
        self.guests.discard(address)


@given(
    st.lists(st.tuples(st.sampled_from((*GROUP, LONER)), st.sampled_from(("prepare", "release", "keep"))), max_size=12)
)
def test_a_function_stays_taken_as_long_as_somebody_needs_it_and_no_longer(acts: list[tuple[PciAddress, str]]) -> None:
    host = Host()
    for address, act in acts:
        if act == "prepare":
            host.prepare(address)
        elif is_taken(host.state, address):
            host.release(address, keep=act == "keep")
        state = host.state
        assert {step.address for step in state.steps} == host.bound == state.taken.keys(), "what is bound is remembered"
        assert set(prepared_now(state)) == host.guests
        assert half_taken(state) == frozenset()
        needed = {*host.guests, *state.kept}
        for guest in needed:
            assert {guest, *(GROUP if guest in GROUP else ())} <= host.bound, "a group is whole"
        assert host.guests.isdisjoint(state.kept)
        if not needed:
            assert not host.bound


def test_what_ends_otherwise_changes_nothing() -> None:
    host = Host()
    host.prepare(LONER)
    for ending in (Ending.UNDONE, Ending.VOID):
        action = release_of(host.state, LONER)
        assert remembered(host.state, action, Outcome(ending=ending, taken=action.taken)) == host.state


def test_a_new_boot_has_taken_nothing_and_forgets_no_owner() -> None:
    host = Host()
    host.prepare(LONER)
    state = in_boot(host.state, "two")
    assert (state.taken, state.steps, prepared_now(state)) == ({}, (), {})
    assert list(state.prepared) == [LONER]
    assert in_boot(state, "two") is state


def test_a_device_that_others_need_is_not_given_back_with_its_group() -> None:
    host = Host()
    host.prepare(GROUP[0])
    host.prepare(GROUP[1])
    assert release_of(host.state, GROUP[0]) == Release(address=GROUP[0], taken=(bind(GROUP[0]),), keep=True)
