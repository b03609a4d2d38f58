"""What a service says of itself, written and read; and the documents made of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cli.documents import valid
from laneway.contracts.agent_status import (
    AgentStatus,
    DeviceCounts,
    Trouble,
    decode_agent_status,
    encode_agent_status,
    error_of,
)
from laneway.contracts.answer import errors_json, problem_json, warning_json
from laneway.contracts.codec import encode, parse_json
from laneway.contracts.status import HostChange, HostStatus, reload_document, status_document
from laneway.domain.address import PciAddress
from laneway.domain.errors import ConfigError, ConfigProblem, ErrorCode, LanewayError
from laneway.domain.inventory import ReadinessNote
from laneway.domain.tracking.drift import Drift

GPU = PciAddress.parse("0000:3b:00.0")
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
PROBLEM = ConfigProblem(
    ErrorCode.INVALID_DEVICE_SPEC, "entry 0: no", "device_spec", 0, "vendor_id", {"a": 1}, "write 1", "a.toml:1"
)
NOTE = ReadinessNote(code="iommu_off", severity="error", message="there is no IOMMU", remedy="turn it on")
COUNTS = DeviceCounts(counted_at=NOON, by_status={"available": 3, "claimed": 1}, blocked=1)
STATUS = AgentStatus(
    pid=4711,
    started_at=NOON,
    host="gpu-1",
    driver="linux",
    watching=True,
    config_sources=("/etc/laneway/laneway.toml",),
    config_since=NOON,
    updated_at=NOON + timedelta(minutes=1),
    devices=COUNTS,
    failing=Trouble(since=NOON, errors=tuple(errors_json(LanewayError(ErrorCode.HOST_UNREACHABLE, "away")))),
    refused=Trouble(since=NOON, errors=(problem_json(PROBLEM),)),
    contradictions=(problem_json(PROBLEM),),
    warnings=(warning_json(PROBLEM),),
    readiness=(NOTE,),
)


def test_it_is_read_as_it_was_written() -> None:
    assert decode_agent_status(encode_agent_status(STATUS)) == STATUS


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", encode_agent_status(STATUS).replace(b'"pid":4711', b'"pid":"x"')])
def test_what_is_no_status_is_refused(data: bytes) -> None:
    with pytest.raises(LanewayError) as caught:
        decode_agent_status(data)
    assert caught.value.code is ErrorCode.INVALID_JSON


@pytest.mark.parametrize(
    ("change", "well"),
    [
        pytest.param({}, True, id="nothing is wrong"),
        pytest.param({"warnings": STATUS.warnings}, True, id="warnings wait for nobody"),
        pytest.param({"failing": STATUS.failing}, False, id="the host cannot be read"),
        pytest.param({"refused": STATUS.refused}, False, id="the config was refused"),
        pytest.param({"contradictions": STATUS.contradictions}, False, id="the facts contradict the config"),
    ],
)
def test_all_is_well_where_nothing_waits_for_a_person(change: dict[str, Any], well: bool) -> None:
    healthy = replace(STATUS, failing=None, refused=None, contradictions=(), warnings=())
    agent = replace(healthy, **change)
    assert agent.is_well is well
    status = HostStatus(host="gpu-1", database="/state/laneway.db", agent=agent, devices=COUNTS, readiness=())
    assert status.is_well is well


@pytest.mark.parametrize("agent", [pytest.param(STATUS, id="an agent"), pytest.param(None, id="none")])
def test_the_answer_keeps_to_its_schema(agent: AgentStatus | None) -> None:
    status = HostStatus(host="gpu-1", database="/state/laneway.db", agent=agent, devices=COUNTS, readiness=(NOTE,))
    document = parse_json(encode(status_document(status)))
    valid("status", document)
    assert isinstance(document, dict)
    assert document["ok"] is False
    assert document["error"]["code"] == ("no_agent" if agent is None else "invalid_device_spec")


WELL = replace(STATUS, failing=None, refused=None, contradictions=())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"agent": replace(WELL, failing=STATUS.failing)}, "host_unreachable", id="a host that is silent"),
        pytest.param({"drift": [Drift("not_in_vm", GPU, "is not in it")]}, "invalid_status", id="drift"),
        pytest.param({"failing_ports": 2}, "port_binding_failed", id="ports"),
        pytest.param(
            {"change": HostChange(action="prepare", address=GPU, steps=4, begun=2, going_on=False)},
            "host_change_failed",
            id="a change that was interrupted",
        ),
    ],
)
def test_what_waits_for_a_person_is_the_error(change: dict[str, Any], code: str | None) -> None:
    status = HostStatus(host="gpu-1", database="/state/laneway.db", agent=WELL, devices=COUNTS, readiness=())
    document = parse_json(encode(status_document(replace(status, **change))))
    valid("status", document)
    assert isinstance(document, dict)
    assert (document["ok"], (document["error"] or {}).get("code")) == (code is None, code)


def test_the_answer_to_a_reload_keeps_to_its_schema() -> None:
    valid("reload", parse_json(encode(reload_document(STATUS))))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ConfigError([PROBLEM, PROBLEM]), id="problems of a config"),
        pytest.param(LanewayError(ErrorCode.HOST_UNREACHABLE, "away", {"reasons": {"a": None}}), id="another error"),
    ],
)
def test_an_error_is_again_what_it_was(error: LanewayError) -> None:
    again = error_of(Trouble(since=NOON, errors=tuple(errors_json(error))))
    assert type(again) is type(error)
    assert (again.code, again.message, again.detail) == (error.code, error.message, error.detail)
    assert errors_json(again) == errors_json(error)


@pytest.mark.parametrize(
    ("by_status", "blocked", "text"),
    [
        pytest.param({}, 0, "0 devices", id="none"),
        pytest.param({"available": 1}, 0, "1 device: 1 available", id="one"),
        pytest.param({"available": 1}, 1, "1 device: 1 blocked", id="blocked ones cannot be had"),
        pytest.param(
            {"available": 3, "claimed": 1}, 1, "4 devices: 2 available, 1 claimed, 1 blocked", id="some of each"
        ),
    ],
)
def test_counts_in_words_tell_what_can_be_had(by_status: dict[str, int], blocked: int, text: str) -> None:
    assert str(DeviceCounts(counted_at=NOON, by_status=by_status, blocked=blocked)) == text
