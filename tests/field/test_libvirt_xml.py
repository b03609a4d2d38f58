"""XML of node devices from the field, in a folder given by ``--field-data``, held against a plain reading of each."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hosts.libvirt.node_xml import FakeHost, function, interface, phys_function
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.address import PciAddress
from laneway.domain.inventory import DevType, Inventory
from laneway.hosts.libvirt.connection import Described
from laneway.hosts.libvirt.driver import LibvirtHostDriver

_STALE_NAME = "discovery-stale-mac-in-name"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder: Path | None = metafunc.config.getoption("field_data")
    for name, found in (("document", documents(folder)), ("case", cases(folder))):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [pytest.param(value, id=key) for key, value in found])
    if "folder" in metafunc.fixturenames:
        metafunc.parametrize("folder", [pytest.param(folder, id=str(folder))] if folder else [])


def documents(folder: Path | None) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "hosts/libvirt-xml").rglob("*.xml")) if folder else ():
        yield path.stem, path.read_text()


def cases(folder: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    path = folder / f"cases/{_STALE_NAME}.json" if folder else None
    if path is not None and path.exists():
        yield path.stem, json.loads(path.read_text())


def discover(*devices: Described) -> Inventory:
    inventory = LibvirtHostDriver(connect=FakeHost(*devices).connect).discover()
    assert decode_inventory(encode_inventory(inventory)) == inventory
    return inventory


def test_each_document_alone(document: str) -> None:
    found = discover(Described("device", document))
    bus = re.search(r"<bus>(\d+)</bus>", document)
    if bus is None:
        assert found.functions == ()
    elif int(bus[1]) > 0xFF:
        assert [problem.attribute for problem in found.problems] == ["address"]
    else:
        (function,) = found.functions
        parts = [int(number(f"<{part}>(\\d+)</{part}>", document)) for part in ("domain", "bus", "slot", "function")]
        assert function.address == PciAddress.of(*parts)
        for kind, value in (("vendor", function.vendor_id), ("product", function.product_id)):
            assert value == number(f"<{kind} id=['\"]0x([0-9a-fA-F]{{4}})", document).lower()
        node = re.search(r"<numa node=['\"](\d+)", document)
        assert function.numa_node == (None if node is None else int(node[1]))
        group = re.search(r"<iommuGroup number='(\d+)", document)
        assert function.iommu_group == (None if group is None else int(group[1]))
        serial = re.search(r"<serial_number>(.*)</serial_number>", document)
        assert (function.vpd and function.vpd.card_serial_number) == (None if serial is None else serial[1])
        assert function.dev_type is expected_type(document)
        assert (function.sriov.num_vfs if function.sriov else 0) == number_of_vfs(document)


def expected_type(document: str) -> DevType:
    if "phys_function" in document:
        return DevType.VF
    return DevType.PF if "maxCount" in document or number_of_vfs(document) else DevType.PCI


def number_of_vfs(document: str) -> int:
    inside = re.search(r"virt_functions'[^/]*?>(.*?)</capability>", document, re.DOTALL)
    return inside[1].count("<address") if inside else 0


def number(pattern: str, document: str) -> str:
    found = re.search(pattern, document)
    assert found is not None, pattern
    return found[1]


def test_all_documents_as_one_host(folder: Path) -> None:
    found = discover(*(Described(name, text) for name, text in documents(folder)))
    assert [function.address for function in found.functions] == sorted({one.address for one in found.functions})
    assert any(function.netdevs for function in found.functions)
    assert any(function.vf_index is not None for function in found.functions)


def test_the_case_of_a_name_with_an_old_mac(case: dict[str, Any]) -> None:
    pci, net = case["libvirt_nodedevs"]
    on = pci["address"]
    old = net["name"].removeprefix(f"net_{net['interface']}_").replace("_", ":")
    found = discover(
        function(
            on,
            phys_function(pci["phys_function"]),
            ids=f"<product id='0x{pci['product_id']}'/><vendor id='0x{pci['vendor_id']}'/>",
        ),
        interface(net["interface"], on=on, mac=net["mac"], mac_in_name=old),
    )
    assert [str(one.address) for one in found.functions] == case["expect"]["tracked"]
    macs = {str(one.address): netdev.mac for one in found.functions for netdev in one.netdevs or ()}
    assert macs == case["expect"]["mac"]
