"""Placement's HTTP API (https://docs.openstack.org/api-ref/placement/), as ``PlacementService``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.placement import (
    Candidate,
    Consumer,
    Inventories,
    Provider,
    ProviderTree,
    ResourceInventory,
    StandardNames,
    TreeChanges,
)
from laneway.openstack.service import Access, Answer, Http, open_service

MICROVERSION = "1.36"
"""Of Train (2019). It has trees (1.14, 1.29), the reshaper (1.30), named groups (1.33) and root_required (1.35)."""

_HEADERS = {"OpenStack-API-Version": f"placement {MICROVERSION}", "Accept": "application/json"}
_CUSTOM = "CUSTOM_"
_INVENTORY = frozenset(ResourceInventory.__dataclass_fields__)


class PlacementClient:
    """The service behind ``http``.

    Inventories and traits of a provider are kept with its generation, which every change of them
    raises, so that a tree in which nothing has changed is read with few requests. Allocations
    are read each time: to delete some changes no generation.
    """

    def __init__(self, http: Http) -> None:
        self._http = http
        self._known: dict[str, Provider] = {}
        self._made: set[str] = set()

    def standard_names(self) -> StandardNames:
        """As ``PlacementService`` says."""
        classes = self._get("/resource_classes")["resource_classes"]
        traits = self._get("/traits")["traits"]
        return StandardNames(
            resource_classes=frozenset(one["name"] for one in classes if not one["name"].startswith(_CUSTOM)),
            traits=frozenset(name for name in traits if not name.startswith(_CUSTOM)),
        )

    def tree(self, root: str) -> ProviderTree | None:
        """As ``PlacementService`` says."""
        found = self._get("/resource_providers", [("name", root)])["resource_providers"]
        if not found:
            return None
        uuid = found[0]["uuid"]
        in_tree = self._get("/resource_providers", [("in_tree", uuid)])["resource_providers"]
        providers = [self._provider(entry) for entry in in_tree if entry["uuid"] != uuid]
        self._known = {provider.uuid: provider for provider in providers}
        return ProviderTree(uuid=uuid, name=root, providers=tuple(providers))

    def consumer(self, uuid: str) -> Consumer | None:
        """As ``PlacementService`` says."""
        found = self._get(f"/allocations/{uuid}")
        if not found["allocations"]:
            return None
        return Consumer(
            uuid=uuid,
            generation=found["consumer_generation"],
            project=found["project_id"],
            user=found["user_id"],
            allocations={provider: dict(held["resources"]) for provider, held in found["allocations"].items()},
        )

    def apply(self, changes: TreeChanges) -> None:
        """As ``PlacementService`` says."""
        self._make_names(changes)
        generations = dict(changes.generations)
        for new in changes.create:
            made = {"uuid": new.uuid, "name": new.name, "parent_provider_uuid": new.parent}
            generations[new.uuid] = self._write("POST", "/resource_providers", made)["generation"]
        for uuid, traits in changes.traits.items():
            body = {"resource_provider_generation": generations[uuid], "traits": sorted(traits)}
            answer = self._write("PUT", f"/resource_providers/{uuid}/traits", body)
            generations[uuid] = answer["resource_provider_generation"]
        inventories = {
            uuid: {"resource_provider_generation": generations[uuid], "inventories": _written(content)}
            for uuid, content in changes.inventories.items()
        }
        if changes.allocations:
            allocations = {one.uuid: _allocations(one) for one in changes.allocations}
            self._write("POST", "/reshaper", {"inventories": inventories, "allocations": allocations})
        else:
            for uuid, content in inventories.items():
                self._write("PUT", f"/resource_providers/{uuid}/inventories", content)
        for uuid in changes.delete:
            self._write("DELETE", f"/resource_providers/{uuid}", gone_is_fine=True)

    def candidates(self, query: Sequence[tuple[str, str]]) -> tuple[Candidate, ...]:
        """As ``PlacementService`` says."""
        found = self._get("/allocation_candidates", query)["allocation_requests"]
        return tuple(
            Candidate(
                allocations={uuid: dict(held["resources"]) for uuid, held in one["allocations"].items()},
                serving={suffix.removeprefix("_"): uuids[0] for suffix, uuids in one["mappings"].items() if uuids},
            )
            for one in found
        )

    def _provider(self, entry: Mapping[str, Any]) -> Provider:
        uuid = entry["uuid"]
        path = f"/resource_providers/{uuid}"
        known = self._known.get(uuid)
        if known is not None and known.generation == entry["generation"]:
            inventories, traits = known.inventories, known.traits
        else:
            inventories = {
                name: ResourceInventory(**{key: value for key, value in content.items() if key in _INVENTORY})
                for name, content in self._get(f"{path}/inventories")["inventories"].items()
            }
            traits = frozenset(self._get(f"{path}/traits")["traits"])
        allocations = self._get(f"{path}/allocations")["allocations"] if inventories else {}
        return Provider(
            uuid=uuid,
            name=entry["name"],
            parent=entry["parent_provider_uuid"],
            generation=entry["generation"],
            inventories=inventories,
            traits=traits,
            allocations={consumer: dict(held["resources"]) for consumer, held in allocations.items()},
        )

    def _make_names(self, changes: TreeChanges) -> None:
        """The classes and traits of our own that are written: to make one that exists changes nothing."""
        classes = (name for content in changes.inventories.values() for name in content)
        self._make("/resource_classes", classes)
        self._make("/traits", (name for traits in changes.traits.values() for name in traits))

    def _make(self, path: str, names: Iterable[str]) -> None:
        for name in sorted(set(names)):
            if name.startswith(_CUSTOM) and f"{path}/{name}" not in self._made:
                self._write("PUT", f"{path}/{name}")
                self._made.add(f"{path}/{name}")

    def _get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> Any:
        answer = self._http.request("GET", path, query=query, headers=_HEADERS)
        if answer.status == 404 or answer.content is None:  # gone since the list of providers was read
            raise _conflict("GET", path, answer)
        if answer.status >= 400:
            raise _refused("GET", path, answer)
        return answer.content

    def _write(self, method: str, path: str, body: object = None, *, gone_is_fine: bool = False) -> Any:
        answer = self._http.request(method, path, body=body, headers=_HEADERS)
        if answer.status == 404 and gone_is_fine:
            return {}
        if answer.status in (404, 409):
            raise _conflict(method, path, answer)
        if answer.status >= 400:
            raise _refused(method, path, answer)
        return answer.content or {}


def open_placement(access: Access) -> PlacementClient:
    """The service that a config names. Raises as ``open_service`` does."""
    return PlacementClient(open_service(access, "placement", ErrorCode.PLACEMENT_UNREACHABLE))


def _written(inventories: Inventories) -> dict[str, object]:
    return {name: asdict(inventory) for name, inventory in inventories.items()}


def _allocations(consumer: Consumer) -> dict[str, object]:
    return {
        "allocations": {uuid: {"resources": dict(held)} for uuid, held in consumer.allocations.items()},
        "project_id": consumer.project,
        "user_id": consumer.user,
        "consumer_generation": consumer.generation,
    }


def _conflict(method: str, path: str, answer: Answer) -> LanewayError:
    message = f"Placement has changed meanwhile: {method} {path}: {answer.message}"
    return LanewayError(ErrorCode.PLACEMENT_CONFLICT, message, {"method": method, "path": path})


def _refused(method: str, path: str, answer: Answer) -> LanewayError:
    message = f"Placement refuses {method} {path} with {answer.status}: {answer.message}"
    return LanewayError(ErrorCode.PLACEMENT_REFUSED, message, {"method": method, "path": path})
