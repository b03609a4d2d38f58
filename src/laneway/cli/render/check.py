"""The report of ``laneway check``: entry by entry, then aliases, then what deserves a second look."""

from collections.abc import Iterable, Mapping, Sequence

from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.config_changes import change_blocks
from laneway.cli.render.paragraphs import listed, notes, paragraph
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigProblem
from laneway.domain.tracking.config_check import AliasCheck, ConfigCheck, EntryCheck
from laneway.domain.tracking.drift import Drift

_INDENT = " " * 2


def check_page(sources: Sequence[object], check: ConfigCheck, screen: Screen, drift: Sequence[Drift] = ()) -> list[str]:
    """All lines of the report; the blocks are divided by empty lines. ``drift``: see ``tracking.drift``."""
    title = ", ".join(map(str, sources)) or "There is no config, so nothing is handed out."
    blocks = [
        [screen.paint(title, Tone.STRONG)],
        *(_entry_block(entry, _line_in(entry.spec.place, sources), screen) for entry in check.entries),
        _alias_block(check.aliases, screen),
        notes("Dangerous", [danger.message for danger in check.dangers], Tone.BAD, screen),
        notes("Noted", [_noted(problem) for problem in check.warnings], Tone.WAITING, screen),
        *change_blocks(check, screen),
        notes("Not as recorded", [f"{one.address}: {one.message}" for one in drift], Tone.BAD, screen),
        [_verdict(check, screen)] if check.entries or sources else [],
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


def _line_in(place: str | None, sources: Sequence[object]) -> str:
    """The place in words; of the only file, which is named above, the line is enough."""
    if place is None:
        return ""
    line = place.removeprefix(f"{sources[0]}:") if len(sources) == 1 else place
    return f" (line {line})" if line.isdigit() else f" ({place})"


def _entry_block(entry: EntryCheck, place: str, screen: Screen) -> list[str]:
    spec = entry.spec
    admitted = len(entry.admitted)
    which = f": {listed(entry.admitted)}" if admitted else ""
    tone = Tone.GOOD if admitted > len(entry.blocked) else Tone.WAITING
    lines = [
        screen.paint(f"device_spec entry {spec.entry}{place}: {spec.source}"),
        _INDENT + screen.paint(f"admits {_counted(admitted)}{which}", tone),
    ]
    told = [
        *_by_reason("blocked", {address: reasons[0].message for address, reasons in entry.blocked.items()}),
        *_by_reason("not admitted", {address: refusal.message for address, refusal in entry.passed_over.items()}),
    ]
    return lines + [line for text in told for line in paragraph(text, screen)]


def _by_reason(what: str, reasons: Mapping[PciAddress, str]) -> list[str]:
    """A sentence for each reason, with the functions that it holds for."""
    alike: dict[str, list[PciAddress]] = {}
    for address, reason in reasons.items():
        alike.setdefault(reason, []).append(address)
    return [
        f"{listed(addresses)} {'is' if len(addresses) == 1 else 'are'} {what}: {reason}"
        for reason, addresses in alike.items()
    ]


def _counted(number: int) -> str:
    return f"{number} function{'' if number == 1 else 's'}"


def _alias_block(aliases: Iterable[AliasCheck], screen: Screen) -> list[str]:
    columns = (
        Column("ALIAS"),
        Column("DEVICES", right=True),
        Column("AVAILABLE", right=True),
        Column("NOTES", least=32, wraps=True),
    )
    rows = [
        (
            Cell(alias.name),
            Cell(str(alias.devices)),
            Cell(str(alias.available), Tone.GOOD if alias.available else Tone.WAITING),
            Cell(alias.hint or ""),
        )
        for alias in aliases
    ]
    return table(columns, rows, screen)


def _noted(problem: ConfigProblem) -> str:
    place = f"{problem.place}: " if problem.place and problem.place not in problem.message else ""
    remedy = f"; {problem.remedy}" if problem.remedy and problem.remedy not in problem.message else ""
    return f"{place}{problem.message}{remedy}"


def _verdict(check: ConfigCheck, screen: Screen) -> str:
    if not check.entries:
        return screen.paint("It has no device_spec, so nothing is handed out.", Tone.WAITING)
    admitted = sum(len(entry.admitted) for entry in check.entries)
    blocked = sum(len(entry.blocked) for entry in check.entries)
    found = f"{_counted(admitted)} admitted, {blocked} of them blocked"
    return screen.paint(f"The config is good: {found}.", Tone.GOOD)
