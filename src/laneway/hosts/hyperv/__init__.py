"""The host driver for Windows with Hyper-V."""

from laneway.hosts.hyperv.driver import HyperVHostDriver, HyperVHostDriverFactory

__all__ = ["HyperVHostDriver", "HyperVHostDriverFactory"]
