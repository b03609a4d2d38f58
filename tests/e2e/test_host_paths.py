"""Only host drivers know where an operating system shows its devices."""

from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

SOURCE = Path(__file__).parents[2] / "src/laneway"
HOST_PATHS = ("/sys", "/proc")
OUTSIDE = [path for path in SOURCE.rglob("*.py") if not path.is_relative_to(SOURCE / "hosts")]


def constants(code: CodeType) -> Iterator[object]:
    """All constants of compiled code, down into its functions, classes and tuples."""
    left: list[object] = list(code.co_consts)
    while left:
        constant = left.pop()
        if isinstance(constant, CodeType):
            left.extend(constant.co_consts)
        elif isinstance(constant, tuple | frozenset):
            left.extend(constant)
        else:
            yield constant


def host_paths_in(path: Path) -> list[str]:
    code = compile(path.read_text("utf-8"), str(path), "exec")
    return [text for text in constants(code) if isinstance(text, str) and text.startswith(HOST_PATHS)]


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_other_part_holds_a_path_of_a_host(path: Path) -> None:
    assert host_paths_in(path) == []


def test_a_path_of_a_host_would_be_found() -> None:
    assert any(host_paths_in(path) for path in (SOURCE / "hosts").rglob("*.py"))
