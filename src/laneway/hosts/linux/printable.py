"""Text of the system made fit for JSON and screens."""

from laneway.domain.inventory import HostUse, Opener


def printable(text: str) -> str:
    """The text with what is not UTF-8 replaced: names of files and processes are bytes, any bytes.

    ``HostTree`` keeps such bytes as surrogates, so that a path can be followed; nothing can print them.
    """
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def printable_uses(uses: tuple[HostUse, ...] | None) -> tuple[HostUse, ...] | None:
    if not uses:
        return uses
    return tuple(HostUse(code=use.code, detail=None if use.detail is None else printable(use.detail)) for use in uses)


def printable_openers(openers: tuple[Opener, ...] | None) -> tuple[Opener, ...] | None:
    if not openers:
        return openers
    return tuple(Opener(pid=o.pid, name=None if o.name is None else printable(o.name)) for o in openers)
