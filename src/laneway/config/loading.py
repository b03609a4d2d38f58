"""Finds the config and reads it."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from laneway.config.config import Config
from laneway.config.laneway_toml import read_laneway_toml, read_state_path
from laneway.config.problems import unusable
from laneway.config.surroundings import CONFIG_VARIABLE, Surroundings
from laneway.config.text_file import read_text
from laneway.domain.errors import ConfigError, ErrorCode, LanewayError


def load_config(
    path: Path | None = None, *, nova_conf: Sequence[Path] = (), surroundings: Surroundings | None = None
) -> Config:
    """The config of this host: the files that the caller names, else the first that is found.

    ``path`` is a ``laneway.toml``, ``nova_conf`` files of nova and folders of such (read in order,
    later ones override). With neither it is the file that the environment variable LANEWAY_CONFIG
    names, else /etc/laneway/laneway.toml (on Windows in its ProgramData), else laneway.toml in the
    user's config folder, else an empty config, which hands out nothing.

    Raises ConfigError with all errors of the file, LanewayError(usage) where both are named, and
    LanewayError(not_supported) for a ``nova.conf`` without oslo.config.
    """
    around = surroundings or Surroundings.here()
    if nova_conf:
        if path is not None:
            message = f"{path} and {nova_conf[0]} cannot both be the config; keep one of --config and --nova-conf"
            raise LanewayError(ErrorCode.USAGE, message, {"config": str(path), "nova_conf": str(nova_conf[0])})
        return _from_nova(nova_conf, around)
    if path is not None:
        return _named(path, "name a file that exists", around)
    if around.named_config is not None:
        return _named(around.named_config, f"it is named by the environment variable {CONFIG_VARIABLE}", around)
    for usual in around.usual_configs:
        text = read_text(usual)
        if text is not None:
            return read_laneway_toml(usual, text, around)
    return Config(state_path=around.state_path)


def find_state_path(
    path: Path | None = None, *, nova_conf: Sequence[Path] = (), surroundings: Surroundings | None = None
) -> Path:
    """Where the state stands of the config that ``load_config`` reads, also where that has errors.

    It is looked for as far as the config can be read; the usual folder is the answer where it
    cannot be found. Raises LanewayError(usage) and LanewayError(not_supported) as ``load_config`` does.
    """
    around = surroundings or Surroundings.here()
    try:
        return load_config(path, nova_conf=nova_conf, surroundings=around).state_path
    except ConfigError:
        with suppress(ConfigError):
            return _state_path_in_spite(path, nova_conf, around)
        return around.state_path


def _state_path_in_spite(path: Path | None, nova_conf: Sequence[Path], surroundings: Surroundings) -> Path:
    if nova_conf:
        from laneway.config import nova_conf as nova  # noqa: PLC0415 - oslo.config is optional, and slow

        return nova.read_state_path(nova_conf, surroundings)
    named = path or surroundings.named_config
    for file in (named,) if named is not None else surroundings.usual_configs:
        text = read_text(file)
        if text is not None:
            return read_state_path(file, text, surroundings)
    return surroundings.state_path


def _from_nova(paths: Sequence[Path], surroundings: Surroundings) -> Config:
    try:
        from laneway.config.nova_conf import read_nova_conf  # noqa: PLC0415 - oslo.config is optional, and slow
    except ModuleNotFoundError as missing:
        install = f"{sys.executable or 'python3'} -m pip install oslo.config"
        message = f"reading {paths[0]} needs oslo.config, which is not installed; install it with: {install}"
        raise LanewayError(ErrorCode.NOT_SUPPORTED, message, {"module": missing.name}) from missing
    return read_nova_conf(paths, surroundings)


def _named(path: Path, remedy: str, surroundings: Surroundings) -> Config:
    text = read_text(path)
    if text is None:
        raise unusable(str(path), "there is no such file", remedy)
    return read_laneway_toml(path, text, surroundings)
