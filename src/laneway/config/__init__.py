"""From ``laneway.toml`` or a ``nova.conf`` to one ``Config`` value, with all errors and their places."""

from laneway.config.config import Config
from laneway.config.loading import load_config
from laneway.config.surroundings import Surroundings

__all__ = ["Config", "Surroundings", "load_config"]
