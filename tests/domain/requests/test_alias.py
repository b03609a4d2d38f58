import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.errors import ErrorCode, Findings, LanewayError
from laneway.domain.inventory import DevType
from laneway.domain.requests.alias import Alias, Aliases, parse_aliases
from laneway.domain.requests.request import Alternative, NumaPolicy

IDS = {"vendor_id": "10de", "product_id": "20b0"}
GPU = {"name": "gpu", **IDS}


def parse(*values: object, pci_in_placement: bool = False) -> tuple[Aliases, Findings]:
    findings = Findings()
    return parse_aliases(values, findings, pci_in_placement=pci_in_placement), findings


def good(*values: object, pci_in_placement: bool = False) -> dict[str, Alias]:
    aliases, findings = parse(*values, pci_in_placement=pci_in_placement)
    assert findings.errors == []
    return dict(aliases.by_name)


@pytest.mark.parametrize(
    "value",
    [GPU, [GPU], json.dumps(GPU), json.dumps([GPU])],
    ids=["an object", "a list of objects", "the text of an object", "the text of a list"],
)
def test_an_alias_in_each_form_of_the_option(value: object) -> None:
    """Rule C63."""
    assert good(value) == {
        "gpu": Alias(
            name="gpu",
            alternatives=(Alternative(vendor_id="10de", product_id="20b0"),),
            numa_policy=NumaPolicy.LEGACY,
        )
    }


def test_no_aliases() -> None:
    assert good() == {}


@pytest.mark.parametrize(
    ("keys", "alternative"),
    [
        pytest.param({"vendor_id": "10DE"}, Alternative(vendor_id="10de", product_id="20b0"), id="upper-case id"),
        pytest.param(
            {"device_type": "type-PF"},
            Alternative(vendor_id="10de", product_id="20b0", dev_type=DevType.PF),
            id="device_type becomes dev_type",
        ),
        pytest.param(
            {"live_migratable": "Yes"},
            Alternative(vendor_id="10de", product_id="20b0", tags={"live_migratable": True}),
            id="boolean-like text",
        ),
        pytest.param(
            {"live_migratable": False},
            Alternative(vendor_id="10de", product_id="20b0", tags={"live_migratable": False}),
            id="a boolean itself (D31)",
        ),
    ],
)
def test_what_an_entry_asks_for(keys: dict[str, object], alternative: Alternative) -> None:
    assert good({**GPU, **keys})["gpu"].alternatives == (alternative,)


@pytest.mark.parametrize("policy", NumaPolicy)
def test_numa_policies(policy: NumaPolicy) -> None:
    assert good({**GPU, "numa_policy": policy.value})["gpu"].numa_policy is policy


@pytest.mark.parametrize(
    ("written", "name"),
    [
        pytest.param(" crypto card ", "crypto card", id="outer blanks are dropped and inner ones kept"),
        pytest.param("x" * 256, "x" * 256, id="as long as allowed"),
        pytest.param("é", "é", id="any letter"),
    ],
)
def test_names(written: str, name: str) -> None:
    """Rule C63."""
    assert list(good({**GPU, "name": written})) == [name]


def test_entries_of_one_name_are_alternatives_in_order() -> None:
    """Rules C64 and D5: no device_type in either."""
    aliases = good(GPU, {"name": "gpu ", "vendor_id": "1002", "product_id": "740c"}, {**GPU, "name": "other"})
    assert [alternative.vendor_id for alternative in aliases["gpu"].alternatives] == ["10de", "1002"]
    assert len(aliases["other"].alternatives) == 1


