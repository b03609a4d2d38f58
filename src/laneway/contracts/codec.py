"""JSON to values and back, by msgspec, on the dataclasses of the domain: one definition per type."""

from codecs import BOM_UTF8
from typing import Any, TypeVar

import msgspec

from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError

T = TypeVar("T")


def parse_json(data: bytes | str) -> object:
    """The JSON document as plain values. A byte order mark before it is no part of it (RFC 8259, section 8.1).

    Raises LanewayError(invalid_json) that says where it stops being JSON.
    """
    try:
        return msgspec.json.decode(data.removeprefix(BOM_UTF8) if isinstance(data, bytes) else data)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise LanewayError(ErrorCode.INVALID_JSON, f"this is not a JSON document: {error}") from error
    except RecursionError:
        raise LanewayError(
            ErrorCode.INVALID_JSON, "this JSON document is nested too deeply to be one of ours"
        ) from None


def convert(value: object, wanted: type[T], code: ErrorCode) -> T:
    """Plain values, as ``parse_json`` gives them, as a value of the type ``wanted``.

    Strict: text is no number and a number no text. Unknown keys are ignored. Raises
    LanewayError(``code``) whose message and detail name the JSON path.
    """
    try:
        return msgspec.convert(value, wanted, dec_hook=_from_json, str_keys=True)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at ")
        raise invalid(code, path.removeprefix("`key` in ").strip("`") or "$", message) from error


def encode(value: object) -> bytes:
    """A value of the domain, or plain values that hold some, as JSON in UTF-8.

    What text has no UTF-8 (bytes of a command line or a file name that Python keeps as surrogates)
    is written as U+FFFD.
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _ENCODER.encode(_without_surrogates(to_plain(value)))


def to_plain(value: object) -> Any:
    """A value of the domain as what its JSON consists of: dicts, lists, text, numbers, None."""
    return msgspec.to_builtins(value, enc_hook=_to_json, str_keys=True)


def invalid(code: ErrorCode, path: str, message: str) -> LanewayError:
    """The error of a document in which ``message`` holds at the JSON path ``path``."""
    return LanewayError(code, f"{path}: {message}", {"path": path})


def _without_surrogates(plain: Any) -> Any:
    if isinstance(plain, str):
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(plain, dict):
        return {_without_surrogates(key): _without_surrogates(value) for key, value in plain.items()}
    return [_without_surrogates(item) for item in plain] if isinstance(plain, list | tuple) else plain


def _to_json(value: object) -> object:
    if isinstance(value, PciAddress):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _from_json(wanted: type, value: object) -> object:
    assert wanted is PciAddress, f"{wanted.__name__} has no form in JSON"
    if not isinstance(value, str):
        raise ValueError(f'expected a PCI address as text, such as "0000:3b:00.0", got {value!r}')
    try:
        return PciAddress.parse(value)
    except LanewayError as error:
        # msgspec adds the JSON path to a ValueError, and to no other error.
        raise ValueError(error.message) from error


_ENCODER = msgspec.json.Encoder(enc_hook=_to_json)
