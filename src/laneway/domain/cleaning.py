"""What makes a device that a guest had fit for the next one."""

from dataclasses import dataclass
from enum import StrEnum

DEFAULT_SECONDS = 600.0
"""What a cleaning may take where its spec does not say: an NVMe format of a large disk takes minutes."""


class CleaningKind(StrEnum):
    """``reset``: the function's reset; ``nvme-format``: the namespaces are formatted; ``command``: a program's work."""

    RESET = "reset"
    NVME_FORMAT = "nvme-format"
    COMMAND = "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """One step, bounded by ``seconds``. ``command``: program and arguments; ``{address}`` in them is the device's."""

    kind: CleaningKind
    command: tuple[str, ...] = ()
    seconds: float = DEFAULT_SECONDS
