"""XML as libvirt writes it. Pure, and safe for a text from a host that is not trusted."""

from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

MAX_LENGTH = 4 * 1024 * 1024
"""The longest string that libvirt's protocol carries (VIR_NET_MESSAGE_STRING_MAX)."""


class _NoDoctype(TreeBuilder):
    """Without a document type no entity can be defined: none that grows, none that names a file."""

    def doctype(self, name: str, *_ids: str | None) -> None:
        raise ValueError(f"it declares the document type {name!r}, which libvirt never does")


def parse_xml(text: str) -> Element:
    """The root element of a document.

    Raises ValueError for a text that is no XML, is longer than libvirt can send, or declares a
    document type (which is how entities would come in).
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"it has {len(text)} characters, and libvirt sends at most {MAX_LENGTH}")
    parser = XMLParser(target=_NoDoctype())  # noqa: S314 - entities need a document type, which is refused
    try:
        parser.feed(text)
        root: Element = parser.close()
    except ParseError as failure:
        raise ValueError(f"it is not XML: {failure}") from failure
    return root
