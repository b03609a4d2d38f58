"""Whether a virtual machine may start with the devices that its definition names."""

from dataclasses import replace
from typing import Any

import pytest

from domain.hosts import ANY, at, function, report, vf
from laneway.domain.device import Attach, Binding, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction
from laneway.domain.requests.request import ClaimRequest
from laneway.domain.tracking.claim import ClaimRecord, HostState, MoveKind, MoveOrigin
from laneway.domain.tracking.host_view import HostView, IommuGroups
from laneway.fleet.guest_start import require_start
from laneway.interfaces.guest_definition import GuestDefinition, WantedDevice
from laneway.interfaces.journal import PreparedDevice

GPU, PF, VF = "0000:3b:00.0", "0000:81:00.0", "0000:81:00.1"
UUID = "6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60"
BOOT = "this boot"


def guest(*addresses: str, managed: bool = False) -> GuestDefinition:
    wanted = tuple(WantedDevice(address=at(address), managed=managed) for address in addresses)
    return GuestDefinition(name="db-1", uuid=UUID, devices=wanted)


def host(
    *functions: PciFunction, specs: list[object] = ANY, held: tuple[PciDevice, ...] = (), **state: Any
) -> HostView:
    told = report(*functions, specs=specs)
    told = replace(told, inventory=replace(told.inventory, boot_id=BOOT))
    return HostView(told, HostState(held={one.address: one for one in held}, **state), IommuGroups.ENFORCE)


def one_device(
    consumer: str | None = "db-1",
    status: Status = Status.ALLOCATED,
    binding: Binding = Binding.LANEWAY,
    driver: str | None = "vfio-pci",
    attach: Attach = Attach.VFIO,
    **state: Any,
) -> HostView:
    gpu = function(GPU, driver=driver, class_code="030200")
    specs: list[object] = [{"address": "*", "binding": str(binding)}]
    admitted = host(gpu, specs=specs).admitted[at(GPU)]
    device = replace(admitted, consumer=consumer, status=status, attach=attach, claim="c")
    return host(gpu, specs=specs, held=(device,), **state)


def prepared(consumer: str = "db-1", boot_id: str | None = BOOT) -> dict[Any, PreparedDevice]:
    return {at(GPU): PreparedDevice(recorded=function(GPU), consumer=consumer, boot_id=boot_id)}


def refused(
    view: HostView, definition: GuestDefinition, journal: dict[Any, PreparedDevice], **more: bool
) -> LanewayError:
    with pytest.raises(LanewayError) as caught:
        require_start(view, definition, journal, **more)
    return caught.value


@pytest.mark.parametrize("consumer", ["db-1", UUID])
def test_a_guest_may_start_with_what_is_allocated_to_it_by_name_or_uuid_and_prepared(consumer: str) -> None:
    require_start(one_device(consumer), guest(GPU), prepared(consumer))


def test_a_guest_without_devices_may_start() -> None:
    require_start(host(), guest(), {})


@pytest.mark.parametrize(
    ("view", "code", "said"),
    [
        (host(function(GPU)), ErrorCode.NOT_OWNER, "nobody holds it; claim and allocate it for db-1"),
        (host(), ErrorCode.UNKNOWN_DEVICE, "there is no such PCI function"),
        (one_device("db-2"), ErrorCode.NOT_OWNER, "it belongs to db-2"),
        (one_device(status=Status.CLAIMED), ErrorCode.INVALID_STATUS, "it is claimed, not allocated"),
        (one_device(None, Status.RELEASING), ErrorCode.INVALID_STATUS, "it is releasing"),
        (one_device(None, Status.DIRTY), ErrorCode.INVALID_STATUS, "it is dirty"),
        (one_device(attach=Attach.VDPA), ErrorCode.INVALID_STATUS, "it was claimed to be attached by vdpa"),
    ],
    ids=[
        *("free", "not on this host", "another's", "only claimed", "on its way back", "to be cleaned"),
        "claimed for vDPA",
    ],
)
def test_what_is_not_allocated_to_it_is_refused(view: HostView, code: ErrorCode, said: str) -> None:
    error = refused(view, guest(GPU), prepared())
    assert error.code is code
    assert f"{GPU}: {said}" in error.message


def test_a_guest_that_is_being_moved_here_runs_with_what_is_claimed_for_it() -> None:
    move = ClaimRecord(
        request=ClaimRequest(consumer="db-1", claim="c", requests=()), devices={}, move=MoveOrigin(kind=MoveKind.LIVE)
    )
    require_start(one_device(status=Status.CLAIMED, claims={"c": move}), guest(GPU), prepared())


