"""Values of options: addresses, spans of time, and what a claim asks for."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import wraps
from typing import Any

import click

from laneway.cli.command import Settings
from laneway.domain.address import PciAddress

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"(?:[0-9]{1,6}[smhd])+")
_LONGEST = timedelta(days=36_525)


def address(text: str) -> PciAddress:
    """A PCI address. Raises LanewayError(invalid_address)."""
    return PciAddress.parse(text)


def words(given: str) -> str:
    """A name or other text for people and for the database, the same whatever the locale. Raises BadParameter.

    Bytes that the locale knows no letters for come as surrogates, which are no text.
    """
    with suppress(UnicodeError):
        given.encode()
        return given
    with suppress(UnicodeError):
        return os.fsencode(given).decode()
    raise click.BadParameter(f"{given!r} is not UTF-8; write it in UTF-8")


def port(text: str) -> str:
    """The id of a port of Neutron's. Raises BadParameter."""
    from laneway.network.wished_bindings import is_port  # noqa: PLC0415 - start-up counts

    given = words(text).lower()
    if not is_port(given):
        raise click.BadParameter(f"{text!r} is no id of a port; `openstack port list` shows ids")
    return given


def span(text: str) -> timedelta:
    """A span of time above zero, such as 90s, 15m or 1h30m, up to a century. Raises BadParameter."""
    if not _SPAN.fullmatch(text):
        raise click.BadParameter(f"{text!r} is no span of time; write a number and s, m, h or d, such as 15m or 1h30m")
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"([0-9]+)([smhd])", text))
    if not seconds:
        raise click.BadParameter(f"{text!r} is no time at all")
    if seconds > _LONGEST.total_seconds():
        raise click.BadParameter(f"{text!r} is more than a century; leave it out if the time shall never be over")
    return timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a claim asks for, as the options say it."""

    consumer: str
    flavors: Sequence[str]
    requests: Sequence[str]
    ports: Sequence[str]
    constraints: Sequence[str]
    numa_nodes: Sequence[int]
    numa_policy: str | None


_CLAIM_PARAMETERS = (
    click.argument("consumer", type=words),
    click.option(
        "--alias",
        "flavors",
        multiple=True,
        type=words,
        metavar="NAME:COUNT,...",
        help="Devices by the aliases of the config, as in a flavor.",
    ),
    click.option(
        "--request",
        "requests",
        multiple=True,
        type=words,
        metavar="JSON",
        help='A request in full, such as \'{"name": "n", "any_of": [{"dev_type": "type-VF"}], "count": 2}\'.',
    ),
    click.option(
        "--port",
        "ports",
        multiple=True,
        type=port,
        metavar="UUID",
        help="The device that this port of OpenStack Neutron needs; may be repeated.",
    ),
    click.option(
        "--constraint",
        "constraints",
        multiple=True,
        type=words,
        metavar="JSON",
        help='What the devices must share, such as \'{"match": "pcie_root", "requests": ["gpu", "nic"]}\'.',
    ),
    click.option(
        "--numa-node",
        "numa_nodes",
        multiple=True,
        type=click.IntRange(min=0),
        metavar="N",
        help="A NUMA node of the host that the virtual machine uses; give each.",
    ),
    click.option(
        "--numa-policy",
        type=click.Choice(("legacy", "required", "preferred", "socket")),
        help="How near its devices have to be, as its flavor or image says; it beats the policies of aliases.",
    ),
)


_CLAIMING_PARAMETERS = (
    click.option(
        "--id", "claim_id", type=words, metavar="ID", help="The claim's id; the same claim again is answered the same."
    ),
    click.option(
        "--ttl", type=span, metavar="TIME", help="Free the claim after this time unless it is allocated by then."
    ),
)


def claiming(function: Callable[..., int]) -> Callable[..., int]:
    """Gives a command the id of a claim and its time to live."""
    for parameter in reversed(_CLAIMING_PARAMETERS):
        function = parameter(function)
    return function


def asking(function: Callable[..., int]) -> Callable[..., int]:
    """Gives a command the consumer and the options of a claim, as one ``Asked`` behind the settings."""

    @wraps(function)
    def with_asked(settings: Settings, **values: Any) -> int:
        asked = Asked(**{field.name: values.pop(field.name) for field in fields(Asked)})
        return function(settings, asked, **values)

    for parameter in reversed(_CLAIM_PARAMETERS):
        with_asked = parameter(with_asked)
    return with_asked
