"""Makes vital product data as cards hold them (PCI Local Bus Specification 3.0, appendix I)."""


def vpd(name: str | None = None, *, read_only: bytes = b"", read_write: bytes | None = None, end: bool = True) -> bytes:
    """The data with a name and sections; the read-only one gets its checksum."""
    data = b"" if name is None else item(0x82, name.encode())
    header = item(0x90, read_only + b"RV\x01?")[:-1]
    data += header + bytes([-sum(data + header) & 0xFF])
    if read_write is not None:
        data += item(0x91, read_write)
    return data + (b"\x78" if end else b"")


def item(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + len(content).to_bytes(2, "little") + content


def field(keyword: str, value: str | bytes) -> bytes:
    content = value if isinstance(value, bytes) else value.encode()
    return keyword.encode() + bytes([len(content)]) + content
