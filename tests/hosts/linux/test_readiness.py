"""Whether a host is ready to give functions away, and the remedies."""

import pytest

from hosts.host_tree import HostTreeBuilder
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, HostUse, PciFunction, Platform, ReadinessNote, Sriov
from laneway.hosts.linux.readiness import readiness

INTEL = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu vmx\n\nprocessor\t: 1\nvendor_id\t: other\n"
AMD = "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu svm\n"
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
GUEST = "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n"

REMAPPED = "            CPU0\n   0:  44  IR-IO-APIC   2-edge  timer\n  30:  1  IR-PCI-MSI 0-edge  nvme0q0\n"
NOT_REMAPPED = "            CPU0\n   0:  44  IO-APIC   2-edge  timer\n  30:  1  PCI-MSI 0-edge  nvme0q0\n"


def function(
    address: str,
    *,
    group: int | None = None,
    driver: str | None = None,
    in_use: tuple[HostUse, ...] | None = (),
    class_code: str = "030000",
    sriov: Sriov | None = None,
) -> PciFunction:
    return PciFunction(
        address=PciAddress.parse(address),
        vendor_id="8086",
        product_id="1234",
        dev_type=DevType.PCI,
        class_code=class_code,
        iommu_group=group,
        driver=driver,
        in_use_by=in_use,
        sriov=sriov,
    )


def assess(host: HostTreeBuilder, *functions: PciFunction, live: bool = True) -> tuple[Platform, list[ReadinessNote]]:
    platform, notes = readiness(host.root, functions, live=live)
    return platform, list(notes)


def codes(notes: list[ReadinessNote]) -> list[tuple[str, str]]:
    return [(note.code, note.severity) for note in notes]


@pytest.fixture
def ready(host: HostTreeBuilder) -> HostTreeBuilder:
    """An Intel host on which all is well."""
    host.write("proc/cpuinfo", INTEL)
    host.write("proc/interrupts", REMAPPED)
    host.write("proc/cmdline", "root=/dev/sda1 intel_iommu=on\n")
    host.write("sys/class/iommu/dmar0/x", "")
    host.write("sys/module/vfio_pci/parameters/ids", "\n")
    return host


def test_a_host_on_which_all_is_well_has_no_notes(ready: HostTreeBuilder) -> None:
    assert assess(ready, function("01:00.0", group=4)) == (
        Platform(iommu="intel", interrupt_remapping=True, vfio_pci=True),
        [],
    )


@pytest.mark.parametrize(
    ("device", "kind"),
    [
        ("dmar0", "intel"),
        ("ivhd0", "amd"),
        ("smmu3.0x0000000009050000", "arm"),
        ("smmu.0x00000000e0600000", "arm"),
        ("0000:00:0b.0", "virtio"),
        ("a003e00.virtio_mmio", "virtio"),
        ("s390-iommu.00000100", "s390"),
        ("iommu-phb0000", "power"),
        ("riscv-iommu@0x1000", "riscv"),
        ("something-new", "other"),
    ],
)
def test_the_kind_of_iommu_is_told_by_its_device(host: HostTreeBuilder, device: str, kind: str) -> None:
    host.write(f"sys/class/iommu/{device}/x", "")
    assert assess(host)[0].iommu == kind


@pytest.mark.parametrize(
    ("cpu", "kind"),
    [(INTEL, "intel"), (AMD, "amd"), (ARM, "arm"), ("", "other")],
    ids=["intel", "amd", "arm", "unknown"],
)
def test_groups_alone_show_that_there_is_an_iommu(host: HostTreeBuilder, cpu: str, kind: str) -> None:
    host.write("proc/cpuinfo", cpu)
    assert assess(host, function("01:00.0", group=1), live=False)[0].iommu == kind


def test_groups_of_vfio_without_an_iommu_do_not_count(host: HostTreeBuilder) -> None:
    host.write("sys/kernel/iommu_groups/0/type", "")
    host.write("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n")
    assert assess(host, function("01:00.0", group=0))[0].iommu == "off"


def test_a_tree_that_shows_nothing_leaves_the_platform_open(host: HostTreeBuilder) -> None:
    assert assess(host, function("01:00.0"), live=False) == (Platform(), [])


def test_an_empty_list_of_iommus_in_a_tree_means_off(host: HostTreeBuilder) -> None:
    (host.root / "sys/class/iommu").mkdir()
    platform, notes = assess(host, live=False)
    assert platform.iommu == "off"
    assert codes(notes) == [("iommu_off", "error")]


