"""Where a host does not stand as it is recorded, in the answers that tell it."""

from datetime import UTC, datetime

import pytest

from cli.documents import valid
from domain.hosts import at, function, report
from laneway.cli.render.check import check_page
from laneway.cli.render.screen import PLAIN
from laneway.contracts.agent_status import DeviceCounts
from laneway.contracts.check import check_document
from laneway.contracts.codec import encode, parse_json
from laneway.contracts.status import HostStatus, status_document
from laneway.domain.requests.alias import Aliases
from laneway.domain.tracking.claim import HostState
from laneway.domain.tracking.config_check import ConfigCheck, check_config
from laneway.domain.tracking.drift import OTHER_DRIVER, Drift
from laneway.domain.tracking.host_view import HostView, IommuGroups

DRIFT = Drift(OTHER_DRIVER, at("0000:3b:00.0"), "it is on driver nvme")
TOLD = {"code": "other_driver", "address": "0000:3b:00.0", "message": "it is on driver nvme"}
COUNTS = DeviceCounts(counted_at=datetime(2026, 12, 1, tzinfo=UTC), by_status={}, blocked=0)


@pytest.fixture
def check() -> ConfigCheck:
    return check_config(HostView(report(function("0000:3b:00.0")), HostState(), IommuGroups.ENFORCE), Aliases({}))


@pytest.mark.parametrize("drift", [(), (DRIFT,)], ids=["all is as recorded", "a function is on another driver"])
def test_the_answers_keep_to_their_schemas(drift: tuple[Drift, ...], check: ConfigCheck) -> None:
    status = HostStatus(host="gpu-1", database="x", agent=None, devices=COUNTS, readiness=(), drift=drift)
    documents = {"status": status_document(status), "check": check_document("gpu-1", (), check, (), drift)}
    for name, document in documents.items():
        valid(name, parse_json(encode(document)))
        assert document["drift"] == [TOLD for _ in drift]


def test_the_page_of_a_check_tells_it(check: ConfigCheck) -> None:
    title, line = "Not as recorded", "0000:3b:00.0: it is on driver nvme"
    page = check_page((), check, PLAIN, (DRIFT,))
    assert any(title in shown for shown in page)
    assert any(line in shown for shown in page)
    assert not any(title in shown for shown in check_page((), check, PLAIN))
