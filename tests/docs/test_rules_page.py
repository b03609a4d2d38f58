"""docs/rules.md: every rule that the code names stands there, and every rule that stands there is shown by a test."""

import pytest

from docs.rules_named import Named, by_modules, by_tests, stated

RULES = stated()


def test_every_rule_stands_there_once() -> None:
    assert len(RULES) == len(set(RULES)) > 100


def test_every_rule_that_the_code_names_stands_there() -> None:
    assert by_modules().keys() - set(RULES) == set()


@pytest.fixture(scope="module")
def shown() -> Named:
    return by_tests()


@pytest.mark.parametrize("rule", RULES)
def test_a_test_shows_the_rule(rule: str, shown: Named) -> None:
    assert rule in shown
