"""The command line on a host that it can change: the driver for Linux on a fake kernel, found as any driver is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cli.conftest import Answer
from cli.documents import validated
from hosts.linux.changes.kernels import any_kernel
from hosts.linux.fake_kernel import FakeKernel
from laneway import cli
from laneway.interfaces.host_driver import HostDriver

NAME = "fake-kernel"
CONFIG = """\
[host]
name = "gpu-1"
driver = "fake-kernel"

[[device_spec]]
address = "*"

[[alias]]
name = "nic"
vendor_id = "8086"
product_id = "10d3"

[[alias]]
name = "display"
vendor_id = "1234"
product_id = "1111"

[[alias]]
name = "vf"
vendor_id = "8086"
product_id = "10ca"
device_type = "type-VF"
"""


class FakeKernelFactory:
    """What the entry point names. ``kernel`` is the host of the test that runs."""

    kernel: ClassVar[FakeKernel | None] = None

    def unavailable(self) -> str | None:
        return None

    def __call__(self) -> HostDriver:
        assert self.kernel is not None
        return self.kernel.host_driver()


@dataclass(frozen=True, slots=True)
class ChangingHost:
    """The command line on one such host."""

    folder: Path
    kernel: FakeKernel
    capsys: pytest.CaptureFixture[str]

    @property
    def options(self) -> list[str]:
        return ["--config", str(self.folder / "laneway.toml"), "--state", str(self.folder / "state" / "laneway.db")]

    def run(self, *words: str) -> Answer:
        status = cli.main([*words, *self.options])
        captured = self.capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    def done(self, *lines: str) -> None:
        """These command lines succeed."""
        for line in lines:
            answer = self.run(*line.split())
            assert answer.status == 0, (line, answer)

    def json(self, schema: str, *words: str, status: int = 0) -> Any:
        """The answer in JSON, which keeps to the schema of this name."""
        answer = self.run(*words, "--json")
        assert answer.status == status, answer
        return validated(schema, answer.out)


@contextmanager
def changing_host(
    folder: Path, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, config: Sequence[str] = (CONFIG,)
) -> Iterator[ChangingHost]:
    """A host in a folder, whose driver is found by an entry point of a distribution that is on the path."""
    about = folder / "site" / "laneway_fake_kernel-1.dist-info"
    about.mkdir(parents=True)
    reference = f"{FakeKernelFactory.__module__}:{FakeKernelFactory.__name__}"
    (about / "entry_points.txt").write_text(f"[laneway.host_drivers]\n{NAME} = {reference}\n")
    patch.syspath_prepend(about.parent)
    (folder / "laneway.toml").write_text("\n".join(config))
    kernel = any_kernel(folder / "root")
    patch.setattr(FakeKernelFactory, "kernel", kernel)
    yield ChangingHost(folder, kernel, capsys)
