"""Takes over what nova records of one host: devices, owners and requests.

nova is believed about who holds what, as long as that can be: a device too much is kept rather
than handed out twice. What cannot be is told, and left to a person.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, ExtraInfo, PciDevice, Status
from laneway.domain.inventory import DevType
from laneway.domain.requests.request import ClaimRequest, DeviceRequest
from laneway.domain.specs.refusal import Refusal
from laneway.domain.tracking.claim import ClaimRecord, Update
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.openstack.import_findings import Finding, Severity
from laneway.openstack.import_holders import Holders
from laneway.openstack.import_moves import move_here, moves_under_way, requests_here
from laneway.openstack.import_network import network_of
from laneway.openstack.import_requests import serve
from laneway.openstack.import_rows import rows_of_node
from laneway.openstack.import_statuses import CLAIMED, wrong_statuses
from laneway.openstack.nova_records import NovaNode, NovaPciDevice, NovaRecords
from laneway.openstack.port_records import MACVTAP, PortRecord
from laneway.openstack.recorded_device import completed, recorded_extra_info, recorded_function, recorded_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDevice:
    """A device that nova has with an owner. ``refusal`` says why it is not taken over, if it is not.

    ``known``: Laneway has it with that owner already, so there is nothing to do.
    """

    record: NovaPciDevice
    consumer: str
    status: Status
    attach: Attach
    request: DeviceRequest | None = None
    known: bool = False
    refusal: Refusal | None = None

    @property
    def is_new(self) -> bool:
        """Whether it is to be recorded now."""
        return not self.known and self.refusal is None


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaImport:
    """What is taken over of a host, by address, what was found, and the changes that record it."""

    node: NovaNode
    devices: tuple[ImportedDevice, ...]
    findings: tuple[Finding, ...]
    update: Update

    @property
    def is_clean(self) -> bool:
        """Whether nothing waits for a person before devices are handed out."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def plan_import(
    tracker: PciDeviceTracker, records: NovaRecords, node: NovaNode, ports: Mapping[str, PortRecord]
) -> NovaImport:
    """What is to be recorded of the node's devices. The tracker stands as if it were, then.

    The devices of an instance become one claim, ``nova-<uuid>``, with its stored requests (rule
    C68). Done again, it changes nothing.
    """
    return _Import(tracker, records, node, ports).run()


