"""From ``laneway.toml`` or a ``nova.conf`` to one ``Config`` value, with all errors and their places."""

from laneway.config.config import Config
from laneway.config.loading import find_state_path, load_config
from laneway.config.reloading import check_reload, reporting_turned_off
from laneway.config.surroundings import Surroundings

__all__ = ["Config", "Surroundings", "check_reload", "find_state_path", "load_config", "reporting_turned_off"]
