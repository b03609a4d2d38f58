"""The JSON contract ``laneway.vfs/1``: the PFs of a host, and how many VFs they have."""

from collections.abc import Iterable
from dataclasses import dataclass

from laneway.contracts.answer import Json
from laneway.contracts.changes import Change, change_json
from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction
from laneway.interfaces.journal import VfCount

VFS_SCHEMA = "laneway.vfs/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PfVfs:
    """A PF with its VFs; ``kept`` is what an operator set, and what is set again after a boot."""

    pf: PciFunction
    vfs: tuple[PciAddress, ...]
    kept: VfCount | None = None


def vfs_document(host: str, pfs: Iterable[PfVfs], change: Change | None, *, dry_run: bool) -> Json:
    """The answer of ``laneway vfs``; ``change`` is None where none was asked for."""
    return {
        "schema": VFS_SCHEMA,
        "host": host,
        "dry_run": dry_run,
        "change": None if change is None else change_json(change),
        "pfs": [_pf_json(each) for each in pfs],
    }


def _pf_json(each: PfVfs) -> Json:
    sriov, kept = each.pf.sriov, each.kept
    return {
        "address": str(each.pf.address),
        "total_vfs": None if sriov is None else sriov.total_vfs,
        "num_vfs": None if sriov is None else sriov.num_vfs,
        "vfs": [str(address) for address in each.vfs],
        "kept": None if kept is None else {"count": kept.count, "autoprobe": kept.autoprobe},
    }
