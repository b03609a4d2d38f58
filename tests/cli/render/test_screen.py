"""What output is made for: width, colours, and text that cannot steer a terminal."""

import io

import pytest

from laneway.cli.render.screen import Screen, Tone, fit, screen_of, width_of

COLOR = Screen(color=True)
SGR = "\x1b["


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_terminal_has_a_width_and_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "97")
    assert screen_of(Terminal(), "auto") == Screen(width=97, color=True, unicode=True)


def test_a_pipe_has_neither() -> None:
    screen = screen_of(io.TextIOWrapper(io.BytesIO(), encoding="ascii"), "auto")
    assert screen == Screen(width=None, color=False, unicode=False)


@pytest.mark.parametrize(
    ("stream", "choice", "variables", "colored"),
    [
        pytest.param(Terminal(), "auto", {"NO_COLOR": "1"}, False, id="NO_COLOR switches colours off"),
        pytest.param(Terminal(), "auto", {"NO_COLOR": ""}, True, id="an empty NO_COLOR says nothing"),
        pytest.param(Terminal(), "auto", {"TERM": "dumb"}, False, id="a dumb terminal has no colours"),
        pytest.param(Terminal(), "never", {}, False, id="never is never"),
        pytest.param(io.StringIO(), "always", {"NO_COLOR": "1"}, True, id="always is always"),
        pytest.param(io.StringIO(), "auto", {}, False, id="a pipe gets none by itself"),
    ],
)
def test_colours_are_shown_where_they_are_wanted(
    stream: io.StringIO,
    choice: str,
    variables: dict[str, str],
    colored: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert screen_of(stream, choice).color is colored


def test_a_tone_shows_as_a_colour_only_where_there_are_colours() -> None:
    assert COLOR.paint("yes", Tone.GOOD) == "\x1b[32myes\x1b[0m"
    assert COLOR.paint("yes") == "yes"
    assert COLOR.paint("", Tone.GOOD) == ""
    assert Screen().paint("yes", Tone.GOOD) == "yes"


@pytest.mark.parametrize("hostile", ["\x1b]0;owned\x07", "a\nb", "a\rb", "\x9b31m", "\u202etxt"])
def test_text_of_others_cannot_steer_the_terminal(hostile: str) -> None:
    assert all(char.isprintable() for char in Screen().paint(hostile))


@pytest.mark.parametrize(
    ("text", "width"),
    [
        pytest.param("plain", 5, id="one column for an ASCII character"),
        pytest.param("日本", 4, id="two for a wide one"),
        pytest.param("é", 1, id="none for a combining accent"),
    ],
)
def test_the_width_of_a_text(text: str, width: int) -> None:
    assert width_of(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        pytest.param("short", 5, "short", id="what fits stays"),
        pytest.param("much too long", 8, "much to…", id="what does not is cut"),
        pytest.param("日本語日本語", 5, "日本…", id="wide characters count twice"),
        pytest.param("one two", 5, "one…", id="no blank before the ellipsis"),
    ],
)
def test_fitting_a_text_into_a_width(text: str, width: int, shown: str) -> None:
    assert fit(text, width, Screen()) == shown
    assert width_of(shown) <= width


def test_without_unicode_the_ellipsis_is_three_dots() -> None:
    assert fit("much too long", 8, Screen(unicode=False)) == "much..."
