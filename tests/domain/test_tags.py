"""The table of known tags, boolean text, and what a misspelt key most likely meant."""

import pytest

from laneway.domain.device import TagValue
from laneway.domain.tags import BOOLEAN_TAGS, KNOWN_TAGS, MATCHERS, default_of, nearest_key, parse_boolean


@pytest.mark.parametrize("text", ["1", "t", "true", "TRUE", "on", "y", " Yes "])
def test_text_that_means_true(text: str) -> None:
    assert parse_boolean(text) is True


@pytest.mark.parametrize("text", ["0", "f", "false", "False", "off", "n", "\tno"])
def test_text_that_means_false(text: str) -> None:
    assert parse_boolean(text) is False


@pytest.mark.parametrize("text", ["", "ture", "2", "null", "yes please"])
def test_text_that_is_no_boolean(text: str) -> None:
    assert parse_boolean(text) is None


@pytest.mark.parametrize(
    ("tag", "value"),
    [("managed", True), ("live_migratable", False), ("trusted", False), ("physical_network", None), ("blue", None)],
)
def test_what_a_device_without_the_tag_counts_as(tag: str, value: TagValue) -> None:
    assert default_of(tag) is value


def test_the_boolean_tags_are_those_of_the_contract() -> None:
    assert {"managed", "live_migratable", "one_time_use", "remote_managed", "trusted"} == BOOLEAN_TAGS


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("phsyical_network", "physical_network"),
        ("Physical-Network", "physical_network"),
        ("vendorid", "vendor_id"),
        ("live_migrateable", "live_migratable"),
        ("zone", None),
    ],
)
def test_the_nearest_key_of_a_misspelt_one(key: str, meant: str | None) -> None:
    assert nearest_key(key, (*MATCHERS, *KNOWN_TAGS)) == meant
