"""Addresses of a device spec: exact, partial, glob and regular expressions (C7 to C9, D7, D10, D30, D32)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.reading import read
from laneway.domain.address import PciAddress
from laneway.domain.config_entry import EntryReport
from laneway.domain.errors import ErrorCode, Findings
from laneway.domain.specs.address_pattern import (
    BAD_EXPRESSION,
    AddressGlob,
    AddressPattern,
    AddressRegex,
    parse_address_pattern,
)


def parse(value: object) -> tuple[AddressPattern | None, Findings]:
    findings = Findings()
    report = EntryReport(findings=findings, option="device_spec", code=ErrorCode.INVALID_DEVICE_SPEC, entry=0)
    return parse_address_pattern(value, report), findings


def good(value: object) -> AddressPattern:
    pattern, findings = parse(value)
    assert findings.errors == []
    assert pattern is not None
    return pattern


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("0000:3b:00.0", "0000:3b:00.0", id="all four fields"),
        pytest.param("0:3B:0.0", "0000:3b:00.0", id="fewer digits, upper case"),
        pytest.param(" 0000 : 3b:00 . 0 ", "0000:3b:00.0", id="blanks"),
        pytest.param("*", "*:*:*.*", id="a star alone"),
        pytest.param("*:*:*.*", "*:*:*.*", id="all stars"),
        pytest.param("0000:3b:*.*", "0000:3b:*.*", id="a whole bus"),
        pytest.param(":0a:00.", "*:0a:00.*", id="empty fields are any"),
        pytest.param("*:0a:00.*", "*:0a:00.*", id="stars are any"),
        pytest.param("00.1", "*:*:00.1", id="left fields left out"),
        pytest.param(":00.1", "*:*:00.1", id="an empty bus and no domain"),
        pytest.param("3b:00.0", "*:3b:00.0", id="no domain means any"),
        pytest.param("0a:05", "*:0a:05.*", id="no function means any"),
        pytest.param("05", "*:*:05.*", id="one field is a slot"),
        pytest.param(".7", "*:*:*.7", id="a function alone"),
        pytest.param("ffff:ff:1f.7", "ffff:ff:1f.7", id="the highest of each"),
    ],
)
def test_what_a_text_means(text: str, canonical: str) -> None:
    """Rules C7 and C8."""
    assert str(good(text)) == canonical


@pytest.mark.parametrize(
    ("value", "code", "in_message"),
    [
        pytest.param("", "invalid_device_spec", 'write "*" if every device is meant', id="an empty text"),
        pytest.param(".", "invalid_device_spec", 'write "*" if every device is meant', id="a dot"),
        pytest.param(
            " :: . ", "invalid_device_spec", 'write "*" if every device is meant', id="separators and blanks only"
        ),
        pytest.param({}, "invalid_device_spec", 'write "*" if every device is meant', id="an empty object"),
        pytest.param([], "invalid_device_spec", "neither a text nor an object", id="a list"),
        pytest.param(None, "invalid_device_spec", "address null is neither", id="null"),
        pytest.param(5, "invalid_device_spec", "address 5 is neither", id="a number"),
        pytest.param("0:0:0:0.0", "invalid_device_spec", "more than three parts", id="too many parts"),
        pytest.param("0000:00:00x1", "invalid_device_spec", '"00x1"', id="an x for a dot"),
        pytest.param("0000:00:00.0.1", "invalid_device_spec", '"0.1"', id="two dots"),
        pytest.param("0000:-1:00.0", "invalid_device_spec", '"-1"', id="a negative bus"),
        pytest.param("0000:0_a:00.0", "invalid_device_spec", '"0_a"', id="an underscore"),
        pytest.param("0000:3b:0*.0", "invalid_device_spec", "object form", id="a star within a field"),
        pytest.param("0000:\uff13b:00.0", "invalid_device_spec", "neither hexadecimal", id="a digit of another script"),
        pytest.param("10000:01:00.0", "domain_too_large", "the highest is ffff", id="a domain of 20 bits"),
        pytest.param("0000:100:00.0", "invalid_device_spec", "the highest is ff", id="a bus above ff"),
        pytest.param("0000:0a:20.0", "invalid_device_spec", "the highest is 1f", id="a slot above 1f"),
        pytest.param("0000:0a:00.8", "invalid_device_spec", "the highest is 7", id="a function above 7"),
        pytest.param({"bus": 2}, "invalid_device_spec", "address.bus 2", id="a number for an expression"),
        pytest.param({"bus": ""}, "invalid_device_spec", "leave the field out", id="an empty expression"),
        pytest.param({"bus": "*"}, "invalid_device_spec", 'any value is ".*"', id="a glob for an expression"),
        pytest.param({"bus": "("}, "invalid_device_spec", "unterminated subpattern", id="a broken expression"),
        pytest.param(
            {"bus": "[[a]"}, "invalid_device_spec", "nested set", id="an expression that may change its meaning"
        ),
        pytest.param({"bus": "(?u)a"}, "invalid_device_spec", "incompatible", id="flags that do not fit"),
        pytest.param(
            {"bus": "a{99999999999}"}, "invalid_device_spec", "repetition number", id="a repetition beyond measure"
        ),
        pytest.param(
            {"domain": "10000"}, "domain_too_large", "the highest is ffff", id="an expression that is a high domain"
        ),
        pytest.param(
            {"slot": "20"}, "invalid_device_spec", "the highest is 1f", id="an expression that is a high slot"
        ),
        pytest.param({"domian": "0000"}, "invalid_device_spec", 'write "domain"', id="a misspelt field"),
        pytest.param(
            {"colour": "red"}, "invalid_device_spec", "the fields are domain, bus, slot, function", id="no field"
        ),
    ],
)
def test_what_is_no_address(value: object, code: str, in_message: str) -> None:
    """Rules C7, C8, C9, D10, D30 and D31."""
    pattern, findings = parse(value)
    (problem,) = findings.errors
    assert pattern is None
    assert problem.code == code
    assert in_message in problem.message
    assert problem.remedy


def test_every_wrong_field_of_an_address_is_reported() -> None:
    _, glob = parse("10000:100:20.8")
    _, regex = parse({"bus": "(", "slot": 1, "domian": "0"})
    assert len(glob.errors) == 4
    assert [problem.key for problem in regex.errors] == ["address.bus", "address.slot", "address.domian"]


def test_a_slot_alone_is_noted_as_such() -> None:
    """Rule D32."""
    _, findings = parse("05")
    assert [(warning.code, warning.remedy) for warning in findings.warnings] == [
        ("slot_only_address", 'write "05:*.*" if a bus is meant')
    ]


@pytest.mark.parametrize(
    ("fields", "address", "matches"),
    [
        pytest.param({"bus": "02"}, "0001:02:1f.7", True, id="fields left out match all"),
        pytest.param({"function": "[0-2]"}, "0000:02:01.2", True, id="a set that has it"),
        pytest.param({"function": "[0-2]"}, "0000:02:01.3", False, id="a set that has it not"),
        pytest.param({"bus": "0"}, "0000:02:01.0", False, id="a part of a field does not match it"),
        pytest.param({"bus": "0|02"}, "0000:02:01.0", True, id="every branch is tried on the whole field"),
        pytest.param({"bus": "A."}, "0000:af:00.0", True, id="upper case is the same"),
        pytest.param({"domain": "000[01]"}, "0001:02:00.0", True, id="a domain that matches"),
        pytest.param({"domain": "000[01]"}, "0002:02:00.0", False, id="a domain that does not"),
        pytest.param({"slot": "1.", "function": "0"}, "0000:02:01.0", False, id="all fields have to match"),
    ],
)
def test_a_regular_expression_matches_whole_fields(fields: dict[str, str], address: str, matches: bool) -> None:
    """Rules C9, D7 and D32."""
    assert good(fields).matches(PciAddress.parse(address)) is matches


@pytest.mark.parametrize(
    ("field", "expression", "remedy"),
    [
        ("bus", "2", 'write "02"'),
        ("domain", "0", 'write "0000"'),
        ("slot", "[2-3].", "mend it"),
        ("function", "00", "mend it"),
    ],
)
def test_an_expression_that_matches_nothing_in_range_is_noted(field: str, expression: str, remedy: str) -> None:
    """Rule D7."""
    pattern, findings = parse({field: expression})
    (warning,) = findings.warnings
    assert pattern is not None
    assert (warning.code, warning.key, warning.remedy) == ("address_matches_nothing", f"address.{field}", remedy)


def test_a_pattern_is_written_as_people_write_it() -> None:
    assert str(AddressRegex(bus="0[ab]", function="0")) == "bus ~ 0[ab], function ~ 0"
    assert str(AddressRegex()) == "*"


def test_a_domain_is_compared_whole() -> None:
    assert not good("0000:3b:00.0").matches(PciAddress.parse("10000:3b:00.0"))
    assert good("*:3b:00.0").matches(PciAddress.parse("10000:3b:00.0"))


def test_only_an_address_without_an_open_field_is_exact() -> None:
    exact = good("0000:3b:00.0")
    assert isinstance(exact, AddressGlob)
    assert exact.exact == PciAddress.parse("0000:3b:00.0")
    assert AddressGlob(0, 0x3B, 0).exact is None


ADDRESSES = st.builds(
    PciAddress.of, st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7)
)


@given(ADDRESSES)
def test_the_text_of_an_address_matches_it_alone(address: PciAddress) -> None:
    pattern = good(str(address))
    assert isinstance(pattern, AddressGlob)
    assert pattern.exact == address
    assert pattern.matches(address)
    assert not pattern.matches(PciAddress(address ^ 1))


@given(ADDRESSES, st.sets(st.sampled_from(["domain", "bus", "slot", "function"])), ADDRESSES)
def test_a_glob_matches_where_every_named_field_is_equal(
    address: PciAddress, named: set[str], other: PciAddress
) -> None:
    pattern = AddressGlob(**{name: getattr(address, name) for name in named})
    assert pattern.matches(other) is all(getattr(address, name) == getattr(other, name) for name in named)
    assert good(str(pattern)) == pattern


@given(ADDRESSES, st.text(alphabet="0123ab[]()|.*+?^\\dD-", max_size=5))
def test_an_expression_agrees_with_one_written_out_by_hand(address: PciAddress, expression: str) -> None:
    try:
        pattern = AddressRegex(bus=expression, domain=expression)
    except BAD_EXPRESSION:
        return
    whole = re.compile(expression, re.IGNORECASE | re.ASCII)
    texts = (f"{address.domain:04x}", f"{address.bus:02x}")
    assert pattern.matches(address) is all(whole.fullmatch(text) is not None for text in texts)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_any_value_is_either_an_address_or_an_error(value: object) -> None:
    found, findings = read({"address": value})
    assert len(found) == (0 if findings.errors else 1)