REMEDIES = [
    (INTEL, "quiet", ["DMAR", "APIC"], "add intel_iommu=on iommu=pt to the kernel command line"),
    (INTEL, "intel_iommu=on", ["DMAR"], "dmesg | grep -i dmar"),
    (INTEL, "intel_iommu=on", ["APIC"], "turn on Intel VT-d"),
    (INTEL, "quiet", ["APIC"], "turn on Intel VT-d"),
    (INTEL, "quiet", None, "if that is not enough, turn on Intel VT-d"),
    (INTEL, "intel_iommu=off", ["DMAR"], "take intel_iommu=off off the kernel command line"),
    (AMD, "amd_iommu=off", ["IVRS"], "take amd_iommu=off off the kernel command line"),
    (AMD, "quiet", ["IVRS"], "dmesg | grep -i amd-vi"),
    (AMD, "quiet", ["APIC"], "turn on the IOMMU (AMD-Vi"),
    (AMD, "quiet", ["DMAR"], "add intel_iommu=on"),
    (ARM, "quiet", None, "SMMU"),
    (GUEST, "quiet", ["APIC"], "give this VM a virtual IOMMU"),
    (GUEST, "quiet", ["DMAR"], "add intel_iommu=on"),
    ("", "quiet", None, "turn on the IOMMU in the firmware setup"),
]


@pytest.mark.parametrize(("cpu", "options", "tables", "remedy"), REMEDIES, ids=[remedy for *_, remedy in REMEDIES])
def test_the_remedy_for_no_iommu_fits_the_host(
    host: HostTreeBuilder, cpu: str, options: str, tables: list[str] | None, remedy: str
) -> None:
    host.write("proc/cpuinfo", cpu)
    host.write("proc/cmdline", f"root=/dev/sda1 {options}\n")
    for table in tables or ():
        host.write(f"sys/firmware/acpi/tables/{table}", "")
    note = next(note for note in assess(host)[1] if note.code == "iommu_off")
    assert remedy in (note.remedy or "")


def test_a_host_that_is_a_vm_is_told_so(ready: HostTreeBuilder) -> None:
    ready.write("proc/cpuinfo", GUEST)
    assert codes(assess(ready)[1]) == [("inside_vm", "info")]


@pytest.mark.parametrize(
    ("table", "remapping"),
    [
        (REMAPPED, True),
        (NOT_REMAPPED, False),
        ("  12:  5  ITS-PCI-MSIX-0000:01:00.0 0 Edge nvme\n", True),
        ("  12:  5  GICv2 27 Level arch_timer\n", None),
        (None, None),
    ],
    ids=["x86 with IR", "x86 without", "Arm ITS", "GICv2", "no table"],
)
def test_interrupt_remapping_is_told_by_the_interrupt_controllers(
    host: HostTreeBuilder, table: str | None, remapping: bool | None
) -> None:
    if table is not None:
        host.write("proc/interrupts", table)
    assert assess(host)[0].interrupt_remapping is remapping


@pytest.mark.parametrize(
    ("unsafe", "expected"),
    [("N\n", ("interrupt_remapping_off", "error")), ("Y\n", ("unsafe_interrupts", "warning"))],
    ids=["refused", "allowed as unsafe"],
)
def test_without_interrupt_remapping(ready: HostTreeBuilder, unsafe: str, expected: tuple[str, str]) -> None:
    ready.write("proc/interrupts", NOT_REMAPPED)
    ready.write("sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", unsafe)
    assert codes(assess(ready)[1]) == [expected]


@pytest.mark.parametrize(
    ("files", "vfio_pci", "expected"),
    [
        ({"sys/bus/pci/drivers/vfio-pci/bind": ""}, True, []),
        (
            {"lib/modules/6.12/modules.dep": "kernel/vfio/pci/vfio-pci.ko.xz: \n"},
            True,
            [("vfio_pci_not_loaded", "info")],
        ),
        ({"lib/modules/6.12/modules.builtin": "kernel/a/vfio-pci.ko\n"}, True, [("vfio_pci_not_loaded", "info")]),
        ({"lib/modules/6.12/modules.dep": "kernel/fs/ext4.ko:\n"}, False, [("vfio_pci_missing", "error")]),
        ({"proc/modules": ""}, None, []),
        ({}, False, [("vfio_pci_missing", "error")]),
    ],
    ids=["loaded", "a module", "built in", "not among the modules", "modules unknown", "a kernel without modules"],
)
def test_vfio_pci_is_looked_for_among_drivers_and_modules(
    ready: HostTreeBuilder, files: dict[str, str], vfio_pci: bool | None, expected: list[tuple[str, str]]
) -> None:
    (ready.root / "sys/module").rename(ready.root / "sys/gone")
    ready.write("proc/sys/kernel/osrelease", "6.12\n")
    for path, text in files.items():
        ready.write(path, text)
    platform, notes = assess(ready)
    assert (platform.vfio_pci, codes(notes)) == (vfio_pci, expected)


