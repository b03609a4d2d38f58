"""What each format prints, held against golden files: one host's devices of every kind of attachment.

``LANEWAY_REWRITE_GOLDEN=1`` writes the files anew; look at the difference before it is committed.
"""

import os
import shlex
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.devices import device
from laneway.domain.device import Attach, Binding, PciDevice
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import Bar, DevType, NetDevice, Vdpa
from laneway.formats.definition import Format, definition

GOLDEN = Path(__file__).parent / "golden"

GPU = device("0000:3b:00.0", location_path="PCIROOT(0)#PCI(1D00)#PCI(0000)")
FAR_GPU = device("10de:5e:1f.7", binding=Binding.LIBVIRT, location_path="PCIROOT(40)#PCI(0300)#PCI(0000)")
BOUND = device("0000:5f:00.0", binding=Binding.OPERATOR, location_path="PCIROOT(1)#PCI(0100)#PCI(0000)")
VDPA = device("0000:86:02.1", DevType.VDPA, attach=Attach.VDPA, vdpa=Vdpa(name="vdpa0", vhost_node="/dev/vhost-vdpa-0"))
TAP = device(
    "0000:86:02.2", DevType.VF, attach=Attach.MACVTAP, netdevs=(NetDevice(name="ens5v1"), NetDevice(name="ens5v2"))
)
VFIO = (GPU, FAR_GPU, BOUND)


@pytest.mark.parametrize(
    ("name", "form", "devices", "options"),
    [
        ("libvirt.xml", Format.LIBVIRT, (*VFIO, VDPA, TAP), {}),
        ("qemu.args", Format.QEMU, (*VFIO, VDPA), {}),
        ("qemu-iommufd.args", Format.QEMU, (*VFIO, VDPA), {"iommufd": True}),
        ("cloud-hypervisor.args", Format.CLOUD_HYPERVISOR, (*VFIO, VDPA), {}),
        ("cloud-hypervisor-iommu.args", Format.CLOUD_HYPERVISOR, (*VFIO, VDPA), {"iommu": True}),
        ("hyperv.ps1", Format.HYPERV, VFIO, {}),
    ],
)
def test_golden(name: str, form: Format, devices: tuple[PciDevice, ...], options: dict[str, bool]) -> None:
    printed = definition(form, devices, vm_name="db-1", **options) + "\n"
    if os.environ.get("LANEWAY_REWRITE_GOLDEN"):
        (GOLDEN / name).write_text(printed)
    assert printed == (GOLDEN / name).read_text()


@pytest.mark.parametrize("form", Format)
def test_without_devices_nothing_is_printed(form: Format) -> None:
    assert definition(form, (), vm_name="db-1", iommufd=True, iommu=True) == ""


def test_libvirt_elements_hold_the_address_in_its_parts() -> None:
    [address] = ET.fromstring(definition(Format.LIBVIRT, [FAR_GPU], vm_name="")).iter("address")
    assert {key: int(value, 16) for key, value in address.attrib.items()} == {
        "domain": 0x10DE,
        "bus": 0x5E,
        "slot": 0x1F,
        "function": 7,
    }


@pytest.mark.parametrize(
    ("binding", "managed"), [(Binding.LIBVIRT, "yes"), (Binding.LANEWAY, "no"), (Binding.OPERATOR, "no")]
)
def test_libvirt_manages_a_device_only_if_it_is_the_party_that_binds(binding: Binding, managed: str) -> None:
    """Rule C85."""
    element = ET.fromstring(definition(Format.LIBVIRT, [device(binding=binding)], vm_name=""))
    assert element.attrib == {"mode": "subsystem", "type": "pci", "managed": managed}


@pytest.mark.parametrize("form", [Format.LIBVIRT, Format.QEMU, Format.CLOUD_HYPERVISOR])
def test_a_vdpa_device_is_given_as_one_whatever_it_was_claimed_for(form: Format) -> None:
    claimed_for_vfio = device("0000:86:02.1", DevType.VDPA, vdpa=Vdpa(vhost_node="/dev/vhost-vdpa-0"))
    assert definition(form, [claimed_for_vfio], vm_name="") == definition(form, [VDPA], vm_name="")


