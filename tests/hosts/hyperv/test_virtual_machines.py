"""Which VM has what, by Hyper-V's own account."""

from hosts.windows_builder import answers, assigned, recording
from laneway.domain.device import Attach
from laneway.domain.inventory import PciFunction
from laneway.hosts.hyperv.driver import HyperVHostDriver, inventory_of
from laneway.hosts.hyperv.recording import PowerShellAnswers
from laneway.interfaces.running_vms import RunningVms, VmObservingHostDriver

GPU_PATH, NIC_PATH = "PCIROOT(3)#PCI(0200)#PCI(0000)", "PCIROOT(1)#PCI(0000)"
FUNCTIONS: tuple[PciFunction, ...] = inventory_of(recording()).functions


def observed(told: PowerShellAnswers) -> RunningVms:
    driver = HyperVHostDriver(lambda: recording(answers=told))
    assert isinstance(driver, VmObservingHostDriver)
    return driver.running_vms(FUNCTIONS)


def test_a_vm_has_what_its_location_paths_name() -> None:
    told = answers(assigned=(assigned("db-1", GPU_PATH, "6a2f"), assigned("db-1", NIC_PATH.lower(), "6a2f")))
    (vm,) = observed(told).vms
    assert (vm.consumer, vm.uuid, vm.pid, vm.source) == ("db-1", "6a2f", None, "hyperv")
    assert [str(address) for address in vm.addresses] == ["0000:17:00.0", "0000:81:00.0"]
    assert set(vm.devices.values()) == {Attach.VFIO}


def test_two_vms_of_one_name_are_told_apart_by_their_ids() -> None:
    told = answers(assigned=(assigned("db", GPU_PATH, "6a2f"), assigned("db", NIC_PATH, "77b1")))
    assert sorted(vm.consumer for vm in observed(told).vms) == ["6a2f", "77b1"]


def test_a_function_that_two_vms_have_is_given_to_neither() -> None:
    told = answers(assigned=(assigned("one", GPU_PATH), assigned("two", GPU_PATH)))
    found = observed(told)
    assert found.vms == ()
    assert [problem.message for problem in found.problems] == [
        "the virtual machine one and the virtual machine two both have this function; it is given to neither"
    ]


def test_a_path_that_the_host_does_not_list_is_told() -> None:
    found = observed(answers(assigned=(assigned("db-1", "PCIROOT(9)#PCI(0000)"),)))
    assert found.vms == ()
    assert "PCIROOT(9)#PCI(0000)" in str(found.problems[0].message)


def test_what_hyper_v_does_not_tell_is_told() -> None:
    found = observed(PowerShellAnswers(failures=("assigned: no permission",)))
    assert found.vms == ()
    assert "no permission" in str(found.problems[0].message)
