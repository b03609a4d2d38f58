"""The commands, each in the module of its name, and the one line that says what it does.

A module is imported only when its command is called (or its help is asked for).
"""

from collections.abc import Mapping
from types import MappingProxyType

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "completion": "Print the completion script for a shell.",
    }
)
"""What each command does, in the order in which the help lists them."""