def test_an_iommufd_object_is_made_only_for_devices_that_use_it() -> None:
    assert "iommufd" not in definition(Format.QEMU, [VDPA], vm_name="", iommufd=True)


@pytest.mark.parametrize(
    ("form", "subject", "missing"),
    [
        (Format.LIBVIRT, device(dev_type=DevType.VDPA), "vhost_node"),
        (Format.LIBVIRT, device(dev_type=DevType.VDPA, vdpa=Vdpa(name="v")), "vhost_node"),
        (Format.LIBVIRT, device(attach=Attach.MACVTAP), "netdevs"),
        (Format.LIBVIRT, device(attach=Attach.MACVTAP, netdevs=()), "netdevs"),
        (Format.QEMU, device(dev_type=DevType.VDPA), "vhost_node"),
        (Format.CLOUD_HYPERVISOR, device(dev_type=DevType.VDPA), "vhost_node"),
        (Format.HYPERV, device(), "location_path"),
    ],
)
def test_a_fact_that_is_not_known_is_named(form: Format, subject: PciDevice, missing: str) -> None:
    """Rule D13 for Hyper-V: without its location path a device would be any of its kind."""
    with pytest.raises(LanewayError, match=f"^0000:3b:00.0 .* its {missing} is not known; ") as caught:
        definition(form, [subject], vm_name="db-1")
    assert caught.value.code is ErrorCode.NOT_SUPPORTED
    assert caught.value.detail == {"address": "0000:3b:00.0", "fact": missing}


@pytest.mark.parametrize(
    ("form", "subject"),
    [(Format.QEMU, TAP), (Format.CLOUD_HYPERVISOR, TAP), (Format.HYPERV, TAP), (Format.HYPERV, VDPA)],
)
def test_a_kind_of_attachment_that_has_no_form_is_refused(form: Format, subject: PciDevice) -> None:
    with pytest.raises(LanewayError, match=f"^{subject.address} was claimed for {subject.attach}") as caught:
        definition(form, [subject], vm_name="db-1")
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


@pytest.mark.parametrize(
    ("form", "subject"),
    [
        (Format.LIBVIRT, device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node="/dev/\x01"))),
        (Format.QEMU, device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node="/dev/a\nb"))),
        (Format.CLOUD_HYPERVISOR, device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node='/dev/a"b'))),
        (Format.HYPERV, device(location_path="PCIROOT(0)\n")),
    ],
)
def test_a_fact_that_cannot_be_written_safely_is_refused(form: Format, subject: PciDevice) -> None:
    with pytest.raises(LanewayError, match=r"^0000:3b:00\.0") as caught:
        definition(form, [subject], vm_name="db-1")
    assert caught.value.code is ErrorCode.NOT_SUPPORTED
    assert "value" in caught.value.detail


printable = st.text(min_size=1, max_size=12).filter(str.isprintable)


@given(node=printable, name=printable)
def test_libvirt_elements_are_well_formed_whatever_the_facts(node: str, name: str) -> None:
    vdpa = device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node=node))
    tap = device(attach=Attach.MACVTAP, netdevs=(NetDevice(name=name),))
    domain = ET.fromstring(f"<devices>{definition(Format.LIBVIRT, [vdpa, tap], vm_name='')}</devices>")
    assert [source.get("dev") for source in domain.iter("source")] == [node, name]


@given(node=printable)
def test_qemu_reads_the_node_back_whatever_it_is_called(node: str) -> None:
    printed = definition(Format.QEMU, [device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node=node))], vm_name="")
    netdev = shlex.split(printed)[1]
    assert netdev.split(",vhostdev=", 1)[1].replace(",,", "\0").split(",")[0].replace("\0", ",") == node


@given(node=printable.filter(lambda text: not set(text) & set('"[]')))
def test_cloud_hypervisor_reads_the_node_back_whatever_it_is_called(node: str) -> None:
    vdpa = device(dev_type=DevType.VDPA, vdpa=Vdpa(vhost_node=node))
    option, value = shlex.split(definition(Format.CLOUD_HYPERVISOR, [vdpa], vm_name=""))
    assert option == "--vdpa"
    assert value.removeprefix("path=").strip('"') == node
    assert ("," in node) == value.startswith('path="')


