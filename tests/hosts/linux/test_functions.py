"""The facts of functions, as the driver reads them from a tree."""

from pathlib import Path

import pytest

from hosts.sysfs_builder import (
    IO_PORTS,
    MEMORY_32_BITS,
    MEMORY_64_BITS,
    PREFETCHABLE_64_BITS,
    FunctionDirectory,
    SysfsBuilder,
    register,
)
from hosts.vpd_builder import field, vpd
from laneway.domain.address import PciAddress
from laneway.domain.inventory import (
    Bar,
    DevType,
    Inventory,
    Link,
    PciFunction,
    Sriov,
    Vdpa,
    Vpd,
)
from laneway.hosts.linux import LinuxHostDriver

CARD = "0000:81:00.0"
VF = "0000:81:02.0"


@pytest.fixture
def sysfs(tmp_path: Path) -> SysfsBuilder:
    return SysfsBuilder(tmp_path)


def discover(sysfs: SysfsBuilder) -> Inventory:
    return LinuxHostDriver(sysfs.root).discover()


def read(sysfs: SysfsBuilder, address: str = CARD) -> PciFunction:
    return discover(sysfs).by_address[PciAddress.parse(address)]


def said(sysfs: SysfsBuilder) -> list[tuple[str | None, str | None]]:
    """What is noted of functions; not of what a tree cannot tell of the host's use."""
    problems = discover(sysfs).problems
    return [(problem.address, problem.attribute) for problem in problems if problem.attribute != "in_use_by"]


def test_ids_class_revision_and_driver(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, "15b3", "a2d6", subsystem="15b3:00c1", class_code="020700", revision="1b", driver="mlx5_core")
    function = read(sysfs)
    assert (function.vendor_id, function.product_id) == ("15b3", "a2d6")
    assert (function.subsystem_vendor_id, function.subsystem_id) == ("15b3", "00c1")
    assert (function.class_code, function.revision, function.driver) == ("020700", "1b", "mlx5_core")
    assert function.location_path is None


@pytest.mark.parametrize(
    "lacks",
    [
        pytest.param(("uevent",), id="no uevent"),
        pytest.param(
            ("modalias", "vendor", "device", "class", "subsystem_vendor", "subsystem_device"), id="only uevent"
        ),
        pytest.param(("uevent", "modalias"), id="only the single files"),
        pytest.param(
            ("uevent", "subsystem_vendor", "subsystem_device", "class"), id="subsystem and class only in modalias"
        ),
    ],
)
def test_a_capture_may_lack_files_that_say_the_same(sysfs: SysfsBuilder, lacks: tuple[str, ...]) -> None:
    sysfs.function(CARD, "8086", "10ca", subsystem="1af4:1100", driver="igbvf").without(*lacks)
    function = read(sysfs)
    assert (function.vendor_id, function.product_id, function.class_code) == ("8086", "10ca", "020000")
    assert (function.subsystem_vendor_id, function.subsystem_id, function.driver) == ("1af4", "1100", "igbvf")
    assert said(sysfs) == []


def test_a_uevent_without_ids_is_made_up_for_by_the_files(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, "8086", "10ca", driver="igbvf").attribute("uevent", f"PCI_SLOT_NAME={CARD}")
    function = read(sysfs)
    assert (function.product_id, function.class_code, function.driver) == ("10ca", "020000", "igbvf")


def test_before_linux_4_10_the_revision_stands_in_the_header_only(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD).without("revision").attribute("config", bytes(8) + b"\xa1" + bytes(55))
    assert read(sysfs).revision == "a1"
    card.attribute("config", bytes(8))
    assert read(sysfs).revision is None
    card.without("config")
    assert read(sysfs).revision is None


@pytest.mark.parametrize(
    ("attribute", "content", "field", "value", "is_noted"),
    [
        pytest.param("numa_node", "-1", "numa_node", None, False, id="node -1 is not known"),
        pytest.param("numa_node", "0", "numa_node", 0, False, id="node 0 is a node"),
        pytest.param("numa_node", "one", "numa_node", None, True, id="a node that is no number"),
        pytest.param("numa_node", b"", "numa_node", None, False, id="an empty file says nothing"),
        pytest.param("numa_node", b"\xff\xfe", "numa_node", None, True, id="bytes that are no text"),
        pytest.param("driver_override", "(null)", "driver_override", None, False, id="no override"),
        pytest.param("driver_override", b"\n", "driver_override", None, False, id="an empty override"),
        pytest.param("driver_override", "vfio-pci", "driver_override", "vfio-pci", False, id="an override"),
        pytest.param("reset_method", "flr bus", "reset_methods", ("flr", "bus"), False, id="reset methods in order"),
        pytest.param("reset_method", b"\n", "reset_methods", (), False, id="all reset methods turned off"),
        pytest.param("revision", "0xzz", "revision", None, False, id="a revision that is no number"),
        pytest.param("resource", "nonsense", "bars", None, True, id="registers that make no sense"),
    ],
)
def test_attributes(
    sysfs: SysfsBuilder, attribute: str, content: str | bytes, field: str, value: object, is_noted: bool
) -> None:
    sysfs.function(CARD).attribute(attribute, content)
    assert getattr(read(sysfs), field) == value
    assert said(sysfs) == ([(CARD, attribute)] if is_noted else [])


