"""What the service says of the config that it works by."""

from io import StringIO

import pytest

from compute.fakes import BEGIN, config, host
from domain.hosts import function
from laneway.compute.log import LogStyle, open_log
from laneway.compute.reporting import Beginning, Reporter
from laneway.compute.resource_tracker import Updated
from laneway.config import Config
from laneway.domain.errors import Findings
from laneway.domain.report import HostReport
from laneway.domain.specs.device_spec_parser import Dialect, parse_device_specs
from laneway.domain.tracking.claim import HostState
from laneway.domain.tracking.host_view import HostView, IommuGroups

ENTRY = '{"address": "0000:05:00.0", "laneway:binding": "operator"}'
OF_NOVA = Config(
    state_path=config().state_path, device_specs=parse_device_specs([ENTRY], Findings(), dialect=Dialect.NOVA)
)


def updated(by: Config) -> Updated[Config]:
    found = host(function("0000:05:00.0"))
    view = HostView(HostReport(found, by.device_specs), HostState(), IommuGroups.ENFORCE)
    return Updated(host="gpu-1", config=by, inventory=found, view=view, warnings=())


def reporter(by: Config) -> Reporter:
    begun = Beginning(pid=4711, at=BEGIN, driver="fake")
    return Reporter(open_log(StringIO(), LogStyle.PLAIN), lambda: BEGIN, begun, updated(by))


@pytest.mark.parametrize(
    ("by", "entries", "dialect"),
    [
        pytest.param(config(), (), "laneway", id="none"),
        pytest.param(config({"address": "0000:05:00.0"}), ('{"address": "0000:05:00.0"}',), "laneway", id="Laneway's"),
        pytest.param(OF_NOVA, (ENTRY,), "nova", id="nova's"),
    ],
)
def test_the_status_has_the_entries_in_force(by: Config, entries: tuple[str, ...], dialect: str) -> None:
    status = reporter(by).status
    assert (status.device_spec, status.dialect) == (entries, dialect)


def test_it_has_those_of_the_last_update() -> None:
    report = reporter(config())
    report.took(updated(OF_NOVA))
    assert (report.status.device_spec, report.status.dialect) == ((ENTRY,), "nova")


def test_they_mean_the_same_when_they_are_read_again() -> None:
    status = reporter(OF_NOVA).status
    assert parse_device_specs(status.device_spec or (), Findings(), dialect=Dialect(status.dialect)) == (
        OF_NOVA.device_specs
    )
