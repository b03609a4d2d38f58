"""Tables: aligned, as narrow as the screen wants, never with blanks at the end of a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.cli.render.columns import Cell, Column, table, wrapped
from laneway.cli.render.screen import Screen, Tone, width_of

COLUMNS = (Column("NAME", least=6), Column("COUNT", right=True), Column("NOTES", least=10, wraps=True))
ROWS = (
    (Cell("a"), Cell("1"), Cell("")),
    (Cell("a long name of a thing"), Cell("100"), Cell("words that go on for a while")),
)


def test_in_a_pipe_a_row_is_one_line_as_wide_as_its_text() -> None:
    assert table(COLUMNS, ROWS, Screen()) == [
        "NAME                    COUNT  NOTES",
        "a                           1",
        "a long name of a thing    100  words that go on for a while",
    ]


def test_on_a_terminal_notes_are_wrapped_and_then_names_cut() -> None:
    assert table(COLUMNS, ROWS, Screen(width=30)) == [
        "NAME         COUNT  NOTES",
        "a                1",
        "a long nam…    100  words that",
        "                    go on for",
        "                    a while",
    ]


def test_on_a_narrow_terminal_spare_columns_are_left_out_the_lowest_first() -> None:
    columns = (Column("NAME"), Column("ID", spare=2), Column("GROUP", right=True, spare=1), Column("OF", least=4))
    rows = ((Cell("0000:3b:00.0"), Cell("10de:20b0"), Cell("43"), Cell("vm-with-a-name")),)
    assert [table(columns, rows, Screen(width=width))[1] for width in (None, 42, 36, 33, 20)] == [
        "0000:3b:00.0  10de:20b0     43  vm-with-a-name",
        "0000:3b:00.0  10de:20b0     43  vm-with-a…",
        "0000:3b:00.0  10de:20b0     43  vm-…",
        "0000:3b:00.0  10de:20b0  vm-with…",
        "0000:3b:00.0  vm-wi…",
    ]


def test_where_nothing_is_left_to_leave_out_words_are_wrapped_narrower_than_they_should_be() -> None:
    columns = (Column("NAME"), Column("NOTES", least=30, wraps=True))
    rows = ((Cell("0000:3b:00.0"), Cell("words that go on for a while")),)
    assert table(columns, rows, Screen(width=31))[1:] == ["0000:3b:00.0  words that go on", "              for a while"]


def test_a_column_without_text_is_left_out() -> None:
    assert table(COLUMNS, ROWS[:1], Screen()) == ["NAME  COUNT", "a         1"]


def test_a_tone_does_not_disturb_the_columns() -> None:
    rows = ((Cell("a", Tone.GOOD), Cell("1"), Cell("x")),)
    assert table(COLUMNS, rows, Screen(color=True))[1] == "\x1b[32ma\x1b[0m         1  x"


def test_what_stands_beneath_a_cell_fills_the_lines_of_a_wrapped_row() -> None:
    rows = ((Cell("top", beneath="|"), Cell("1"), Cell("words that go on")),)
    assert table(COLUMNS, rows, Screen(width=24))[1:] == [
        "top       1  words that",
        "|            go on",
    ]


@given(
    rows=st.lists(st.tuples(*(st.text(max_size=30).map(Cell) for _ in COLUMNS)), min_size=1, max_size=6),
    width=st.none() | st.integers(40, 120),
)
def test_no_line_ends_in_blanks_or_holds_a_control_character(
    rows: list[tuple[Cell, Cell, Cell]], width: int | None
) -> None:
    for line in table(COLUMNS, rows, Screen(width=width)):
        assert line == line.rstrip()
        assert line.isprintable()


@given(st.text(alphabet="ab ", max_size=60), st.integers(1, 30))
def test_wrapping_keeps_every_word(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert " ".join(lines).split() == text.split()
    assert all(width_of(line) <= width or " " not in line for line in lines)


@pytest.mark.parametrize("width", range(60, 70))
def test_a_table_that_can_be_fitted_is_no_wider_than_the_screen(width: int) -> None:
    assert max(map(len, table(COLUMNS, ROWS, Screen(width=width)))) <= width
