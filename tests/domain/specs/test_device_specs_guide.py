"""docs/device-specs.md: what it shows is so."""

import re
from pathlib import Path

import pytest

from domain.reading import read, specs
from laneway.domain import errors
from laneway.domain.tags import KNOWN_TAGS, OWN_KEYS

GUIDE = (Path(__file__).parents[3] / "docs" / "device-specs.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
ERRORS = re.findall(r"^\| `(\{.*?)` \| (.*?) \|$", GUIDE, re.MULTILINE)


def section(heading: str) -> str:
    return GUIDE.split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]


def first_column(heading: str) -> list[str]:
    return re.findall(r"^\| `(.*?)` \|", section(heading), re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_right(example: str) -> None:
    found, findings = read(example)
    assert len(found) > 0
    assert (findings.errors, findings.warnings) == ([], [])


@pytest.mark.parametrize(("entry", "said"), ERRORS)
def test_every_error_is_said(entry: str, said: str) -> None:
    (problem,) = read(entry)[1].errors
    for part in said.split(" … "):
        assert part in problem.message


@pytest.mark.parametrize("text", first_column("### `address` as a text"))
def test_every_address_is_one(text: str) -> None:
    assert len(specs({"address": text})) == 1


def test_every_tag_and_key_is_told() -> None:
    assert set(first_column("## Tags")) == set(KNOWN_TAGS)
    assert set(first_column("## Laneway's own keys")) == set(OWN_KEYS)


def test_there_are_examples_and_errors_to_try() -> None:
    assert len(EXAMPLES) >= 8
    assert len(ERRORS) >= 20


def test_every_code_that_the_rules_can_say_is_told() -> None:
    domain = Path(errors.__file__).parent
    for name in ("config_entry", "address_pattern", "device_spec_parser", "spec_check", "refusal"):
        (module,) = domain.rglob(f"{name}.py")
        source = module.read_text(encoding="utf-8")
        for code in re.findall(r"(?:warning|Refusal|ConfigProblem)\(\s*\"(\w+)\"", source):
            assert f"| `{code}` |" in GUIDE
