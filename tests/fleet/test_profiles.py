"""The binding profiles of a consumer's devices, where the network of some is not known (rule C79)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.hosts import allocate, at, function, tracker, wants
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tracking.claim import Update
from laneway.fleet.profiles import binding_profiles
from laneway.store.memory import MemoryStore

KNOWN, UNKNOWN = "0000:05:00.0", "0000:06:00.0"


def store_with(*devices: PciDevice) -> MemoryStore:
    store = MemoryStore()
    with store.transaction("host-1") as transaction:
        update = Update(held={device.address: device for device in devices})
        transaction.write(update, action="import", at=datetime(2026, 12, 1, tzinfo=UTC))
    return store


def held() -> tuple[PciDevice, PciDevice]:
    host = tracker(function(KNOWN), function(UNKNOWN))
    allocate(host, "vm1", wants(count=2))
    known, unknown = (host.state.held[at(address)] for address in (KNOWN, UNKNOWN))
    return known, replace(unknown, extra_info=replace(unknown.extra_info, network_known=False))


def test_a_device_whose_network_is_not_known_is_left_out() -> None:
    assert list(binding_profiles(store_with(*held()), "vm1")["host-1"]) == [at(KNOWN)]


def test_a_consumer_all_of_whose_networks_are_unknown_is_told_so() -> None:
    with pytest.raises(LanewayError, match="the physical network of 0000:06") as refusal:
        binding_profiles(store_with(held()[1]), "vm1")
    assert refusal.value.code is ErrorCode.UNKNOWN_DEVICE