def test_registers_have_size_width_and_kind_and_unused_ones_are_left_out(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD).registers(
        register(8 << 30, PREFETCHABLE_64_BITS, start=0x4000000000),
        register(0x10000, 0),
        register(32, IO_PORTS),
        register(0x4000, MEMORY_64_BITS),
        register(0, MEMORY_32_BITS),
        register(0x1000, MEMORY_32_BITS, start=0),
        register(0x80000, MEMORY_32_BITS),
    )
    assert read(sysfs).bars == (
        Bar(index=0, size=8 << 30, bits=64, prefetchable=True),
        Bar(index=2, size=32, bits=32, prefetchable=False),
        Bar(index=3, size=0x4000, bits=64, prefetchable=False),
        Bar(index=5, size=0x1000, bits=32, prefetchable=False),
    )


def test_a_function_without_registers(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD).registers()
    assert read(sysfs).bars == ()
    card.without("resource")
    assert read(sysfs).bars is None


@pytest.mark.parametrize(
    ("now", "most", "expected"),
    [
        pytest.param(
            ("8.0 GT/s PCIe", "8"),
            ("16.0 GT/s PCIe", "16"),
            Link(speed_gts=8.0, width=8, max_speed_gts=16.0, max_width=16),
            id="now and at most",
        ),
        pytest.param(
            ("8 GT/s", "8"),
            ("2.5 GT/s", "255"),
            Link(speed_gts=8.0, width=8, max_speed_gts=2.5),
            id="as before Linux 5.6, with a width that is not known",
        ),
        pytest.param(("Unknown", "0"), ("Unknown speed", "0"), None, id="a VF that does not tell"),
        pytest.param(("x GT/s", "8"), ("nan GT/s", "8"), Link(width=8, max_width=8), id="speeds that are no numbers"),
    ],
)
def test_link(sysfs: SysfsBuilder, now: tuple[str, str], most: tuple[str, str], expected: Link | None) -> None:
    card = sysfs.function(CARD)
    card.attribute("current_link_speed", now[0]).attribute("current_link_width", now[1])
    card.attribute("max_link_speed", most[0]).attribute("max_link_width", most[1])
    assert read(sysfs).link == expected


def test_a_function_that_is_not_on_pcie_has_no_link(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, link=None)
    assert read(sysfs).link is None


def test_where_the_kernel_tells_reset_methods_a_function_without_the_attribute_has_none(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, reset_method=None)
    assert read(sysfs).reset_methods is None
    sysfs.function("0000:00:02.0", reset_method="pm")
    assert read(sysfs).reset_methods == ()


def test_place_below_bridges(sysfs: SysfsBuilder) -> None:
    port = sysfs.function("0000:80:01.0", class_code="060400")
    switch = sysfs.function("0000:81:00.0", class_code="060400", below=port)
    sysfs.function("0000:82:1f.7", below=switch)
    function = read(sysfs, "0000:82:1f.7")
    assert function.pcie_roots == ("0000:80",)
    assert function.bridges == (PciAddress.parse("0000:80:01.0"), PciAddress.parse("0000:81:00.0"))
    assert function.path == "0000:80/01.0/00.0/1f.7"


def test_a_directory_in_place_of_a_link_has_no_place(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD)
    link = sysfs.root / "sys/bus/pci/devices" / CARD
    link.unlink()
    card.path.rename(link)
    function = read(sysfs)
    assert (function.pcie_roots, function.bridges, function.path) == (None, None, None)
    assert function.vendor_id == "8086"


# SR-IOV


def card_with_vfs(sysfs: SysfsBuilder, count: int = 2) -> FunctionDirectory:
    card = sysfs.function(CARD, driver="i40e", total_vfs=64)
    for index in range(count):
        card.vf(f"0000:81:02.{index}", "154c", driver="iavf")
    return card


