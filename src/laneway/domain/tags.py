"""The keys of a device spec: matchers, tags that have a meaning, and Laneway's own keys.

Every other key is a free tag (rule C4). This table is the one place that says which tags are
boolean, what a missing one means, and how boolean text is read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from types import MappingProxyType

from laneway.domain.device import TagValue


class TagKind(Enum):
    """How the value of a known tag is read."""

    STRICT_BOOLEAN = "strict boolean"
    """Boolean-like text; anything else is an error (rule C16)."""
    LENIENT_BOOLEAN = "lenient boolean"
    """Boolean-like text; anything else is false, with a warning (rule C17)."""
    TEXT = "text"
    """Text or null."""


@dataclass(frozen=True, slots=True)
class KnownTag:
    """A tag that has a meaning (rule C15). ``default`` is what a device without it counts as."""

    name: str
    kind: TagKind
    default: TagValue


MATCHERS = ("vendor_id", "product_id", "address", "devname")
"""The keys that choose functions (rule C4)."""

OWN_KEYS = ("allow_in_use", "binding", "cleaning")
"""Laneway's own keys, which are neither matchers nor tags."""

KNOWN_TAGS: Mapping[str, KnownTag] = MappingProxyType(
    {
        tag.name: tag
        for tag in (
            KnownTag("managed", TagKind.STRICT_BOOLEAN, True),
            KnownTag("live_migratable", TagKind.STRICT_BOOLEAN, False),
            KnownTag("one_time_use", TagKind.STRICT_BOOLEAN, False),
            KnownTag("remote_managed", TagKind.LENIENT_BOOLEAN, False),
            KnownTag("trusted", TagKind.LENIENT_BOOLEAN, False),
            KnownTag("physical_network", TagKind.TEXT, None),
            KnownTag("resource_class", TagKind.TEXT, None),
            KnownTag("traits", TagKind.TEXT, None),
        )
    }
)

BOOLEAN_TAGS = frozenset(tag.name for tag in KNOWN_TAGS.values() if tag.kind is not TagKind.TEXT)
"""The tags whose values are booleans, in a spec, a device and a request."""

_BOOLEANS: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(("1", "t", "true", "on", "y", "yes"), True)
    | dict.fromkeys(("0", "f", "false", "off", "n", "no"), False)
)


def default_of(tag: str) -> TagValue:
    """What a device without this tag counts as; None for a free tag."""
    known = KNOWN_TAGS.get(tag)
    return known.default if known else None


def parse_boolean(text: str) -> bool | None:
    """Reads boolean-like text as nova does: 1/t/true/on/y/yes and 0/f/false/off/n/no, in either
    case, with blanks around it (rule C16). None where it is neither.
    """
    return _BOOLEANS.get(text.strip().lower())


def nearest_key(key: str, known: Iterable[str]) -> str | None:
    """The known key that was most likely meant by a misspelt one (rule D17), if any is close."""
    close = get_close_matches(key.strip().lower().replace("-", "_"), tuple(known), n=1)
    return close[0] if close else None
