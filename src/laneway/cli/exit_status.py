"""Exit statuses of the command line: one table, from the code of an error to its status."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from laneway.domain.errors import ErrorCode


class ExitStatus(IntEnum):
    """The statuses that a command can end with; 69 to 78 as in ``sysexits.h``."""

    YES = 0
    NO = 1
    USAGE = 2
    UNREACHABLE = 69
    FAULT = 70
    UNWRITABLE = 74
    """Stdout did not take the answer: a full disk. What the command changed stays changed."""
    NO_PERMISSION = 77
    CONFIG = 78
    INTERRUPTED = 130
    """Ctrl-C: 128 and the number of SIGINT, as a shell reports it."""
    BROKEN_PIPE = 141
    """The reader of the output has gone: 128 and the number of SIGPIPE."""


EXIT_STATUS: Mapping[ErrorCode, ExitStatus] = MappingProxyType(
    {
        ErrorCode.INVALID_ADDRESS: ExitStatus.USAGE,
        ErrorCode.INVALID_JSON: ExitStatus.USAGE,
        ErrorCode.INVALID_INVENTORY: ExitStatus.USAGE,
        ErrorCode.INVALID_SCENARIO: ExitStatus.USAGE,
        ErrorCode.INVALID_REQUEST: ExitStatus.USAGE,
        ErrorCode.USAGE: ExitStatus.USAGE,
        ErrorCode.INVALID_CONFIG: ExitStatus.CONFIG,
        ErrorCode.INVALID_DEVICE_SPEC: ExitStatus.CONFIG,
        ErrorCode.INVALID_ALIAS: ExitStatus.CONFIG,
        ErrorCode.DOMAIN_TOO_LARGE: ExitStatus.CONFIG,
        ErrorCode.REMOTE_MANAGED_PF: ExitStatus.CONFIG,
        ErrorCode.UNKNOWN_ALIAS: ExitStatus.NO,
        ErrorCode.DOES_NOT_FIT: ExitStatus.NO,
        ErrorCode.SEARCH_EXHAUSTED: ExitStatus.NO,
        ErrorCode.CLAIM_CONFLICT: ExitStatus.NO,
        ErrorCode.NO_CLAIM: ExitStatus.NO,
        ErrorCode.NOT_OWNER: ExitStatus.NO,
        ErrorCode.NO_MOVE: ExitStatus.NO,
        ErrorCode.MOVE_IN_PROGRESS: ExitStatus.NO,
        ErrorCode.SAME_HOST: ExitStatus.NO,
        ErrorCode.NOT_MIGRATABLE: ExitStatus.NO,
        ErrorCode.UNKNOWN_DEVICE: ExitStatus.NO,
        ErrorCode.INVALID_STATUS: ExitStatus.NO,
        ErrorCode.DEVICE_IN_USE: ExitStatus.NO,
        ErrorCode.DEVICE_OPEN: ExitStatus.NO,
        ErrorCode.GROUP_NOT_VIABLE: ExitStatus.NO,
        ErrorCode.WRONG_DEVICE: ExitStatus.NO,
        ErrorCode.NOT_BOUND: ExitStatus.NO,
        ErrorCode.NOT_ASSIGNABLE: ExitStatus.NO,
        ErrorCode.VFS_IN_THE_WAY: ExitStatus.NO,
        ErrorCode.HOST_BUSY: ExitStatus.NO,
        ErrorCode.HOST_CHANGE_FAILED: ExitStatus.NO,
        ErrorCode.CLEANING_FAILED: ExitStatus.NO,
        ErrorCode.CANNOT_CORRELATE: ExitStatus.NO,
        ErrorCode.NOT_SUPPORTED: ExitStatus.NO,
        ErrorCode.PLACEMENT_REFUSED: ExitStatus.NO,
        ErrorCode.PLACEMENT_CONFLICT: ExitStatus.NO,
        ErrorCode.NOT_REPORTABLE: ExitStatus.NO,
        ErrorCode.NEUTRON_REFUSED: ExitStatus.NO,
        ErrorCode.NEUTRON_CONFLICT: ExitStatus.NO,
        ErrorCode.UNKNOWN_PORT: ExitStatus.NO,
        ErrorCode.PORT_IN_USE: ExitStatus.NO,
        ErrorCode.PORT_BINDING_FAILED: ExitStatus.NO,
        ErrorCode.AGENT_RUNNING: ExitStatus.NO,
        ErrorCode.NO_AGENT: ExitStatus.NO,
        ErrorCode.HOST_UNREACHABLE: ExitStatus.UNREACHABLE,
        ErrorCode.PLACEMENT_UNREACHABLE: ExitStatus.UNREACHABLE,
        ErrorCode.NEUTRON_UNREACHABLE: ExitStatus.UNREACHABLE,
        ErrorCode.DATABASE_UNREACHABLE: ExitStatus.UNREACHABLE,
        ErrorCode.DATABASE_TOO_NEW: ExitStatus.UNREACHABLE,
        ErrorCode.DATABASE_TOO_OLD: ExitStatus.UNREACHABLE,
        ErrorCode.NO_PERMISSION: ExitStatus.NO_PERMISSION,
        ErrorCode.INTERNAL_ERROR: ExitStatus.FAULT,
    }
)
"""What a command ends with when it fails with an error of this code."""
