"""Where the state stands is found also by a config that has errors."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from laneway.config import Surroundings, find_state_path
from laneway.domain.errors import LanewayError

NAMED = Path("/srv/laneway").absolute()
PATH_LINE = f'[state]\npath = "{NAMED.as_posix()}"\n'


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "laneway.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PATH_LINE, id="no errors"),
        pytest.param(f'{PATH_LINE}[[device_spec]]\nvendor_id = "zz"\n', id="an error in an entry"),
        pytest.param(f'{PATH_LINE}colour = "red"\n', id="an unknown key"),
        pytest.param(f"{PATH_LINE}[[device_spec\n", id="no TOML after it"),
        pytest.param(f"{PATH_LINE}x = ", id="no end"),
    ],
)
def test_it_is_found_as_far_as_the_text_can_be_read(around: Surroundings, tmp_path: Path, text: str) -> None:
    assert find_state_path(written(tmp_path, text), surroundings=around) == NAMED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="it is not given"),
        pytest.param('[[device_spec]]\nvendor_id = "zz"\n', id="nor in a text with errors"),
        pytest.param(f"[[device_spec\n{PATH_LINE}", id="no TOML before it"),
        pytest.param(f'[host]\nname = """\n{PATH_LINE}', id="no TOML around it"),
        pytest.param("[state]\npath = 7\n", id="no path"),
        pytest.param('[state]\npath = " "\n', id="an empty path"),
        pytest.param("state = 7\n", id="no table"),
        pytest.param('[state]\npath = "a\\u0000b"\n', id="a path with NUL"),
        pytest.param("x = " + 5000 * "[", id="nested too deeply"),
        pytest.param("x = " + 5000 * "9", id="a number of too many digits"),
        pytest.param(f"x = {5000 * '9'}\n{PATH_LINE}x = \n", id="a number of too many digits before it"),
    ],
)
def test_else_it_is_the_usual_folder(around: Surroundings, tmp_path: Path, text: str) -> None:
    assert find_state_path(written(tmp_path, text), surroundings=around) == around.state_path


def test_a_relative_path_counts_from_the_folder_of_the_config(around: Surroundings, tmp_path: Path) -> None:
    file = written(tmp_path, '[state]\npath = "state"\nx = 1\n')
    assert find_state_path(file, surroundings=around) == tmp_path / "state"


def test_the_config_is_looked_for_where_it_is_always_looked_for(around: Surroundings, tmp_path: Path) -> None:
    file = written(tmp_path, f"{PATH_LINE}x = 1\n")
    named = replace(around, environment={"LANEWAY_CONFIG": str(file)})
    assert find_state_path(surroundings=named) == NAMED
    usual = around.usual_configs[1]
    usual.parent.mkdir(parents=True)
    usual.write_bytes(file.read_bytes())
    assert find_state_path(surroundings=around) == NAMED


def test_a_config_that_is_not_there_has_the_usual_folder(around: Surroundings, tmp_path: Path) -> None:
    assert find_state_path(tmp_path / "missing.toml", surroundings=around) == around.state_path
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    assert find_state_path(tmp_path / "binary.toml", surroundings=around) == around.state_path
    assert find_state_path(surroundings=around) == around.state_path


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(f"[pci]\ndevice_spec = no\n[laneway]\nstate_path = {NAMED}\n", True, id="an error in an entry"),
        pytest.param(f"[laneway]\nstate_path = {NAMED}\n[pci\n", True, id="a line that is none"),
        pytest.param("[pci]\ndevice_spec = no\n", False, id="it is not given"),
    ],
)
def test_a_nova_conf_is_read_so_too(around: Surroundings, tmp_path: Path, text: str, found: bool) -> None:
    file = tmp_path / "nova.conf"
    file.write_text(text)
    assert find_state_path(nova_conf=[file], surroundings=around) == (NAMED if found else around.state_path)


def test_two_configs_are_still_one_too_many(around: Surroundings) -> None:
    with pytest.raises(LanewayError, match="cannot both be the config"):
        find_state_path(Path("a"), nova_conf=[Path("b")], surroundings=around)


def test_the_process_itself_is_where_it_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWAY_CONFIG", os.fspath(written(tmp_path, f"{PATH_LINE}x = 1\n")))
    assert find_state_path() == NAMED
