"""What is shown on the example hosts: command lines, each with what it is for."""

from collections.abc import Callable
from dataclasses import dataclass

from laneway.demo import desktop, gpu_server, network_host
from laneway.domain.inventory import Inventory

_CONTINUED = "\\\n"


@dataclass(frozen=True, slots=True)
class Step:
    """A command line as a shell would read it: over several lines where they end in a backslash."""

    purpose: str
    shown: str

    @property
    def line(self) -> str:
        """The command line as one line, without the program's name."""
        return " ".join(self.shown.replace(_CONTINUED, "").split()).removeprefix("laneway ")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoHost:
    """A host, its ``laneway.toml``, and a script: steps divided by empty lines, each below its purpose."""

    name: str
    title: str
    inventory: Callable[[], Inventory]
    config: str
    script: str

    @property
    def steps(self) -> list[Step]:
        """The steps that are played on the host, in order."""
        blocks = (block.partition("\n") for block in self.script.strip().split("\n\n"))
        return [Step(purpose.removeprefix("# "), shown) for purpose, _, shown in blocks]


HOSTS = (
    DemoHost(
        name="gpu-1",
        title="A GPU server: two sockets, four PCIe switches, each with two GPUs beside a network card",
        inventory=gpu_server.inventory,
        config=gpu_server.CONFIG,
        script=gpu_server.SCRIPT,
    ),
    DemoHost(
        name="net-1",
        title="A host for network functions: VFs on two physical networks, vDPA, and a DPU",
        inventory=network_host.inventory,
        config=network_host.CONFIG,
        script=network_host.SCRIPT,
    ),
    DemoHost(
        name="desk",
        title="A desktop computer: a graphics card to give away, and much that the host itself needs",
        inventory=desktop.inventory,
        config=desktop.CONFIG,
        script=desktop.SCRIPT,
    ),
)