def powershell_string(text: str) -> str:
    """Reads a PowerShell string in double quotes, up to the quote that ends it."""
    assert text[0] == '"'
    value, rest = "", iter(text[1:])
    for mark in rest:
        if mark == "`":
            value += (escaped := next(rest)).translate({ord("n"): "\n", ord("r"): "\r", ord("0"): "\0"}) or escaped
        elif mark in '"\u201c\u201d\u201e':
            assert "".join(rest) == "", "the string ends early"
            return value
        else:
            assert mark != "$", "a variable would be put in"
            value += mark
    raise AssertionError("the string does not end")


@given(name=st.text(max_size=20) | st.text(alphabet='`$"\u201c\u201d\u201e\0\n\rnr0(x)', max_size=12))
def test_powershell_reads_the_name_back_whatever_the_vm_is_called(name: str) -> None:
    for command in definition(Format.HYPERV, [GPU], vm_name=name).split("\n"):
        if not command.startswith("#"):
            assert powershell_string(command.split(" -VMName ", 1)[1]) == name


MIB = 1 << 20


def hyperv_device(address: str, *bars: Bar, class_code: str = "010802") -> PciDevice:
    return device(address, location_path=f"PCIROOT(0)#PCI({address[8:10]}00)", class_code=class_code, bars=bars)


@pytest.mark.parametrize(
    ("bars", "low", "high"),
    [
        pytest.param([Bar(index=0, size=16 * MIB, bits=32)], 144, 512, id="32 bits, below 4 GiB"),
        pytest.param([Bar(index=0, size=256 * MIB, bits=64)], 128, 768, id="64 bits, above"),
        pytest.param([Bar(size=176 * MIB)], 304, 688, id="not known: both"),
        pytest.param([Bar(index=0, size=1, bits=32), Bar(index=1, size=MIB, bits=32)], 130, 512, id="rounded up once"),
        pytest.param([Bar(index=0, size=8192 * MIB, bits=32)], 3072, 512, id="there is no more below 4 GiB"),
    ],
)
def test_a_hyper_v_vm_has_room_for_the_memory_of_its_devices(bars: list[Bar], low: int, high: int) -> None:
    printed = definition(Format.HYPERV, [hyperv_device("0000:3b:01.0", *bars)], vm_name="vm")
    sizes = f'Set-VM -LowMemoryMappedIoSpace {low}MB -HighMemoryMappedIoSpace {high}MB -VMName "vm"'
    assert printed.split("\n")[1] == sizes


def test_the_memory_of_all_devices_counts() -> None:
    two = [hyperv_device(f"0000:3b:0{slot}.0", Bar(size=64 * MIB, bits=64)) for slot in (1, 2)]
    assert "-HighMemoryMappedIoSpace 640MB" in definition(Format.HYPERV, two, vm_name="vm")


def test_memory_of_which_not_all_is_known_is_told() -> None:
    subject = hyperv_device("0000:3b:01.0", Bar(index=0, size=64 * MIB, bits=64), Bar(index=2, bits=32))
    printed = definition(Format.HYPERV, [subject], vm_name="vm")
    assert "# The memory of 0000:3b:01.0 is not known" in printed
    assert "-HighMemoryMappedIoSpace 576MB" in printed


def test_devices_without_memory_need_no_room() -> None:
    assert "MemoryMapped" not in definition(Format.HYPERV, [hyperv_device("0000:3b:01.0")], vm_name="vm")


@pytest.mark.parametrize(("class_code", "combined"), [("030200", True), ("010802", False)])
def test_display_adapters_get_combined_writes(class_code: str, combined: bool) -> None:
    printed = definition(Format.HYPERV, [hyperv_device("0000:3b:01.0", class_code=class_code)], vm_name="vm")
    assert ("-GuestControlledCacheTypes $true" in printed) is combined


@pytest.mark.parametrize("form", Format)
def test_no_definition_has_a_device_that_is_not_what_was_claimed(form: Format) -> None:
    with pytest.raises(LanewayError, match="another stands there") as refusal:
        definition(form, [replace(GPU, consumer="vm1", displaced="another stands there")], vm_name="vm1")
    assert refusal.value.code is ErrorCode.WRONG_DEVICE