@pytest.mark.parametrize(
    ("entry", "key", "fault"),
    [
        pytest.param({**GPU, "vendor": "10de"}, "vendor", "write 'vendor_id'", id="misspelt key"),
        pytest.param({**GPU, "dev_type": "type-PF"}, "dev_type", "write 'device_type'", id="key of a request"),
        pytest.param({**GPU, "colour": "blue"}, "colour", "an alias may have name, vendor_id", id="unknown key"),
        pytest.param(IDS, "name", "null is no name", id="no name"),
        pytest.param({**GPU, "name": "  "}, "name", "1 to 256 characters", id="blank name"),
        pytest.param({**GPU, "name": "x" * 257}, "name", "1 to 256 characters", id="long name"),
        pytest.param({**GPU, "name": 7}, "name", "7 is no name", id="number as name"),
        pytest.param({**GPU, "vendor_id": "10d"}, "vendor_id", "four hexadecimal digits", id="short id"),
        pytest.param({**GPU, "vendor_id": "0x10de"}, "vendor_id", "four hexadecimal digits", id="id with 0x"),
        pytest.param({**GPU, "vendor_id": "10dg"}, "vendor_id", "four hexadecimal digits", id="id that is no number"),
        pytest.param({**GPU, "vendor_id": "*"}, "vendor_id", "four hexadecimal digits", id="wildcard id"),
        pytest.param({**GPU, "product_id": 2080}, "product_id", "2080 is no id", id="number as id"),
        pytest.param({**GPU, "product_id": None}, "product_id", "null is no id", id="null as id"),
        pytest.param({**GPU, "device_type": "type-XY"}, "device_type", "type-PCI, type-PF, type-VF", id="wrong type"),
        pytest.param({**GPU, "device_type": "vdpa"}, "device_type", "by a port or by any_of", id="vDPA in an alias"),
        pytest.param({**GPU, "device_type": ["type-PF"]}, "device_type", "is no type", id="list as type"),
        pytest.param({**GPU, "numa_policy": "prefered"}, "numa_policy", "write 'preferred'", id="misspelt policy"),
        pytest.param({**GPU, "numa_policy": "x"}, "numa_policy", "write one of required", id="unknown policy"),
        pytest.param({**GPU, "numa_policy": True}, "numa_policy", "true is no NUMA policy", id="boolean as policy"),
        pytest.param({**GPU, "live_migratable": "maybe"}, "live_migratable", "neither true nor false", id="no boolean"),
        pytest.param({**GPU, "live_migratable": None}, "live_migratable", "neither true nor false", id="null boolean"),
        pytest.param(
            {**GPU, "live_migratable": 1}, "live_migratable", "neither true nor false", id="number as boolean"
        ),
        pytest.param({**GPU, "capability_type": "usb"}, "capability_type", 'write "pci"', id="wrong capability"),
        pytest.param({**GPU, "resource_class": " "}, "resource_class", "is no resource class", id="blank class"),
        pytest.param({**GPU, "traits": ["a", "b"]}, "traits", '"a,b"', id="traits as a list"),
        pytest.param({**GPU, "traits": True}, "traits", "divided by commas", id="traits as a boolean"),
        pytest.param({**GPU, "traits": "a, !"}, "traits", "without a name", id="forbidden trait without a name"),
        pytest.param({**GPU, "traits": "a,! CUSTOM_A"}, "traits", "and forbids it", id="trait wanted and forbidden"),
        pytest.param({"name": "g", "vendor_id": "10de"}, None, "add 'product_id'", id="one id only"),
        pytest.param({"name": "g", "resource_class": "GPU"}, None, "add 'vendor_id'", id="class without Placement"),
        pytest.param("{'name': 'gpu'}", None, '{"name": "gpu"}', id="text that is no JSON (D6)"),
        pytest.param(17, None, "17 is not a JSON object", id="no object"),
    ],
)
def test_what_is_refused(entry: object, key: str | None, fault: str) -> None:
    """Rules C63, C65 and D31."""
    aliases, findings = parse(entry)
    [error] = findings.errors
    assert aliases.by_name == {}
    assert (error.code, error.option, error.entry, error.key) == (ErrorCode.INVALID_ALIAS, "alias", 0, key)
    assert fault in error.message
    assert error.remedy


@pytest.mark.parametrize(
    ("first", "second", "key"),
    [
        ({"numa_policy": "required"}, {"numa_policy": "legacy"}, "numa_policy"),
        ({"numa_policy": "required"}, {}, "numa_policy"),
        ({"device_type": "type-VF"}, {"device_type": "type-PCI"}, "device_type"),
        ({"device_type": "type-VF"}, {}, "device_type"),
        ({}, {"device_type": "type-VF"}, "device_type"),
    ],
)
def test_entries_of_one_name_must_agree(first: dict[str, str], second: dict[str, str], key: str) -> None:
    """Rule C64."""
    _, findings = parse({**GPU, **first}, {**GPU, **second})
    [error] = findings.errors
    assert (error.entry, error.key) == (1, key)
    assert "entry 0" in error.message


