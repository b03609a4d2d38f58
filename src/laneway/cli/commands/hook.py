"""``laneway hook``: whether a virtual machine may start with its devices, asked by who starts it."""
# ruff: noqa: PLC0415 - start-up counts: what only some calls need is imported in them

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from laneway.cli import output
from laneway.cli.command import Example, Settings, laneway_command
from laneway.cli.exit_status import ExitStatus
from laneway.cli.parameters import words
from laneway.cli.streams import write
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError

if TYPE_CHECKING:
    from laneway.bootstrap import LocalHost
    from laneway.interfaces.guest_definition import GuestDefinition

_FILTERS = frozenset({"migrate", "restore"})
"""Operations whose output libvirt takes for the domain's XML."""
_STARTS = frozenset({"prepare", "start"}) | _FILTERS
"""Operations that end with a guest that has its devices: ``start`` comes when networks have given theirs."""
_RUNS_ALREADY = frozenset({"reconnect", "attach"})
"""Operations about a guest that runs: libvirt kills it where the hook refuses, so it is only told."""
_STOPS = "release"
_STILL_NEEDED = frozenset({"migrated", "saved", "failed"})
"""Why a domain is shut off whose devices are not given up: a move frees them, it will be restored, it never ran."""


@laneway_command(
    "hook",
    Example("laneway hook libvirt db-1 prepare begin - < db-1.xml", "What libvirt's hook asks before db-1 starts"),
    Example(
        "laneway hook libvirt --free-on-stop db-1 release end shutdown < db-1.xml", "What it says when db-1 has stopped"
    ),
)
@click.argument("service", type=click.Choice(["libvirt"]))
@click.argument("guest", type=words)
@click.argument("operation", type=words)
@click.argument("rest", nargs=-1, type=words, metavar="[SUB_OPERATION [EXTRA]]")
@click.option("--allow-untracked", is_flag=True, help="Let a guest have devices that no device spec admits.")
@click.option("--fail-open", is_flag=True, help="Let a guest start where it cannot be told who owns its devices.")
@click.option("--free-on-stop", is_flag=True, help="Free what a guest holds once it has stopped.")
def command(
    settings: Settings,
    *,
    service: str,  # noqa: ARG001 - there is one, and the command line says which
    guest: str,
    operation: str,
    rest: Sequence[str],
    allow_untracked: bool,
    fail_open: bool,
    free_on_stop: bool,
) -> int:
    """Refuse to start a libvirt domain whose host devices are not allocated to it, by its name or its uuid.

    For /etc/libvirt/hooks/qemu, which calls it with its own arguments behind "--" and the domain's XML on stdin.
    It never asks libvirt, which waits for it. Other operations than prepare, start, migrate, restore and release
    are answered with yes; of reconnect and attach it is only told what is wrong, as the guest runs already.
    """
    text, freed = "", list[PciAddress]()
    if operation in _STARTS:
        text = _domain_xml()
        _judge(settings, _definition(guest, text), allow_untracked=allow_untracked, fail_open=fail_open)
    elif operation in _RUNS_ALREADY:
        try:
            _judge(settings, _definition(guest, _domain_xml()), allow_untracked=allow_untracked, fail_open=fail_open)
        except Exception as error:  # whatever it is: with any failure libvirt kills the guest
            _note(settings, f"{guest} runs already: {error}")
    elif operation == _STOPS and free_on_stop and not _STILL_NEEDED.intersection(rest[1:]):
        freed = _free(settings, _definition(guest, _domain_xml()))
    if settings.as_json:
        output.write_json(
            {"schema": "laneway.hook/1", "guest": guest, "operation": operation, "allowed": True, "freed": freed}
        )
    elif operation in _FILTERS:
        write(text.removesuffix("\n").encode())
    return ExitStatus.YES


def _judge(settings: Settings, guest: "GuestDefinition", *, allow_untracked: bool, fail_open: bool) -> None:
    """Raises LanewayError where the guest may not start."""
    from laneway.fleet.guest_start import require_start

    if not guest.devices:
        return
    try:
        host = _open(settings)
        view, prepared = host.look_at_stored(), host.remembered().prepared
    except LanewayError as error:
        if not fail_open:
            raise _undecided(guest, error) from error
        _note(settings, f"{guest.name} is let through unchecked (--fail-open): {error.message}")
        return
    require_start(view, guest, prepared, allow_untracked=allow_untracked)


def _undecided(guest: "GuestDefinition", error: LanewayError) -> LanewayError:
    message = f"{guest.name} may not start, as it cannot be told who owns its devices: {error.message}"
    return LanewayError(error.code, message, error.detail)


def _free(settings: Settings, guest: "GuestDefinition") -> list[PciAddress]:
    host = _open(settings)
    freed: list[PciAddress] = []
    with host.control_plane() as plane:
        for consumer in sorted(guest.consumers):
            if plane.look(host.name).view.owned_by(consumer):
                freed.extend(sorted(plane.free(host.name, consumer=consumer).changed))
    return freed


def _open(settings: Settings) -> "LocalHost":
    from laneway import bootstrap
    from laneway.cli.host import source_of

    return bootstrap.open_host_without_libvirt(source_of(settings))


def _domain_xml() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise LanewayError(ErrorCode.INVALID_REQUEST, f"the domain's XML on stdin is not UTF-8: {error}") from error


def _definition(guest: str, text: str) -> "GuestDefinition":
    from laneway import bootstrap

    definition = bootstrap.read_guest(text)
    if definition.name != guest:
        raise LanewayError(
            ErrorCode.INVALID_REQUEST, f"the XML on stdin is that of {definition.name}, and {guest} was named"
        )
    return definition


def _note(settings: Settings, message: str) -> None:
    output.write_message(lambda screen: screen.paint(f"note: {message}"), settings.color)
