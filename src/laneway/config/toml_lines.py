"""Where each key of a TOML text stands. The standard library's parser tells values, but no lines."""

import re
import tomllib
from collections.abc import Iterator, Mapping

TomlPath = tuple[str | int, ...]
"""The way to a value: names of keys, and indexes of arrays and arrays of tables."""

_TOKEN = re.compile(
    r'''(?P<blank>[ \t\r]+|\#[^\n]*)
      | (?P<newline>\n)
      | (?P<string>"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:'{0,2})|"(?:[^"\\]|\\.)*"|'[^']*')
      | (?P<mark>[][{}=,.])
      | (?P<bare>[^\s"'\#\[\]{}=,.]+)''',
    re.VERBOSE | re.DOTALL,
)


def lines_of(text: str) -> Mapping[TomlPath, int]:
    """The line, from 1, on which each key, table and array element of ``text`` first stands.

    ``text`` must be TOML that ``tomllib`` accepts; it is not checked here again.
    """
    return _Scanner(text).scan()


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """The tokens that count, with their lines; a newline is a token."""
    line = 1
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "blank":
            yield found[0], line
        line += found[0].count("\n")
    yield "\n", line


class _Scanner:
    """Walks the tokens once and notes where each path starts."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._lines: dict[TomlPath, int] = {}
        self._tables_in: dict[TomlPath, int] = {}

    def scan(self) -> Mapping[TomlPath, int]:
        table: TomlPath = ()
        while not self._skip_newlines():
            if self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _header(self) -> TomlPath:
        line = self._tokens[self._at][1]
        self._at += 1
        is_array = self._take("[")
        *parents, name = self._key()
        path: TomlPath = ()
        for part in parents:
            path = self._last_table((*path, part))
            self._note(path, line)
        path = (*path, name)
        self._note(path, line)
        if is_array:
            self._tables_in[path] = self._tables_in.get(path, 0) + 1
            path = self._last_table(path)
            self._note(path, line)
        self._at += 2 if is_array else 1
        return path

    def _last_table(self, path: TomlPath) -> TomlPath:
        """Inside an array of tables a name means its last table so far."""
        count = self._tables_in.get(path)
        return path if count is None else (*path, count - 1)

    def _pair(self, table: TomlPath) -> None:
        line = self._tokens[self._at][1]
        path = table
        for part in self._key():
            path = (*path, part)
            self._note(path, line)
        self._take("=")
        self._value(path)

    def _key(self) -> list[str]:
        parts = [self._key_part()]
        while self._take("."):
            parts.append(self._key_part())
        return parts

    def _key_part(self) -> str:
        token = self._tokens[self._at][0]
        self._at += 1
        if token[0] in "\"'":
            text: str = tomllib.loads(f"key = {token}")["key"]
            return text
        return token

    def _value(self, path: TomlPath) -> None:
        if self._take("["):
            index = 0
            while not self._end_of("]"):
                self._note((*path, index), self._tokens[self._at][1])
                self._value((*path, index))
                index += 1
        elif self._take("{"):
            while not self._end_of("}"):
                self._pair(path)
        else:
            while self._peek() not in ("\n", ",", "]", "}"):
                self._at += 1

    def _end_of(self, closing: str) -> bool:
        """Steps over commas and newlines between elements, and over the closing mark if it is there."""
        self._skip_newlines()
        while self._take(","):
            self._skip_newlines()
        return self._take(closing)

    def _skip_newlines(self) -> bool:
        """Steps over newlines; tells whether that was the end of the text."""
        while self._at < len(self._tokens) and self._peek() == "\n":
            self._at += 1
        return self._at == len(self._tokens)

    def _peek(self) -> str:
        return self._tokens[self._at][0]

    def _take(self, token: str) -> bool:
        """Steps over the token if it is the next one."""
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _note(self, path: TomlPath, line: int) -> None:
        self._lines.setdefault(path, line)
