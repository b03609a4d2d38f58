"""The host that a command works on, as its options say."""

from functools import cache
from typing import TYPE_CHECKING

from laneway.cli.command import Settings
from laneway.domain.errors import ErrorCode, LanewayError

if TYPE_CHECKING:
    from laneway.bootstrap import LocalHost, Source
    from laneway.cli.render.view import Names


def source_of(settings: Settings) -> "Source":
    """What the shared options name, for bootstrap."""
    from laneway.bootstrap import Source  # noqa: PLC0415 - start-up counts, and help needs no host

    if settings.snapshot is not None and settings.root is not None:
        message = "--snapshot and --root both name a host to read; say one of them"
        raise LanewayError(ErrorCode.USAGE, message)
    return Source(
        config=settings.config,
        nova_conf=settings.nova_conf,
        snapshot=settings.snapshot,
        root=settings.root,
        state=settings.state,
    )


def open_host(settings: Settings) -> "LocalHost":
    """The host with its config. Raises as ``bootstrap.open_host`` does."""
    from laneway import bootstrap  # noqa: PLC0415 - start-up counts, and help needs no host

    return bootstrap.open_host(source_of(settings))


class RememberedNames:
    """Names that are looked up once: most functions of a host are alike, and looking up is a search."""

    def __init__(self, names: "Names") -> None:
        self.vendor = cache(names.vendor)
        self.device = cache(names.device)
        self.class_name = cache(names.class_name)


def device_names() -> "Names":
    """The names of vendors and devices that this system knows, each looked up once."""
    from laneway import bootstrap  # noqa: PLC0415 - start-up counts, and help needs no host

    return RememberedNames(bootstrap.device_names())
