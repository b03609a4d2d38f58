"""Values of options: addresses, spans of time, and what a claim asks for."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import wraps
from typing import Any

import click

from laneway.cli.command import Settings
from laneway.domain.address import PciAddress

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SPAN = re.compile(r"(?:[0-9]{1,6}[smhd])+")


def address(text: str) -> PciAddress:
    """A PCI address. Raises LanewayError(invalid_address)."""
    return PciAddress.parse(text)


def span(text: str) -> timedelta:
    """A span of time above zero, such as 90s, 15m or 1h30m. Raises BadParameter."""
    if not _SPAN.fullmatch(text):
        raise click.BadParameter(f"{text!r} is no span of time; write a number and s, m, h or d, such as 15m or 1h30m")
    parts = re.findall(r"([0-9]+)([smhd])", text)
    time = sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in parts), timedelta())
    if not time:
        raise click.BadParameter(f"{text!r} is no time at all")
    return time


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a claim asks for, as the options say it."""

    consumer: str
    flavor: str | None
    requests: Sequence[str]
    constraints: Sequence[str]
    numa_nodes: Sequence[int]


_CLAIM_PARAMETERS = (
    click.argument("consumer"),
    click.option(
        "--alias", "flavor", metavar="NAME:COUNT,...", help="Devices by the aliases of the config, as in a flavor."
    ),
    click.option(
        "--request",
        "requests",
        multiple=True,
        metavar="JSON",
        help='A request in full, such as \'{"name": "n", "any_of": [{"dev_type": "type-VF"}], "count": 2}\'.',
    ),
    click.option(
        "--constraint",
        "constraints",
        multiple=True,
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
)


def asking(function: Callable[..., int]) -> Callable[..., int]:
    """Gives a command the consumer and the options of a claim, as one ``Asked`` behind the settings."""

    @wraps(function)
    def with_asked(settings: Settings, **values: Any) -> int:
        asked = Asked(**{field.name: values.pop(field.name) for field in fields(Asked)})
        return function(settings, asked, **values)

    for parameter in reversed(_CLAIM_PARAMETERS):
        with_asked = parameter(with_asked)
    return with_asked
