"""Virtual functions: made and removed, set by their PF for a guest, and gone while a guest has the PF."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from vm.changing import (
    ON_VFIO,
    allocated,
    as_it_was,
    devices_of,
    done,
    given_up,
    prepared,
    refusal,
    released,
    standing,
)
from vm.commands import Laneway, output_of
from vm.devices import DEVICES, NIC_PF, NIC_VFS, bind, interface_of, make_vfs
from vm.registers import virtual_functions
from vm.vfio import opened_by_vfio

MAC = "02:00:00:00:00:77"


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    with as_it_was():
        yield


@pytest.fixture
def given_back() -> Iterator[None]:
    """The number of VFs is in the end what the other tests expect."""
    yield
    if standing(NIC_PF).vf_count != str(len(NIC_VFS)):
        make_vfs(NIC_PF, 0)
    (DEVICES / NIC_PF / "sriov_drivers_autoprobe").write_text("1")
    make_vfs(NIC_PF, 0)
    make_vfs(NIC_PF, len(NIC_VFS))


def settings_of(vf: int) -> Mapping[str, Any]:
    """What ``ip link`` tells of a VF of the NIC."""
    (link,) = json.loads(output_of("ip", "-details", "-json", "link", "show", "dev", interface_of(NIC_PF)))
    settings: Mapping[str, Any] = link["vfinfo_list"][vf]
    return settings


def in_short(settings: Mapping[str, Any]) -> tuple[object, ...]:
    vlan = next((one["vlan"] for one in settings.get("vlan_list", ()) if one.get("vlan")), settings.get("vlan", 0))
    return settings["address"], vlan, settings["spoofchk"], settings["trust"], settings["link_state"]


@pytest.mark.usefixtures("given_back")
def test_vfs_are_made_and_removed(changing: Laneway) -> None:
    """Another number by way of none, as the kernel wants it; their own driver does not take those for guests."""
    done(changing("vfs", NIC_PF, "0"))
    assert virtual_functions(NIC_PF) == []
    assert not any((DEVICES / vf).exists() for vf in NIC_VFS)

    made = done(changing("vfs", NIC_PF, "2"))
    assert virtual_functions(NIC_PF) == list(NIC_VFS[:2])
    assert [(standing(vf).driver, standing(vf).override) for vf in NIC_VFS[:2]] == [(None, None)] * 2
    (pf,) = (one for one in made["pfs"] if one["address"] == NIC_PF)
    assert (pf["num_vfs"], pf["vfs"]) == (2, list(NIC_VFS[:2]))

    done(changing("vfs", NIC_PF, "3", "--autoprobe"))
    assert [standing(vf).driver for vf in NIC_VFS] == ["igbvf"] * 3
    assert refusal(changing("vfs", NIC_PF, "8")) == "invalid_request"
    assert virtual_functions(NIC_PF) == list(NIC_VFS)


def test_what_a_pf_enforces_for_a_vf_is_set_and_set_back(changing: Laneway) -> None:
    before = settings_of(0)
    assert allocated(changing, "vm", place="vf") == [NIC_VFS[0]]
    prepared(changing, "vm", "--vf", f"{NIC_VFS[0]},mac={MAC},vlan=42,trust=on,spoofchk=off")
    assert in_short(settings_of(0)) == (MAC, 42, False, True, "auto")
    assert in_short(settings_of(1)) == in_short(before)
    assert standing(NIC_VFS[0]) == ON_VFIO
    with opened_by_vfio(NIC_VFS[0]):
        pass
    assert in_short(settings_of(0)) == (MAC, 42, False, True, "auto")
    given_up(changing, "vm")
    assert settings_of(0) == before


def test_what_the_driver_of_a_pf_cannot_set_is_refused_and_nothing_stays(changing: Laneway) -> None:
    """igb knows no link state of VFs."""
    before = settings_of(0), standing(NIC_VFS[0])
    allocated(changing, "vm", place="vf")
    refused = changing("prepare", "vm", "--vf", f"{NIC_VFS[0]},mac={MAC},vlan=42,state=enable")
    assert refusal(refused) == "host_change_failed"
    assert refused.document["error"]["detail"]["undone"]
    assert (settings_of(0), standing(NIC_VFS[0])) == before
    done(changing("free", "vm"))


def test_a_pf_goes_to_a_guest_and_its_vfs_come_back_with_it(changing: Laneway) -> None:
    name = interface_of(NIC_PF)
    output_of("ip", "link", "set", name, "vf", "1", "mac", MAC, "vlan", "7", "trust", "on", "spoofchk", "off")
    bind(NIC_VFS[2], "vfio-pci")
    bind(NIC_VFS[2], "igbvf")  # its override stays
    try:
        before = {address: standing(address) for address in (NIC_PF, *NIC_VFS)}
        settings = [settings_of(vf) for vf in range(len(NIC_VFS))]
        assert allocated(changing, "vm", place="pf", dev_type="type-PF") == [NIC_PF]
        prepared(changing, "vm")
        assert virtual_functions(NIC_PF) == []
        assert standing(NIC_PF).driver == "vfio-pci"
        tracked = devices_of(changing)
        assert [tracked[vf]["status"] for vf in NIC_VFS] == ["unavailable"] * 3
        assert refusal(changing("claim", "other", "--request", json.dumps(ANY_VF))) == "does_not_fit"
        with opened_by_vfio(NIC_PF) as (device,):
            assert device.ids() == "8086:10c9"

        released(changing, "vm")
        assert {address: standing(address) for address in (NIC_PF, *NIC_VFS)} == before
        assert [settings_of(vf) for vf in range(len(NIC_VFS))] == settings
        done(changing("free", "vm"))
        assert [devices_of(changing)[vf]["status"] for vf in NIC_VFS] == ["available"] * 3
    finally:
        (DEVICES / NIC_VFS[2] / "driver_override").write_text("\n")
        neutral = ("mac", "00:00:00:00:00:00", "vlan", "0", "trust", "off", "spoofchk", "on")
        output_of("ip", "link", "set", interface_of(NIC_PF), "vf", "1", *neutral)


ANY_VF = {"name": "v", "any_of": [{"place": "vf"}]}


@pytest.mark.usefixtures("given_back")
def test_a_pf_without_autoprobe_gets_vfs_without_drivers_back(changing: Laneway) -> None:
    done(changing("vfs", NIC_PF, "2", "--no-autoprobe"))
    before = {address: standing(address) for address in (NIC_PF, *NIC_VFS[:2])}
    assert before[NIC_VFS[0]].driver is None
    allocated(changing, "vm", place="pf", dev_type="type-PF")
    prepared(changing, "vm")
    given_up(changing, "vm")
    assert {address: standing(address) for address in before} == before
    assert virtual_functions(NIC_PF) == list(NIC_VFS[:2])
