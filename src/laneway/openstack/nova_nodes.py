"""Which of nova's compute nodes this host is."""

from collections.abc import Sequence

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.openstack.nova_records import NovaNode

_SHOWN = 8


def chosen_node(nodes: Sequence[NovaNode], host: str, name: str | None) -> NovaNode:
    """The node of this name, or where none is given that of the host. Raises LanewayError(usage)."""
    return node_of_host(nodes, host) if name is None else node_named(nodes, name)


def node_named(nodes: Sequence[NovaNode], chosen: str) -> NovaNode:
    """The node of this name, or of the service of this name. Raises LanewayError(usage)."""
    return _only([node for node in nodes if chosen in (node.name, node.host)], nodes, chosen)


def node_of_host(nodes: Sequence[NovaNode], host: str) -> NovaNode:
    """The node of a host that Laneway knows by this name; a domain behind it may be missing in one of the two.

    Raises LanewayError(usage) where none or several could be it.
    """
    exact = [node for node in nodes if host in (node.name, node.host)]
    alike = [node for node in nodes if _short(host) in (_short(node.name), _short(node.host))]
    return _only(exact or alike, nodes, host)


def _short(name: str | None) -> str | None:
    return None if name is None else name.partition(".")[0].lower()


def _only(found: list[NovaNode], nodes: Sequence[NovaNode], name: str) -> NovaNode:
    if len(found) == 1:
        return found[0]
    known = sorted(node.name or node.host or str(node.id) for node in found or nodes)
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    listed = f"{', '.join(known[:_SHOWN])}{more}" or "none"
    fault = f"several compute nodes could be {name!r}" if found else f"nova has no compute node {name!r}"
    remedy = "name it by --node" if found else "name it by --node, or the database of its own cell"
    raise LanewayError(ErrorCode.USAGE, f"{fault}: {listed}; {remedy}", {"node": name, "nodes": known})
