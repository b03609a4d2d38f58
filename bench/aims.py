"""What is compared, with what, and what is aimed at.

A measure is named by who made it and what it is: ``nova.match.4096``. Its unit is the second, but
for counts and shares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from statistics import median

Measures = Mapping[str, float]


class Ratio(Enum):
    """Which ratio is told, and in which direction its aim is."""

    FASTER = "times as fast"
    """How many times longer the peer takes; the aim is a least."""
    LONGER = "times as long"
    """How many times longer we take; the aim is a most."""


class Unit(StrEnum):
    """How a measure is shown."""

    SECONDS = "s"
    CALLS = "calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison. ``ours`` and ``peer`` are measures, or ``peer`` is a fixed number in their unit."""

    what: str
    ours: str
    peer: str | float
    against: str
    ratio: Ratio = Ratio.LONGER
    aim: float | None = None
    unit: Unit = Unit.SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A row with its figures: medians over the rounds; the ratio is the median of each round's."""

    row: Row
    ours: float
    peer: float
    ratio: float

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None where there is none."""
        if self.row.aim is None:
            return None
        return self.ratio >= self.row.aim if self.row.ratio is Ratio.FASTER else self.ratio <= self.row.aim


def _than_nova(what: str, measure: str, aim: float | None = None, nova: str | None = None) -> Row:
    ours, peer = f"laneway.{measure}", f"nova.{nova or measure}"
    return Row(what=what, ours=ours, peer=peer, against="nova 34.0.0", ratio=Ratio.FASTER, aim=aim)


ROWS: tuple[Row, ...] = (
    _than_nova("Match 1,024 devices against 10 specs", "match.1024", aim=30),
    _than_nova("Match 4,096 devices against 10 specs", "match.4096", aim=30),
    _than_nova("Admit 4,096 functions as devices, extra_info and all", "admit.4096", nova="match.4096"),
    Row(
        what="Match a function that 1,000 exact addresses name",
        ours="laneway.match_exact_named.1000",
        peer="laneway.match_exact_named.10",
        against="10 exact addresses",
        aim=1.1,
    ),
    Row(
        what="Match a function that none of 1,000 exact addresses names",
        ours="laneway.match_exact_other.1000",
        peer="laneway.match_exact_other.10",
        against="10 exact addresses",
        aim=1.1,
    ),
    _than_nova("First sync of 128 devices", "first_sync.128"),
    _than_nova("First sync of 1,024 devices", "first_sync.1024"),
    _than_nova("First sync of 4,096 devices", "first_sync.4096"),
    _than_nova("Re-sync of 1,024 devices, none changed", "resync_same.1024"),
    _than_nova("Re-sync of 4,096 devices, none changed", "resync_same.4096", aim=300),
    _than_nova("Re-sync of 4,096 devices, one changed", "resync_one.4096", aim=100),
    _than_nova("Claim and free a VF of 128 devices", "claim_free.128"),
    _than_nova("Claim and free a VF of 1,024 devices", "claim_free.1024", aim=20),
    _than_nova("Claim and free a VF of 4,096 devices", "claim_free.4096"),
    Row(
        what="Claim and free a VF of 4,096 devices",
        ours="laneway.claim_free.4096",
        peer="laneway.claim_free.128",
        against="128 devices",
        aim=1.5,
    ),
    Row(
        what="Function calls of a claim and free, 4,096 devices",
        ours="laneway.claim_free_calls.4096",
        peer="laneway.claim_free_calls.128",
        against="128 devices",
        aim=1.5,
        unit=Unit.CALLS,
    ),
    _than_nova("Claim a PF with 63 VFs of 1,024 devices", "claim_pf.1024", aim=50),
    _than_nova("Claim a PF with 63 VFs of 4,096 devices", "claim_pf.4096"),
    Row(
        what="Claim of 8 requests, 16 PFs x 64 VFs, 99 of 100",
        ours="laneway.claims.p99",
        peer=0.020,
        against="20 ms",
        ratio=Ratio.FASTER,
        aim=1,
    ),
    Row(
        what="Discover 4,096 functions",
        ours="host.discovery",
        peer="host.reading_plainly",
        against="a program that reads the same files",
        aim=2,
    ),
    Row(
        what="Discover 4,096 functions",
        ours="host.discovery",
        peer="host.reading",
        against="the same by bare system calls",
    ),
    Row(
        what="Discover 4,096 functions",
        ours="host.discovery",
        peer="host.reading_all",
        against="bare system calls for files, directories and links",
    ),
    Row(what="Discover 4,096 functions", ours="host.discovery", peer="host.lspci", against="lspci -vmmnnkD"),
    Row(
        what="laneway devices of 512 functions, owners shown",
        ours="host.devices_command",
        peer="host.python_pass",
        against="python -c pass",
        aim=12,
    ),
)


def figures(rounds: Sequence[Measures]) -> list[Figure]:
    """The rows whose measures all rounds have: a peer that is not installed has none."""
    return [_figure(row, rounds) for row in ROWS if all(_has(row, measures) for measures in rounds)]


def _has(row: Row, measures: Measures) -> bool:
    return row.ours in measures and (not isinstance(row.peer, str) or row.peer in measures)


def _figure(row: Row, rounds: Sequence[Measures]) -> Figure:
    ours = [measures[row.ours] for measures in rounds]
    peer = [measures[row.peer] if isinstance(row.peer, str) else row.peer for measures in rounds]
    faster = row.ratio is Ratio.FASTER
    ratios = [b / a if faster else a / b for a, b in zip(ours, peer, strict=True)]
    return Figure(row=row, ours=median(ours), peer=median(peer), ratio=median(ratios))
