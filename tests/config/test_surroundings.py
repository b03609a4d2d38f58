"""Where state and config stand for root and for others, by the XDG base directories."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from laneway.config import Surroundings

ROOT = Path("/").absolute()
"""With its drive, where there are drives."""


def test_the_state_of_root_stands_in_var_lib(around: Surroundings) -> None:
    assert replace(around, is_root=True).state_path == around.root / "var/lib/laneway"


@pytest.mark.parametrize(
    ("environment", "state", "config"),
    [
        ({}, "HOME/.local/state/laneway", "HOME/.config/laneway/laneway.toml"),
        (
            {"XDG_STATE_HOME": f"{ROOT}s", "XDG_CONFIG_HOME": f"{ROOT}c"},
            f"{ROOT}s/laneway",
            f"{ROOT}c/laneway/laneway.toml",
        ),
        (
            {"XDG_STATE_HOME": "s", "XDG_CONFIG_HOME": ""},
            "HOME/.local/state/laneway",
            "HOME/.config/laneway/laneway.toml",
        ),
    ],
    ids=["without variables", "as the variables say", "relative and empty variables do not count"],
)
def test_a_user_has_folders_of_its_own(
    around: Surroundings, environment: Mapping[str, str], state: str, config: str
) -> None:
    around = replace(around, environment=environment)
    home = str(around.home)
    assert around.state_path == Path(state.replace("HOME", home))
    assert around.usual_configs[1] == Path(config.replace("HOME", home))


def test_the_config_of_all_users_stands_in_etc(around: Surroundings) -> None:
    assert around.usual_configs[0] == around.root / "etc/laneway/laneway.toml"


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"PROGRAMDATA": f"{ROOT}shared"}, f"{ROOT}shared"),
        ({"PROGRAMDATA": "shared"}, "ROOT/ProgramData"),
        ({"PROGRAMDATA": ""}, "ROOT/ProgramData"),
        ({}, "ROOT/ProgramData"),
    ],
    ids=["as Windows says", "a relative path does not count", "empty", "not said"],
)
def test_on_windows_it_stands_in_program_data(
    around: Surroundings, environment: Mapping[str, str], folder: str
) -> None:
    around = replace(around, environment=environment, is_windows=True)
    expected = Path(folder.replace("ROOT", str(around.root))) / "Laneway" / "laneway.toml"
    assert around.usual_configs[0] == expected


@pytest.mark.parametrize(
    ("named", "resolved"),
    [("/srv/x", "/srv/x"), ("x/y", "/etc/laneway/x/y"), ("~", "HOME"), ("~/x", "HOME/x"), ("~x", "/etc/laneway/~x")],
    ids=["absolute", "relative to the file", "home", "below home", "no user's home"],
)
def test_a_path_in_a_config_is_resolved(around: Surroundings, named: str, resolved: str) -> None:
    found = around.resolve(named, beside=Path("/etc/laneway/laneway.toml"))
    assert found == Path(resolved.replace("HOME", str(around.home))).absolute()


def test_this_process_has_its_own_surroundings() -> None:
    here = Surroundings.here()
    assert here.is_root == (getattr(os, "geteuid", lambda: 1)() == 0)
    assert here.environment is os.environ
    assert here.root == Path("/")
    assert here.is_windows == (os.name == "nt")


def test_a_system_without_root_has_no_root_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "geteuid", raising=False)
    assert Surroundings.here().is_root is False


def test_a_user_without_a_home_folder_is_at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", refuse)
    assert Surroundings.here().home == Path("/")
