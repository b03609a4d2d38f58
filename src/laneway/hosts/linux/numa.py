"""The NUMA nodes of a host."""

from laneway.domain.inventory import NumaNode, Problem
from laneway.hosts.linux.tree import HostTree

_NODES = "sys/devices/system/node"
_CPUS = "sys/devices/system/cpu"
_MOST_CPUS = 1 << 16


def read_numa_nodes(tree: HostTree, problems: list[Problem]) -> tuple[NumaNode, ...]:
    """The nodes, ascending; none where the kernel was built without NUMA, or the tree lacks them."""
    names = tree.names(_NODES) or ()
    ids = sorted(int(name[4:]) for name in names if name.startswith("node") and name[4:].isdecimal())
    return tuple(_read_node(tree, node, ids, problems) for node in ids)


def _read_node(tree: HostTree, node: int, ids: list[int], problems: list[Problem]) -> NumaNode:
    directory = f"{_NODES}/node{node}"
    cpus = _read_cpus(tree, f"{directory}/cpulist", problems)
    return NumaNode(
        id=node,
        socket=_socket(tree, cpus, problems) if cpus else None,
        cpus=cpus,
        distances=_read_distances(tree, f"{directory}/distance", ids, problems),
    )


def _read_distances(tree: HostTree, path: str, ids: list[int], problems: list[Problem]) -> dict[int, int] | None:
    """The kernel lists the distances in the order of the nodes, without their numbers."""
    text = tree.text(path)
    if text is None:
        return None
    values = text.split()
    if len(values) != len(ids) or not all(value.isdecimal() for value in values):
        problems.append(
            Problem(attribute=path, message=f"{text.strip()!r} is no distance for each of {len(ids)} nodes")
        )
        return None
    return dict(zip(ids, map(int, values), strict=True))


def _socket(tree: HostTree, cpus: tuple[int, ...], problems: list[Problem]) -> int | None:
    """The socket of a node's CPUs; None where the node spans several."""
    topology = f"{_CPUS}/cpu{cpus[0]}/topology"
    socket = tree.text(f"{topology}/physical_package_id")
    if socket is None or not socket.strip().isdecimal():
        return None  # -1 is how the kernel says that it does not know
    siblings = _read_cpus(tree, f"{topology}/package_cpus_list", problems) or _read_cpus(
        tree, f"{topology}/core_siblings_list", problems
    )
    if siblings is not None and not set(cpus) <= set(siblings):
        return None
    return int(socket)


def _read_cpus(tree: HostTree, path: str, problems: list[Problem]) -> tuple[int, ...] | None:
    text = tree.text(path)
    if text is None:
        return None
    try:
        return parse_cpu_list(text)
    except ValueError as error:
        problems.append(Problem(attribute=path, message=str(error)))
        return None


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """The kernel's list format, such as ``0-7,16-23``. Raises ValueError for other text."""
    cpus: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) >= _MOST_CPUS:
            raise ValueError(f"{text.strip()!r} is not a list of CPUs")
        cpus.extend(range(int(first), int(last or first) + 1))
    return tuple(cpus)
