"""What a change of a Windows host is decided on. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from laneway.domain.address import PciAddress
from laneway.domain.inventory import PciFunction, Problem
from laneway.hosts.hyperv.functions import read_functions
from laneway.hosts.hyperv.location import pci_location_path
from laneway.hosts.hyperv.property_bag import Key, PropertyBag, pci_enumerator
from laneway.hosts.hyperv.recording import Recording


@dataclass(frozen=True, slots=True)
class DeviceState:
    """A device as Windows has it now. Its instance id is another while it is dismounted."""

    instance_id: str
    is_dismounted: bool
    is_disabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """``states`` and ``holders`` (the VMs that have a device) go by location path, in upper case.

    ``holders`` is None where Hyper-V does not tell; ``failures`` says why.
    """

    functions: Mapping[PciAddress, PciFunction]
    states: Mapping[str, DeviceState]
    holders: Mapping[str, str] | None
    failures: tuple[str, ...] = ()

    def state(self, location_path: str) -> DeviceState | None:
        """The device at a location path; None where there is none."""
        return self.states.get(location_path.upper())


def facts_of(recording: Recording) -> Facts:
    """The facts in a recording."""
    problems: list[Problem] = []
    states: dict[str, DeviceState] = {}
    for properties in recording.devices:
        bag = PropertyBag(properties, problems)
        path = pci_location_path(bag.texts(Key.LOCATION_PATHS))
        if pci_enumerator(bag.instance_id) is not None and bag.is_present and path is not None:
            states.setdefault(path.upper(), DeviceState(bag.instance_id, bag.is_dismounted, bag.is_disabled))
    assigned = recording.answers.assigned
    return Facts(
        functions={function.address: function for function in read_functions(recording, problems)},
        states=states,
        holders=None if assigned is None else {one.location_path.upper(): one.vm for one in assigned},
        failures=recording.answers.failures,
    )
