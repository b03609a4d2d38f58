"""Whether a Windows host is ready, and what to do where it is not."""

from typing import Any

import pytest

from hosts.windows_builder import answers, gpu, recording
from laneway.domain.inventory import Platform
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.recording import Machine, PowerShellAnswers

SERVER: dict[str, Any] = {"product_type": "ServerNT", "hyperv_role": True, "acpi_tables": ("DMAR",)}


def machine(**changes: Any) -> Machine:
    return Machine(**(SERVER | changes))


@pytest.mark.parametrize(
    ("changes", "platform", "codes"),
    [
        pytest.param({}, Platform(iommu="intel", dda=True), [], id="a server that is ready"),
        pytest.param(
            {"machine": machine(acpi_tables=("IVRS",))}, Platform(iommu="amd", dda=True), [], id="a server with AMD-Vi"
        ),
        pytest.param(
            {"machine": machine(product_type="LanmanNT")},
            Platform(iommu="intel", dda=True),
            [],
            id="a domain controller is a server",
        ),
        pytest.param(
            {"machine": machine(product_type="WinNT")},
            Platform(iommu="intel", dda=False),
            ["client_windows"],
            id="a client edition",
        ),
        pytest.param(
            {"machine": machine(hyperv_role=False), "answers": answers(iov_support=None)},
            Platform(iommu=None, dda=False),
            ["hyperv_missing"],
            id="no Hyper-V",
        ),
        pytest.param(
            {"machine": machine(acpi_tables=("FACP",))},
            Platform(iommu="off", dda=False),
            ["iommu_off"],
            id="no IOMMU in the firmware",
        ),
        pytest.param(
            {"answers": answers(iov_support=False, iov_reasons=("the chipset cannot",))},
            Platform(iommu=None, dda=False),
            ["iov_not_supported"],
            id="Hyper-V says no",
        ),
        pytest.param(
            {"answers": PowerShellAnswers(failures=("host: no permission",))},
            Platform(iommu=None, dda=None),
            ["powershell_silent"],
            id="PowerShell says nothing",
        ),
        pytest.param(
            {"machine": machine(acpi_tables=None)}, Platform(iommu=None, dda=True), [], id="tables are not told"
        ),
        pytest.param(
            {"machine": Machine(), "answers": PowerShellAnswers()},
            Platform(),
            ["host_not_recorded"],
            id="nothing but devices was recorded",
        ),
        pytest.param(
            {"devices": (gpu(PciDevice_DeviceType=5),)},
            Platform(iommu="intel", dda=True),
            ["express_not_controlled"],
            id="the firmware kept control of PCI Express",
        ),
        pytest.param(
            {
                "machine": machine(product_type="WinNT", hyperv_role=False),
                "answers": PowerShellAnswers(failures=("teams: not there",)),
            },
            Platform(iommu=None, dda=False),
            ["client_windows", "hyperv_missing", "powershell_silent"],
            id="the worst comes first",
        ),
    ],
)
def test_readiness(changes: dict[str, Any], platform: Platform, codes: list[str]) -> None:
    found = inventory_of(recording(**changes))
    assert found.platform == platform
    assert [note.code for note in found.readiness] == codes
    assert all(note.message and note.remedy for note in found.readiness)


def test_the_reasons_of_hyper_v_are_told() -> None:
    told = answers(iov_support=False, iov_reasons=("the chipset cannot",))
    (note,) = inventory_of(recording(answers=told)).readiness
    assert "the chipset cannot" in str(note.message)
