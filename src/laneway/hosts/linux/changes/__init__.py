"""Changing a Linux host: taking functions for guests and giving them back, numbers of VFs."""

from laneway.hosts.linux.changes.changer import LinuxChanger
from laneway.hosts.linux.changes.means import Means, means_of

__all__ = ["LinuxChanger", "Means", "means_of"]
