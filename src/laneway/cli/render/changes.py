"""What was done to a host, and what would be."""

from collections.abc import Iterator, Sequence

from laneway.cli.render.answers import quoted
from laneway.cli.render.columns import Cell, Column, table
from laneway.cli.render.screen import Screen, Tone
from laneway.contracts.changes import Change, Changes
from laneway.interfaces.host_changes import Step

COLUMNS = (Column("ADDRESS"), Column("OUTCOME", least=40, wraps=True))


def prepared_page(changes: Changes, screen: Screen) -> list[str]:
    """What a consumer's VM can open now, and what comes next."""
    lines = _page(changes, screen, done="prepared", nothing="Nothing is to be prepared.")
    if changes.dry_run or changes.consumer is None:
        return lines
    consumer = quoted(changes.consumer)
    return [
        *lines,
        "",
        f"Next: start the VM with what `laneway hostdev {consumer} --format libvirt` prints; when it has stopped,"
        f" laneway free {consumer}, then laneway release",
    ]


def released_page(changes: Changes, screen: Screen) -> list[str]:
    """What the host has back."""
    return _page(changes, screen, done="given back", nothing="Nothing is to be given back: no device was freed.")


def cleaned_page(changes: Changes, screen: Screen) -> list[str]:
    """What the next guest can have."""
    return _page(changes, screen, done="clean", nothing="Nothing is to be cleaned.")


def restored_page(changes: Changes, screen: Screen) -> list[str]:
    """What is as it was before the boot."""
    nothing = "Nothing is to be restored: all that was prepared was prepared in this boot."
    return _page(changes, screen, done="as before the boot", nothing=nothing)


def steps_page(steps: Sequence[Step], screen: Screen) -> list[str]:
    """Each write, in order."""
    return [f"  {number:2}. {screen.paint(step.summary)}" for number, step in enumerate(steps, 1)]


def _page(changes: Changes, screen: Screen, *, done: str, nothing: str) -> list[str]:
    """A line for each device, ``done`` saying what happened to it; of a dry run every step, in order."""
    if not changes.of:
        return [nothing]
    if changes.dry_run:
        lines = [line for change in changes.of for line in _planned(change, screen)]
        return [*lines, "Nothing is changed: this was a dry run."]
    return table(COLUMNS, [_row(change, done) for change in changes.of], screen)


def _row(change: Change, done: str) -> tuple[Cell, Cell]:
    if change.error is not None:
        return Cell(str(change.address)), Cell(f"no: {change.error.message}", Tone.WAITING)
    note = f"; {change.note}" if change.note else ""
    count = len(change.steps)
    steps = f"{count} step{'' if count == 1 else 's'}" if count else "there was nothing to do"
    return Cell(str(change.address), Tone.HELD), Cell(f"{done} ({steps}){note}", Tone.GOOD)


def _planned(change: Change, screen: Screen) -> Iterator[str]:
    title = screen.paint(str(change.address), Tone.STRONG)
    if change.error is not None:
        yield f"{title}: {screen.paint(f'no: {change.error.message}', Tone.WAITING)}"
    elif not change.steps:
        yield f"{title}: there is nothing to do"
    else:
        yield f"{title}:"
    yield from steps_page(change.steps, screen)
    if change.note:
        yield f"  {screen.paint(change.note, Tone.DIM)}"
    yield ""
