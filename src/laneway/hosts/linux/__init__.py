"""The host driver for Linux."""

from laneway.hosts.linux.discovery import LinuxHostDriver, LinuxHostDriverFactory

__all__ = ["LinuxHostDriver", "LinuxHostDriverFactory"]
