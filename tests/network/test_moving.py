"""Which new device stands for which old one (rules C80, C82, C83)."""

from dataclasses import replace

import pytest

from domain.devices import device
from domain.hosts import at
from laneway.domain.device import PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.network.moving import moved_devices


def held(address: str, request: str) -> PciDevice:
    return replace(device(address), request=request)


def test_devices_correspond_by_request_and_in_the_order_of_their_addresses() -> None:
    old = [held("0000:81:02.1", "a"), held("0000:81:02.0", "a"), held("0000:81:02.2", "b")]
    new = [held("0000:5e:02.0", "b"), held("0000:5e:02.1", "a"), held("0000:5e:02.2", "a")]
    assert {str(address): str(found.address) for address, found in moved_devices(old, new).items()} == {
        "0000:81:02.0": "0000:5e:02.1",
        "0000:81:02.1": "0000:5e:02.2",
        "0000:81:02.2": "0000:5e:02.0",
    }


def test_the_mapping_is_of_devices_so_that_a_profile_can_be_made() -> None:
    (found,) = moved_devices([held("0000:81:02.0", "a")], [held("0000:5e:02.0", "a")]).values()
    assert found.address == at("0000:5e:02.0")


@pytest.mark.parametrize("new", [[], [held("0000:5e:02.0", "b")], [held(f"0000:5e:02.{n}", "a") for n in range(2)]])
def test_devices_that_cannot_be_correlated_are_refused(new: list[PciDevice]) -> None:
    with pytest.raises(LanewayError, match="request a had 1 devices before the move") as refusal:
        moved_devices([held("0000:81:02.0", "a")], new)
    assert refusal.value.code is ErrorCode.CANNOT_CORRELATE
