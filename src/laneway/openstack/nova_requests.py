"""What an instance asked for, as nova stores it with it: its aliases may be others by now (rule C68)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from laneway.domain.requests.alias import Aliases
from laneway.domain.requests.request import DeviceRequest
from laneway.domain.requests.request_parser import parse_requests
from laneway.openstack.nova_rows import RowReader

_NOT_OF_DEVICES = frozenset({"capability_type", "rp_uuids"})
"""Keys of a stored request that no device has: rule C63, and what Placement chose."""

_OBJECT_DATA = "nova_object.data"
"""Where the fields of one of nova's objects are, in its JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NovaRequests:
    """The requests of an instance, named by nova's ids of them, with the port as requester.

    ``before`` and ``after`` are those of a move that is under way, by its ``migration_context``; None
    where nova has none. A port has the same request in both.
    """

    stored: tuple[DeviceRequest, ...] = ()
    before: tuple[DeviceRequest, ...] | None = None
    after: tuple[DeviceRequest, ...] | None = None

    def of_sides(self, *, source: bool, destination: bool) -> tuple[DeviceRequest, ...]:
        """What the devices on these sides of a move serve; a request of both sides comes twice."""
        before = self.stored if self.before is None else self.before
        if self.after is None:
            return before if source else self.stored
        return (*(before if source else ()), *(self.after if destination else ()))


def read_requests(row: RowReader) -> tuple[str, NovaRequests]:
    """A row of ``instance_extra``. Raises ValueError that names the column, LanewayError."""
    context = _fields(row.json("migration_context"), "its migration_context") or {}
    return row.text("instance_uuid"), NovaRequests(
        stored=_listed(row.json("pci_requests"), "its pci_requests") or (),
        before=_of_context(context, "old_pci_requests"),
        after=_of_context(context, "new_pci_requests"),
    )


def _of_context(context: Mapping[str, object], key: str) -> tuple[DeviceRequest, ...] | None:
    requests = _fields(context.get(key), f"its migration_context's {key}")
    if requests is None:
        return None
    return _listed(requests.get("requests"), f"its migration_context's {key}")


def _fields(value: object, what: str) -> Mapping[str, object] | None:
    """Those of one of nova's objects."""
    if value is None:
        return None
    fields = value.get(_OBJECT_DATA, value) if isinstance(value, dict) else value
    if not isinstance(fields, dict):
        raise ValueError(f"{what} is no object")
    return fields


def _listed(stored: object, what: str) -> tuple[DeviceRequest, ...] | None:
    if stored is None:
        return None
    if not isinstance(stored, list):
        raise ValueError(f"{what} are no list")
    requests: dict[str, DeviceRequest] = {}
    for number, value in enumerate(stored):
        fields = _fields(value, f"{what}[{number}]")
        if fields is None:
            raise ValueError(f"{what}[{number}] is no object")
        request = _request(fields, number)
        if request.name in requests:
            raise ValueError(f"two of {what} have the id {request.name}")
        requests[request.name] = request
    return tuple(requests.values())


def _request(value: Mapping[str, object], number: int) -> DeviceRequest:
    """Before 2023.1 (Antelope) nova gave requests of a flavor no id; they are numbered then."""
    spec = value.get("spec")
    described = {
        "name": value.get("request_id") or f"request-{number}",
        "count": value.get("count"),
        "numa_policy": value.get("numa_policy"),
        "any_of": [_without_null(way) for way in spec] if isinstance(spec, list) else spec,
    }
    (request,) = parse_requests([described], Aliases())
    return replace(request, alias=_text(value, "alias_name"), requester=_text(value, "requester_id"))


def _without_null(way: object) -> object:
    """Null is no condition, but for the network, of which it says that it is tunnelled."""
    if not isinstance(way, dict):
        return way
    return {
        key: value
        for key, value in way.items()
        if key not in _NOT_OF_DEVICES and (value is not None or key == "physical_network")
    }


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"its pci_requests have the {key} {found!r}, which is no text")
    return found
