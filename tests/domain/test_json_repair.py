"""What someone who wrote broken JSON most likely meant (rule D6)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.domain.json_repair import repair_json


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        pytest.param("{'vendor_id': '8086'}", '{"vendor_id": "8086"}', id="single quotes"),
        pytest.param(
            '{"managed": True, "physical_network": None}',
            '{"managed": true, "physical_network": null}',
            id="Python literals",
        ),
        pytest.param('{"vendor_id": "8086",}', '{"vendor_id": "8086"}', id="a trailing comma in an object"),
        pytest.param('[{"vendor_id": "8086"},]', '[{"vendor_id": "8086"}]', id="a trailing comma in a list"),
        pytest.param('{"vendor_id": "8086"},', '{"vendor_id": "8086"}', id="a trailing comma after it"),
        pytest.param("{vendor_id: 8086}", '{"vendor_id": "8086"}', id="no quotes"),
        pytest.param('{"vendor_id": "8086"', '{"vendor_id": "8086"}', id="no closing brace"),
        pytest.param('[{"vendor_id": "8086"', '[{"vendor_id": "8086"}]', id="no closing brackets"),
        pytest.param('"vendor_id": "8086"', '{"vendor_id": "8086"}', id="no braces"),
        pytest.param("{\u201cvendor_id\u201d: \u20188086\u2019}", '{"vendor_id": "8086"}', id="typographic quotes"),
        pytest.param('{"vendor_id": "8086"} # cards', '{"vendor_id": "8086"}', id="a comment behind it"),
        pytest.param('{"a": "#1"}; cards', '{"a": "#1"}', id="another comment"),
        pytest.param('{"a": "1"}, {"a": "2"}', '[{"a": "1"}, {"a": "2"}]', id="several without brackets"),
        pytest.param("{'name': 'it\\'s'}", '{"name": "it\'s"}', id="an escaped quote"),
        pytest.param('{"a": "True, \'x\',}"}', '{"a": "True, \'x\',}"}', id="text within quotes is left alone"),
    ],
)
def test_what_was_meant(text: str, meant: str) -> None:
    assert repair_json(text) == meant


@pytest.mark.parametrize("text", ["", "{", "}{", "8086", '{"a" "b"}', "{" * 5_000, "'" * 30_000, ","])
def test_nothing_is_offered_where_nothing_is_near(text: str) -> None:
    assert repair_json(text) is None


@given(st.text(alphabet="{}[]:,'\"\\ aT1\n", max_size=40) | st.text(max_size=40))
def test_an_offer_is_json_of_an_object_or_a_list_whatever_the_text(text: str) -> None:
    offer = repair_json(text)
    assert offer is None or isinstance(json.loads(offer), dict | list)


_WRITTEN = st.text(alphabet="ab '\",:{}[]T0", max_size=6)


@given(st.dictionaries(_WRITTEN, _WRITTEN | st.booleans() | st.none(), min_size=1))
def test_a_python_literal_is_understood(content: dict[str, str | bool | None]) -> None:
    offer = repair_json(repr(content))
    assert offer is not None
    assert json.loads(offer) == content
