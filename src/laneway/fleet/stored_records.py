"""Records as a store could have held them before the first sync, whether they make sense or not."""

from collections.abc import Mapping, Sequence

from laneway.contracts.codec import convert
from laneway.contracts.scenario import invalid
from laneway.domain.address import PciAddress
from laneway.domain.device import ExtraInfo, PciDevice, Status
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.inventory import PciFunction


def read_stored(records: Sequence[object], admitted: Mapping[PciAddress, PciDevice]) -> list[PciDevice]:
    """The devices that the records describe, with the tags that today's specs give to theirs.

    Raises LanewayError(invalid_scenario) that names the record.
    """
    return [_stored_device(f"stored[{number}]", record, admitted) for number, record in enumerate(records)]


def _stored_device(place: str, record: object, admitted: Mapping[PciAddress, PciDevice]) -> PciDevice:
    if not isinstance(record, dict):
        raise invalid(place, record, "is not an object")
    function = _function(place, record)
    status, consumer = record.get("status"), record.get("consumer")
    if status is not None and not (isinstance(status, str) and status in set(Status)):
        raise invalid(f"{place}.status", status, f"is not one of {', '.join(Status)}")
    if consumer is not None and not isinstance(consumer, str):
        raise invalid(f"{place}.consumer", consumer, "is not a text")
    today = admitted.get(function.address)
    return PciDevice(
        function=function,
        extra_info=ExtraInfo() if today is None else today.extra_info,
        entry=None if today is None else today.entry,
        status=Status.AVAILABLE if status is None else Status(status),
        consumer=consumer,
    )


def _function(place: str, record: Mapping[str, object]) -> PciFunction:
    try:
        return convert(record, PciFunction, ErrorCode.INVALID_SCENARIO)
    except LanewayError as error:
        path = place + str(error.detail["path"]).removeprefix("$")
        raise LanewayError(error.code, f"{place}{error.message.removeprefix('$')}", {"place": path}) from error
