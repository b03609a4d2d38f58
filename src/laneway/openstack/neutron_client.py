"""Neutron's HTTP API (https://docs.openstack.org/api-ref/network/v2/), as ``NetworkService``."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.tags import parse_boolean
from laneway.interfaces.network import UNBOUND, NetworkPort, Profile, StandbyBinding, is_plugged
from laneway.openstack.service import Access, Answer, Http, open_service

DEVICE_OWNER = "compute:laneway"
"""Whose a port is that was nobody's. Neutron knows standby bindings only of ``compute:`` ports."""

LARGEST_PROFILE = 4095
"""Bytes of JSON that Neutron keeps of a profile."""

ABOUT: Mapping[str, Any] = {"version": "/v2.0", "repeats_writes": False}
"""Neutron has a binding half done that it answers with 500, and a new revision of the port with it."""

_IDS_AT_ONCE = 40
"""A request line has room for some 100 ids."""


def open_neutron(access: Access) -> "NeutronClient":
    """Neutron for the one whom ``access`` names. Raises as ``open_service`` does."""
    http = open_service(access, "network", ErrorCode.NEUTRON_UNREACHABLE, section="neutron", **ABOUT)
    return NeutronClient(http)


class NeutronClient:
    """The service behind ``http``, whose paths are those of the API's version."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def ports(self, ids: Collection[str]) -> Sequence[NetworkPort]:
        """As ``NetworkService`` says."""
        wanted = sorted(ids)
        found: list[NetworkPort] = []
        for first in range(0, len(wanted), _IDS_AT_ONCE):
            found += self._ports([("id", one) for one in wanted[first : first + _IDS_AT_ONCE]])
        return found

    def ports_on(self, host: str) -> Sequence[NetworkPort]:
        """As ``NetworkService`` says."""
        return self._ports([("binding:host_id", host)])

    def ports_with_mac(self, network: str, mac_address: str) -> Sequence[NetworkPort]:
        """As ``NetworkService`` says."""
        return self._ports([("network_id", network), ("mac_address", mac_address)])

    def physical_network(self, network: str) -> str | None:
        """As ``NetworkService`` says. Of several segments the first that is on a physical network counts."""
        path = f"/networks/{network}"
        content = self._ask("GET", path)["network"]
        segments = content.get("segments") or [content]
        if any("provider:physical_network" not in segment for segment in segments):
            raise _no_permission(f"GET {path}: the provider attributes of network {network} are not shown")
        names = (segment["provider:physical_network"] for segment in segments)
        return next((str(name) for name in names if name), None)

    def standby_bindings(self, port: NetworkPort) -> Sequence[StandbyBinding]:
        """As ``NetworkService`` says."""
        found = self._ask("GET", f"/ports/{port.id}/bindings")["bindings"]
        return [
            StandbyBinding(host=one["host"], vif_type=one["vif_type"], profile=one["profile"] or {})
            for one in found
            if one["status"] != "ACTIVE"
        ]

    def take(self, port: NetworkPort, consumer: str) -> None:
        """As ``NetworkService`` says."""
        self._update(port, device_id=consumer, device_owner=DEVICE_OWNER)

    def bind(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """As ``NetworkService`` says."""
        _check_size(port, profile)
        bound = self._update(port, **{"binding:host_id": host, "binding:profile": dict(profile)})
        _check_plugged(port, host, str(bound.get("binding:vif_type")))

    def unbind(self, port: NetworkPort, profile: Profile) -> None:
        """As ``NetworkService`` says."""
        nowhere = {"binding:host_id": "", "binding:profile": dict(profile)}
        self._update(port, **nowhere, device_id="", device_owner="")

    def renew_mac(self, port: NetworkPort) -> None:
        """As ``NetworkService`` says."""
        self._update(port, mac_address=None)

    def add_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """As ``NetworkService`` says."""
        _check_size(port, profile)
        binding = {"host": host, "vnic_type": port.vnic_type, "profile": dict(profile)}
        made = self._ask("POST", f"/ports/{port.id}/bindings", {"binding": binding})["binding"]
        _check_plugged(port, host, made["vif_type"])

    def change_standby(self, port: NetworkPort, host: str, profile: Profile) -> None:
        """As ``NetworkService`` says."""
        _check_size(port, profile)
        body = {"binding": {"profile": dict(profile)}}
        changed = self._ask("PUT", f"/ports/{port.id}/bindings/{host}", body)["binding"]
        _check_plugged(port, host, changed["vif_type"])

    def activate(self, port: NetworkPort, host: str) -> None:
        """As ``NetworkService`` says."""
        answer = self._ask("PUT", f"/ports/{port.id}/bindings/{host}/activate")
        activated = answer.get("binding", answer)  # Neutron leaves the wrapper away here, others may not
        _check_plugged(port, host, activated["vif_type"])

    def delete_standby(self, port: NetworkPort, host: str) -> None:
        """As ``NetworkService`` says. One that is gone is no error."""
        self._ask("DELETE", f"/ports/{port.id}/bindings/{host}", gone_is_fine=True)

    def _ports(self, query: Sequence[tuple[str, str]]) -> list[NetworkPort]:
        return [_port(content) for content in self._ask("GET", "/ports", query=query)["ports"]]

    def _update(self, port: NetworkPort, **changes: object) -> Mapping[str, Any]:
        unchanged = {"If-Match": f"revision_number={port.revision}"}
        answer = self._ask("PUT", f"/ports/{port.id}", {"port": changes}, headers=unchanged)
        changed: Mapping[str, Any] = answer["port"]
        return changed

    def _ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        gone_is_fine: bool = False,
    ) -> Any:
        try:
            answer = self._http.request(method, path, query=query, body=body, headers=headers)
        except LanewayError as error:
            if error.detail.get("status") == 403:
                raise _no_permission(error.message) from error
            raise
        if answer.status < 300 or (answer.status == 404 and gone_is_fine):
            return answer.content
        raise _refusal(method, path, answer)


def _port(content: Mapping[str, Any]) -> NetworkPort:
    if "binding:vnic_type" in content and "binding:host_id" not in content:
        raise _no_permission(f"the binding of port {content['id']} is not shown")
    return NetworkPort(
        id=content["id"],
        network=content["network_id"],
        vnic_type=content.get("binding:vnic_type") or "normal",
        mac_address=content["mac_address"],
        revision=content["revision_number"],
        device_id=content.get("device_id") or None,
        device_owner=content.get("device_owner") or None,
        host=content.get("binding:host_id") or None,
        vif_type=content.get("binding:vif_type") or UNBOUND,
        profile=content.get("binding:profile") or {},
        numa_policy=content.get("numa_affinity_policy"),
        trusted=_trusted(content),
    )


def _trusted(content: Mapping[str, Any]) -> bool | None:
    """The attribute of newer Neutrons, else what the profile says, which nova reads as text, too (rule C70)."""
    said = content.get("trusted")
    if said is None:
        said = (content.get("binding:profile") or {}).get("trusted")
    if isinstance(said, str):
        return parse_boolean(said) is True
    return said if isinstance(said, bool) else None


def _check_size(port: NetworkPort, profile: Profile) -> None:
    size = len(json.dumps(profile))
    if size > LARGEST_PROFILE:
        raise LanewayError(
            ErrorCode.NEUTRON_REFUSED,
            f"the binding:profile of port {port.id} would have {size} bytes, and Neutron keeps {LARGEST_PROFILE};"
            " remove what others have put into it",
            {"port": port.id, "size": size, "keys": sorted(profile)},
        )


def _check_plugged(port: NetworkPort, host: str, vif_type: str) -> None:
    if not is_plugged(vif_type):
        raise LanewayError(
            ErrorCode.PORT_BINDING_FAILED,
            f"Neutron could not bind port {port.id} ({port.vnic_type}) on {host}: {vif_type}; see whether its agent"
            f" runs there and serves the port's network (openstack network agent list --host {host})",
            {"port": port.id, "host": host, "vif_type": vif_type},
        )


def _refusal(method: str, path: str, answer: Answer) -> LanewayError:
    detail = {"method": method, "path": path, "status": answer.status}
    if answer.status in (404, 409, 412):
        message = f"the port has changed meanwhile: {method} {path}: {answer.message}"
        return LanewayError(ErrorCode.NEUTRON_CONFLICT, message, detail)
    message = f"Neutron refuses {method} {path} with {answer.status}: {answer.message}"
    return LanewayError(ErrorCode.NEUTRON_REFUSED, message, detail)


def _no_permission(what: str) -> LanewayError:
    return LanewayError(
        ErrorCode.NO_PERMISSION,
        f"{what}; Neutron lets only the role 'service' read and write bindings and their profiles: give it to the user"
        " (openstack role add --user USER --project service service)",
        {"service": "Neutron", "role": "service"},
    )
