"""From the values of an option to numbered objects, with all errors (rules C2, D6, D15)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.config_entry import Entry, read_entries, shown
from laneway.domain.errors import ErrorCode, Findings

EXAMPLE = '{"vendor_id": "8086"}'


def read(*values: object, places: tuple[str, ...] | None = None) -> tuple[list[Entry], Findings]:
    findings = Findings()
    code = ErrorCode.INVALID_DEVICE_SPEC
    entries = read_entries(values, findings, option="device_spec", code=code, example=EXAMPLE, places=places)
    return list(entries), findings


def test_objects_lists_and_their_json_are_entries_and_lists_are_counted_through() -> None:
    """Rules C2 and C63."""
    entries, findings = read(
        {"a": "0"}, [{"a": "1"}, {"a": "2"}], '{"a": "3"}', '[{"a": "4"}, {"a": "5"}]', [], "[]", {"a": "6"}
    )
    assert findings.errors == []
    assert [(entry.report.entry, entry.content["a"]) for entry in entries] == [(n, str(n)) for n in range(7)]


def test_an_unreadable_value_counts_as_one_entry() -> None:
    entries, findings = read("{", {"a": "1"}, [1, {"a": "3"}], None)
    assert [entry.report.entry for entry in entries] == [1, 3]
    assert [problem.entry for problem in findings.errors] == [0, 2, 4]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(
            "{'a': True,}",
            "device_spec entry 0: {'a': True,} is not JSON: Expecting property name enclosed in double quotes"
            ' at line 1 column 2, at "\'a\': True,}"; write {"a": true}',
            id="a Python literal",
        ),
        pytest.param(
            '{"a": "1"',
            'device_spec entry 0: {"a": "1" is not JSON: Expecting \',\' delimiter at line 1 column 10,'
            ' at its end; write {"a": "1"}',
            id="cut off",
        ),
        pytest.param(
            "",
            f'device_spec entry 0: "" is not JSON: Expecting value at line 1 column 1, at its end; write {EXAMPLE}',
            id="empty",
        ),
        pytest.param("null", f"device_spec entry 0: null is not a JSON object; write {EXAMPLE}", id="null in JSON"),
        pytest.param(
            '["{}"]', f"device_spec entry 0: {{}} is not a JSON object; write {EXAMPLE}", id="a list of texts"
        ),
        pytest.param(
            [[{}]], f"device_spec entry 0: [{{}}] is not a JSON object; write {EXAMPLE}", id="a list in a list"
        ),
        pytest.param(8086, f"device_spec entry 0: 8086 is not a JSON object; write {EXAMPLE}", id="a number"),
    ],
)
def test_what_is_said_of_a_value_that_is_no_entry(value: object, message: str) -> None:
    """Rules C2 and D6."""
    entries, findings = read(value)
    assert entries == []
    assert [(problem.code, problem.message) for problem in findings.errors] == [("invalid_device_spec", message)]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": ' + "9" * 5_000 + "}"], ids=["nested too deeply", "a number too long"]
)
def test_json_that_is_too_much_is_an_error(text: str) -> None:
    _, findings = read(text)
    assert len(findings.errors) == 1
    assert len(findings.errors[0].message) < 500


def test_a_value_that_cannot_be_written_is_named_without_it() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "this value"


def test_the_place_of_a_value_is_told() -> None:
    _, findings = read({"a": "1"}, "x", places=("nova.conf:3", "nova.conf:4"))
    (problem,) = findings.errors
    assert problem.place == "nova.conf:4"
    assert problem.message.startswith("device_spec entry 1 (nova.conf:4): x is not JSON")


def test_a_key_that_is_repeated_in_one_object_is_noted() -> None:
    entries, findings = read('[{"a": "1", "b": "2", "a": "3"}]')
    assert entries[0].content == {"a": "3", "b": "2"}
    assert [(warning.code, warning.key) for warning in findings.warnings] == [("repeated_key", "a")]


@given(
    st.lists(st.text(max_size=30) | st.none() | st.lists(st.integers() | st.just({"a": "b"}), max_size=3), max_size=5)
)
def test_every_item_is_an_entry_or_an_error_under_a_number_of_its_own(values: list[object]) -> None:
    entries, findings = read(*values)
    numbers = [entry.report.entry for entry in entries] + [problem.entry for problem in findings.errors]
    assert sorted(number for number in numbers if number is not None) == list(range(len(numbers)))
