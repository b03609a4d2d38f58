"""Which of nova's compute nodes this host is."""

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_records import NovaNode, NovaRecords

_SHOWN = 8


def node_named(records: NovaRecords, chosen: str) -> NovaNode:
    """The node of this name, or of the service of this name. Raises LanewayError(usage)."""
    return _only([node for node in records.nodes if chosen in (node.name, node.host)], records, chosen)


def node_of_host(records: NovaRecords, host: str) -> NovaNode:
    """The node of a host that Laneway knows by this name; a domain behind it may be missing in one of the two.

    Raises LanewayError(usage) where none or several could be it.
    """
    exact = [node for node in records.nodes if host in (node.name, node.host)]
    alike = [node for node in records.nodes if _short(host) in (_short(node.name), _short(node.host))]
    return _only(exact or alike, records, host)


def _short(name: str | None) -> str | None:
    return None if name is None else name.partition(".")[0].lower()


def _only(found: list[NovaNode], records: NovaRecords, name: str) -> NovaNode:
    if len(found) == 1:
        return found[0]
    known = sorted(node.name or node.host or str(node.id) for node in found or records.nodes)
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    listed = f"{', '.join(known[:_SHOWN])}{more}" or "none"
    fault = f"several compute nodes could be {name!r}" if found else f"nova has no compute node {name!r}"
    raise LanewayError(ErrorCode.USAGE, f"{fault}: {listed}; name it by --node", {"node": name, "nodes": known})
