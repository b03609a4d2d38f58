"""nova's own tracker takes the devices that Laneway tells it of (rules C24 to C32, C36, C37)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from laneway.demo.script import HOSTS
from laneway.domain.inventory import DevType, Inventory
from laneway.openstack.nova_devices import nova_devices

TRACKER = Path(__file__).with_name("nova_tracker.py")
ALL: list[object] = [{"address": "*:*:*.*", "physical_network": "p1"}]
A_VF = {"dev_type": "type-VF"}
A_PF = {"dev_type": "type-PF"}


def tracked(nova_python: Path, inventory: Inventory, *requests: dict[str, str]) -> Any:
    """What nova's tracker makes of the host, all of which its config admits, once the requests are claimed."""
    given = {"device_spec": ALL, "devices": nova_devices(inventory), "requests": requests}
    done = subprocess.run([nova_python, TRACKER], input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("host", [pytest.param(host, id=host.name) for host in HOSTS])
def test_nova_tracks_every_device_of_a_host(nova_python: Path, host: Any) -> None:
    inventory = host.inventory()
    told = {str(device["address"]): device for device in nova_devices(inventory)}
    made = tracked(nova_python, inventory)
    assert made["devices"].keys() == told.keys()
    assert made["free"] == sorted(told)
    for address, device in made["devices"].items():
        capabilities = told[address].get("capabilities", {})
        assert isinstance(capabilities, dict)
        assert {name: device[name] for name in ("dev_type", "dev_id", "label", "numa_node")} == {
            name: told[address][name] for name in ("dev_type", "dev_id", "label", "numa_node")
        }
        assert device["parent_addr"] == told[address].get("parent_addr")
        assert device["parent_ifname"] == told[address].get("parent_ifname")
        assert device["mac_address"] == told[address].get("mac_address")
        assert device["serial"] == capabilities.get("vpd", {}).get("card_serial_number")
        assert device["sriov"] == capabilities.get("sriov", {})
        assert device["network"] == capabilities.get("network", [])


def test_nova_knows_which_vf_is_of_which_pf(nova_python: Path) -> None:
    """A claimed VF takes its PF from the offer, and a claimed PF its VFs."""
    host = next(host for host in HOSTS if host.name == "net-1")
    inventory = host.inventory()
    made = tracked(nova_python, inventory, A_VF, A_PF)
    (vf,), (pf,) = made["claimed"]
    devices = made["devices"]
    vfs = [function for function in inventory.functions if function.dev_type is DevType.VF]
    assert {devices[str(one.address)]["pf"] for one in vfs} == {str(one.parent_addr) for one in vfs}
    assert devices[devices[vf]["pf"]]["status"] == "unclaimable"
    assert {device["status"] for device in devices.values() if device["pf"] == pf} == {"unclaimable"}
