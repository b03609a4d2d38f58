"""The document of ``laneway devices``: every function, and what is tracked of it."""

from typing import Any

from cli.documents import valid
from domain.hosts import A_PF, allocate, at, pf, tracker, vf
from domain.tracking.test_preparation import do, prepared, seen
from laneway.cli.host_views import function_views
from laneway.contracts.codec import encode, parse_json
from laneway.contracts.devices import devices_document
from laneway.domain.tracking.tracker import PciDeviceTracker

PF, VF0, VF1 = "0000:81:00.0", "0000:81:02.0", "0000:81:02.1"
VFS = (vf(VF0, PF, vf_index=0), vf(VF1, PF, vf_index=1))


def prepared_nic() -> PciDeviceTracker:
    host = tracker(pf(PF), *VFS)
    allocate(host, "vm1", A_PF)
    do(host, prepared(PF, *VFS))
    return seen(host, pf(PF, driver="vfio-pci"))


def test_a_prepared_pf_and_its_vfs_that_are_gone() -> None:
    view = prepared_nic().view
    document: Any = parse_json(encode(devices_document("h1", view.report.inventory, view)))
    valid("devices", document)
    shown = {one["address"]: one for one in document["functions"]}
    assert {
        address: (one["device"]["status"], one["device"]["consumer"], one["device"]["prepared"])
        for address, one in shown.items()
    } == {
        PF: ("allocated", "vm1", True),
        VF0: ("unavailable", None, False),
        VF1: ("unavailable", None, False),
    }
    assert all(one["not_admitted"] == [] for one in shown.values())


def test_the_table_has_the_vfs_that_are_gone() -> None:
    views = {view.function.address: view.device for view in function_views(prepared_nic().view)}
    assert list(views) == [at(PF), at(VF0), at(VF1)]
    device = views[at(VF0)]
    assert device is not None
    assert [(device.status, reason.message) for reason in device.blocked_by] == [
        ("unavailable", "its relative 0000:81:00.0 is held by vm1")
    ]
