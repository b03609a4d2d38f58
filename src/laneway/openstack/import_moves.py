"""Instances that nova is moving: they have devices on two hosts, or two sets of them on one."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from laneway.domain.requests.request import DeviceRequest
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_moves import EVACUATION, LIVE, NovaMove, Place
from laneway.openstack.nova_records import NovaNode, NovaPciDevice, NovaRecords

_SHOWN = 8


def move_here(records: NovaRecords, node: NovaNode, instance: str) -> NovaMove | None:
    """The move of the instance from or to this node, if one is under way."""
    move = (records.moves or {}).get(instance)
    return move if move is not None and any(_sides(move, node)) else None


def requests_here(records: NovaRecords, node: NovaNode, instance: str) -> tuple[DeviceRequest, ...]:
    """What the instance's devices on this node serve. While it is moved within the node those of both sets, so twice
    where both have the same."""
    requests = records.requests.get(instance)
    if requests is None:
        return ()
    move = move_here(records, node, instance)
    if move is None:
        return requests.stored
    source, destination = _sides(move, node)
    return requests.of_sides(source=source, destination=destination)


def moves_under_way(records: NovaRecords, node: NovaNode, devices: Sequence[NovaPciDevice]) -> Iterator[Finding]:
    """Each move from or to this node of an instance that has devices here, or asks for some."""
    of_instance: defaultdict[str, list[str]] = defaultdict(list)
    for device in devices:
        of_instance[device.owner or ""].append(str(device.address))
    for instance, move in sorted((records.moves or {}).items()):
        kept = of_instance.get(instance, [])
        concerns = any(_sides(move, node)) and records.has_instance(instance)
        if concerns and (kept or requests_here(records, node, instance)):
            yield Finding(
                code="move_under_way",
                severity=Severity.WARNING,
                message=f"{instance} is being moved {_way(move)}; {_kept(kept)}; {_remedy(move)}, and import then",
                consumer=instance,
            )


def _sides(move: NovaMove, node: NovaNode) -> tuple[bool, bool]:
    """Whether the node is where it begins, and where it goes."""
    source, destination = move.source, move.destination
    return node.is_at(source.host, source.node), node.is_at(destination.host, destination.node)


def _way(move: NovaMove) -> str:
    within = move.source == move.destination
    way = "within this host" if within else f"from {_name(move.source)} to {_name(move.destination)}"
    return f"{way} ({move.kind or 'migration'}, {move.status})"


def _name(place: Place) -> str:
    return place.host or place.node or "no host yet"


def _kept(addresses: Sequence[str]) -> str:
    if not addresses:
        return "it has no device here yet"
    more = f" and {len(addresses) - _SHOWN} more" if len(addresses) > _SHOWN else ""
    verb = "is" if len(addresses) == 1 else "are"
    return f"{', '.join(addresses[:_SHOWN])}{more} {verb} kept for it, whichever side it ends on"


def _remedy(move: NovaMove) -> str:
    if move.kind == LIVE:
        return "let it end in nova first, or abort it (openstack server migration abort)"
    if move.kind == EVACUATION:
        return "let it end in nova first"
    return f"confirm or revert it in nova first (openstack server resize confirm {move.instance}, or revert)"
