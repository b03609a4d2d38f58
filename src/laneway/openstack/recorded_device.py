"""What nova's record of a device comes to in Laneway: its function, and what others need to know of it."""

import json
from collections.abc import Mapping
from dataclasses import replace

from laneway.domain.device import Binding, ExtraInfo, TagValue
from laneway.domain.inventory import PciFunction
from laneway.domain.tags import parse_boolean
from laneway.openstack.nova_records import NovaPciDevice

_KEPT_TAGS = ("managed", "live_migratable")
"""The tags that nova keeps with a device (rules C27 and C28)."""


def recorded_function(record: NovaPciDevice) -> PciFunction:
    """The function as nova knew it, for a host that does not show it."""
    return PciFunction(
        address=record.address,
        vendor_id=record.vendor_id,
        product_id=record.product_id,
        dev_type=record.dev_type,
        parent_addr=record.parent_addr,
        numa_node=record.numa_node,
    )


def recorded_tags(record: NovaPciDevice) -> dict[str, TagValue]:
    """Those of its device spec that nova keeps with the device."""
    texts = {tag: record.extra_info.get(tag) for tag in _KEPT_TAGS}
    values = {tag: parse_boolean(text) for tag, text in texts.items() if isinstance(text, str)}
    return {tag: value for tag, value in values.items() if value is not None}


def recorded_extra_info(record: NovaPciDevice) -> ExtraInfo:
    """What nova kept of the device for its port (rules C27 to C31)."""
    capabilities = _object(record.extra_info.get("capabilities"))
    network = capabilities.get("network")
    sriov, vpd = _object(capabilities.get("sriov")), _object(capabilities.get("vpd"))
    vf_num = sriov.get("vf_num")
    tags = recorded_tags(record)
    return ExtraInfo(
        tags=tags,
        binding=Binding.OPERATOR if tags.get("managed") is False else Binding.LIBVIRT,
        network_capabilities=tuple(map(str, network)) if isinstance(network, list) else (),
        pf_mac_address=_text(sriov.get("pf_mac_address")),
        vf_num=vf_num if isinstance(vf_num, int) else None,
        card_serial_number=_text(vpd.get("card_serial_number")),
        parent_ifname=_text(record.extra_info.get("parent_ifname")),
        mac_address=_text(record.extra_info.get("mac_address")),
    )


def completed(today: ExtraInfo, recorded: ExtraInfo) -> ExtraInfo:
    """Today's, and where the host does not tell (a guest has the PF, rule C31), what nova recorded."""
    place = (today.pf_mac_address, today.vf_num)
    if today.pf_mac_address is None:
        place = (recorded.pf_mac_address, recorded.vf_num)
    return replace(
        today,
        network_capabilities=today.network_capabilities or recorded.network_capabilities,
        pf_mac_address=place[0],
        vf_num=place[1],
        card_serial_number=today.card_serial_number or recorded.card_serial_number,
        parent_ifname=today.parent_ifname or recorded.parent_ifname,
        mac_address=today.mac_address or recorded.mac_address,
    )


def _object(value: object) -> Mapping[str, object]:
    """nova keeps what is no text as JSON of it; what is no object counts as nothing."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
