"""The documents that a journal is made of: read by the version of Laneway that wrote them, and by later ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.contracts.codec import T, convert, encode, parse_json
from laneway.domain.address import PciAddress
from laneway.domain.errors import ErrorCode, LanewayError
from laneway.interfaces.host_changes import Action, Clean, Plan, Prepare, Release, SetVfCount, Step
from laneway.interfaces.journal import Hold, JournalState, PreparedDevice, VfCount

_ACTIONS: Mapping[str, type[Action]] = {
    "prepare": Prepare,
    "release": Release,
    "set_vf_count": SetVfCount,
    "clean": Clean,
}
_NAMES = {kind: name for name, kind in _ACTIONS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanDocument:
    action: str
    of: dict[str, Any]
    steps: tuple[Step, ...]
    boot_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _HoldDocument:
    address: PciAddress
    holders: tuple[PciAddress, ...]
    driver: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ErrorsDocument:
    address: PciAddress
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _StateDocument:
    boot_id: str | None
    steps: tuple[Step, ...]
    taken: tuple[_HoldDocument, ...]
    prepared: tuple[PreparedDevice, ...]
    kept: tuple[PciAddress, ...]
    vf_counts: tuple[VfCount, ...]
    fatal_errors: tuple[_ErrorsDocument, ...]


def action_name(action: Action) -> str:
    """The word for what an action does: ``prepare``, ``release``, ``set_vf_count``, ``clean``."""
    return _NAMES[type(action)]


def encode_plan(plan: Plan) -> bytes:
    """The document of a plan."""
    document = {"action": action_name(plan.action), "of": plan.action, "steps": plan.steps, "boot_id": plan.boot_id}
    return encode(document)


def decode_plan(document: bytes) -> Plan:
    """The plan in a document. Raises LanewayError(invalid_json)."""
    read = _read(document, _PlanDocument)
    kind = _ACTIONS.get(read.action)
    if kind is None:
        raise LanewayError(
            ErrorCode.INVALID_JSON, f"{read.action!r} is no action of this version", {"path": "$.action"}
        )
    action: Action = convert(read.of, kind, ErrorCode.INVALID_JSON)
    return Plan(action=action, steps=read.steps, boot_id=read.boot_id)


def encode_step(step: Step) -> bytes:
    """The document of a step."""
    return encode(step)


def decode_step(document: bytes) -> Step:
    """The step in a document. Raises LanewayError(invalid_json)."""
    return _read(document, Step)


def encode_state(state: JournalState) -> bytes:
    """The document of what is remembered, in order of address."""
    return encode(
        _StateDocument(
            boot_id=state.boot_id,
            steps=state.steps,
            taken=tuple(
                _HoldDocument(address=address, holders=tuple(sorted(hold.holders)), driver=hold.driver)
                for address, hold in sorted(state.taken.items())
            ),
            prepared=tuple(device for _, device in sorted(state.prepared.items())),
            kept=tuple(sorted(state.kept)),
            vf_counts=tuple(count for _, count in sorted(state.vf_counts.items())),
            fatal_errors=tuple(
                _ErrorsDocument(address=address, count=count) for address, count in sorted(state.fatal_errors.items())
            ),
        )
    )


def decode_state(document: bytes) -> JournalState:
    """What is remembered in a document. Raises LanewayError(invalid_json)."""
    read = _read(document, _StateDocument)
    return JournalState(
        boot_id=read.boot_id,
        steps=read.steps,
        taken={hold.address: Hold(holders=frozenset(hold.holders), driver=hold.driver) for hold in read.taken},
        prepared={device.address: device for device in read.prepared},
        kept=frozenset(read.kept),
        vf_counts={count.address: count for count in read.vf_counts},
        fatal_errors={errors.address: errors.count for errors in read.fatal_errors},
    )


def _read(document: bytes, wanted: type[T]) -> T:
    return convert(parse_json(document), wanted, ErrorCode.INVALID_JSON)
