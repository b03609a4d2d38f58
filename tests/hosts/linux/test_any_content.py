"""Whatever the attributes of a function hold, discovery answers, and what it answers can be written and read."""

import string
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hosts.sysfs_builder import SysfsBuilder
from hosts.vpd_builder import field, vpd
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.hosts.linux import LinuxHostDriver

CARD, VF = "0000:81:00.0", "0000:81:02.0"
ATTRIBUTES = (
    *("class", "config", "current_link_speed", "current_link_width", "device", "driver_override", "max_link_speed"),
    *("max_link_width", "modalias", "numa_node", "power_state", "reset_method", "resource", "revision"),
    *("serial_number", "sriov_numvfs", "sriov_totalvfs", "sriov_vf_device", "subsystem_device", "subsystem_vendor"),
    *("uevent", "vendor", "vpd", "net/ens1f0/address", "net/ens1f0/dev_port", "net/ens1f0/flags", "net/ens1f0/speed"),
)
CONTENT = st.one_of(
    st.binary(max_size=64),
    st.text(string.hexdigits + "x:. -\n", max_size=64).map(str.encode),
    st.sampled_from([b"", b"\n", b"-1\n", b"0\n", b"nan GT/s\n", b"inf GT/s\n", b"9" * 30, b"0x", b"_1"]),
    st.just(vpd("A card", read_only=field("SN", "S1"))),
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(ATTRIBUTES), CONTENT, min_size=1, max_size=12), st.sampled_from([CARD, VF]))
def test_any_content(content: dict[str, bytes], address: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        host = SysfsBuilder(Path(root))
        card = host.function(CARD, driver="i40e", total_vfs=8)
        card.netdev("ens1f0")
        card.vf(VF, "154c", driver="iavf").netdev("ens1f0v0")
        host.function("0000:82:00.0")
        for name, value in content.items():
            path = host.root / "sys/devices/pci0000:81" / address / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(value)
        inventory = LinuxHostDriver(host.root).discover()
    assert "0000:82:00.0" in {str(function.address) for function in inventory.functions}
    assert decode_inventory(encode_inventory(inventory)) == inventory
