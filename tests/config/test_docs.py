"""docs/config.md and the example speak of every key there is."""

from pathlib import Path

import pytest

from laneway.config import Surroundings, load_config
from laneway.config.nova_conf import NOVA_OPTIONS, NovaOption
from laneway.config.options import LISTS, OPTIONS, TABLES, Option
from laneway.config.surroundings import CONFIG_VARIABLE
from laneway.domain.device import Binding
from laneway.domain.requests.alias import KEYS as ALIAS_KEYS
from laneway.domain.requests.request import NumaPolicy
from laneway.domain.tags import KNOWN_TAGS, MATCHERS, OWN_KEYS

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/config.md").read_text()
EXAMPLE = PROJECT / "examples/laneway.toml"


def section(title: str) -> str:
    """The part of the page below a heading."""
    return PAGE.split(f"\n## `{title}`", 1)[1].split("\n## ", 1)[0]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_stands_in_the_section_of_its_table(option: Option) -> None:
    assert f"| `{option.key}` |" in section(f"[{option.table}]")


@pytest.mark.parametrize("key", [*MATCHERS, *OWN_KEYS, *KNOWN_TAGS])
def test_every_key_of_a_device_spec_is_told(key: str) -> None:
    assert f"`{key}`" in section("[[device_spec]]")


@pytest.mark.parametrize("key", ALIAS_KEYS)
def test_every_key_of_an_alias_is_told(key: str) -> None:
    assert f"`{key}`" in section("[[alias]]")


@pytest.mark.parametrize("option", NOVA_OPTIONS, ids=lambda option: option.key)
def test_every_option_of_a_nova_conf_is_told_with_its_old_names(option: NovaOption) -> None:
    for name, key in option.names:
        assert f"`[{name}]{key}`" in PAGE


@pytest.mark.parametrize("value", [*Binding, *NumaPolicy])
def test_every_value_that_a_key_may_have_is_told(value: str) -> None:
    assert f'`"{value}"`' in PAGE


def test_the_variable_that_names_the_config_is_told() -> None:
    assert f"`{CONFIG_VARIABLE}`" in PAGE


def test_the_example_loads_and_has_every_table_and_key(around: Surroundings) -> None:
    config = load_config(EXAMPLE, surroundings=around)
    assert len(config.device_specs) == 3
    assert len(config.aliases.by_name) == 2
    text = EXAMPLE.read_text()
    for heading in (*(f"[{table}]" for table in TABLES), *(f"[[{table}]]" for table in LISTS)):
        assert f"\n{heading}\n" in text
    for option in OPTIONS:
        assert f"\n{option.key} = " in text or f"\n# {option.key} = " in text