def test_all_errors_of_all_entries_are_reported_at_once() -> None:
    """Rule D15; lists are counted through, and the place of each value is told."""
    findings = Findings()
    aliases = parse_aliases(
        [[GPU, {"name": "a", "vendor_id": "zz", "product_id": "q"}], "{broken", {**GPU, "name": "ok"}],
        findings,
        places=["nova.conf:3", "nova.conf:4", "nova.conf:9"],
    )
    assert [(error.entry, error.key, error.place) for error in findings.errors] == [
        (1, "vendor_id", "nova.conf:3"),
        (1, "product_id", "nova.conf:3"),
        (2, None, "nova.conf:4"),
    ]
    assert set(aliases.by_name) == {"gpu", "ok"}


@pytest.mark.parametrize(
    ("keys", "code", "key"),
    [
        ({"capability_type": "pci"}, "ignored_key", "capability_type"),
        ({"resource_class": "GPU"}, "placement_only", "resource_class"),
        ({"traits": "blue"}, "placement_only", "traits"),
        ({"name": "a:b"}, "unusable_in_flavors", "name"),
    ],
)
def test_what_is_noted(keys: dict[str, str], code: str, key: str) -> None:
    aliases, findings = parse({**GPU, **keys})
    assert findings.errors == []
    assert [(note.code, note.key) for note in findings.warnings] == [(code, key)]
    [alias] = aliases.by_name.values()
    assert alias.alternatives == (Alternative(vendor_id="10de", product_id="20b0"),)


def test_in_placement_class_and_traits_are_asked_for() -> None:
    """Rules C65, D3 and D11."""
    aliases = good({"name": "gpu", "resource_class": " GPU_A ", "traits": "blue, big,! red,"}, pci_in_placement=True)
    [alternative] = aliases["gpu"].alternatives
    assert alternative == Alternative(tags={"resource_class": "GPU_A", "traits": ("blue", "big", "!red")})


@pytest.mark.parametrize(
    "entry",
    [{"name": "g", "traits": "blue"}, {"name": "g", "vendor_id": "10de"}],
    ids=["traits alone", "one id alone"],
)
def test_in_placement_an_alias_needs_ids_or_a_class(entry: object) -> None:
    """Rule C65."""
    _, findings = parse(entry, pci_in_placement=True)
    [error] = findings.errors
    assert "vendor_id and product_id, or resource_class" in error.message


def test_in_placement_an_alias_has_one_entry() -> None:
    """Rule C65."""
    _, findings = parse(GPU, {**GPU, "name": "other"}, GPU, pci_in_placement=True)
    [error] = findings.errors
    assert (error.entry, error.key) == (2, "name")
    assert "resource_class" in (error.remedy or "")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("gpus", "did you mean 'gpu'?"), ("zzzz", "the aliases are: 'gpu', 'nic'")],
    ids=["a name that is near", "a name that is not near"],
)
def test_an_unknown_alias_is_named_with_what_there_is(name: str, remedy: str) -> None:
    """Rule C66."""
    aliases, _ = parse({**GPU, "name": "nic"}, GPU)
    with pytest.raises(LanewayError, match="flavor") as caught:
        aliases.named(name, "flavor")
    assert caught.value.code is ErrorCode.UNKNOWN_ALIAS
    assert remedy in caught.value.message


def test_an_unknown_alias_where_there_are_none() -> None:
    with pytest.raises(LanewayError, match="the aliases are: none"):
        Aliases().named("gpu", "here")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
alias_keys = st.sampled_from((*GPU, "device_type", "numa_policy", "live_migratable", "traits", "resource_class"))


@given(values=st.lists(json_values | st.dictionaries(alias_keys, json_values), max_size=4), placement=st.booleans())
def test_no_value_makes_a_crash_and_every_bad_one_is_told(values: list[Any], placement: bool) -> None:
    aliases, findings = parse(*values, pci_in_placement=placement)
    assert all(error.entry is not None and error.remedy for error in findings.errors)
    read = sum(len(alias.alternatives) for alias in aliases.by_name.values())
    entries = sum(len(value) if isinstance(value, list) else 1 for value in values if not isinstance(value, str))
    assert read + len(findings.errors) >= entries
