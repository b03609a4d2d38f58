"""What is mounted and what is swapped to, as /proc tells it."""

from dataclasses import dataclass

from laneway.hosts.linux.tree import HostTree

_MOUNT_TABLES = ("proc/self/mountinfo", "proc/1/mountinfo")
_OLD_MOUNT_TABLES = ("proc/self/mounts", "proc/mounts")


@dataclass(frozen=True, slots=True)
class Mount:
    """``device`` is major:minor, None where the table does not tell; of a file system over several
    devices, or none, its major is 0 and only ``source`` says what it stands on."""

    device: str | None
    point: str
    kind: str
    source: str


def read_mounts(tree: HostTree) -> tuple[Mount, ...] | None:
    """The mounts that this process and process 1 see, or None where the tree does not tell.

    A container has mounts of its own; their devices are found by ``held_open``.
    """
    tables = [text for path in _MOUNT_TABLES if (text := tree.text(path)) is not None]
    if tables:
        return tuple(dict.fromkeys(mount for text in tables for mount in parse_mountinfo(text)))
    old = next((text for path in _OLD_MOUNT_TABLES if (text := tree.text(path)) is not None), None)
    return None if old is None else parse_mounts(old)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """/proc/PID/mountinfo (proc_pid_mountinfo(5)); lines of another form are left out."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if dash and len(fields) >= 6 and len(rest) >= 2:
            found.append(Mount(fields[2], unescaped(fields[4]), rest[0], unescaped(rest[1])))
    return tuple(found)


def parse_mounts(text: str) -> tuple[Mount, ...]:
    """/proc/mounts (fstab(5)), which does not tell device numbers."""
    rows = (line.split(" ") for line in text.splitlines())
    return tuple(Mount(None, unescaped(row[1]), row[2], unescaped(row[0])) for row in rows if len(row) >= 3)


def parse_swaps(text: str) -> tuple[str, ...]:
    """The block devices of /proc/swaps. A swap file stands on a mounted file system, so it adds nothing."""
    rows = (line.split() for line in text.splitlines()[1:])
    return tuple(unescaped(row[0]).removesuffix(" (deleted)") for row in rows if row[1:2] == ["partition"])


def unescaped(text: str) -> str:
    r"""The text with the kernel's octal escapes of blank, tab, newline and backslash (``\040``) undone."""
    if "\\" not in text:
        return text
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
