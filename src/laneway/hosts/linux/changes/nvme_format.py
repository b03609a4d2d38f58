"""Formatting all namespaces of an NVMe controller, by nvme-cli.

What is asked of the controller is in the NVM Express Base Specification: Identify Controller (5.1.13.2.1: OACS, FNA),
Format NVM (5.1.10: SES).
"""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.domain.address import PciAddress
from laneway.hosts.linux.changes.steps import DEVICES

if TYPE_CHECKING:
    from laneway.hosts.linux.changes.doing import Workbench

_LIVE_SECONDS = 60.0
_ASK_SECONDS = 30.0
_ALL = 0xFFFFFFFF

_CAN_FORMAT, _MANAGES_NAMESPACES = 1 << 1, 1 << 3
_FORMATS_ALL_AT_ONCE, _CAN_ERASE_KEYS = 1 << 0, 1 << 2
_ERASE_DATA, _ERASE_KEYS = 1, 2
_NAMESPACE = re.compile(r"\]\s*:\s*(?:0x)?([0-9a-fA-F]+)\s*$", re.MULTILINE)
"""A line of ``nvme list-ns``: ``[   0]:0x1``."""


class NvmeError(Exception):
    """The controller cannot be formatted, or has not been; the message says why."""


def format_namespaces(function: PciAddress, bench: "Workbench", seconds: float) -> None:
    """Formats them one after the other, within the time: the keys are erased where the controller can, else the data.

    Raises NvmeError, OSError.
    """
    controller = _controller(function, bench)
    nvme = _Nvme(controller, bench, bench.means.clock() + seconds)
    told = nvme.ask("id-ctrl")
    abilities, attributes = _number(told, "oacs"), _number(told, "fna")
    if not abilities & _CAN_FORMAT:
        raise NvmeError(f"{controller} cannot format (OACS is {abilities:#x}); clean it with a command of your own")
    namespaces = nvme.namespaces()
    if not namespaces:
        raise NvmeError(f"{controller} has no namespace; its last guest may have deleted or detached them")
    if abilities & _MANAGES_NAMESPACES:
        _require_all_attached(function, bench, nvme, namespaces)
    erase = _ERASE_KEYS if attributes & _CAN_ERASE_KEYS else _ERASE_DATA
    if attributes & _FORMATS_ALL_AT_ONCE:
        nvme.format(_ALL, erase=erase, block_format=_block_format(nvme.ask("id-ns", f"--namespace-id={namespaces[0]}")))
        return
    for namespace in namespaces:
        nvme.format(namespace, erase=erase)


def _controller(function: PciAddress, bench: "Workbench") -> str:
    """The controller's name, once the driver says that it is live."""

    def name() -> str | None:
        for entry in bench.files.tree.names(f"{DEVICES}/{function}/nvme") or ():
            state = (bench.files.tree.text(f"{DEVICES}/{function}/nvme/{entry}/state") or "").strip()
            if state == "live" and bench.files.tree.exists(f"dev/{entry}"):
                return entry
        return None

    bench.wait(lambda: name() is not None, f"the NVMe controller {function} to be live", _LIVE_SECONDS)
    found = name()
    if found is None:
        raise NvmeError(
            f"the NVMe controller {function} is not live {_LIVE_SECONDS:g} s after its driver took it; dmesg"
        )
    return found


def _require_all_attached(function: PciAddress, bench: "Workbench", nvme: "_Nvme", namespaces: Sequence[int]) -> None:
    """A namespace that a guest has detached keeps its data, and the next guest can attach it.

    With SR-IOV it may belong to another controller: that cannot be told, so it is only said.
    """
    detached = [namespace for namespace in nvme.namespaces("--all") if namespace not in namespaces]
    if not detached:
        return
    words = f"detached from {nvme.controller}, and still there: namespace {', '.join(map(str, detached))}"
    has_relatives = any(
        bench.files.tree.exists(f"{DEVICES}/{function}/{name}") for name in ("physfn", "sriov_totalvfs")
    )
    if not has_relatives:
        raise NvmeError(f"{words}; attach or delete them: nvme attach-ns, nvme delete-ns")
    bench.progress(f"{words}; what is in it stays")


class _Nvme:
    """nvme-cli, for one controller, until ``end``."""

    def __init__(self, controller: str, bench: "Workbench", end: float) -> None:
        self.controller = controller
        self._bench = bench
        self._end = end

    def ask(self, command: str, *options: str) -> dict[str, object]:
        """What a command says as JSON, without the warnings around it."""
        text = self._run([command, self._node, *options, "--output-format=json"], self._left(_ASK_SECONDS))
        try:
            told = json.loads(text[text.find("{") : text.rfind("}") + 1])
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise NvmeError(f"nvme {command} of {self.controller} did not answer in JSON: {text[:200]!r}")
        return told

    def namespaces(self, *options: str) -> list[int]:
        """The ids of the namespaces that are attached, or with ``--all`` exist."""
        text = self._run(["list-ns", self._node, *options], self._left(_ASK_SECONDS))
        return [int(number, 16) for number in _NAMESPACE.findall(text)]

    def format(self, namespace: int, *, erase: int, block_format: int | None = None) -> None:
        left = self._left()
        which = "all namespaces" if namespace == _ALL else f"namespace {namespace}"
        self._bench.progress(f"formatting {which} of {self.controller}, within {left:.0f} s")
        command = ["format", self._node, f"--namespace-id={namespace}", f"--ses={erase}", "--force"]
        if block_format is not None:
            command.append(f"--lbaf={block_format}")
        self._run([*command, f"--timeout={int(left * 1000)}"], left)

    @property
    def _node(self) -> str:
        return f"/dev/{self.controller}"

    def _left(self, most: float | None = None) -> float:
        left = self._end - self._bench.means.clock()
        if left <= 0:
            raise NvmeError(f"the time for formatting {self.controller} is over")
        return left if most is None else min(left, most)

    def _run(self, words: Sequence[str], seconds: float) -> str:
        program = f"nvme {words[0]} of {self.controller}"
        try:
            ended = self._bench.means.programs.run(["nvme", *words], seconds)
        except FileNotFoundError as error:
            raise NvmeError("the program nvme is not there: install nvme-cli") from error
        if ended.status != 0:
            raise NvmeError(ended.said(program))
        return ended.output


def _number(told: dict[str, object], name: str) -> int:
    value = told.get(name)
    if not isinstance(value, int):
        raise NvmeError(f"nvme did not tell {name}: {value!r}")
    return value


def _block_format(namespace: dict[str, object]) -> int:
    """The index of its LBA format (NVM Command Set Specification 4.1.5.1, FLBAS: bits 3:0, and above them 6:5)."""
    flbas = _number(namespace, "flbas")
    return flbas & 0xF | flbas >> 1 & 0x30
