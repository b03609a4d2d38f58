"""The host driver for libvirt: what its node devices tell of a host, here or elsewhere."""

from laneway.hosts.libvirt.factory import LibvirtHostDriverFactory

__all__ = ["LibvirtHostDriverFactory"]
