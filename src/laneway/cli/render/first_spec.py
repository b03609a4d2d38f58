"""What to write where nothing is handed out yet: an entry for a real device of this very host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laneway.cli.render.functions import ids, is_plumbing, what_it_is
from laneway.cli.render.screen import Screen, Tone
from laneway.cli.render.view import FunctionView, Names
from laneway.domain.inventory import DevType, PciFunction

_WANTED_FIRST = ("0302", "03", "12", "02", "0108", "01", "0c03")
"""Classes in the order in which people give them away: accelerators, networks, disks, USB."""


@dataclass(frozen=True, slots=True)
class EmptyConfig:
    """The file where a first device spec would go, and whether it is a ``nova.conf``."""

    path: str
    is_nova: bool = False


def how_to_offer(views: Sequence[FunctionView], names: Names, screen: Screen, config: EmptyConfig) -> list[str]:
    """Says that nothing is handed out, with an entry to paste for the likeliest device."""
    lines = [screen.paint("Nothing is handed out: there is no device_spec.", Tone.STRONG)]
    function = candidate(views)
    if function is None:
        return [*lines, "No function of this host can be given to a guest as it stands."]
    what = what_it_is(function, names) or ids(function)
    entry = _nova_entry if config.is_nova else _toml_entry
    return [
        *lines,
        screen.paint(f"To let virtual machines have {function.address} ({what}), write into {config.path}:"),
        "",
        *(f"  {line}" if line else "" for line in entry(_addresses(function, views), _alias(function))),
        "",
        "and then see what it admits, and claim it for a virtual machine named vm1:",
        "",
        "  laneway check",
        f"  laneway claim vm1 --alias {_alias_name(function)}:1",
    ]


def candidate(views: Sequence[FunctionView]) -> PciFunction | None:
    """The function that an operator would most likely give away first, or None."""
    in_use_groups = {view.function.iommu_group for view in views if view.function.in_use_by}
    free = [
        view.function
        for view in views
        if not view.function.in_use_by
        and not view.function.not_assignable
        and not view.function.is_bridge
        and not is_plumbing(view)
        and (view.function.iommu_group is None or view.function.iommu_group not in in_use_groups)
        and _rank(view.function) < len(_WANTED_FIRST)
    ]
    return min(free, key=lambda function: (_rank(function), function.address), default=None)


def _rank(function: PciFunction) -> int:
    code = function.class_code or ""
    return next(
        (rank for rank, prefix in enumerate(_WANTED_FIRST) if code.startswith(prefix)),
        len(_WANTED_FIRST),
    )


def _alias_name(function: PciFunction) -> str:
    names = {"03": "gpu", "12": "accelerator", "02": "nic", "01": "disk", "0c": "usb"}
    return names.get((function.class_code or "")[:2], "device")


def _companions(function: PciFunction, views: Sequence[FunctionView]) -> list[PciFunction]:
    """The endpoints of its IOMMU group, itself among them: a group is given away as a whole."""
    if function.iommu_group is None:
        return [function]
    members = [view.function for view in views if view.function.iommu_group == function.iommu_group]
    return [member for member in members if not member.is_bridge]


def _addresses(function: PciFunction, views: Sequence[FunctionView]) -> list[str]:
    """What to write as ``address``: one that means all functions of the card, where the group is just that."""
    companions = _companions(function, views)
    addresses = [str(member.address) for member in companions]
    one_card = len({member.address >> 3 for member in companions}) == 1
    return [f"{addresses[0][:-1]}*"] if len(addresses) > 1 and one_card else addresses


def _alias(function: PciFunction) -> dict[str, str]:
    alias = {"name": _alias_name(function), "vendor_id": function.vendor_id, "product_id": function.product_id}
    if function.dev_type in (DevType.PF, DevType.VF):
        alias["device_type"] = function.dev_type.value
    return alias


def _toml_entry(addresses: Sequence[str], alias: Mapping[str, str]) -> list[str]:
    specs = [line for address in addresses for line in ("[[device_spec]]", f'address = "{address}"', "")]
    return [*specs, "[[alias]]", *(f'{key} = "{value}"' for key, value in alias.items())]


def _nova_entry(addresses: Sequence[str], alias: Mapping[str, str]) -> list[str]:
    pairs = ", ".join(f'"{key}": "{value}"' for key, value in alias.items())
    return ["[pci]", *(f'device_spec = {{"address": "{address}"}}' for address in addresses), f"alias = {{{pairs}}}"]
