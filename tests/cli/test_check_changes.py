"""``laneway check`` before a restart: what the config changes for devices in use, and for a running agent."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from cli.conftest import ExampleHost
from laneway.compute.agent_files import AgentFiles
from laneway.contracts.agent_status import AgentStatus, DeviceCounts

L40S, SECOND = "0000:19:00.0", "0000:1a:00.0"
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
TWO = f'[[device_spec]]\naddress = "{L40S}"\n\n[[device_spec]]\naddress = "{SECOND}"\n'
OTHER_TAG = TWO.replace(f'"{L40S}"\n', f'"{L40S}"\nphysical_network = "p2"\n')


@pytest.fixture
def held(gpu_server: ExampleHost) -> ExampleHost:
    """A VM holds the first GPU."""
    gpu_server.config.write_text(TWO)
    request = '{"name": "g", "any_of": [{"dev_type": "type-PF"}]}'
    assert gpu_server.run("claim", "db-1", "--request", request).status == 0
    return gpu_server


@pytest.fixture
def agent() -> Iterator[Callable[..., None]]:
    """Stands for an agent over the state of a host, that works by these entries."""
    with ExitStack() as agents:

        def run(example: ExampleHost, device_spec: tuple[str, ...] | None, **other: str) -> None:
            files = AgentFiles(example.folder / "state.db")
            files.enter()
            agents.callback(files.leave)
            status = AgentStatus(
                pid=4711,
                started_at=NOON,
                host=other.get("host", "gpu-1"),
                driver="snapshot",
                watching=False,
                config_sources=("laneway.toml",),
                config_since=NOON,
                updated_at=NOON,
                devices=DeviceCounts(counted_at=NOON, by_status={}, blocked=0),
                device_spec=device_spec,
                dialect=other.get("dialect", "laneway"),
                report_in_placement=other.get("placement") == "on",
            )
            files.publish(status)

        yield run


def test_without_devices_in_use_and_without_an_agent_nothing_changes(gpu_server: ExampleHost) -> None:
    document = gpu_server.json("check", "check")
    assert (document["orphans"], document["deferred"], document["changes"]) == ([], [], None)


def test_it_leaves_the_state_alone(gpu_server: ExampleHost) -> None:
    before = sorted(gpu_server.folder.iterdir())
    gpu_server.run("check")
    assert sorted(gpu_server.folder.iterdir()) == before


def test_a_device_in_use_that_is_admitted_no_more_is_told(held: ExampleHost) -> None:
    """Rule C91."""
    held.config.write_text(TWO.partition("\n\n")[2])
    (orphan,) = held.json("check", "check")["orphans"]
    assert (orphan["address"], orphan["consumer"], orphan["status"]) == (L40S, "db-1", "claimed")
    assert orphan["reason"]["code"] == "no_spec_matches"
    answer = held.run("check")
    assert answer.status == 0
    assert f"In use, and admitted no more\n  {L40S} is held by db-1 and kept until it is freed: no device" in answer.out


def test_placement_is_not_turned_off_again(gpu_server: ExampleHost, agent: Callable[..., None]) -> None:
    """Rule C87."""
    gpu_server.config.write_text(TWO)
    agent(gpu_server, (), placement="on")
    answer = gpu_server.run("check")
    assert answer.status == 78
    assert "turn it on again" in answer.err
    gpu_server.config.write_text(f"{TWO}\n[placement]\nreport_in_placement = true\n")
    assert gpu_server.run("check").status == 0


def test_with_placement_a_device_in_use_keeps_its_class_and_traits(held: ExampleHost) -> None:
    """Rule C92."""
    other_class = TWO.replace(f'"{L40S}"\n', f'"{L40S}"\nresource_class = "other"\n')
    held.config.write_text(other_class)
    assert held.run("check").status == 0
    held.config.write_text(f"{other_class}\n[placement]\nreport_in_placement = true\n")
    answer = held.run("check")
    assert answer.status == 78
    assert f"gives {L40S} another resource class (OTHER, not PCI_" in answer.err
    assert "while db-1 has it" in answer.err
    held.run("free", "db-1")
    assert held.run("check").status == 0


def test_a_device_in_use_that_gets_other_tags_is_told(held: ExampleHost) -> None:
    """Rule D36."""
    held.config.write_text(OTHER_TAG)
    assert held.json("check", "check")["deferred"] == [
        {"address": L40S, "consumer": "db-1", "before": {}, "after": {"physical_network": "p2"}}
    ]
    lines = held.run("check").out.splitlines()
    title = lines.index("In use, with other tags once freed")
    assert lines[title + 1] == f"  {L40S}: physical_network is 'p2', and was not given"


def test_what_differs_from_the_config_of_the_agent_is_told(gpu_server: ExampleHost, agent: Callable[..., None]) -> None:
    agent(gpu_server, (f'{{"address": "{L40S}"}}', '{"address": "0000:04:00.0", "trusted": "true"}'))
    gpu_server.config.write_text(OTHER_TAG)
    assert gpu_server.json("check", "check")["changes"] == {
        "appear": [{"address": SECOND, "entry": 1, "tags": {}}],
        "vanish": [{"address": "0000:04:00.0", "entry": 1, "tags": {"trusted": True}}],
        "retagged": [{"address": L40S, "before": {}, "after": {"physical_network": "p2"}}],
    }
    lines = gpu_server.run("check").out.splitlines()
    title = lines.index("Other than by the config of the agent")
    assert lines[title + 1 : title + 4] == [
        f"  {SECOND} appears",
        "  0000:04:00.0 vanishes",
        f"  {L40S}: physical_network is 'p2', and was not given",
    ]


def test_the_entries_of_the_agent_are_read_in_the_words_of_its_config(
    gpu_server: ExampleHost, agent: Callable[..., None]
) -> None:
    """In a nova.conf a bare key of Laneway is a tag like any other."""
    agent(gpu_server, (f'{{"address": "{L40S}", "cleaning": "x"}}',), dialect="nova")
    gpu_server.config.write_text(f'[[device_spec]]\naddress = "{L40S}"\n')
    assert gpu_server.json("check", "check")["changes"]["retagged"] == [
        {"address": L40S, "before": {"cleaning": "x"}, "after": {}}
    ]


@pytest.mark.parametrize(
    ("device_spec", "other"),
    [
        pytest.param(None, {}, id="an agent that does not tell"),
        pytest.param((), {"host": "gpu-2"}, id="the agent of another host"),
    ],
)
def test_what_is_not_known_to_be_in_force_is_not_compared(
    gpu_server: ExampleHost, agent: Callable[..., None], device_spec: tuple[str, ...] | None, other: dict[str, str]
) -> None:
    agent(gpu_server, device_spec, **other)
    assert gpu_server.json("check", "check")["changes"] is None


def test_many_devices_are_counted(gpu_server: ExampleHost, agent: Callable[..., None]) -> None:
    agent(gpu_server, ())
    assert "and 13 more appear\n" in gpu_server.run("check").out