def test_sriov_that_the_firmware_disabled(ready: HostTreeBuilder) -> None:
    functions = [
        function("81:00.0", sriov=Sriov(total_vfs=0)),
        function("81:00.1", sriov=Sriov(total_vfs=64)),
        function("82:00.0", sriov=Sriov(num_vfs=4)),
    ]
    notes = assess(ready, *functions)[1]
    assert codes(notes) == [("sriov_disabled", "warning")]
    assert "0000:81:00.0" in (notes[0].message or "")
    assert "0000:81:00.1" not in (notes[0].message or "")


EMPTY = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
PLACED = "0x00000000fba00000 0x00000000fba1ffff 0x000000000014220c\n"
UNSET = "0x0000000000000000 0x000000000001ffff 0x000000002014220c\n"


@pytest.mark.parametrize(
    ("registers", "expected"),
    [
        (PLACED + EMPTY * 2 + PLACED + EMPTY * 2, []),
        (EMPTY * 6, ["sriov_no_memory"]),
        (UNSET + EMPTY * 5, ["sriov_no_memory"]),
        (PLACED + EMPTY * 2 + UNSET + EMPTY * 2, ["sriov_no_memory"]),
        ("", []),
        ("nonsense\n" * 6, []),
        ("0 0\n" * 6, []),
    ],
    ids=["placed", "cleared", "marked as unset", "one of two", "a kernel without SR-IOV", "nonsense", "short lines"],
)
def test_vfs_that_have_no_address_space(ready: HostTreeBuilder, registers: str, expected: list[str]) -> None:
    ready.function("0000:81:00.0")
    ready.write("sys/bus/pci/devices/0000:81:00.0/resource", PLACED * 7 + registers)
    notes = assess(ready, function("81:00.0", sriov=Sriov(total_vfs=7)))[1]
    assert [note.code for note in notes] == expected


MOUNTED = (HostUse(code="mounted", detail="/"),)


def test_a_group_with_a_function_that_the_host_needs_is_not_viable(ready: HostTreeBuilder) -> None:
    functions = [
        function("00:1f.0", group=9, class_code="060100"),
        function("00:1f.2", group=9, driver="ahci", in_use=MOUNTED),
        function("00:1f.3", group=9, driver="snd_hda_intel"),
    ]
    (note,) = assess(ready, *functions)[1]
    assert (note.code, note.severity) == ("group_not_viable", "warning")
    assert note.message == (
        "IOMMU group 9 is not viable: the host needs 0000:00:1f.2 (mounted /), so 0000:00:1f.3 cannot go to a VM"
    )
    assert note.remedy


def test_a_group_that_is_half_bound_is_not_viable(ready: HostTreeBuilder) -> None:
    functions = [
        function("23:00.0", group=28, driver="vfio-pci"),
        function("23:00.1", group=28, driver="snd_hda_intel"),
        function("23:00.2", group=28),
    ]
    (note,) = assess(ready, *functions)[1]
    assert note.message == (
        "IOMMU group 28 is not viable: 0000:23:00.0 on vfio-pci shares it with 0000:23:00.1 on snd_hda_intel"
    )
    assert note.remedy == "bind 0000:23:00.1 to vfio-pci too, or admit it, so that it is taken along"


@pytest.mark.parametrize(
    "functions",
    [
        [
            function("00:1c.0", group=1, class_code="060400"),
            function("01:00.0", group=1, driver="nvme", in_use=MOUNTED),
        ],
        [function("01:00.0", group=1, in_use=MOUNTED), function("01:00.1", group=1, in_use=MOUNTED)],
        [function("01:00.0", driver="nvme", in_use=MOUNTED), function("01:00.1", driver="vfio-pci")],
    ],
    ids=["a bridge does not count", "the host needs all of it", "no groups at all"],
)
def test_groups_that_stand_in_nobodys_way(ready: HostTreeBuilder, functions: list[PciFunction]) -> None:
    assert assess(ready, *functions)[1] == []


def test_groups_of_several_functions_are_told_in_one_note(ready: HostTreeBuilder) -> None:
    functions = [
        function("01:00.0", group=2, driver="nouveau"),
        function("01:00.1", group=2, driver="snd_hda_intel"),
        function("05:00.0", group=1, in_use=None),
        function("06:00.0", group=1),
        function("07:00.0", group=3),
    ]
    (note,) = assess(ready, *functions)[1]
    assert (note.code, note.severity) == ("group_shared", "info")
    assert "1 (0000:05:00.0, 0000:06:00.0); 2 (0000:01:00.0, 0000:01:00.1)" in (note.message or "")


def test_the_worst_comes_first(ready: HostTreeBuilder) -> None:
    ready.write("proc/cpuinfo", GUEST)
    ready.write("proc/interrupts", NOT_REMAPPED)
    notes = assess(ready, function("81:00.0", sriov=Sriov(total_vfs=0)))[1]
    assert [note.severity for note in notes] == ["error", "warning", "info"]
