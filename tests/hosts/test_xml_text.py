"""What is read of a host's XML, and what is not."""

import pytest

from laneway.hosts.xml_text import MAX_LENGTH, parse_xml

GROWING = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 10))


def test_a_document_is_read() -> None:
    root = parse_xml("<?xml version='1.0'?><!-- made by libvirt --><device><name>a &amp; b</name></device>")
    assert (root.tag, root.findtext("name")) == ("device", "a & b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "not XML", id="nothing"),
        pytest.param("<device>", "not XML", id="an element without its end"),
        pytest.param("<a/><b/>", "not XML", id="two roots"),
        pytest.param("<a>\0</a>", "not XML", id="a character that XML has not"),
        pytest.param("<a>&nothing;</a>", "not XML", id="an entity that is not defined"),
        pytest.param("<!DOCTYPE a><a/>", "document type 'a'", id="a document type"),
        pytest.param(
            f"<!DOCTYPE a [<!ENTITY e0 'x'>{GROWING}]><a>&e9;</a>", "document type", id="entities that grow without end"
        ),
        pytest.param(
            "<!DOCTYPE a [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><a>&f;</a>",
            "document type",
            id="an entity that names a file",
        ),
        pytest.param(f"<a>{' ' * MAX_LENGTH}</a>", "characters", id="a text longer than libvirt can send"),
    ],
)
def test_a_text_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_xml(text)


def test_a_text_nested_as_deeply_as_it_can_be_harms_nobody() -> None:
    deep = 1 << 16
    assert parse_xml("<a>" * deep + "</a>" * deep).tag == "a"