def test_a_pf_and_its_vfs_know_each_other(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs)
    pf, second = read(sysfs), read(sysfs, "0000:81:02.1")
    assert (pf.dev_type, pf.parent_addr, pf.vf_index) == (DevType.PF, None, None)
    assert pf.sriov == Sriov(total_vfs=64, num_vfs=2, vf_product_id="154c")
    assert (second.dev_type, second.parent_addr, second.vf_index) == (DevType.VF, pf.address, 1)
    assert second.sriov is None
    assert second.path == f"{pf.path}+vf1" == "0000:81/00.0+vf1"


def test_a_pf_without_vfs_yet_is_a_pf(sysfs: SysfsBuilder) -> None:
    """Rule C25."""
    sysfs.function(CARD, total_vfs=7, vf_device="ca")
    function = read(sysfs)
    assert (function.dev_type, function.sriov) == (DevType.PF, Sriov(total_vfs=7, num_vfs=0, vf_product_id="00ca"))


def test_a_pf_that_the_firmware_gives_no_vfs_is_none(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, total_vfs=0)
    assert read(sysfs).dev_type is DevType.PCI
    assert read(sysfs).sriov == Sriov(total_vfs=0, num_vfs=0, vf_product_id="154c")


def test_before_linux_3_8_a_pf_is_known_by_its_vfs(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).without("sriov_totalvfs")
    assert (read(sysfs).dev_type, read(sysfs).sriov) == (DevType.PF, Sriov(num_vfs=2))


def test_vfs_need_not_be_network_cards(sysfs: SysfsBuilder) -> None:
    disk = sysfs.function(CARD, "144d", "a824", class_code="010802", total_vfs=32)
    disk.vf("0000:81:00.1", "a824", class_code="010802")
    assert read(sysfs, "0000:81:00.1").dev_type is DevType.VF
    assert read(sysfs, "0000:81:00.1").netdevs == ()


def test_a_vf_whose_pf_cannot_be_read_is_still_a_vf_of_it(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).without("uevent", "vendor")
    function = read(sysfs, "0000:81:02.1")
    assert (function.dev_type, function.parent_addr) == (DevType.VF, PciAddress.parse(CARD))
    assert (function.vf_index, function.path) == (1, None)


def test_a_vf_that_its_pf_does_not_link_to_has_no_index(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).without("virtfn1")
    function = read(sysfs, "0000:81:02.1")
    assert (function.dev_type, function.vf_index, function.path) == (DevType.VF, None, None)


def test_links_between_pf_and_vf_that_lead_to_no_function_count_for_nothing(sysfs: SysfsBuilder) -> None:
    card = card_with_vfs(sysfs, count=1)
    card.link("virtfn1", sysfs.root / "nowhere").link("virtfnx", sysfs.root / "sys/x")
    sysfs.function("0000:82:00.0").link("physfn", sysfs.root / "nowhere")
    assert read(sysfs, VF).vf_index == 0
    assert read(sysfs, "0000:82:00.0").dev_type is DevType.PCI


def test_a_vf_is_on_the_link_of_its_pf(sysfs: SysfsBuilder) -> None:
    card = card_with_vfs(sysfs).attribute("current_link_width", "4")
    for name in ("current_link_speed", "max_link_speed"):
        Path(card.path.parent / VF / name).write_text("Unknown\n")
    assert read(sysfs, VF).link == read(sysfs).link == Link(speed_gts=16.0, width=4, max_speed_gts=16.0, max_width=16)


# vital product data and serial numbers


def test_a_vf_without_a_serial_takes_its_pfs(sysfs: SysfsBuilder) -> None:
    """Rule C30."""
    card = card_with_vfs(sysfs).attribute("vpd", vpd("A card", read_only=field("SN", "S1") + field("PN", "P1")))
    own = vpd("A port", read_only=field("SN", "S2"))
    Path(card.path.parent / "0000:81:02.1" / "vpd").write_bytes(own)
    assert read(sysfs).vpd == Vpd(
        card_serial_number="S1", part_number="P1", product_name="A card", fields={"SN": "S1", "PN": "P1"}
    )
    assert read(sysfs, VF).vpd == Vpd(card_serial_number="S1")
    assert read(sysfs, "0000:81:02.1").vpd == Vpd(card_serial_number="S2", product_name="A port", fields={"SN": "S2"})


def test_a_vf_has_no_serial_where_its_pf_has_none(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).attribute("vpd", vpd("A card"))
    assert read(sysfs, VF).vpd is None


def test_vital_product_data_that_make_no_sense_are_noted(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD).attribute("vpd", bytes(256))
    assert read(sysfs).vpd is None
    assert said(sysfs) == [(CARD, "vpd")]


