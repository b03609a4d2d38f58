"""The JSON contract ``laneway.scenario/1``: a host, its config and steps to try on it.

What is checked when a document is read is its frame: the types of its keys, the operations, and the
keys of the steps and of the requests, constraints and ports in them. What those keys hold is looked at
when the step is played, and makes that step alone fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laneway.domain.errors import ErrorCode, LanewayError
from laneway.domain.requests.request_parser import CONSTRAINT_KEYS, REQUEST_KEYS
from laneway.domain.requests.request_shape import PORT_KEYS, refused
from laneway.domain.tags import nearest_key

SCENARIO_SCHEMA = "laneway.scenario/1"

GUEST_POLICY_KEYS = ("flavor_numa_policy", "image_numa_policy")
_CLAIM_KEYS = frozenset(
    {"consumer", "claim", "guest_numa_nodes", "requests", "flavor", "ports", "constraints", *GUEST_POLICY_KEYS}
)
_CONFIG_KEYS = frozenset({"device_spec", "alias"})

STEP_KEYS: Mapping[str, frozenset[str] | None] = {
    "claim": _CLAIM_KEYS,
    "check": _CLAIM_KEYS,
    "allocate": frozenset({"consumer", "claim"}),
    "free": frozenset({"consumer", "claim", "addresses"}),
    "sync": frozenset({"inventory"}),
    "restart": _CONFIG_KEYS,
    "reload": _CONFIG_KEYS,
    "cleanup": frozenset({"keep"}),
    "move": None,
    "cordon": frozenset({"address"}),
    "uncordon": frozenset({"address"}),
    "release": frozenset({"address"}),
    "clean": frozenset({"address"}),
    "profile": frozenset({"consumer"}),
}
"""The operations, and the keys that a step of each may have besides ``op``; None is any."""

REQUIRED_KEYS: Mapping[str, frozenset[str]] = {
    "claim": frozenset({"consumer"}),
    "sync": frozenset({"inventory"}),
    "cleanup": frozenset({"keep"}),
    "cordon": frozenset({"address"}),
    "uncordon": frozenset({"address"}),
    "release": frozenset({"address"}),
    "clean": frozenset({"address"}),
    "profile": frozenset({"consumer"}),
}

_KEYS_INSIDE: Mapping[str, tuple[str, Sequence[str]]] = {
    "requests": ("a request", REQUEST_KEYS),
    "constraints": ("a constraint", CONSTRAINT_KEYS),
    "ports": ("a port", PORT_KEYS),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its operation and the values given with it, of which only the keys are checked."""

    op: str
    values: Mapping[str, object]

    def text(self, key: str) -> str | None:
        """The text under a key; None where it is absent or null. Raises LanewayError(invalid_request)."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise refused(key, value, "is not a text")
        return value

    def texts(self, key: str) -> list[str] | None:
        """The list of texts under a key; None where it is absent or null. Raises LanewayError(invalid_request)."""
        given = self.values.get(key)
        if given is None:
            return None
        if not isinstance(given, list):
            raise refused(key, given, "is not a list of texts")
        texts: list[str] = []
        for number, text in enumerate(given):
            if not isinstance(text, str):
                raise refused(f"{key}[{number}]", text, "is not a text")
            texts.append(text)
        return texts


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
    """Checks the frame of a scenario and of all its steps.

    Raises LanewayError(invalid_scenario) that names the step and the key.
    """
    if not isinstance(document, dict):
        raise invalid("$", document, "is no scenario; a scenario is a JSON object")
    if document.get("schema") != SCENARIO_SCHEMA:
        raise invalid("schema", document.get("schema"), f"is not known; this version reads {SCENARIO_SCHEMA!r}")
    if document.get("inventory") is None:
        raise invalid("inventory", None, "is no host to try on; give a document of laneway.inventory/1")
    if document.get("id") is not None and not isinstance(document["id"], str):
        raise invalid("id", document["id"], "is not a text")
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


def invalid(place: str, value: object, fault: str) -> LanewayError:
    """The error of a scenario whose value at a place has this fault."""
    problem = refused(place, value, fault)
    return LanewayError(ErrorCode.INVALID_SCENARIO, problem.message, problem.detail)


def _step(number: int, step: object) -> Step:
    where = f"steps[{number}]"
    if not isinstance(step, dict):
        raise invalid(where, step, "is not an object")
    op = step.get("op")
    if not isinstance(op, str) or op not in STEP_KEYS:
        raise invalid(f"{where}.op", op, f"is no operation; {_meant(op, tuple(STEP_KEYS))}")
    given = {key: value for key, value in step.items() if key != "op"}
    allowed = STEP_KEYS[op]
    if allowed is not None:
        _check_keys(given, sorted(allowed), where, op)
        for key, (item, keys) in _KEYS_INSIDE.items():
            _check_keys_inside(given.get(key), keys, f"{where}.{key}", item)
    for key in sorted(REQUIRED_KEYS.get(op, ())):
        if given.get(key) is None:
            raise invalid(f"{where}.{key}", None, f"is missing; {op} needs it")
    return Step(op, given)


def _check_keys_inside(items: object, keys: Sequence[str], where: str, holder: str) -> None:
    for number, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            _check_keys(item, keys, f"{where}[{number}]", holder)


def _check_keys(given: Mapping[str, object], keys: Sequence[str], where: str, holder: str) -> None:
    for key in given:
        if key not in keys:
            raise invalid(where, key, f"is no key of {holder}; {_meant(key, keys)}")


def _meant(word: object, known: Sequence[str]) -> str:
    near = nearest_key(word, known) if isinstance(word, str) else None
    return f"write {near!r}" if near else f"there are {', '.join(known)}"


def _list(document: Mapping[str, object], key: str) -> list[object]:
    value = document.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid(key, value, "is not a list")
    return value


def _object(document: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid(key, value, "is not an object")
    return value


def _iommu_groups(options: Mapping[str, object]) -> bool:
    value = options.get("iommu_groups")
    if value not in (None, "enforce", "ignore"):
        raise invalid("options.iommu_groups", value, "is neither enforce nor ignore")
    return value != "ignore"


def _flag(options: Mapping[str, object], key: str) -> bool:
    value = options.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise invalid(f"options.{key}", value, "is neither true nor false")
    return value
