"""Whatever is prepared and released in whatever order, and fails on the way: in the end the host is as it was."""

import errno
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.linux.changes.kernels import (
    CARD,
    DISPLAY,
    FIRST_VF,
    PF,
    SECOND_VF,
    SOUND,
    at,
    do,
    release,
    with_card,
    with_display,
    with_pf,
)
from hosts.linux.fake_kernel import FakeKernel
from laneway.domain.errors import LanewayError
from laneway.interfaces.host_changes import Action, Prepare, Step

SIBLINGS = {DISPLAY: (SOUND,), SOUND: (DISPLAY,)}
DEVICES = (CARD, DISPLAY, SOUND, PF, FIRST_VF, SECOND_VF)
OVERRIDES = ("", "nobody", "vfio-pci", "pcieport")


@dataclass(frozen=True)
class Move:
    """A device is prepared, or released where it is; the write of number ``fails`` fails."""

    address: str
    keep: bool
    fails: int | None


@dataclass(frozen=True)
class Oddity:
    """What is not as usual of a device before anything is done."""

    address: str
    override: str
    is_without_driver: bool


MOVES = st.lists(
    st.builds(Move, st.sampled_from(DEVICES), st.booleans(), st.none() | st.integers(0, 12)), min_size=1, max_size=6
)
ODDITIES = st.lists(st.builds(Oddity, st.sampled_from(DEVICES), st.sampled_from(OVERRIDES), st.booleans()), max_size=4)


class Ledger:
    """What is taken for which device, as whoever changes hosts has to keep it."""

    def __init__(self, kernel: FakeKernel) -> None:
        self._kernel = kernel
        self._driver = kernel.host_driver()
        self._recorded = self._driver.discover().by_address
        self.taken: dict[str, tuple[Step, ...]] = {}

    def move(self, move: Move) -> None:
        before = self._kernel.tree()
        self._fail_at(move.fails)
        try:
            self._done(move)
        except LanewayError:
            assert self._kernel.tree() == before
        finally:
            self._fail_at(None)

    def _done(self, move: Move) -> None:
        if move.address in self.taken:
            self.taken[move.address] = self._apply(release(move.address, self.taken[move.address], keep=move.keep))
        elif not any(sibling in self.taken for sibling in SIBLINGS.get(move.address, ())):
            siblings = frozenset(map(at, SIBLINGS.get(move.address, ())))
            self.taken[move.address] = self._apply(
                Prepare(recorded=self._recorded[at(move.address)], siblings=siblings)
            )
        if not self.taken.get(move.address, True):
            del self.taken[move.address]

    def _apply(self, action: Action) -> tuple[Step, ...]:
        return do(self._driver, action).taken

    def _fail_at(self, number: int | None) -> None:
        left = [number]

        def disturb(path: str, _done: bool) -> None:
            if left[0] is not None:
                left[0] -= 1
                if left[0] == -1:
                    left[0] = None
                    raise OSError(errno.EIO, "Input/output error", path)

        self._kernel.disturb = disturb

    def release_all(self, order: list[str]) -> None:
        for address in order:
            if address in self.taken:
                self._apply(release(address, self.taken.pop(address)))


@settings(max_examples=10)
@given(moves=MOVES, oddities=ODDITIES, autoprobe=st.booleans(), order=st.permutations(DEVICES))
def test_the_host_is_as_it_was(moves: list[Move], oddities: list[Oddity], autoprobe: bool, order: list[str]) -> None:
    with TemporaryDirectory() as folder:
        kernel = with_pf(with_display(with_card(FakeKernel(Path(folder)))), vfs=2)
        kernel.write(f"sys/bus/pci/devices/{PF}/sriov_drivers_autoprobe", str(int(autoprobe)))
        for oddity in oddities:
            _make_odd(kernel, oddity)
        before = kernel.tree()
        ledger = Ledger(kernel)
        for move in moves:
            ledger.move(move)
        ledger.release_all([PF, *order])
        assert kernel.tree() == before


def _make_odd(kernel: FakeKernel, oddity: Oddity) -> None:
    if kernel.driver_of(oddity.address) is not None and oddity.is_without_driver and oddity.address != PF:
        kernel.write(f"sys/bus/pci/drivers/{kernel.driver_of(oddity.address)}/unbind", oddity.address)
    kernel.write(f"sys/bus/pci/devices/{oddity.address}/driver_override", oddity.override or "\n")
