"""The files of a Linux host with many functions, as discovery reads them: /sys below a directory."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosts.sysfs_builder import SysfsBuilder

FUNCTIONS_PER_CARD = 64
"""A card is a port of the root complex, a PF and its VFs."""
_ROOM = 4 << 30
_IN_MEMORY = Path("/dev/shm")
_ROUTES = (
    "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
    "ens1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    "ens1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
)
_ADDRESSES = "           |-- 192.0.2.2\n              /32 host LOCAL\n"


@contextmanager
def linux_tree(functions: int) -> Iterator[Path]:
    """A host of this many functions; in memory where there is room, so that no disk is measured."""
    in_memory = _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _ROOM
    with tempfile.TemporaryDirectory(prefix="laneway-bench-", dir=_IN_MEMORY if in_memory else None) as directory:
        root = Path(directory)
        _build(root, functions // FUNCTIONS_PER_CARD)
        yield root


def _build(root: Path, cards: int) -> None:
    host = SysfsBuilder(root)
    for node in (0, 1):
        host.numa_node(
            node, cpus=f"{node * 32}-{node * 32 + 31}", distances="10 21" if node == 0 else "21 10", socket=node
        )
    host.file("proc/sys/kernel/random/boot_id", "3f0c2f3e-6d1b-4c2e-9a43-0d2f6c1f0a55\n")
    host.file("proc/sys/kernel/hostname", "bench\n")
    (root / "sys/class/block").mkdir(parents=True)
    host.file("proc/net/route", _ROUTES).file("proc/net/fib_trie", _ADDRESSES)
    host.file("proc/net/ipv6_route", "").file("proc/net/if_inet6", "")
    for card in range(cards):
        _add_card(host, card)


def _add_card(host: SysfsBuilder, card: int) -> None:
    """Every other card's VFs are on the host's network driver; those of the others wait on vfio-pci."""
    bus, node, group = card + 1, card % 2, card * FUNCTIONS_PER_CARD
    has_vf_netdevs = card % 4 < 2
    port = host.function(
        f"0000:00:{card % 31 + 1:02x}.{card // 31}",
        "8086",
        "2030",
        class_code="060400",
        numa_node=node,
        iommu_group=group,
    )
    pf = host.function(
        f"0000:{bus:02x}:00.0",
        below=port,
        driver="i40e",
        numa_node=node,
        iommu_group=group + 1,
        total_vfs=64,
    )
    pf.netdev(f"ens{bus}", mac=f"3c:fd:fe:00:{bus:02x}:00")
    for index in range(FUNCTIONS_PER_CARD - 2):
        devfn = index + 1
        vf = pf.vf(
            f"0000:{bus:02x}:{devfn >> 3:02x}.{devfn & 7}",
            "154c",
            driver="iavf" if has_vf_netdevs else "vfio-pci",
            numa_node=node,
            iommu_group=group + 1 + devfn,
        )
        if has_vf_netdevs:
            vf.netdev(f"ens{bus}v{index}", mac=f"02:fd:fe:00:{bus:02x}:{devfn:02x}")
