"""One function in words: what it is, how it stands, and what is to be said about it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from laneway.cli.render.class_words import class_words
from laneway.cli.render.columns import Cell
from laneway.cli.render.screen import Tone
from laneway.cli.render.view import DeviceView, FunctionView, Names
from laneway.domain.device import Status
from laneway.domain.inventory import DevType, PciFunction

FOLD_FROM = 4
"""So many functions in a row that are alike are shown as one line."""

_PLUMBING = frozenset({"05", "06", "08", "11", "ff"})
"""Classes of which a host has dozens that nobody hands out: bridges, memory and system peripherals."""

_LEGAL_FORM = re.compile(r"(,? (Corporation|Corp|Inc|Co|Ltd|Limited|LLC|GmbH|AG)\b\.?)+,?$")

_TYPES = {DevType.PCI: "PCI", DevType.PF: "PF", DevType.VF: "VF", DevType.VDPA: "vDPA"}


@dataclass(frozen=True, slots=True)
class Fold:
    """Functions that are alike, in order of address; most folds hold one."""

    views: tuple[FunctionView, ...]

    @property
    def first(self) -> FunctionView:
        return self.views[0]

    @property
    def last(self) -> FunctionView:
        return self.views[-1]


def is_plumbing(view: FunctionView) -> bool:
    """Whether it is part of how the host works, of no use to a guest, and no spec admits it."""
    return view.device is None and not view.function.in_use_by and (view.function.class_code or "")[:2] in _PLUMBING


def fold(views: Sequence[FunctionView], *, every: bool = False) -> list[Fold]:
    """Runs of VFs of one parent that stand alike as one; each on its own with ``every``."""
    folds = []
    for key, run in groupby(views, key=_likeness):
        alike = tuple(run)
        if key is not None and not every and len(alike) >= FOLD_FROM:
            folds.append(Fold(alike))
        else:
            folds.extend(Fold((view,)) for view in alike)
    return folds


def _likeness(view: FunctionView) -> tuple[object, ...] | None:
    function = view.function
    if function.parent_addr is None:
        return None
    return (
        function.parent_addr,
        function.vendor_id,
        function.product_id,
        function.dev_type,
        function.numa_node,
        function.driver,
        standing(view),
        remarks(view),
    )


def type_word(function: PciFunction) -> str:
    return _TYPES[function.dev_type]


def ids(function: PciFunction) -> str:
    return f"{function.vendor_id}:{function.product_id}"


def what_it_is(function: PciFunction, names: Names) -> str:
    """Its name; else what the card calls itself; else its class, with the vendor if that is known.

    Where the system has no names of classes, ours serve.
    """
    vendor = short_vendor(names.vendor(function.vendor_id) or "")
    own_name = function.vpd.product_name if function.vpd else None
    device = names.device(function.vendor_id, function.product_id)
    if device is None and own_name:
        return own_name
    return f"{vendor} {device or _class_name(function.class_code, names) or ''}".strip()


def _class_name(class_code: str | None, names: Names) -> str | None:
    return None if class_code is None else names.class_name(class_code) or class_words(class_code)


def short_vendor(name: str) -> str:
    """A vendor's name as people say it: the short form in brackets, else without the legal form."""
    in_brackets = re.search(r"\[([^]]+)\]", name)
    return in_brackets[1] if in_brackets else _LEGAL_FORM.sub("", name)


def standing(view: FunctionView) -> Cell:
    """How the function stands, with its owner, in the colour that says so."""
    if view.device is not None:
        return _standing_of_device(view.device)
    if view.function.is_bridge:
        return Cell("bridge", Tone.DIM)
    return Cell("in use" if view.function.in_use_by else "not offered", Tone.DIM)


def _standing_of_device(device: DeviceView) -> Cell:
    if device.consumer is not None:
        return Cell(f"{device.status} by {device.consumer}", Tone.HELD)
    if device.status is not Status.AVAILABLE:
        return Cell(str(device.status), Tone.WAITING)
    return Cell("blocked", Tone.WAITING) if device.blocked_by else Cell("available", Tone.GOOD)


def remarks(view: FunctionView) -> tuple[str, ...]:
    """Why it is not offered, and its tags."""
    function, device = view.function, view.device
    if device is not None:
        tags = tuple(f"{key}={_shown(value)}" for key, value in device.tags.items())
        return (*(reason.message for reason in device.blocked_by), *((" ".join(tags),) if tags else ()))
    uses = tuple(f"{use.code.replace('_', ' ')} {use.detail or ''}".rstrip() for use in function.in_use_by or ())
    return (*uses, *(reason.message for reason in view.not_admitted))


def vf_remark(function: PciFunction) -> tuple[str, ...]:
    """How many VFs a PF has, of how many; nothing while it has none."""
    sriov = function.sriov
    if function.dev_type is not DevType.PF or sriov is None or not sriov.num_vfs:
        return ()
    return (f"has {sriov.num_vfs} of {sriov.total_vfs or '?'} VFs",)


def _shown(value: str | bool | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else value


def summary(views: Iterable[FunctionView]) -> str:
    """How many functions stand how, in one line: what can be had first."""
    counts = Counter(_word(view) for view in views)
    order = ("available", "claimed", "allocated", "blocked")
    first = [word for word in order if word in counts]
    others = sorted(word for word in counts if word not in order)
    return ", ".join(f"{counts[word]} {word}" for word in (*first, *others))


def _word(view: FunctionView) -> str:
    return view.device.status if view.device is not None and view.device.consumer else standing(view).text
