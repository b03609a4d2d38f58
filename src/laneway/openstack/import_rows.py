"""The rows of one compute node, one for each address."""

from collections import defaultdict

from laneway.domain.address import PciAddress
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.nova_records import NovaNode, NovaPciDevice, NovaRecords


def rows_of_node(records: NovaRecords, node: NovaNode) -> tuple[list[NovaPciDevice], list[Finding]]:
    """The rows in order of address, and where two of one address have two owners.

    Of those the first counts whose owner exists. nova's database keeps such rows out; an export need not.
    """
    by_address: defaultdict[PciAddress, list[NovaPciDevice]] = defaultdict(list)
    for row in records.devices:
        if row.node_id == node.id:
            by_address[row.address].append(row)
    chosen: list[NovaPciDevice] = []
    findings: list[Finding] = []
    for _, rows in sorted(by_address.items()):
        first, *others = sorted(rows, key=lambda row: (not records.has_instance(row.owner), row.id))
        chosen.append(first)
        rival = next((row.owner for row in others if row.owner not in (None, first.owner)), None)
        if rival is not None:
            findings.append(_two_owners(first, rival))
    return chosen, findings


def _two_owners(row: NovaPciDevice, rival: str) -> Finding:
    return Finding(
        code="two_owners",
        severity=Severity.ERROR,
        message=f"{row.address} is with {row.owner} in row {row.id} of pci_devices and with {rival} in another;"
        f" it is taken over for {row.owner}, and {rival} must not run with it",
        address=row.address,
        consumer=row.owner,
    )