@pytest.mark.parametrize(
    ("journal", "driver", "said"),
    [
        ({}, "vfio-pci", "not prepared since this boot"),
        (prepared("db-2"), "vfio-pci", "not prepared since this boot"),
        (prepared(boot_id="the boot before"), "vfio-pci", "not prepared since this boot"),
        (prepared(), "nvidia", "on driver nvidia now: something else took it"),
        (prepared(), None, "on no driver now"),
    ],
    ids=["never", "for another", "before a reboot", "another driver took it", "no driver has it"],
)
def test_what_laneway_binds_has_to_be_prepared(
    journal: dict[Any, PreparedDevice], driver: str | None, said: str
) -> None:
    error = refused(one_device(driver=driver), guest(GPU), journal)
    assert (error.code, said in error.message) == (ErrorCode.NOT_BOUND, True)


def test_a_boot_that_is_not_known_is_not_another() -> None:
    require_start(one_device(), guest(GPU), prepared(boot_id=None))


@pytest.mark.parametrize("binding", [Binding.LANEWAY, Binding.OPERATOR])
def test_a_definition_by_which_libvirt_would_bind_it_too_is_a_mismatch(binding: Binding) -> None:
    error = refused(one_device(binding=binding), guest(GPU, managed=True), prepared())
    assert error.code is ErrorCode.NOT_BOUND
    assert f"managed='yes', but its device spec says binding = \"{binding}\"" in error.message


@pytest.mark.parametrize(
    ("managed", "driver", "is_right"),
    [(True, "nvidia", True), (False, "vfio-pci", True), (False, "nvidia", False), (False, None, False)],
    ids=["libvirt takes it", "it is taken already", "nobody takes it", "nobody gives it to vfio-pci"],
)
def test_what_libvirt_binds(managed: bool, driver: str | None, is_right: bool) -> None:
    view = one_device(binding=Binding.LIBVIRT, driver=driver)
    if is_right:
        require_start(view, guest(GPU, managed=managed), {})
    else:
        assert "managed='yes'" in refused(view, guest(GPU, managed=managed), {}).message


@pytest.mark.parametrize(("driver", "is_right"), [("mlx5_vfio_pci", True), ("nvidia", False), (None, False)])
def test_what_the_operator_binds_has_to_be_bound(driver: str | None, is_right: bool) -> None:
    view = one_device(binding=Binding.OPERATOR, driver=driver)
    if is_right:
        require_start(view, guest(GPU), {})
    else:
        assert "its operator has to bind it" in refused(view, guest(GPU), {}).message


ONLY_THE_VF: list[object] = [{"address": VF}]


class TestUntracked:
    def test_a_device_that_no_spec_admits_is_let_through_only_where_that_is_allowed(self) -> None:
        view = host(function(GPU), specs=[])
        assert "--allow-untracked" in refused(view, guest(GPU), {}).message
        require_start(view, guest(GPU), {}, allow_untracked=True)

    @pytest.mark.parametrize("related", ["its VF", "one of its group"])
    def test_unless_another_guests_device_would_go_with_it(self, related: str) -> None:
        group = None if related == "its VF" else 7
        nic, port = function(PF, iommu_group=group), vf(VF, PF if group is None else "0000:82:00.0", iommu_group=group)
        device = replace(host(port, specs=ONLY_THE_VF).admitted[at(VF)], consumer="db-2", status=Status.ALLOCATED)
        view = host(nic, port, specs=ONLY_THE_VF, held=(device,))
        error = refused(view, guest(PF), {}, allow_untracked=True)
        assert (error.code, f"take {VF} away from db-2" in error.message) == (ErrorCode.NOT_OWNER, True)

    def test_a_device_of_its_own_may_go_with_it(self) -> None:
        nic, port = function(PF), vf(VF, PF)
        device = replace(host(port, specs=ONLY_THE_VF).admitted[at(VF)], consumer="db-1", status=Status.ALLOCATED)
        require_start(host(nic, port, specs=ONLY_THE_VF, held=(device,)), guest(PF), {}, allow_untracked=True)


def test_another_card_at_the_address_of_the_one_that_was_claimed_is_refused() -> None:
    view = one_device(driver="vfio-pci")
    other = replace(view.report.inventory.functions[0], product_id="abcd")
    moved = HostView(
        replace(view.report, inventory=replace(view.report.inventory, functions=(other,))),
        view.state,
        IommuGroups.ENFORCE,
    )
    error = refused(moved, guest(GPU), prepared())
    assert (error.code, "it is 8086:abcd, not 8086:37c8" in error.message) == (ErrorCode.WRONG_DEVICE, True)


def test_every_objection_is_said_and_the_first_gives_the_code() -> None:
    error = refused(one_device("db-2"), guest(GPU, PF, VF), {})
    assert error.code is ErrorCode.NOT_OWNER
    assert error.message.splitlines() == [
        "db-1 may not start with the devices that it is defined with:",
        f"{GPU}: it belongs to db-2",
        f"{PF}: there is no such PCI function on this host; correct the definition",
        f"{VF}: there is no such PCI function on this host; correct the definition",
    ]
    assert [device["code"] for device in error.detail["devices"]] == ["not_owner", "unknown_device", "unknown_device"]  # type: ignore[attr-defined]
