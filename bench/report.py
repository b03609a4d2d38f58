"""Writes the figures of the newest run into bench/README.md, between its markers."""

import json
import sys
from pathlib import Path

from bench.tables import as_markdown, further_figures, machine_lines, result_table

FOLDER = Path(__file__).parent
README = FOLDER / "README.md"
BEGIN = "<!-- figures: python -m bench.report writes what stands between these two lines -->"
END = "<!-- end of figures -->"


def main() -> None:
    results = sorted((FOLDER / "results").glob("*.json"))
    if not results:
        sys.exit("there are no results yet; make bench makes some")
    README.write_text(with_figures(README.read_text(), json.loads(results[-1].read_text())))


def with_figures(page: str, result: dict[str, object]) -> str:
    """The page with these figures in place of those that stand in it."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        sys.exit(f"{README} has lost its markers")
    rounds, machine = result["rounds"], result["machine"]
    assert isinstance(rounds, list)
    assert isinstance(machine, dict)
    lines = [*machine_lines(machine), "", as_markdown(result_table(rounds)), ""]
    lines += [f"- {sentence}" for sentence in further_figures(rounds)]
    return "\n".join([before + BEGIN, "", *lines, "", END + after])


if __name__ == "__main__":
    main()
