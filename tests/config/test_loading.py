"""Which config is found, and what happens where there is none or it cannot be read."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from laneway.config import Config, Surroundings, load_config
from laneway.domain.errors import ConfigError, ErrorCode, LanewayError
from laneway.domain.tracking.host_view import IommuGroups


def write(path: Path, name: str) -> Path:
    """A config that can be told by the host's name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'[host]\nname = "{name}"\n')
    return path


def test_with_no_config_nothing_is_handed_out(around: Surroundings) -> None:
    config = load_config(surroundings=around)
    assert len(config.device_specs) == 0
    assert config.aliases.by_name == {}
    assert config == Config(state_path=around.home / ".local/state/laneway")
    assert (config.host, config.driver, config.iommu_groups) == (None, "auto", IommuGroups.ENFORCE)
    assert config.sources == ()


def test_the_nearest_config_counts(around: Surroundings, tmp_path: Path) -> None:
    user = write(around.home / ".config/laneway/laneway.toml", "user's")
    assert load_config(surroundings=around).sources == (user,)
    system = write(around.root / "etc/laneway/laneway.toml", "system's")
    assert load_config(surroundings=around).sources == (system,)
    named = write(tmp_path / "named.toml", "environment's")
    around = replace(around, environment={"LANEWAY_CONFIG": str(named)})
    assert load_config(surroundings=around).host == "environment's"
    explicit = write(tmp_path / "explicit.toml", "caller's")
    assert load_config(explicit, surroundings=around).host == "caller's"


def test_an_empty_variable_names_no_config(around: Surroundings) -> None:
    around = replace(around, environment={"LANEWAY_CONFIG": ""})
    assert load_config(surroundings=around).sources == ()


def test_a_file_where_a_folder_should_be_is_no_config(around: Surroundings) -> None:
    around.root.mkdir()
    (around.root / "etc").write_text("")
    assert load_config(surroundings=around).sources == ()


def test_a_named_file_that_is_missing_is_an_error(around: Surroundings, tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(ConfigError, match=r"missing\.toml: there is no such file; name a file that exists") as caught:
        load_config(missing, surroundings=around)
    assert caught.value.code is ErrorCode.INVALID_CONFIG
    around = replace(around, environment={"LANEWAY_CONFIG": str(missing)})
    with pytest.raises(ConfigError, match="it is named by the environment variable LANEWAY_CONFIG"):
        load_config(surroundings=around)


def test_a_file_that_this_user_may_not_read_is_no_permission(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ConfigError, match=r"laneway\.toml: this user may not read it") as caught:
        load_config(surroundings=around)
    assert caught.value.code is ErrorCode.NO_PERMISSION


def test_a_folder_is_no_config_file(around: Surroundings, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it cannot be read"):
        load_config(tmp_path, surroundings=around)


def test_bytes_that_are_not_utf8_are_named_with_their_line(around: Surroundings, tmp_path: Path) -> None:
    path = tmp_path / "latin1.toml"
    path.write_bytes(b'[host]\nname = "gr\xfcn"\n')
    with pytest.raises(ConfigError, match=r"latin1\.toml:2: byte 0xfc is not UTF-8; save the file as UTF-8"):
        load_config(path, surroundings=around)


def test_a_nul_byte_is_named_with_its_line(around: Surroundings, tmp_path: Path) -> None:
    path = tmp_path / "zero.toml"
    path.write_bytes(b'[host]\nname = "a\0b"\n')
    with pytest.raises(ConfigError, match=r"zero\.toml:2: there is a NUL byte, which is no text; take it out"):
        load_config(path, surroundings=around)


def test_a_byte_order_mark_does_no_harm(around: Surroundings, tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b'\xef\xbb\xbf[host]\r\nname = "w"\r\n')
    assert load_config(path, surroundings=around).host == "w"


def test_two_configs_at_once_are_a_usage_error(around: Surroundings, tmp_path: Path) -> None:
    with pytest.raises(LanewayError, match="keep one of --config and --nova-conf") as caught:
        load_config(tmp_path / "a.toml", nova_conf=[tmp_path / "nova.conf"], surroundings=around)
    assert caught.value.code is ErrorCode.USAGE


def test_a_nova_conf_without_oslo_config_says_what_to_install(
    around: Surroundings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "oslo_config", None)
    monkeypatch.delitem(sys.modules, "laneway.config.nova_conf", raising=False)
    with pytest.raises(LanewayError, match=r"-m pip install oslo\.config") as caught:
        load_config(nova_conf=[tmp_path / "nova.conf"], surroundings=around)
    assert caught.value.code is ErrorCode.NOT_SUPPORTED


def test_this_machine_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = write(tmp_path / "laneway.toml", "here")
    monkeypatch.setenv("LANEWAY_CONFIG", str(path))
    assert load_config().host == "here"
