"""Whether a host is ready to give devices away, and what to do where it is not."""

from collections.abc import Sequence

from laneway.cli.render.columns import wrapped
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.inventory import Platform, Problem, ReadinessNote

_TONES = {"error": Tone.BAD, "warning": Tone.WAITING}
_INDENT = " " * 2


def readiness_block(platform: Platform | None, notes: Sequence[ReadinessNote], screen: Screen) -> list[str]:
    """One line when nothing is known to stand in the way, else each note with its remedy below it."""
    return notes_block(notes, screen) or [_without_notes(platform or Platform(), screen)]


def notes_block(notes: Sequence[ReadinessNote], screen: Screen) -> list[str]:
    """Each note with its remedy below it; nothing where there are none."""
    lines = [screen.paint("Readiness", Tone.STRONG)] if notes else []
    for note in notes:
        lines.extend(_note_lines(note, screen))
    return lines


def problems_block(problems: Sequence[Problem], screen: Screen, title: str = "Could not be read") -> list[str]:
    """What could not be read of the host, or is another problem of it; nothing where there is none."""
    lines = [screen.paint(title, Tone.STRONG)] if problems else []
    for problem in problems:
        what = " ".join(part for part in (problem.address, problem.attribute) if part)
        text = ": ".join(part for part in (what, problem.message) if part)
        lines.append(_INDENT + screen.paint(text))
    return lines


def _note_lines(note: ReadinessNote, screen: Screen) -> list[str]:
    label = f"{note.severity:<7}"
    indent = " " * (len(_INDENT) + len(label) + 2)
    room = max(screen.width - len(indent), 30) if screen.width else None
    message = _fitted(note.message or note.code, room)
    lines = [f"{_INDENT}{screen.paint(label, _TONES.get(note.severity))}  {screen.paint(message[0])}"]
    lines.extend(indent + screen.paint(line) for line in message[1:])
    lines.extend(indent + screen.paint(line, Tone.STRONG) for line in _fitted(note.remedy or "", room) if line)
    return lines


def _fitted(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrapped(text, width)


def _without_notes(platform: Platform, screen: Screen) -> str:
    """No note is good news only of a host of which is known what passthrough needs."""
    facts = _facts(platform)
    there = ", ".join(name for name, value in facts if value)
    unknown = ", ".join(name for name, value in facts if value is None)
    if not unknown:
        return screen.paint(f"Ready to give devices away: {there}", Tone.GOOD)
    found = f" ({there}; not known: {unknown})" if there else ""
    return screen.paint(f"It is not known whether the host is ready to give devices away{found}", Tone.WAITING)


def _facts(platform: Platform) -> tuple[tuple[str, object], ...]:
    """What passthrough needs: on Windows discrete device assignment, elsewhere three things of the kernel."""
    if platform.dda is not None:
        return (("discrete device assignment", platform.dda),)
    return (
        (f"IOMMU {platform.iommu or ''}".strip(), platform.iommu),
        ("interrupt remapping", platform.interrupt_remapping),
        ("vfio-pci", platform.vfio_pci),
    )
