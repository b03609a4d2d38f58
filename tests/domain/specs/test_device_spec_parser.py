"""From text to device specs: matchers, tags, own keys, and everything that is wrong at once."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.reading import read, spec, specs
from laneway.domain.cleaning import Cleaning, CleaningKind
from laneway.domain.device import Binding
from laneway.domain.specs.address_pattern import AddressGlob
from laneway.domain.specs.device_spec_parser import Dialect

NOVA = Dialect.NOVA


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("8086", "8086"),
        ("0x8086", "8086"),
        ("0X10DE", "10de"),
        (" 15b3 ", "15b3"),
        ("86", "0086"),
        ("00008086", "8086"),
        ("*", None),
    ],
)
@pytest.mark.parametrize("key", ["vendor_id", "product_id"])
def test_ids_are_four_lower_case_digits_or_any(key: str, written: str, meant: str | None) -> None:
    """Rules C5 and C6."""
    assert getattr(spec({key: written}), key) == meant


@pytest.mark.parametrize("key", ["vendor_id", "product_id"])
@pytest.mark.parametrize(
    "value",
    [
        "",
        "zz",
        "0x",
        "-1",
        "80_86",
        "10000",
        "8086:154c",
        "80 86",
        "\uff18086",
        8086,
        1.5,
        None,
        True,
        ["8086"],
        {"id": "8086"},
    ],
    ids=repr,
)
def test_what_is_no_id(key: str, value: object) -> None:
    """Rules C6, D31 and D32."""
    found, findings = read({key: value})
    (problem,) = findings.errors
    assert len(found) == 0
    assert (problem.code, problem.option, problem.entry, problem.key, problem.value) == (
        "invalid_device_spec",
        "device_spec",
        0,
        key,
        value,
    )
    assert '"8086"' in problem.message


def test_all_matchers_of_an_entry() -> None:
    """Rule C4."""
    found = spec({"vendor_id": "8086", "product_id": "154c", "address": "0000:3b:02.0"})
    assert (found.vendor_id, found.product_id, found.address) == ("8086", "154c", AddressGlob(0, 0x3B, 2, 0))
    assert spec({"devname": " ens1f0 "}).devname == "ens1f0"


@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        ({}, 'name one of vendor_id, product_id, address, devname, or write "address": "*" if every device is meant'),
        (
            {"physical_network": "p"},
            'name one of vendor_id, product_id, address, devname, or write "address": "*" if every device is meant',
        ),
        ({"vendorid": "8086"}, 'write "vendor_id" for "vendorid"'),
        ({"adress": "0000:3b:00.0"}, 'write "address" for "adress"'),
    ],
    ids=["an empty entry", "tags alone", "a misspelt id", "a misspelt address"],
)
def test_an_entry_that_chooses_nothing_would_admit_everything_and_is_an_error(
    content: dict[str, str], remedy: str
) -> None:
    """Rule D30."""
    found, findings = read(content)
    assert len(found) == 0
    assert [problem.remedy for problem in findings.errors] == [remedy]


@pytest.mark.parametrize("content", [{"address": "*"}, {"vendor_id": "*"}, {"address": {"domain": ".*"}}], ids=str)
def test_every_device_may_be_meant_on_purpose(content: dict[str, object]) -> None:
    """Rules C5 and D30."""
    _, findings = read(content)
    assert (findings.errors, findings.warnings) == ([], [])


@pytest.mark.parametrize("devname", ["", " ", None, 5, ["ens1"]], ids=repr)
def test_what_is_no_devname(devname: object) -> None:
    _, findings = read({"devname": devname})
    assert [problem.key for problem in findings.errors] == ["devname"]


def test_an_address_and_a_devname_exclude_each_other() -> None:
    """Rule C10."""
    _, findings = read({"address": "0000:0a:00.0", "devname": "eth3"})
    assert [problem.remedy for problem in findings.errors] == ["keep one of the two"]


def test_a_devname_is_an_error_only_where_devices_are_reported_to_placement() -> None:
    """Rules C11 and D8."""
    _, without = read({"devname": "eth3"})
    _, reporting = read({"devname": "eth3"}, report_in_placement=True)
    assert without.errors == []
    assert ["report_in_placement" in problem.message for problem in reporting.errors] == [True]


@pytest.mark.parametrize("reporting", [False, True])
@pytest.mark.parametrize("key", ["resource_class", "traits"])
def test_names_for_placement_are_not_longer_than_it_takes(key: str, reporting: bool) -> None:
    """Rule P3: 255 characters, of which CUSTOM_ has seven."""
    for length, fits in ((248, True), (249, not reporting)):
        found, findings = read({"vendor_id": "8086", key: "x" * length}, report_in_placement=reporting)
        assert (len(found), [problem.key for problem in findings.errors]) == ((1, []) if fits else (0, [key]))


@pytest.mark.parametrize("tag", ["managed", "live_migratable", "one_time_use", "remote_managed", "trusted"])
@pytest.mark.parametrize(
    ("written", "meant"), [(True, True), (False, False), ("yes", True), ("OFF", False), ("1", True)]
)
def test_boolean_tags_are_booleans_however_they_are_written(tag: str, written: object, meant: bool) -> None:
    """Rules C15, C16 and D31."""
    assert spec({"vendor_id": "8086", tag: written}).tags == {tag: meant}


@pytest.mark.parametrize("tag", ["managed", "live_migratable", "one_time_use"])
@pytest.mark.parametrize("value", ["ture", "", None, 1, 0.0, []], ids=repr)
def test_strict_boolean_tags_refuse_everything_else(tag: str, value: object) -> None:
    """Rules C16 and D31."""
    _, findings = read({"vendor_id": "8086", tag: value})
    assert [(problem.key, problem.value, problem.remedy) for problem in findings.errors] == [
        (tag, value, "write true or false")
    ]


@pytest.mark.parametrize("reporting", [True, False])
def test_one_time_use_needs_no_reporting_to_placement(reporting: bool) -> None:
    """Rules C21 and D19."""
    found, findings = read({"vendor_id": "8086", "one_time_use": True}, report_in_placement=reporting)
    assert (findings.errors, found.specs[0].tags) == ([], {"one_time_use": True})


@pytest.mark.parametrize("tag", ["remote_managed", "trusted"])
def test_lenient_boolean_tags_take_unclear_text_for_false_and_say_so(tag: str) -> None:
    """Rule C17."""
    found, findings = read({"vendor_id": "8086", tag: "ture"})
    assert found.specs[0].tags == {tag: False}
    assert [(warning.code, warning.key) for warning in findings.warnings] == [("unclear_boolean", tag)]


@pytest.mark.parametrize("value", [None, 1, []], ids=repr)
@pytest.mark.parametrize("tag", ["remote_managed", "trusted"])
def test_lenient_boolean_tags_refuse_other_types(tag: str, value: object) -> None:
    _, findings = read({"vendor_id": "8086", tag: value})
    assert [problem.key for problem in findings.errors] == [tag]


def test_a_tag_that_is_not_written_is_not_there() -> None:
    assert spec({"vendor_id": "8086"}).tags == {}


@pytest.mark.parametrize("tag", ["physical_network", "resource_class", "traits", "rack"])
@pytest.mark.parametrize("value", ["PhysNet1", "", " a ", None], ids=repr)
def test_other_tags_are_kept_verbatim(tag: str, value: str | None) -> None:
    """Rules C4 and C15."""
    assert spec({"vendor_id": "8086", tag: value}).tags == {tag: value}


@pytest.mark.parametrize(
    ("value", "remedy"),
    [(True, 'write "true"'), (5, 'write "5"'), (["A", "B"], 'write "A,B"'), ({"a": 1}, 'write "{\\"a\\": 1}"')],
    ids=repr,
)
@pytest.mark.parametrize("tag", ["traits", "rack"])
def test_other_tags_are_text_or_null(tag: str, value: object, remedy: str) -> None:
    """Rule D31."""
    _, findings = read({"vendor_id": "8086", tag: value})
    assert [(problem.key, problem.remedy) for problem in findings.errors] == [(tag, remedy)]


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("phsyical_network", 'write "physical_network" if that is meant'),
        ("product", 'write "product_id" if that is meant'),
        ("bindng", 'write "binding" if that is meant'),
        ("zone", "it is kept, and requests may name it"),
    ],
)
def test_an_unknown_tag_is_kept_with_a_warning(key: str, remedy: str) -> None:
    """Rules C4 and D17."""
    found, findings = read({"vendor_id": "8086", key: "x"})
    assert found.specs[0].tags == {key: "x"}
    assert [(warning.code, warning.entry, warning.key, warning.remedy) for warning in findings.warnings] == [
        ("unknown_tag", 0, key, remedy)
    ]


@pytest.mark.parametrize(
    ("content", "dialect", "binding"),
    [
        ({}, Dialect.LANEWAY, Binding.LANEWAY),
        ({"managed": True}, Dialect.LANEWAY, Binding.LIBVIRT),
        ({"managed": "no"}, Dialect.LANEWAY, Binding.OPERATOR),
        ({"binding": "operator"}, Dialect.LANEWAY, Binding.OPERATOR),
        ({"binding": "laneway", "managed": False}, Dialect.LANEWAY, Binding.LANEWAY),
        ({"binding": "libvirt", "managed": True}, Dialect.LANEWAY, Binding.LIBVIRT),
        ({}, NOVA, Binding.LIBVIRT),
        ({"managed": "true"}, NOVA, Binding.LIBVIRT),
        ({"managed": "false"}, NOVA, Binding.OPERATOR),
        ({"laneway:binding": "laneway"}, NOVA, Binding.LANEWAY),
    ],
    ids=str,
)
def test_who_binds_the_device(content: dict[str, object], dialect: Dialect, binding: Binding) -> None:
    assert spec({"vendor_id": "8086", **content}, dialect=dialect).binding is binding


@pytest.mark.parametrize(
    "content",
    [
        {"binding": "libvirt", "managed": False},
        {"binding": "operator", "managed": True},
        {"binding": "laneway", "managed": True},
        {"binding": "vfio"},
        {"binding": None},
    ],
    ids=str,
)
def test_a_binding_that_is_unknown_or_contradicts_managed_is_an_error(content: dict[str, object]) -> None:
    _, findings = read({"vendor_id": "8086", **content})
    assert [problem.key for problem in findings.errors] == ["binding"]


def test_own_keys_of_laneway_are_no_tags() -> None:
    reset = Cleaning(kind=CleaningKind.RESET)
    found = spec({"vendor_id": "8086", "allow_in_use": "yes", "cleaning": " reset ", "binding": "laneway"})
    assert (found.allow_in_use, found.cleaning, found.tags) == (True, reset, {})
    nova = spec({"vendor_id": "8086", "laneway:allow_in_use": True, "laneway:cleaning": "reset"}, dialect=NOVA)
    assert (nova.allow_in_use, nova.cleaning, nova.tags) == (True, reset, {})


@pytest.mark.parametrize(
    ("key", "value"), [("allow_in_use", "perhaps"), ("allow_in_use", None), ("cleaning", ""), ("cleaning", 5)]
)
@pytest.mark.parametrize(("prefix", "dialect"), [("", Dialect.LANEWAY), ("laneway:", NOVA)])
def test_own_keys_with_a_wrong_value(key: str, value: object, prefix: str, dialect: Dialect) -> None:
    _, findings = read({"vendor_id": "8086", prefix + key: value}, dialect=dialect)
    assert [problem.key for problem in findings.errors] == [prefix + key]


def test_bare_own_keys_are_free_tags_in_a_nova_conf_with_a_note() -> None:
    found, findings = read({"vendor_id": "8086", "binding": "operator"}, dialect=NOVA)
    assert (found.specs[0].binding, found.specs[0].tags) == (Binding.LIBVIRT, {"binding": "operator"})
    assert [(warning.code, warning.remedy) for warning in findings.warnings] == [
        ("bare_own_key", 'write "laneway:binding" if the key of Laneway is meant')
    ]


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("laneway:alow_in_use", 'write "laneway:allow_in_use"'),
        ("laneway:x", "they are laneway:allow_in_use, laneway:binding, laneway:cleaning"),
    ],
)
def test_a_misspelt_own_key_in_a_nova_conf_is_an_error(key: str, remedy: str) -> None:
    _, findings = read({"vendor_id": "8086", key: "true"}, dialect=NOVA)
    assert [(problem.key, problem.remedy) for problem in findings.errors] == [(key, remedy)]


def test_all_errors_of_all_entries_come_in_one_report_and_good_entries_are_kept() -> None:
    """Rule D15."""
    found, findings = read(
        {"vendor_id": "zz", "product_id": 5, "managed": "maybe"},
        {"vendor_id": "8086"},
        ["x", {"address": "0000:00:00.9"}],
        "{'vendor_id': '10de'}",
        places=("a:1", "a:2", "a:3", "a:4"),
    )
    assert [(problem.entry, problem.key, problem.place) for problem in findings.errors] == [
        (0, "vendor_id", "a:1"),
        (0, "product_id", "a:1"),
        (0, "managed", "a:1"),
        (2, None, "a:3"),
        (3, "address", "a:3"),
        (4, None, "a:4"),
    ]
    assert [(good.entry, good.vendor_id, good.place) for good in found] == [(1, "8086", "a:2")]


@pytest.mark.parametrize(
    ("second", "duplicate"),
    [
        ({"vendor_id": "0x8086", "address": "0000:3b:0.0"}, True),
        ({"vendor_id": "8086", "address": "0000:3b:00.0", "physical_network": "q"}, True),
        ({"vendor_id": "8086", "address": "0000:3b:00.1"}, False),
        ({"vendor_id": "8086", "address": "0000:3b:00.0", "remote_managed": True}, False),
    ],
    ids=["written otherwise", "with other tags", "at another address", "remote managed, so for other devices"],
)
def test_of_entries_with_the_same_matchers_the_first_counts_which_is_noted(
    second: dict[str, object], duplicate: bool
) -> None:
    """Rule C23."""
    _, findings = read({"vendor_id": "8086", "address": "0000:3b:00.0"}, second)
    assert [(warning.code, warning.entry) for warning in findings.warnings] == [("duplicate_entry", 1)] * duplicate


def test_no_values_are_no_specs() -> None:
    """Rule C3."""
    found, findings = read()
    assert (len(found), findings.errors, findings.warnings) == (0, [], [])


@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_source_of_a_spec_parses_to_it_again(dialect: Dialect) -> None:
    own = "laneway:" if dialect is NOVA else ""
    written: list[dict[str, Any]] = [
        {"vendor_id": "0x8086", "physical_network": None, "managed": "no", f"{own}allow_in_use": True},
        {"address": {"bus": "0[1-3]"}, "traits": "A,\u00e4"},
        {"devname": "ens1", "trusted": "true", f"{own}cleaning": {"command": ["wipe", "{address}"]}},
    ]
    first = specs(*written, dialect=dialect)
    assert specs(*(found.source for found in first), dialect=dialect) == first
    assert [json.loads(found.source) for found in first] == written


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["8086", "*", "true", "0000:3b:00.0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["vendor_id", "product_id", "address", "devname", "managed", "trusted", "binding", "traits", "laneway:binding"]
)


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=4) | JSON, max_size=4), st.sampled_from(Dialect), st.booleans())
def test_whatever_is_written_is_a_spec_or_an_error_that_says_what_to_do(
    values: list[object], dialect: Dialect, placement: bool
) -> None:
    found, findings = read(*values, dialect=dialect, report_in_placement=placement)
    faulty = {problem.entry for problem in findings.errors}
    assert not faulty & {good.entry for good in found}
    for problem in findings.errors:
        assert problem.message.startswith(f"device_spec entry {problem.entry}: ")
        assert problem.remedy
        assert problem.message.endswith(problem.remedy)
