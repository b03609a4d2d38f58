"""The pages of the project: every link leads somewhere, and every page can be found from the README."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(PROJECT).as_posix()
    for folder in ("", "docs/**/", "bench/", "examples/**/", "packaging/**/", "tests/**/")
    for path in PROJECT.glob(f"{folder}*.md")
)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@cache
def text_of(page: str) -> str:
    return (PROJECT / page).read_text(encoding="utf-8")


def links(page: str) -> Iterator[tuple[str, str]]:
    """The links within the project, each as path from its root and the part behind ``#``."""
    for target in _LINK.findall(_CODE.sub("", text_of(page))):
        if not _ELSEWHERE.match(target):
            path, _, part = target.partition("#")
            linked = (PROJECT / page).parent / path if path else PROJECT / page
            yield linked.resolve().relative_to(PROJECT).as_posix(), part


def headings(page: str) -> set[str]:
    """The anchors of a page, as GitHub makes them of its headings."""
    found = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in found}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    dead = [
        f"{path}#{part}"
        for path, part in links(page)
        if not (PROJECT / path).exists() or (part and part not in headings(path))
    ]
    assert dead == []


def test_every_page_of_the_docs_can_be_found_from_the_readme() -> None:
    found, waiting = {"README.md"}, ["README.md"]
    while waiting:
        here = waiting.pop()
        ways = list(links(here)) if here.endswith(".md") else []
        targets = {path for path, _ in ways if (PROJECT / path).is_file()}
        targets |= {f"{path}/README.md" for path, _ in ways if (PROJECT / path / "README.md").is_file()}
        waiting += targets - found
        found |= targets
    assert {page for page in PAGES if page.startswith("docs/")} - found == set()
