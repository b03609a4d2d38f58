"""What ``laneway hostdev`` prints, given to the QEMU and the libvirt of this host."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from vm.commands import Laneway, output_of
from vm.devices import NIC_VFS, NVME, bound_to_vfio, driver_of
from vm.host_use import functions_now
from vm.nested_vm import running_domain, running_vm


def claim(laneway: Laneway) -> list[str]:
    """Two devices for a VM, which are its own then."""
    claimed = laneway("claim", "web-1", "--alias", "vf:1,disk:1")
    assert claimed.document["devices"] == {"vf": [NIC_VFS[0]], "disk": [NVME]}
    assert laneway("allocate", "web-1").status == 0
    return [NVME, NIC_VFS[0]]


def test_qemu_starts_with_the_arguments(laneway: Laneway) -> None:
    devices = claim(laneway)
    assert laneway("hostdev", "web-1", "--format", "qemu").document["unbound"] == devices
    with bound_to_vfio(*devices):
        told = laneway("hostdev", "web-1", "--format", "qemu").document
        assert told["unbound"] == []
        with running_vm("web-1", *as_a_shell_reads(told["definition"])) as pid:
            now = functions_now()
            assert [[one.pid for one in now[device].opened_by or ()] for device in devices] == [[pid], [pid]]
            assert {device: state_of(laneway, device) for device in devices} == dict.fromkeys(
                devices, ("allocated", [])
            )


def as_a_shell_reads(text: str) -> list[str]:
    return output_of("sh", "-c", f"printf '%s\\n' {text}").splitlines()


def state_of(laneway: Laneway, address: str) -> tuple[str, list[Any]]:
    (device,) = (one["device"] for one in laneway("devices").document["functions"] if one["address"] == address)
    return device["status"], device["blocked_by"]


def test_libvirt_starts_a_domain_with_the_elements(laneway: Laneway, libvirtd: Any, tmp_path: Path) -> None:
    config = tmp_path / "laneway.toml"
    config.write_text(laneway.config.read_text().replace("[[device_spec]]", '[[device_spec]]\nbinding = "libvirt"'))
    laneway = replace(laneway, config=config)
    devices = claim(laneway)
    before = [driver_of(device) for device in devices]
    elements = output_of(*laneway.command("hostdev", "web-1", "--format", "libvirt"))
    assert elements.count("managed='yes'") == len(devices)
    with running_domain(libvirtd, "web-1", elements):
        assert [driver_of(device) for device in devices] == ["vfio-pci", "vfio-pci"]
        assert all(functions_now()[device].opened_by for device in devices)
    assert [driver_of(device) for device in devices] == before
