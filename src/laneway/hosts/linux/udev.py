"""udev, which looks at every device for a moment: that is no use of it."""

from laneway.hosts.linux.tree import HostTree

_NAMES = ("(udev-worker", "systemd-udevd", "udevd", "eudevd")
"""How the daemon and its workers call themselves, from today's to the oldest. The kernel keeps 15 characters of a name,
so a longer one that begins so is theirs too."""

_FIRST_PROCESS = 1


def is_of_udev(tree: HostTree, pid: int) -> bool:
    """Whether a process is udev's daemon, one of its workers, or a program that a worker runs, as ata_id and mdadm.

    A worker ends what it has run when the event is over, so these too hold a device for a moment only.
    """
    seen = {0, _FIRST_PROCESS}
    while pid not in seen:
        seen.add(pid)
        if (tree.text(f"proc/{pid}/comm") or "").startswith(_NAMES):
            return True
        pid = _parent_of(tree, pid)
    return False


def is_at_work(tree: HostTree) -> bool:
    """Whether udev has events that it is not done with."""
    return tree.exists("run/udev/queue")


def _parent_of(tree: HostTree, pid: int) -> int:
    """The parent of a process by /proc/PID/stat (proc(5)); 0 if there is none, it has ended, or it is not told."""
    after_name = (tree.text(f"proc/{pid}/stat") or "").rpartition(")")[2].split()
    parent = after_name[1] if len(after_name) > 1 else ""
    return int(parent) if parent.isdecimal() else 0
