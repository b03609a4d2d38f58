"""What the entry point names. Imports nothing of the driver before it is wanted."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.hosts.libvirt.driver import LibvirtHostDriver

HOW_TO_INSTALL = (
    "install it as your distribution has it (python3-libvirt), or with pip install 'laneway[libvirt]', which "
    "builds it and needs a C compiler, pkg-config and the headers of Python and libvirt (libvirt-dev, libvirt-devel)"
)


class LibvirtHostDriverFactory:
    """The driver for the libvirt of the machine that this runs on, or of the one that a URI names."""

    stands_back = True
    """See ``SecondChoice``: the driver of the operating system itself knows more of this machine."""

    def unavailable(self) -> str | None:
        """Whether libvirt answers is told by the first discovery, with the reason."""
        return f"libvirt-python is not installed; {HOW_TO_INSTALL}" if find_spec("libvirt") is None else None

    def __call__(self) -> "LibvirtHostDriver":
        from laneway.hosts.libvirt.driver import LibvirtHostDriver  # noqa: PLC0415 - late, see the module

        return LibvirtHostDriver()

    def connecting_to(self, uri: str) -> "LibvirtHostDriver":
        """See ``Connecting``; ``uri`` is one of libvirt's connection URIs, such as ``qemu+ssh://root@node-1/system``."""
        from laneway.hosts.libvirt.driver import LibvirtHostDriver  # noqa: PLC0415 - late, see the module

        return LibvirtHostDriver(uri)
