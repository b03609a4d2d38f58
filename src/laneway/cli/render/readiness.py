"""Whether a host is ready to give devices away, and what to do where it is not."""

from collections.abc import Sequence

from laneway.cli.render.columns import wrapped
from laneway.cli.render.screen import Screen, Tone
from laneway.domain.inventory import Platform, Problem, ReadinessNote

_TONES = {"error": Tone.BAD, "warning": Tone.WAITING}
_INDENT = " " * 2


def readiness_block(platform: Platform | None, notes: Sequence[ReadinessNote], screen: Screen) -> list[str]:
    """One line when nothing stands in the way, else each note with its remedy below it."""
    if not notes:
        known = _platform_words(platform)
        return [screen.paint(f"Ready to give devices away{': ' + known if known else ''}", Tone.GOOD)]
    lines = [screen.paint("Readiness", Tone.STRONG)]
    for note in notes:
        lines.extend(_note_lines(note, screen))
    return lines


def problems_block(problems: Sequence[Problem], screen: Screen) -> list[str]:
    """What could not be read of the host; nothing where all could."""
    lines = [screen.paint("Could not be read", Tone.STRONG)] if problems else []
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


def _platform_words(platform: Platform | None) -> str:
    if platform is None:
        return ""
    parts = [
        f"IOMMU {platform.iommu}" if platform.iommu else "",
        "interrupt remapping" if platform.interrupt_remapping else "",
        "vfio-pci" if platform.vfio_pci else "",
    ]
    return ", ".join(part for part in parts if part)
