"""Between two guests a device is cleaned, as its device spec says; one that is not clean goes to nobody."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from vm.agent import running_agent
from vm.changing import ON_VFIO, allocated, as_it_was, devices_of, done, prepared, refusal, released, standing, steps_of
from vm.commands import Laneway
from vm.devices import EDU, NIC_ON_SWITCH, NVME, disk_of, settle

WithCleaning = Callable[[str, str], Laneway]
State = tuple[str, list[str]]

CLEAN: State = ("available", [])
DIRTY: State = ("dirty", [])
NOT_CLEAN: State = ("dirty", ["cleaning_failed"])


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture
def with_cleaning(changing: Laneway, tmp_path: Path) -> WithCleaning:
    """The command line where a device is the only one, with a cleaning as TOML writes it."""

    def config(address: str, cleaning: str) -> Laneway:
        path = tmp_path / "laneway.toml"
        path.write_text(f'[[device_spec]]\naddress = "{address}"\nplace = "it"\ncleaning = {cleaning}\n')
        return replace(changing, config=path)

    return config


def had_by_a_guest(laneway: Laneway, address: str) -> None:
    """The device was a guest's, and the host has it back."""
    assert allocated(laneway, "vm", place="it") == [address]
    prepared(laneway, "vm")
    done(laneway("free", "vm"))
    released(laneway)


def state(laneway: Laneway, address: str) -> State:
    device = devices_of(laneway)[address]
    return device["status"], [block["code"] for block in device["blocked_by"]]


def test_a_reset(with_cleaning: WithCleaning) -> None:
    laneway = with_cleaning(NIC_ON_SWITCH, '"reset"')
    had_by_a_guest(laneway, NIC_ON_SWITCH)
    assert state(laneway, NIC_ON_SWITCH) == DIRTY
    assert (
        refusal(laneway("claim", "next", "--request", '{"name": "n", "any_of": [{"place": "it"}]}')) == "does_not_fit"
    )
    done(laneway("clean"))
    assert state(laneway, NIC_ON_SWITCH) == CLEAN


def test_a_reset_that_the_kernel_has_no_method_for(with_cleaning: WithCleaning) -> None:
    """Of two devices on a bus none is reset alone. To be given back that does not matter, to be clean it does."""
    laneway = with_cleaning("0000:01:*", '"reset"')
    had_by_a_guest(laneway, EDU)
    refused = laneway("clean")
    assert refusal(refused) == "cleaning_failed"
    assert "no method" in refused.document["devices"][0]["error"]["message"]
    assert state(laneway, EDU) == NOT_CLEAN


def test_a_command(with_cleaning: WithCleaning, tmp_path: Path) -> None:
    """As long as it fails, or does not end, the device is blocked; an operator may have it tried again."""
    program, told = tmp_path / "scrub", tmp_path / "told"
    program.touch(mode=0o755)
    laneway = with_cleaning(NIC_ON_SWITCH, f'{{ command = "{program} {{address}}", timeout = 2 }}')
    had_by_a_guest(laneway, NIC_ON_SWITCH)
    for number, script in enumerate(("echo it does not work >&2; exit 3", "exec sleep 1000")):
        program.write_text(f"#!/bin/sh\n{script}\n")
        assert refusal(laneway("clean", *([NIC_ON_SWITCH] if number else []))) == "cleaning_failed"
        assert state(laneway, NIC_ON_SWITCH) == NOT_CLEAN
    assert (
        refusal(laneway("claim", "next", "--request", '{"name": "n", "any_of": [{"place": "it"}]}')) == "does_not_fit"
    )
    assert steps_of(done(laneway("clean"))) == {}
    program.write_text(f'#!/bin/sh\necho "$1 $LANEWAY_DEVICE" >{told}\n')
    done(laneway("clean", NIC_ON_SWITCH))
    assert told.read_text() == f"{NIC_ON_SWITCH} {NIC_ON_SWITCH}\n"
    assert state(laneway, NIC_ON_SWITCH) == CLEAN


def test_the_agent_gives_a_disk_to_nobody_before_it_is_formatted(with_cleaning: WithCleaning) -> None:
    """It stays with the driver for guests: of what the last one wrote there is nothing left when the host gets it."""
    secret = b"the last guest's secret" * 178
    before = standing(NVME)
    Path("/dev", disk_of(NVME)).write_bytes(secret)
    laneway = with_cleaning(NVME, '"nvme-format"')
    with running_agent(laneway) as agent:
        agent.until("started")
        assert allocated(laneway, "vm", place="it") == [NVME]
        prepared(laneway, "vm")
        done(laneway("free", "vm"))
        done(laneway("reload"))
        assert agent.until("device_released")["facts"]["device"] == NVME
        assert agent.until("device_cleaned")["facts"]["device"] == NVME
    assert state(laneway, NVME) == CLEAN
    assert standing(NVME) == ON_VFIO
    released(laneway, "--device", NVME)
    settle()
    assert standing(NVME) == before
    with Path("/dev", disk_of(NVME)).open("rb") as disk:
        assert disk.read(len(secret)) == bytes(len(secret))


def test_a_device_that_cannot_be_formatted(with_cleaning: WithCleaning) -> None:
    laneway = with_cleaning(NIC_ON_SWITCH, '"nvme-format"')
    had_by_a_guest(laneway, NIC_ON_SWITCH)
    assert refusal(laneway("clean")) == "cleaning_failed"
    assert state(laneway, NIC_ON_SWITCH) == NOT_CLEAN
