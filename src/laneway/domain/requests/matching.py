"""Does a device satisfy a request? Asked once for each pool of alike devices, so kept quick."""

from laneway.domain.address import PciAddress
from laneway.domain.device import Attach, PciDevice, TagValue
from laneway.domain.inventory import DevType
from laneway.domain.requests.numa import NumaTopology
from laneway.domain.requests.placement_terms import has_traits, normal_name, resource_class_of, split_list
from laneway.domain.requests.request import PLACE_ATTRIBUTES, Alternative, DeviceRequest, RequestedValue
from laneway.domain.tags import BOOLEAN_TAGS, default_of, parse_boolean

ONLY_IF_ASKED = (DevType.PF, DevType.VDPA)
"""The types of devices that serve only a request that asks for the type (rule C53)."""


def satisfies(device: PciDevice, alternative: Alternative) -> bool:
    """Whether all that the alternative gives holds of the device (rule C52)."""
    function = device.function
    if alternative.vendor_id is not None and alternative.vendor_id != function.vendor_id:
        return False
    if alternative.product_id is not None and alternative.product_id != function.product_id:
        return False
    if alternative.dev_type is not None and alternative.dev_type != function.dev_type:
        return False
    ifname = alternative.parent_ifname
    if ifname is not None and not _same_text(ifname, device.extra_info.parent_ifname):
        return False
    for tag, wanted in alternative.tags.items():  # noqa: SIM110 - a generator would take twice the time
        if not _tag_holds(device, tag, wanted):
            return False
    return True


def unasked_tags(device: PciDevice, alternative: Alternative) -> int:
    """How many tags of the device the alternative does not name."""
    tags = device.extra_info.tags
    return len(tags.keys() - alternative.tags.keys()) if alternative.tags else len(tags)


def serves(device: PciDevice, request: DeviceRequest) -> int | None:
    """The fewest unasked tags over the alternatives that the device satisfies; None if it cannot
    serve the request.

    A PF, a vDPA or a remote-managed device serves only a request that asks for such a one
    (rule C53). As in nova it is the request that asks, in any of its alternatives.
    """
    if request.provider is not None and request.provider != provider_address(device):
        return None
    fewest = None
    for alternative in request.alternatives:
        if satisfies(device, alternative):
            unasked = unasked_tags(device, alternative)
            fewest = unasked if fewest is None else min(fewest, unasked)
    return fewest if fewest is not None and _is_asked_for(device, request) else None


def provider_address(device: PciDevice) -> PciAddress:
    """The address of the provider that Placement has for the device: its PF's, or its own (rules P1 and P2)."""
    function = device.function
    return function.address if function.parent_addr is None else function.parent_addr


def _is_asked_for(device: PciDevice, request: DeviceRequest) -> bool:
    dev_type = device.function.dev_type
    if dev_type in ONLY_IF_ASKED and not any(wanted.dev_type == dev_type for wanted in request.alternatives):
        return False
    if device.extra_info.tags.get("remote_managed") is True and not any(
        map(_asks_remote_managed, request.alternatives)
    ):
        return False
    return request.attach is Attach.VFIO or _can_attach(device, request.attach)


def constraint_values(
    device: PciDevice, attribute: str, topology: NumaTopology
) -> frozenset[int | str | TagValue] | None:
    """The values of an attribute that a constraint compares; None where they are not known.

    Attributes of place are those of the inventory (``parent`` is the PF, or the device itself), all
    others are tags, their text without regard to case (rule C22).
    """
    if attribute in PLACE_ATTRIBUTES:
        return _place_values(device, attribute, topology)
    value = effective_tag(device, attribute)
    if value is None:
        return None
    return frozenset({value.casefold() if isinstance(value, str) else value})


def effective_tag(device: PciDevice, tag: str) -> TagValue:
    """The value of a tag, or what a device without it counts as."""
    value = device.extra_info.tags.get(tag)
    if value is not None or tag not in BOOLEAN_TAGS:
        return value
    if tag == "remote_managed" and device.function.dev_type is DevType.PCI:
        return None  # the default is that of SR-IOV and vDPA devices (rule C50)
    return default_of(tag)


def _place_values(device: PciDevice, attribute: str, topology: NumaTopology) -> frozenset[int | str] | None:
    function = device.function
    if attribute == "pcie_root":
        return frozenset(function.pcie_roots) if function.pcie_roots else None
    value: int | None
    match attribute:
        case "numa_node":
            value = function.numa_node
        case "socket":
            value = None if function.numa_node is None else topology.sockets.get(function.numa_node)
        case "parent":
            value = provider_address(device)
        case _:
            value = function.iommu_group
    return None if value is None else frozenset({value})


def _can_attach(device: PciDevice, attach: Attach) -> bool:
    if attach is Attach.VDPA:
        return device.function.dev_type is DevType.VDPA
    return device.function.dev_type is DevType.VF and _is_network(device)


def _is_network(device: PciDevice) -> bool:
    """Class 02 (PCI Code and ID Assignment); where the class is not known, what only a NIC has."""
    class_code, extra = device.function.class_code, device.extra_info
    if class_code is not None:
        return class_code.startswith("02")
    return extra.parent_ifname is not None or "physical_network" in extra.tags


def _asks_remote_managed(alternative: Alternative) -> bool:
    return _as_boolean(alternative.tags.get("remote_managed")) is True


def _tag_holds(device: PciDevice, tag: str, wanted: RequestedValue) -> bool:
    if wanted is None:
        return device.extra_info.tags.get(tag) is None
    if tag == "traits":
        return has_traits(device, wanted if isinstance(wanted, tuple) else split_list(str(wanted)))
    if isinstance(wanted, tuple):
        return all(_has_member(device, tag, member) for member in wanted)
    if tag == "resource_class":
        return resource_class_of(device) == normal_name(str(wanted))
    value = effective_tag(device, tag)
    if tag in BOOLEAN_TAGS:
        return value is not None and _as_boolean(wanted) is value
    return value is not None and str(wanted).casefold() == str(value).casefold()


def _has_member(device: PciDevice, tag: str, member: str) -> bool:
    value = effective_tag(device, tag)
    if tag in BOOLEAN_TAGS:
        return value is not None and _as_boolean(member) is value
    return value is not None and member.strip().casefold() in map(str.casefold, split_list(str(value)))


def _as_boolean(wanted: RequestedValue) -> bool | None:
    return parse_boolean(wanted) if isinstance(wanted, str) else wanted if isinstance(wanted, bool) else None


def _same_text(wanted: str, value: str | None) -> bool:
    return value is not None and wanted.casefold() == value.casefold()
