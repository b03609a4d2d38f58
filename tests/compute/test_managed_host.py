"""What is remembered of a host and what the control plane knows come to agree, wherever a process ended."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from compute.changing_host import HOST, ChangingHost
from domain.hosts import at
from hosts.linux.changes.kernels import CARD, DISPLAY, FIRST_VF, PF, SOUND
from laneway.compute.managed_host import disagreement
from laneway.compute.preparing import prepare
from laneway.compute.releasing import release
from laneway.compute.vf_counts import set_vf_count
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import Alternative, ClaimRequest, DeviceRequest
from laneway.domain.tracking.host_view import IommuGroups
from laneway.fleet.control_plane import ControlPlane, Outcome
from laneway.interfaces.journal import JournalState

ADDRESS = at(CARD)


def settle(host: ChangingHost) -> None:
    with host.process().changing():
        pass


def agrees(host: ChangingHost) -> bool:
    return disagreement(host.journal(), host.look()).is_none


def prepared(host: ChangingHost) -> None:
    host.claim("vm", CARD)
    prepare(host.managed, "vm")


def test_where_nothing_was_done_there_is_nothing_to_settle(host: ChangingHost) -> None:
    settle(host)
    assert agrees(host)
    assert host.kernel.writes == []


def test_the_control_plane_learns_late_of_what_is_prepared(host: ChangingHost) -> None:
    prepared(host)
    host.managed.plane.released(HOST, ADDRESS)
    assert not agrees(host)
    settle(host)
    assert host.device(CARD).prepared
    assert agrees(host)


def test_the_control_plane_learns_late_of_what_was_given_back(host: ChangingHost) -> None:
    prepared(host)
    release(host.managed, "vm")
    host.managed.plane.prepared(HOST, ADDRESS)
    settle(host)
    assert not host.device(CARD).prepared
    assert agrees(host)


def test_a_device_whose_claim_was_freed_before_anybody_knew_that_it_is_prepared_goes_back(host: ChangingHost) -> None:
    before = host.kernel.tree()
    prepared(host)
    host.managed.plane.released(HOST, ADDRESS)
    host.free("vm")
    assert host.status(CARD) is Status.AVAILABLE
    settle(host)
    assert host.kernel.tree() == before
    assert agrees(host)


def test_what_was_lost_of_the_journal_is_not_called_prepared(host: ChangingHost) -> None:
    prepared(host)
    host.managed.journal.keep(JournalState())
    settle(host)
    assert not host.device(CARD).prepared
    prepare(host.managed, "vm")
    assert host.device(CARD).prepared


def test_what_cannot_be_given_back_now_is_told_and_stops_nothing(host: ChangingHost) -> None:
    prepared(host)
    host.managed.plane.released(HOST, ADDRESS)
    host.free("vm")
    host.kernel.open(CARD)
    host.claim("other", DISPLAY)
    assert prepare(host.managed, "other").is_complete
    assert any(f"{CARD} is taken for nobody" in line for line in host.told)


def test_a_device_that_is_freed_while_it_is_prepared_goes_back(host: ChangingHost) -> None:
    before = host.kernel.tree()
    host.claim("vm", CARD)

    class FreedMeanwhile(ControlPlane):
        def prepared(self, host: str, address: PciAddress, placeholders: object = ()) -> Outcome:
            self.free(host, consumer="vm")
            return super().prepared(host, address)

    plane = FreedMeanwhile(host.store, host.clock)
    with pytest.raises(LanewayError) as caught:
        prepare(replace(host.managed, plane=plane), "vm")
    assert caught.value.code is ErrorCode.INVALID_STATUS
    assert host.kernel.tree() == before
    assert agrees(host)


def test_a_member_of_the_group_that_another_consumer_has_on_the_hosts_driver_is_not_taken_along(
    changing_host: Callable[..., ChangingHost],
) -> None:
    host = changing_host(iommu_groups=IommuGroups.IGNORE)
    host.claim("other", SOUND)
    host.claim("vm", DISPLAY)
    with pytest.raises(LanewayError) as caught:
        prepare(host.managed, "vm")
    assert caught.value.code is ErrorCode.GROUP_NOT_VIABLE
    assert host.drivers(DISPLAY, SOUND) == ["bochs-drm", "snd_hda_intel"]


def test_a_driver_that_changed_behind_our_back_stays_noticed(host: ChangingHost) -> None:
    prepared(host)
    host.kernel.write("sys/bus/pci/drivers/vfio-pci/unbind", CARD)
    host.claim("other", DISPLAY)
    prepare(host.managed, "other")
    release(host.managed, "other")
    assert host.journal().taken[ADDRESS].driver == "vfio-pci"


def test_an_attachment_that_stays_with_the_host_takes_nothing(host: ChangingHost) -> None:
    set_vf_count(host.managed, at(PF), 1, autoprobe=True)
    vf = Alternative(vendor_id="8086", product_id="10ca", dev_type=DevType.VF)
    plane = host.managed.plane
    assert isinstance(plane, ControlPlane)
    request = DeviceRequest(name="nic", alternatives=(vf,), attach=Attach.MACVTAP)
    plane.claim(HOST, ClaimRequest(consumer="vm", claim="c", requests=(request,)))
    plane.allocate(HOST, consumer="vm")
    assert [change.steps for change in prepare(host.managed, "vm").of] == [()]
    assert (host.drivers(FIRST_VF), host.device(FIRST_VF).prepared, host.journal().taken) == (["igbvf"], False, {})
