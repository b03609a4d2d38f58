"""The host driver for Windows with Hyper-V."""

from laneway.hosts.hyperv.factory import HyperVHostDriverFactory

__all__ = ["HyperVHostDriverFactory"]
