"""The JSON contract ``laneway.scenario/1``: a host, its config and steps to try on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laneway.domain.errors import ErrorCode, LanewayError

SCENARIO_SCHEMA = "laneway.scenario/1"

_CLAIM_KEYS = frozenset({"consumer", "claim", "guest_numa_nodes", "requests", "flavor", "ports", "constraints"})
_CONFIG_KEYS = frozenset({"device_spec", "alias"})

STEP_KEYS: Mapping[str, frozenset[str]] = {
    "claim": _CLAIM_KEYS,
    "check": _CLAIM_KEYS,
    "allocate": frozenset({"consumer", "claim"}),
    "free": frozenset({"consumer", "claim", "addresses"}),
    "sync": frozenset({"inventory"}),
    "restart": _CONFIG_KEYS,
    "reload": _CONFIG_KEYS,
    "cleanup": frozenset({"keep"}),
    "move": frozenset({"consumer", "verb", "claim", "requests", "flavor", "ports", "guest_numa_nodes", "constraints"}),
    "cordon": frozenset({"address"}),
    "uncordon": frozenset({"address"}),
    "release": frozenset({"address"}),
    "clean": frozenset({"address"}),
    "profile": frozenset({"consumer"}),
}
"""The operations, and the keys that a step of each may have besides ``op``."""

REQUIRED_KEYS: Mapping[str, frozenset[str]] = {
    "claim": frozenset({"consumer"}),
    "sync": frozenset({"inventory"}),
    "cleanup": frozenset({"keep"}),
    "move": frozenset({"consumer", "verb"}),
    "cordon": frozenset({"address"}),
    "uncordon": frozenset({"address"}),
    "release": frozenset({"address"}),
    "clean": frozenset({"address"}),
    "profile": frozenset({"consumer"}),
}

_TEXT_KEYS = frozenset({"consumer", "claim", "address", "verb", "flavor"})


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its operation and the values given with it, keys and required keys checked."""

    op: str
    values: Mapping[str, object]

    def text(self, key: str) -> str | None:
        """The text under a key; None where it is absent or null."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A document of this contract. Inventory, config and stored records are not looked into yet."""

    id: str | None
    inventory: object
    device_spec: Sequence[object]
    alias: Sequence[object]
    stored: Sequence[object]
    steps: tuple[Step, ...]
    enforce_iommu_groups: bool = True
    report_in_placement: bool = False
    pci_in_placement: bool = False


def document_id(document: object) -> str | None:
    """The ``id`` that an answer repeats, of whatever the document is."""
    identity = document.get("id") if isinstance(document, dict) else None
    return identity if isinstance(identity, str) else None


def read_scenario(document: object) -> Scenario:
    """Checks the frame of a scenario and all of its steps.

    Raises LanewayError(invalid_scenario) that names the step and the key.
    """
    if not isinstance(document, dict):
        raise _invalid("a scenario is a JSON object", "$")
    if document.get("schema") != SCENARIO_SCHEMA:
        raise _invalid(f"schema is {document.get('schema')!r}; this version reads {SCENARIO_SCHEMA!r}", "schema")
    if document.get("inventory") is None:
        raise _invalid("the key inventory is missing; it holds the host to try on", "inventory")
    if document.get("id") is not None and not isinstance(document["id"], str):
        raise _invalid(f"id is {document['id']!r}; it is a text", "id")
    options = _object(document, "options")
    return Scenario(
        id=document_id(document),
        inventory=document["inventory"],
        device_spec=_list(document, "device_spec"),
        alias=_list(document, "alias"),
        stored=_list(document, "stored"),
        steps=tuple(_step(number, step) for number, step in enumerate(_list(document, "steps"))),
        enforce_iommu_groups=_iommu_groups(options),
        report_in_placement=_flag(options, "report_in_placement"),
        pci_in_placement=_flag(options, "pci_in_placement"),
    )


def _step(number: int, step: object) -> Step:
    where = f"steps[{number}]"
    if not isinstance(step, dict):
        raise _invalid(f"{where} is not an object", where)
    op = step.get("op")
    if not isinstance(op, str) or op not in STEP_KEYS:
        raise _invalid(f"{where}.op is {op!r}; it is one of {', '.join(STEP_KEYS)}", f"{where}.op")
    given = {key: value for key, value in step.items() if key != "op"}
    for key in given:
        if key not in STEP_KEYS[op]:
            raise _invalid(
                f"{where} ({op}) has the unknown key {key!r}; it may have {', '.join(sorted(STEP_KEYS[op])) or 'none'}",
                f"{where}.{key}",
            )
        if key in _TEXT_KEYS and given[key] is not None and not isinstance(given[key], str):
            raise _invalid(f"{where}.{key} is {given[key]!r}; it is a text", f"{where}.{key}")
    for key in sorted(REQUIRED_KEYS.get(op, ())):
        if given.get(key) is None:
            raise _invalid(f"{where} ({op}) needs the key {key}", f"{where}.{key}")
    return Step(op, given)


def _list(document: Mapping[str, object], key: str) -> list[object]:
    value = document.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise _invalid(f"{key} is {value!r}; it is a list", key)
    return value


def _object(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _invalid(f"{key} is {value!r}; it is an object", key)
    return value


def _iommu_groups(options: Mapping[str, object]) -> bool:
    value = options.get("iommu_groups")
    if value not in (None, "enforce", "ignore"):
        raise _invalid(f"options.iommu_groups is {value!r}; it is enforce or ignore", "options.iommu_groups")
    return value != "ignore"


def _flag(options: Mapping[str, object], key: str) -> bool:
    value = options.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _invalid(f"options.{key} is {value!r}; it is true or false", f"options.{key}")
    return value


def _invalid(message: str, place: str) -> LanewayError:
    return LanewayError(ErrorCode.INVALID_SCENARIO, message, {"place": place})
