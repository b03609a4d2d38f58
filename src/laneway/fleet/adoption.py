"""Taking over a host whose VMs run already: what each of them would be recorded to hold."""

from dataclasses import dataclass

from laneway.contracts.answer import Json
from laneway.contracts.codec import to_plain
from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, PciDevice
from laneway.domain.specs.refusal import Refusal
from laneway.domain.tracking.claim import Update
from laneway.domain.tracking.tracker import PciDeviceTracker
from laneway.interfaces.running_vms import RunningVm, RunningVms

ADOPT_SCHEMA = "laneway.adopt/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoptee:
    """A device that a running VM has. ``refusal`` says why it is not recorded, if it is not.

    ``known``: it is recorded already, so there is nothing to do.
    """

    address: PciAddress
    vm: RunningVm
    attach: Attach
    known: bool = False
    refusal: Refusal | None = None

    @property
    def is_new(self) -> bool:
        """Whether it is to be recorded now."""
        return not self.known and self.refusal is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What is recorded of all VMs, by VM and address, and the changes that record it.

    ``running`` is what was seen of the VMs.
    """

    devices: tuple[Adoptee, ...]
    update: Update
    running: RunningVms


def plan_adoption(tracker: PciDeviceTracker, running: RunningVms) -> Adoption:
    """Which devices of running VMs can be recorded as theirs. The tracker stands as if they were, then.

    A device that no spec admits, that another consumer holds (perhaps by another address), or whose
    relative another consumer holds is not: that is for an operator to look at. All other devices of the VM are.
    """
    devices: list[Adoptee] = []
    held: dict[PciAddress, PciDevice | None] = {}
    for vm in running.vms:
        for address, attach in sorted(vm.devices.items()):
            adoptee = _considered(tracker, vm, address, attach)
            if adoptee.is_new:
                update = tracker.adopt({address: vm.consumer}, {address: attach})
                tracker.apply(update)
                held.update(update.held)
            devices.append(adoptee)
    return Adoption(devices=tuple(devices), update=Update(held=held), running=running)


def _considered(tracker: PciDeviceTracker, vm: RunningVm, address: PciAddress, attach: Attach) -> Adoptee:
    view = tracker.view
    held = view.held.get(address)
    refusal = None
    if held is not None and held.consumer != vm.consumer:
        refusal = Refusal("invalid_status", f"it is {held.standing}; free it first if that is wrong")
    elif others := [device for device in view.displaced_at(address) if device.consumer != vm.consumer]:
        refusal = Refusal(
            "wrong_device", f"it may be the device that is {others[0].standing} as {others[0].address}; free that first"
        )
    elif held is None and not view.is_admitted(address):
        refusal = Refusal("unknown_device", "no device spec admits it; add an entry for it")
    elif held is None and not view.index.cohort_of[address].is_open_to(vm.consumer):
        rival = min(view.index.cohort_of[address].holders_beside(address), key=lambda device: device.address)
        refusal = Refusal("invalid_status", f"its relative {rival.address} is held by {rival.consumer}")
    return Adoptee(address=address, vm=vm, attach=attach, known=held is not None and refusal is None, refusal=refusal)


def adoption_document(host: str, adoption: Adoption, *, applied: bool) -> Json:
    """The JSON contract ``laneway.adopt/1``; ``applied`` is false for a dry run."""
    return {
        "schema": ADOPT_SCHEMA,
        "host": host,
        "applied": applied,
        "devices": [
            {
                "address": str(adoptee.address),
                "consumer": adoptee.vm.consumer,
                "uuid": adoptee.vm.uuid,
                "pid": adoptee.vm.pid,
                "source": adoptee.vm.source,
                "attach": str(adoptee.attach),
                "known": adoptee.known,
                "refusal": None
                if adoptee.refusal is None
                else {"code": adoptee.refusal.code, "message": adoptee.refusal.message},
            }
            for adoptee in adoption.devices
        ],
        "problems": to_plain(adoption.running.problems),
    }
