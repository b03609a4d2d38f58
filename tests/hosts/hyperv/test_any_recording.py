"""Whatever is recorded, an inventory comes of it that keeps to its contract."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hosts.windows_builder import GPU, NIC, ROOT_PORT
from laneway.contracts.inventory import decode_inventory, encode_inventory
from laneway.domain.errors import LanewayError
from laneway.hosts.hyperv.driver import inventory_of
from laneway.hosts.hyperv.property_bag import Key
from laneway.hosts.hyperv.recording import RECORDING_SCHEMA, Recording, decode_recording
from laneway.hosts.hyperv.virtual_machines import running_vms

TEXTS = st.sampled_from(["", GPU, NIC, ROOT_PORT, "PCIROOT(1)#PCI(0000)", "PCI bus 1, device 0, function 0"]) | st.text(
    max_size=8
)
NUMBERS = st.integers(-1, 40) | st.integers(0, 1 << 64) | st.sampled_from([0xFFFFFFFF, (1 << 64) - 1])
VALUES = st.none() | st.booleans() | NUMBERS | TEXTS | st.lists(TEXTS | NUMBERS, max_size=3)
RANGES = st.lists(st.lists(NUMBERS | st.booleans() | st.none(), max_size=4), max_size=3)
BAGS = st.tuples(
    st.dictionaries(st.sampled_from([key.value for key in Key]), VALUES, max_size=12),
    st.fixed_dictionaries(
        {Key.INSTANCE_ID.value: st.sampled_from([GPU, NIC, ROOT_PORT]), Key.LOCATION_INFO.value: TEXTS},
        optional={Key.MEMORY.value: RANGES, Key.NETWORK_GUID.value: TEXTS, Key.PARENT.value: TEXTS},
    ),
).map(lambda parts: parts[0] | parts[1])
ADAPTERS = st.fixed_dictionaries({"guid": TEXTS, "alias": TEXTS}, optional={"addresses": st.lists(TEXTS, max_size=2)})
VOLUMES = st.fixed_dictionaries(
    {"name": TEXTS}, optional={"mounts": st.lists(TEXTS, max_size=2), "disks": st.lists(st.integers(0, 2), max_size=2)}
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "iov_support": st.booleans(),
        "upper_devices": st.lists(st.fixed_dictionaries({"name": TEXTS, "adapter": TEXTS}), max_size=2),
        "assigned": st.lists(
            st.fixed_dictionaries({"vm": TEXTS, "vm_id": TEXTS | st.none(), "location_path": TEXTS}), max_size=3
        ),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {"schema": st.just(RECORDING_SCHEMA), "devices": st.lists(BAGS, max_size=4)},
    optional={
        "host": TEXTS,
        "release": TEXTS,
        "adapters": st.lists(ADAPTERS, max_size=2),
        "disks": st.lists(st.fixed_dictionaries({"number": st.integers(0, 2), "instance_id": TEXTS}), max_size=2),
        "volumes": st.lists(VOLUMES, max_size=2),
        "answers": ANSWERS,
    },
)


def decoded(document: dict[str, Any]) -> Recording | None:
    try:
        return decode_recording(json.dumps(document))
    except LanewayError:
        return None


@given(DOCUMENTS)
def test_an_inventory_keeps_to_its_contract_whatever_was_recorded(document: dict[str, Any]) -> None:
    recording = decoded(document)
    if recording is not None:
        inventory = inventory_of(recording)
        assert decode_inventory(encode_inventory(inventory)) == inventory
        told = running_vms(recording.answers, inventory.functions)
        assert {address for vm in told.vms for address in vm.addresses} <= set(inventory.by_address)


@given(st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8))
def test_any_document_is_a_recording_or_refused(document: Any) -> None:
    recording = decoded(document)
    assert recording is None or inventory_of(recording).driver == "hyperv"
