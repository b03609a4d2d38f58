"""What a running service takes over from a changed config, and what only a restart can change."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from laneway.config import Config, check_reload
from laneway.domain.errors import ConfigError, ErrorCode
from laneway.domain.tracking.host_view import IommuGroups

FILE = Path("/etc/laneway/laneway.toml")
RUNNING = Config(state_path=Path("/state"), sources=(FILE,), host="gpu-1", driver="linux")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"iommu_groups": IommuGroups.IGNORE}, id="the rule of IOMMU groups"),
        pytest.param({"report_in_placement": True}, id="the rules of Placement"),
        pytest.param({"sources": (FILE, Path("/etc/laneway/more.conf"))}, id="another file beside the one there was"),
    ],
)
def test_most_can_change_while_it_runs(change: dict[str, Any]) -> None:
    check_reload(RUNNING, replace(RUNNING, **change))


def test_a_config_may_appear_where_there_was_none() -> None:
    check_reload(Config(state_path=Path("/state")), Config(state_path=Path("/state"), sources=(FILE,)))


def test_what_needs_a_restart_is_told_all_at_once() -> None:
    new = replace(RUNNING, host=None, driver="libvirt", uri="qemu:///system", state_path=Path("/other"))
    with pytest.raises(ConfigError) as caught:
        check_reload(RUNNING, new)
    assert [(problem.option, problem.message) for problem in caught.value.problems] == [
        ("host.name", f'{FILE}: host.name is not given, and was "gpu-1" when the agent started; {RESTART}'),
        ("host.driver", f'{FILE}: host.driver is "libvirt", and was "linux" when the agent started; {RESTART}'),
        ("host.uri", f'{FILE}: host.uri is "qemu:///system", and was not given when the agent started; {RESTART}'),
        (
            "state.path",
            f'{FILE}: state.path is "{Path("/other")}", and was "{Path("/state")}" when the agent started; {RESTART}',
        ),
    ]
    assert caught.value.code is ErrorCode.INVALID_CONFIG


def test_reporting_to_placement_is_not_turned_off_again() -> None:
    """Rules C87 and P7."""
    with pytest.raises(ConfigError) as caught:
        check_reload(replace(RUNNING, report_in_placement=True), RUNNING)
    assert caught.value.message == (
        f"{FILE}: report_in_placement was on, and Placement would go on to offer what it was told of; turn it on again"
    )


RESTART = "restart the agent to change it"


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        pytest.param((), f"{FILE}: the config is gone; put the file back", id="it is gone"),
        pytest.param(
            (Path("/home/ada/laneway.toml"),),
            f"{FILE}: the config is {Path('/home/ada/laneway.toml')} now; put the file back",
            id="another one counts now",
        ),
    ],
)
def test_a_file_that_is_gone_is_no_wish_to_hand_out_nothing(sources: tuple[Path, ...], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_reload(RUNNING, replace(RUNNING, sources=sources, host=None))
    (problem,) = caught.value.problems
    assert problem.message == f"{message}, or restart the agent if it is meant so"


def test_where_the_first_config_appeared_later_it_may_not_vanish_unseen() -> None:
    empty = Config(state_path=Path("/state"))
    with pytest.raises(ConfigError, match="the config is gone"):
        check_reload(replace(empty, sources=(FILE,)), empty)


def test_without_any_file_a_name_that_changed_is_still_told() -> None:
    empty = Config(state_path=Path("/state"))
    with pytest.raises(ConfigError, match=r"the config: state.path is"):
        check_reload(empty, replace(empty, state_path=Path("/other")))
