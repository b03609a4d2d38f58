"""All that is wrong with an inventory: looked for part by part, once it is known that something is."""

from collections.abc import Callable, Iterator, Mapping

from laneway.domain.errors import LanewayError
from laneway.domain.inventory import INVENTORY_SCHEMA, DevType

Read = Callable[[Mapping[str, object]], object]
"""What reads a document whose ``schema`` is right, and raises LanewayError with its first fault."""

_SOUND = {"address": "0000:00:00.0", "vendor_id": "0000", "product_id": "0000", "dev_type": str(DevType.PCI)}
"""All that a function needs: what is wrong with one that has another key, too, is that key."""


def faults_of(document: Mapping[str, object], read: Read) -> Iterator[LanewayError]:
    """The first fault of each key of the document and of each key of a function, and functions of one address."""
    for key, value in document.items():
        if key != "functions":
            yield from _fault({"functions": [], key: value}, read)
    functions = document.get("functions")
    if not isinstance(functions, list):
        yield from _fault({key: value for key, value in document.items() if key == "functions"}, read)
        return
    sound: list[object] = []
    for number, function in enumerate(functions):
        faults = tuple(_faults_of_function(function, read))
        yield from (_at(number, fault) for fault in faults)
        if not faults:
            sound.append(function)
    yield from _fault({"functions": sound}, read)


def _faults_of_function(function: object, read: Read) -> Iterator[LanewayError]:
    whole = tuple(_fault({"functions": [function]}, read))
    if not whole or not isinstance(function, dict):
        yield from whole
        return
    for key in _SOUND:
        if key not in function:
            yield from _fault({"functions": [{name: value for name, value in _SOUND.items() if name != key}]}, read)
    for key, value in function.items():
        yield from _fault({"functions": [{**_SOUND, key: value}]}, read)


def _fault(part: Mapping[str, object], read: Read) -> Iterator[LanewayError]:
    try:
        read({"schema": INVENTORY_SCHEMA, **part})
    except LanewayError as error:
        yield error


def _at(number: int, fault: LanewayError) -> LanewayError:
    """The fault of the one function that a part had, at its place in the document."""
    path = str(fault.detail["path"])
    place = path.replace("[0]", f"[{number}]", 1)
    return LanewayError(fault.code, fault.message.replace(path, place, 1), {**fault.detail, "path": place})