def with_serial(size: int = 4096) -> bytes:
    return (bytes(0x100) + b"\x03\x00\x01\x00" + bytes.fromhex("a85783ffff211b00") + bytes(4096))[:size]


def test_a_vf_has_its_pfs_device_serial_number(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).attribute("config", with_serial())
    assert read(sysfs).device_serial_number == "00-1b-21-ff-ff-83-57-a8"
    assert read(sysfs, VF).device_serial_number == "00-1b-21-ff-ff-83-57-a8"


def test_a_vf_whose_pf_is_not_there_tells_its_number_itself(sysfs: SysfsBuilder) -> None:
    card_with_vfs(sysfs).without("uevent", "vendor").attribute("config", bytes(4096))
    (sysfs.root / "sys/bus/pci/devices" / VF / "config").write_bytes(with_serial())
    assert read(sysfs, VF).device_serial_number == "00-1b-21-ff-ff-83-57-a8"


def test_the_kernels_own_attribute_for_the_number_is_used_where_there_is_one(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD).attribute("serial_number", "00-80-ee-00-00-00-41-80")
    assert read(sysfs).device_serial_number == "00-80-ee-00-00-00-41-80"
    card.attribute("serial_number", "")
    assert read(sysfs).device_serial_number is None


def test_a_function_that_is_off_is_not_woken_for_its_number(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD).attribute("config", with_serial()).attribute("power_state", "D3cold")
    assert read(sysfs).device_serial_number is None
    card.attribute("power_state", "D3hot")
    assert read(sysfs).device_serial_number is not None


@pytest.mark.parametrize("size", [pytest.param(64, id="the header"), pytest.param(256, id="conventional PCI")])
def test_where_configuration_space_ends_before_it_there_is_no_number(sysfs: SysfsBuilder, size: int) -> None:
    sysfs.function(CARD).attribute("config", with_serial(size))
    assert read(sysfs).device_serial_number is None


# vDPA


def test_a_function_with_a_vdpa_device_is_vdpa_and_keeps_its_pf(sysfs: SysfsBuilder) -> None:
    card = sysfs.function(CARD, total_vfs=8)
    card.vf(VF, "101e").vdpa("vdpa0", bus="mlx5_core.vnet.2")
    function = read(sysfs, VF)
    assert (function.dev_type, function.parent_addr, function.vf_index) == (DevType.VDPA, PciAddress.parse(CARD), 0)
    assert function.vdpa == Vdpa(name="vdpa0", driver="vhost_vdpa", vhost_node="/dev/vhost-vdpa-0")


def test_a_vdpa_device_without_a_driver_has_no_node(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD).vdpa("vdpa1", driver=None)
    assert read(sysfs).vdpa == Vdpa(name="vdpa1")
    assert read(sysfs).dev_type is DevType.VDPA


def test_a_vdpa_device_of_a_subfunction_leaves_the_function_what_it_is(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, total_vfs=8).vdpa("vdpa2", bus="mlx5_core.sf.4/mlx5_core.vnet.4")
    assert (read(sysfs).dev_type, read(sysfs).vdpa) == (DevType.PF, None)


# IOMMU groups


@pytest.mark.parametrize(
    ("regions", "expected"),
    [
        pytest.param(("0x00000000fee00000 0x00000000feefffff msi",), (), id="the window of interrupts"),
        pytest.param(
            ("0x0000000000000000 0x0000000000ffffff direct-relaxable",), (), id="a region given up for guests"
        ),
        pytest.param(
            ("0x00000000fee00000 0x00000000feefffff msi", "0x00000000abc00000 0x00000000abcfffff direct"),
            ("reserved_memory",),
            id="a region that must stay",
        ),
    ],
)
def test_memory_that_the_firmware_keeps(
    sysfs: SysfsBuilder, regions: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    sysfs.function(CARD, iommu_group=17)
    sysfs.function("0000:81:00.1", iommu_group=17)
    sysfs.reserved_regions(17, *regions)
    for address in (CARD, "0000:81:00.1"):
        function = read(sysfs, address)
        assert function.iommu_group == 17
        assert function.not_assignable is not None
        assert tuple(reason.code for reason in function.not_assignable) == expected
        assert all("abc00000" in str(reason.message) for reason in function.not_assignable)


def test_without_a_group_nothing_is_known_of_it(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD)
    assert (read(sysfs).iommu_group, read(sysfs).not_assignable) == (None, None)


def test_a_group_of_which_the_tree_says_nothing(sysfs: SysfsBuilder) -> None:
    sysfs.function(CARD, iommu_group=17)
    (sysfs.root / "sys/kernel/iommu_groups/17/reserved_regions").unlink()
    assert read(sysfs).not_assignable is None
