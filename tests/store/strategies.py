"""Hypothesis strategies for everything that a store keeps, made from the dataclasses themselves.

A field that is added to a value is tried from then on: one that is not stored fails the round trip.
"""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from laneway.domain.address import PciAddress
from laneway.domain.device import BlockReason, PciDevice
from laneway.domain.tracking.claim import ClaimRecord, HostState

ZONES = st.sampled_from([timezone(timedelta(hours=hours)) for hours in (-11, 0, 2, 13)])
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=ZONES)
ADDRESSES = st.integers(0, 2**48 - 1).map(PciAddress)

LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=4),
    int: st.integers(-(2**63), 2**63 - 1),
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    datetime: MOMENTS,
    PciAddress: ADDRESSES,
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """All values of a type as they stand in the domain."""
    if hint in LEAVES:
        return LEAVES[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        hints = get_type_hints(hint)
        return st.builds(hint, **{field.name: values(hints[field.name]) for field in fields(hint)})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, sorted(arguments, key=lambda argument: argument is not type(None))))
    if origin is Mapping:
        return st.dictionaries(values(arguments[0]), values(arguments[1]), max_size=2)
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is frozenset:
        return st.frozensets(values(arguments[0]), max_size=2)
    raise TypeError(f"no strategy for {hint}")


DEVICES: st.SearchStrategy[PciDevice] = values(PciDevice)
RECORDS: st.SearchStrategy[ClaimRecord] = values(ClaimRecord)
BLOCKS: st.SearchStrategy[tuple[BlockReason, ...]] = st.lists(values(BlockReason), min_size=1, max_size=2).map(tuple)


@st.composite
def states(draw: st.DrawFn) -> HostState:
    """A state with everything in it that values can hold."""
    devices = draw(st.lists(DEVICES, max_size=2))
    records = draw(st.lists(RECORDS, max_size=2))
    return HostState(
        held={device.address: device for device in devices},
        claims={record.request.claim: record for record in records},
        blocks=draw(st.dictionaries(ADDRESSES, BLOCKS, max_size=2)),
    )
