"""Who tells Placement, by the config."""

from pathlib import Path

import pytest

from compute.fakes import config
from laneway.agent_bootstrap import AgentParts
from laneway.bootstrap import Source
from laneway.openstack.provider_reporting import ReportingOff, ReportingOn

NOVA_CONF = Source(nova_conf=(Path("/etc/nova/nova.conf"),))


@pytest.mark.parametrize(
    ("source", "on", "cloud", "expected"),
    [
        pytest.param(Source(), True, None, ReportingOn, id="on"),
        pytest.param(NOVA_CONF, True, None, ReportingOn, id="on by nova"),
        pytest.param(Source(), False, None, None, id="off, and no cloud is known: nobody"),
        pytest.param(Source(), False, "here", ReportingOff, id="off in a known cloud"),
        pytest.param(NOVA_CONF, False, None, ReportingOff, id="off by nova, which knows its cloud"),
    ],
)
def test_p7_reporting_is_on_or_made_sure_to_have_been_off(
    source: Source, on: bool, cloud: str | None, expected: type | None
) -> None:
    """P7: nothing is asked yet."""
    reporter = AgentParts(source).provider_reporter(config(report_in_placement=on, cloud=cloud))
    assert (reporter and type(reporter)) is expected
