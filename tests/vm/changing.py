"""Devices that go to guests and come back, by the command line, and how the host stands meanwhile."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from vm.commands import Answer, Laneway
from vm.devices import DEVICES, driver_of, settle


@dataclass(frozen=True, slots=True)
class Standing:
    """How a function stands: what a change of the host may change of it."""

    driver: str | None
    override: str | None = None
    vf_count: str | None = None
    autoprobe: str | None = None


ON_VFIO = Standing("vfio-pci", "vfio-pci")


def standing(address: str) -> Standing:
    device = DEVICES / address
    texts = {
        name: (device / file).read_text().strip() if (device / file).exists() else None
        for name, file in (("vf_count", "sriov_numvfs"), ("autoprobe", "sriov_drivers_autoprobe"))
    }
    override = (device / "driver_override").read_text().strip()
    return Standing(driver_of(address), None if override in ("", "(null)") else override, **texts)


def standings() -> Mapping[str, Standing]:
    """Of every function of the host."""
    return {path.name: standing(path.name) for path in DEVICES.iterdir()}


def done(answer: Answer) -> Any:
    """The document of a command that did all that it was to do."""
    assert answer.status == 0, answer
    return answer.document


def allocated(laneway: Laneway, consumer: str, **wanted: object) -> list[str]:
    """Devices for a consumer, by a tag of their device spec and what else a request may name."""
    request = json.dumps({"name": "device", "count": wanted.pop("count", 1), "any_of": [wanted]})
    claimed = done(laneway("claim", consumer, "--request", request))
    done(laneway("allocate", consumer))
    devices = claimed["devices"]["device"]
    assert isinstance(devices, list)
    return devices


def prepared(laneway: Laneway, consumer: str, *options: str) -> Mapping[str, list[str]]:
    """What was done to prepare its devices: the steps in words, by device."""
    return steps_of(done(laneway("prepare", consumer, *options)))


def released(laneway: Laneway, *arguments: str) -> Mapping[str, list[str]]:
    """What was done to give devices back."""
    return steps_of(done(laneway("release", *arguments)))


def steps_of(document: Any) -> Mapping[str, list[str]]:
    return {change["address"]: [step["summary"] for step in change["steps"]] for change in document["devices"]}


def given_up(laneway: Laneway, consumer: str) -> Mapping[str, list[str]]:
    """Frees all that a consumer holds, and gives it back to the host."""
    done(laneway("free", consumer))
    return released(laneway)


def refusal(answer: Answer) -> str:
    """The code with which a command was refused, as a whole or for its only device."""
    assert answer.status != 0, answer
    document = answer.document
    error = document["error"] if document.get("error") else document["devices"][0]["error"]
    code = error["code"]
    assert isinstance(code, str)
    return code


def devices_of(laneway: Laneway) -> Mapping[str, Any]:
    """What is tracked, by address."""
    return {one["address"]: one["device"] for one in laneway("devices").document["functions"] if one["device"]}


def status_of(laneway: Laneway, address: str) -> str:
    status = devices_of(laneway)[address]["status"]
    assert isinstance(status, str)
    return status


@contextmanager
def as_it_was() -> Iterator[None]:
    """In the end every function of the host stands as in the beginning."""
    before = standings()
    yield
    settle()
    assert standings() == before
