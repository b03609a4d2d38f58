"""The vDPA devices of a host."""

import re

from laneway.domain.inventory import Vdpa
from laneway.hosts.linux.function_paths import device_path
from laneway.hosts.linux.tree import HostTree

_DEVICES = "sys/bus/vdpa/devices"
_FUNCTION = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_SUBFUNCTION = r"\.sf\.\d+"
_VHOST = "vhost-vdpa-"


def read_vdpa_devices(tree: HostTree) -> dict[str, Vdpa]:
    """The vDPA device of each function that has one, by the function's name.

    Those on subfunctions (auxiliary devices ``*.sf.N``) are none of the function's own: a guest
    that gets one leaves the function to the host. Of several the first by name counts.
    """
    found: dict[str, Vdpa] = {}
    for name in tree.names(_DEVICES) or ():
        parts = device_path(tree.link(f"{_DEVICES}/{name}") or "").split("/")
        functions = [part for part in parts if re.fullmatch(_FUNCTION, part)]
        if functions and not any(re.search(_SUBFUNCTION, part) for part in parts):
            found.setdefault(functions[-1], _read(tree, name))
    return found


def _read(tree: HostTree, name: str) -> Vdpa:
    directory = f"{_DEVICES}/{name}"
    driver = tree.link(f"{directory}/driver")
    nodes = [entry for entry in tree.names(directory) or () if entry.startswith(_VHOST)]
    return Vdpa(
        name=name,
        driver=driver and driver.rpartition("/")[2],
        vhost_node=f"/dev/{nodes[0]}" if nodes else None,
    )
