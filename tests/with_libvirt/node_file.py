"""A file that libvirt's test driver makes a host of (https://libvirt.org/drvtest.html)."""

from pathlib import Path

from hosts.libvirt.node_xml import function, interface, phys_function, virt_functions
from laneway.hosts.libvirt.connection import Described

PF, VF, GPU = "0000:81:00.0", "0000:81:00.3", "0000:3b:00.0"

_COMPUTER = """<device><name>computer</name><capability type='system'><hardware><vendor>made up</vendor>
<uuid>c7a5fdbd-edaf-9455-926a-d65c16db1809</uuid></hardware><firmware/></capability></device>"""
_CARD = (
    "<capability type='vpd'><name>A card</name><fields access='readonly'><part_number>P1</part_number>"
    "<serial_number>S1</serial_number><vendor_field index='0'>x</vendor_field></fields></capability>",
    "<iommuGroup number='12'><address domain='0x0000' bus='0x81' slot='0x00' function='0x0'/></iommuGroup>",
    "<numa node='1'/>",
    "<pci-express><link validity='cap' port='0' speed='16' width='8'/><link validity='sta' speed='8' width='8'/>"
    "</pci-express>",
)
_FEATURES = ("<link speed='25000' state='up'/>", "<feature name='rx'/>", "<feature name='switchdev'/>")

DEVICES = (
    function(PF, virt_functions([VF], most=8), *_CARD),
    function(VF, phys_function(PF), ids="<product id='0x101e'/><vendor id='0x15b3'/>"),
    function(GPU, ids="<product id='0x20B0'/><vendor id='0x10DE'/>", klass="0x030200", place="pci0000:3a/0000:3a:00.0"),
    interface("ens1f0np0", *_FEATURES, on=PF),
    interface("ens1f0v0", on=VF, mac="02:00:00:00:00:50", mac_in_name="ea:60:77:1f:21:50"),
)
"""It takes no ``vdpa`` capability up to libvirt 9.0: what it makes of one is tried on XML alone."""

_DOMAIN = """<domain type='test'><name>db-1</name><uuid>6d5f6f5a-7f0e-4a6b-9d0c-1b2c3d4e5f60</uuid>
<memory>1024</memory><os><type>hvm</type></os><devices>
<hostdev mode='subsystem' type='pci'><source><address domain='0' bus='0x3b' slot='0' function='0'/></source></hostdev>
</devices></domain>"""


def write_node_file(path: Path, devices: tuple[Described, ...] = DEVICES, domains: str = _DOMAIN) -> str:
    """Writes the file, and gives the URI of its host."""
    path.write_text(f"<node>{_COMPUTER}{''.join(device.xml or '' for device in devices)}{domains}</node>")
    return f"test://{path}"
