"""The figures of a run as a table: for the terminal and for the README."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from bench.aims import Figure, Measures, Ratio, Unit, figures

Cells = tuple[str, ...]
_HEADER: Cells = ("What", "Laneway", "Beside", "Takes", "Ratio", "Aim", "Reached")
_DIRECTION = {Ratio.FASTER: "more", Ratio.LONGER: "less"}
_REACHED = {True: "yes", False: "NO", None: ""}


def result_table(rounds: Sequence[Measures]) -> list[Cells]:
    """A header and a row for each comparison."""
    return [_HEADER, *(_cells(figure) for figure in figures(rounds))]


def further_figures(rounds: Sequence[Measures]) -> Iterable[str]:
    """What has no peer, a sentence each."""

    def of(name: str) -> float:
        return median(measures[name] for measures in rounds)

    percentiles = ", ".join(
        f"{amount(of(f'laneway.claims.p{percent}'), Unit.SECONDS)} ({label})"
        for percent, label in ((50, "half"), (90, "90 of 100"), (99, "99 of 100"), (100, "the slowest"))
    )
    yield f"Claims of 8 requests, 1,000 at random on 16 PFs x 64 VFs: at most {percentiles}."
    yield (
        f"Of these, {of('laneway.claims.fit'):.0%} fit, {of('laneway.claims.exhausted'):.1%} end as search_exhausted, "
        "and the others are proven not to fit."
    )
    ours, theirs = (count(4096 / of(f"{side}.match.4096")) for side in ("laneway", "nova"))
    yield f"Matching: {ours} devices a second; nova {theirs}."
    decoding = amount(of("laneway.decode.4096"), Unit.SECONDS)
    yield f"Reading an inventory of 4,096 functions from JSON, and checking it: {decoding}. It is in no row above."
    yield (
        f"laneway simulate: {count(1 / of('host.simulate_scenario'))} scenarios a second, 10,000 from stdin, each with "
        "8 functions, 10 specs and 3 steps."
    )


def machine_lines(machine: dict[str, Any]) -> Iterable[str]:
    hardware = f"{machine['cpu']}, {machine['cores']} cores"
    yield f"{hardware}; {machine['system']}; Python {machine['python']}; {machine['at']}."
    if "lspci" not in machine["programs"]:
        yield "lspci is not installed (package pciutils), so it is not compared."


def as_text(table: Sequence[Cells]) -> str:
    """Columns for a terminal."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def as_markdown(table: Sequence[Cells]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in table]
    return "\n".join([lines[0], "|" + " --- |" * len(table[0]), *lines[1:]])


def amount(value: float, unit: Unit) -> str:
    """A measure with a unit that suits its size, to three digits."""
    if unit is Unit.CALLS:
        return f"{value:,.0f} calls"
    for factor, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {name}"
    return f"{value * 1e9:.3g} ns"


def count(value: float) -> str:
    """A rate, to three digits."""
    return f"{float(f'{value:.3g}'):,.0f}"


def _cells(figure: Figure) -> Cells:
    row = figure.row
    return (
        row.what,
        amount(figure.ours, row.unit),
        row.against,
        amount(figure.peer, row.unit),
        f"{figure.ratio:.3g} {row.ratio.value}",
        "" if row.aim is None else f"{row.aim:g} or {_DIRECTION[row.ratio]}",
        _REACHED[figure.reached],
    )
