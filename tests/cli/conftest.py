"""The example hosts as files, and the command line on them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.documents import validated
from laneway import cli
from laneway.contracts.inventory import encode_inventory
from laneway.demo.script import HOSTS

CHANGING = ("prepare", "release", "clean", "restore", "vfs")
"""The commands that change a host."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command line led to."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class ExampleHost:
    """One example host in a folder of its own, and the command line on it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def config(self) -> Path:
        return self.folder / "laneway.toml"

    @property
    def options(self) -> list[str]:
        """Those that name the host."""
        files = {"--snapshot": self.folder / "host.json", "--config": self.config, "--state": self.folder / "state.db"}
        return [word for option, path in files.items() for word in (option, str(path))]

    def run(self, *words: str) -> Answer:
        return self.run_alone(*words, *self.options)

    def run_alone(self, *words: str) -> Answer:
        """Without the options that name the host."""
        status = cli.main(list(words))
        captured = self.capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    def json(self, schema: str, *words: str, status: int = 0) -> Any:
        """The answer in JSON, which keeps to the schema of this name."""
        answer = self.run(*words, "--json")
        assert (answer.status, answer.err) == (status, "")
        return validated(schema, answer.out)


@pytest.fixture
def example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], ExampleHost]:
    def make(name: str) -> ExampleHost:
        host = next(host for host in HOSTS if host.name == name)
        made = ExampleHost(tmp_path, capsys)
        (tmp_path / "host.json").write_bytes(encode_inventory(host.inventory()))
        made.config.write_text(host.config)
        return made

    return make


@pytest.fixture
def gpu_server(example: Callable[[str], ExampleHost]) -> ExampleHost:
    return example("gpu-1")


@pytest.fixture
def network_host(example: Callable[[str], ExampleHost]) -> ExampleHost:
    return example("net-1")


@pytest.fixture
def desktop(example: Callable[[str], ExampleHost]) -> ExampleHost:
    return example("desk")
