"""The QEMU that the test host runs in, asked by its monitor: what it plugged, and to plug and unplug more."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from vm.devices import DEVICES, SLOT_0, SLOT_1

_PORT = "qmp"
_PORTS = {SLOT_0: "0000:20:03.0", SLOT_1: "0000:80:04.0"}


class Monitor:
    """One talk in QMP (https://www.qemu.org/docs/master/interop/qmp-spec.html) by the virtio port."""

    def __init__(self) -> None:
        self._port = _port().open("r+b", buffering=0)
        self._rest = b""
        self._events: list[Mapping[str, Any]] = []

    def __enter__(self) -> Self:
        self.ask("qmp_capabilities")
        return self

    def __exit__(self, *_error: object) -> None:
        self._port.close()

    def ask(self, command: str, **arguments: object) -> Any:
        self._port.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        for answer in self._answers():
            if "error" in answer and command != "qmp_capabilities":
                raise AssertionError(f"QEMU refuses {command}: {answer['error']['desc']}")
            if "return" in answer or "error" in answer:
                return answer.get("return")
            self._events.append(answer)
        raise AssertionError("QEMU is silent")

    def functions(self) -> Iterator[Mapping[str, Any]]:
        """All functions that QEMU has, as ``query-pci`` tells them."""
        for bus in self.ask("query-pci"):
            yield from _functions(bus["devices"])

    def plug(self, slot: str, driver: str, name: str) -> None:
        self.ask("device_add", bus=slot, driver=driver, id=name)

    def unplug(self, name: str) -> None:
        """Asks the host to let the device go, and waits until it has."""
        self._events.clear()
        self.ask("device_del", id=name)
        gone = any(_is_gone(event, name) for event in self._events)
        answers = self._answers()
        while not gone:
            gone = _is_gone(next(answers), name)

    def _answers(self) -> Iterator[Mapping[str, Any]]:
        while True:
            while b"\n" not in self._rest:
                self._rest += self._port.read(1 << 16) or b""
            line, self._rest = self._rest.split(b"\n", 1)
            answer = json.loads(line)
            if "QMP" not in answer:
                yield answer


def address_in(slot: str) -> str:
    """Where a function in an empty slot will stand: the kernel gives the bus of its port the number."""
    bus = int((DEVICES / _PORTS[slot] / "secondary_bus_number").read_text())
    return f"0000:{bus:02x}:00.0"


def _port() -> Path:
    (name,) = (path for path in Path("/sys/class/virtio-ports").glob("*/name") if path.read_text().strip() == _PORT)
    return Path("/dev", name.parent.name)


def _functions(devices: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for device in devices:
        yield device
        yield from _functions(device.get("pci_bridge", {}).get("devices", []))


def _is_gone(event: Mapping[str, Any], name: str) -> bool:
    return event.get("event") == "DEVICE_DELETED" and event["data"].get("device") == name
