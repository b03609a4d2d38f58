"""The udev rule by which nothing of the host reads the disks of one function. Pure.

What is set, and who heeds it: ``UDEV_DISABLE_PERSISTENT_STORAGE_*``: 60-persistent-storage.rules (blkid and all
links below /dev/disk); ``SYSTEMD_READY``: systemd (no mount, no swap, no unit that waits for the device), md, btrfs;
``DM_UDEV_DISABLE_OTHER_RULES_FLAG``: lvm2, bcache; ``nompath``: multipath; ``UDISKS_IGNORE``: udisks and desktops.
Without ID_FS_TYPE and ID_WWN, which only blkid and these rules would set, multipathd and zed pass a disk over.
``RUN:=`` keeps every later rule from running a program (snapd mounts what has a file system, mdadm assembles),
``nowatch`` udev from looking, and from having the kernel look for partitions, when somebody has written.
"""

from laneway.domain.address import PciAddress

RULES_FOLDER = "run/udev/rules.d"
_PREFIX = "00-laneway-storage-"
"""Rules are read in the order of their names, whatever folder they are in: this is before all others."""

_TEMPLATE = """\
# The disks of {address} hold what a guest wrote. Laneway has udev pass them over, and takes this file away by itself.
ACTION=="remove", GOTO="{end}"
SUBSYSTEM!="block", GOTO="{end}"
SUBSYSTEMS=="pci", KERNELS=="{address}", GOTO="{guard}"
# With native multipath a disk is no child of its controllers. Those that lead to this function alone count.
DEVPATH!="/devices/virtual/nvme-subsystem/*", GOTO="{end}"
ENV{{DEVTYPE}}=="disk", PROGRAM=="/bin/sh -c '{disk}'", GOTO="{guard}"
ENV{{DEVTYPE}}=="partition", PROGRAM=="/bin/sh -c '{partition}'", GOTO="{guard}"
GOTO="{end}"

LABEL="{guard}"
ENV{{SYSTEMD_READY}}="0"
ENV{{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}}="1"
ENV{{UDEV_DISABLE_PERSISTENT_STORAGE_BLKID_FLAG}}="1"
ENV{{DM_UDEV_DISABLE_OTHER_RULES_FLAG}}="1"
ENV{{UDISKS_IGNORE}}="1"
ENV{{nompath}}="1"
OPTIONS:="nowatch"
RUN:="/bin/true"
LABEL="{end}"
"""


def rule_file(address: PciAddress) -> str:
    """Where the rule for a function stands, below the root of the host."""
    return f"{RULES_FOLDER}/{_PREFIX}{address}.rules"


def guard_rule(address: PciAddress) -> str:
    """The text of the rule."""
    return _TEMPLATE.format(
        address=address,
        guard=f"laneway_{address}",
        end=f"laneway_{address}_end",
        disk=_for_udev(leads_only_to(address, "/sys"), "%k"),
        partition=_for_udev(leads_only_to(address, "/sys"), "%P"),
    )


def leads_only_to(address: PciAddress, sysfs: str) -> str:
    """A shell script that tells whether all paths to the multipath disk $1 (``nvme0n2``) are by way of the function.

    The paths of nvme0n2 are called nvme0c<controller>n2 (drivers/nvme/host/multipath.c).
    """
    return f"set -- {sysfs}/class/block/${{1%n*}}c*n${{1##*n}}; test -e $1 && ! readlink -f $@ | grep -qvF /{address}/"


def _for_udev(script: str, disk: str) -> str:
    """The script as the value of a key, in which udev replaces $ and % itself."""
    return f"set -- {disk}; " + script.replace("%", "%%").replace("$", "$$")