class _Import:
    """One import under way. VFs come before their PF: of a PF that is with one guest and whose VF
    with another, the VFs are there to be seen."""

    def __init__(
        self, tracker: PciDeviceTracker, records: NovaRecords, node: NovaNode, ports: Mapping[str, PortRecord]
    ) -> None:
        self._tracker = tracker
        self._records = records
        self._node = node
        self._ports = ports
        self._findings: list[Finding] = list(records.problems)
        self._holders = Holders(tracker.view)
        self._held: dict[PciAddress, PciDevice | None] = {}

    def run(self) -> NovaImport:
        rows, rivals = rows_of_node(self._records, self._node)
        self._findings += (*rivals, *wrong_statuses(rows))
        owned = sorted((row for row in rows if row.owner is not None), key=_vfs_first)
        self._findings += moves_under_way(self._records, self._node, owned)
        served = self._serve(owned)
        devices = [self._take(row, row.owner, served.get(row.address)) for row in owned if row.owner is not None]
        update = Update(held=self._held, claims=self._claims(devices))
        self._tracker.apply(update)
        self._report_unknown_to_nova(rows)
        return NovaImport(
            node=self._node,
            devices=tuple(sorted(devices, key=lambda device: device.record.address)),
            findings=tuple(self._findings),
            update=update,
        )

    def _serve(self, owned: Sequence[NovaPciDevice]) -> dict[PciAddress, DeviceRequest]:
        """The request of each device, and what is wrong with the requests of the instances of this node."""
        of_consumer: defaultdict[str, list[NovaPciDevice]] = defaultdict(list)
        for row in owned:
            if self._records.has_instance(row.owner):
                of_consumer[row.owner or ""].append(row)
        here = [uuid for uuid, one in (self._records.instances or {}).items() if self._node.is_at(one.host, one.node)]
        found: dict[PciAddress, DeviceRequest] = {}
        for consumer in sorted({*of_consumer, *here}):
            rows = sorted(of_consumer[consumer], key=lambda row: row.address)
            served = serve(consumer, requests_here(self._records, self._node, consumer), rows)
            found |= served.requests
            self._findings += served.findings
        return found

    def _take(self, row: NovaPciDevice, consumer: str, request: DeviceRequest | None) -> ImportedDevice:
        """Records the device, unless it is known already or something speaks against it."""
        device = ImportedDevice(
            record=row,
            consumer=consumer,
            status=Status.CLAIMED if row.status == CLAIMED else Status.ALLOCATED,
            attach=self._attach(row, request),
            request=request,
        )
        held = self._tracker.view.held.get(row.address)
        known = held is not None and held.consumer == consumer
        refusal = None if known else self._refusal(row, consumer, held)
        if refusal is not None:
            severity = Severity.WARNING if refusal.code == "owner_unknown" else Severity.ERROR
            self._say(refusal.code, severity, f"{row.address} is not taken over for {consumer}: {refusal.message}", row)
            return replace(device, refusal=refusal)
        self._report_place(row, consumer)
        made = self._made(device)
        if known:
            return replace(device, known=True)
        self._holders.add(made)
        self._held[row.address] = made
        return device

    def _attach(self, row: NovaPciDevice, request: DeviceRequest | None) -> Attach:
        if row.dev_type is DevType.VDPA:
            return Attach.VDPA
        port = self._ports.get(request.requester) if request is not None and request.requester is not None else None
        return Attach.MACVTAP if port is not None and port.vnic_type == MACVTAP else Attach.VFIO

    def _refusal(self, row: NovaPciDevice, consumer: str, held: PciDevice | None) -> Refusal | None:
        if not self._records.has_instance(consumer):
            return Refusal("owner_unknown", "nova has no such instance any more, so the device counts as free")
        if held is not None:
            return Refusal("held_by_another", f"here it is {held.standing}; free it first if that is wrong")
        there = self._tracker.view.report.inventory.by_address.get(row.address)
        if there is not None and (there.vendor_id, there.product_id) != (row.vendor_id, row.product_id):
            return Refusal(
                "other_device",
                f"nova knows {row.vendor_id}:{row.product_id} there, and the host has"
                f" {there.vendor_id}:{there.product_id}; find out where the card is now",
            )
        rival = self._holders.rival(there or recorded_function(row), consumer)
        if rival is not None:
            return Refusal(
                "relative_held", f"its relative {rival.address} is with {rival.consumer}; one of them is wrong"
            )
        return None

    def _report_place(self, row: NovaPciDevice, consumer: str) -> None:
        """Where the device and its owner are, if that is not here."""
        if row.address not in self._tracker.view.report.inventory.by_address:
            self._warn("not_on_host", f"the host does not show {row.address}; it is kept for {consumer}", row)
        elif not self._tracker.view.is_admitted(row.address):
            message = f"no device spec admits {row.address}; it is kept for {consumer} until that frees it"
            self._warn("not_admitted", message, row)
        instance = (self._records.instances or {}).get(consumer)
        elsewhere = instance is not None and not self._node.is_at(instance.host, instance.node)
        if instance is not None and elsewhere and move_here(self._records, self._node, consumer) is None:
            where = f"on {instance.host}" if instance.host else "on no host"
            why = (
                "a move may be under way"
                if self._records.moves is None
                else "nova has no move of it that is under way; free it once nothing runs with it here"
            )
            self._warn("owner_elsewhere", f"{row.address} is with {consumer}, which is {where}; it is kept: {why}", row)

    def _made(self, device: ImportedDevice) -> PciDevice:
        """The device as it is to be recorded, with today's facts where the host has them."""
        row, request = device.record, device.request
        today = self._tracker.view.admitted.get(row.address)
        extra = recorded_extra_info(row)
        if today is not None:
            extra = completed(today.extra_info, extra)
            self._compare_tags(row, extra)
        there = self._tracker.view.report.inventory.by_address.get(row.address)
        return PciDevice(
            function=there or recorded_function(row),
            extra_info=self._with_network(device, extra, admitted=today is not None),
            entry=None if today is None else today.entry,
            status=device.status,
            consumer=device.consumer,
            claim=None if request is None else _claim_id(device.consumer),
            request=None if request is None else request.name,
            attach=device.attach,
        )

    def _compare_tags(self, row: NovaPciDevice, today: ExtraInfo) -> None:
        for tag, recorded in recorded_tags(row).items():
            if today.tags.get(tag) != recorded:
                now = "not given" if today.tags.get(tag) is None else str(today.tags[tag]).lower()
                message = f"{tag} of {row.address} was {str(recorded).lower()} when it was allocated, and is {now} now"
                self._warn("tag_differs", message, row)

    def _with_network(self, device: ImportedDevice, extra: ExtraInfo, *, admitted: bool) -> ExtraInfo:
        network = network_of(device.record, device.request, extra, self._ports, self._node.host, admitted=admitted)
        self._findings += network.findings
        return network.extra_info

    def _claims(self, devices: Sequence[ImportedDevice]) -> dict[str, ClaimRecord | None]:
        """The claims that are new or have a new device."""
        served: defaultdict[str, dict[str, set[PciAddress]]] = defaultdict(lambda: defaultdict(set))
        for device in devices:
            if device.is_new and device.request is not None:
                served[device.consumer][device.request.name].add(device.record.address)
        return {_claim_id(consumer): self._claim(consumer, addresses) for consumer, addresses in sorted(served.items())}

    def _claim(self, consumer: str, new: Mapping[str, set[PciAddress]]) -> ClaimRecord:
        here = requests_here(self._records, self._node, consumer)
        requests = tuple({one.name: one for one in here}.values())
        request = ClaimRequest(consumer=consumer, claim=_claim_id(consumer), requests=requests)
        known = self._tracker.view.claims.get(request.claim) or ClaimRecord(request=request, devices={})
        devices = {
            name: tuple(sorted({*known.devices.get(name, ()), *new.get(name, ())}))
            for name in (one.name for one in requests)
        }
        return replace(known, request=request, devices=devices)

    def _report_unknown_to_nova(self, rows: Sequence[NovaPciDevice]) -> None:
        owners = {row.address: row.owner for row in rows}
        for address, held in sorted(self._tracker.view.held.items()):
            if held.consumer is not None and owners.get(address) is None:
                message = (
                    f"{address} is with {held.consumer} here, and free or unknown in nova; where nova is right:"
                    f" laneway free {held.consumer} --device {address}"
                )
                self._findings.append(
                    Finding(
                        code="unknown_to_nova",
                        severity=Severity.WARNING,
                        message=message,
                        address=address,
                        consumer=held.consumer,
                    )
                )

    def _warn(self, code: str, message: str, row: NovaPciDevice) -> None:
        self._say(code, Severity.WARNING, message, row)

    def _say(self, code: str, severity: Severity, message: str, row: NovaPciDevice) -> None:
        self._findings.append(
            Finding(code=code, severity=severity, message=message, address=row.address, consumer=row.owner)
        )


def _vfs_first(row: NovaPciDevice) -> tuple[bool, PciAddress]:
    return row.dev_type is DevType.PF, row.address


def _claim_id(consumer: str) -> str:
    return f"nova-{consumer}"
