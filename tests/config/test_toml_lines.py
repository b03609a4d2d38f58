"""The lines of a TOML text: every path that the parser finds has the line on which it stands."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.config.toml_lines import TomlPath, lines_of

TRICKY = '''\
# a comment with [brackets] and "quotes"
title = "a # no comment" # one
"quoted.key" = 'literal \\ backslash'
dotted . "inner key".deep = 3.14
date = 1979-05-27 07:32:00.999
text = """
[not.a.table]
key = "no key"\\
"""" # four quotes end it
raw = \'\'\'
[[nor_this]]
\'\'\'\'\'
list = [ # with a comment, and ]
  1,
  [2, 3,],
  { a = 1, "b" = [ {c = {}} ] },

  "]",
]
[host]
driver = "auto"
[ a . "b c" . d ]
x = true
[[device_spec]]
vendor_id = "10de"
[[device_spec]]
address = {domain = ".*",
}
[device_spec.extra]
x = [[], [[]]]
[[device_spec.many]]
y = 1
[[device_spec.many]]
y = "\\u0041"
[host.more]
z = -inf
[[device_spec]]
escaped."\\u0041\\"" = 0x1F
'''.replace('".*",\n}', '".*" }')


def paths_of(value: object, path: TomlPath = ()) -> Iterator[TomlPath]:
    """All paths of a parsed document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths_of(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield (*path, index)
            yield from paths_of(inner, (*path, index))


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["unix lines", "windows lines"])
def test_the_index_knows_exactly_the_paths_that_the_parser_knows(ending: str) -> None:
    text = TRICKY.replace("\n", ending)
    assert set(lines_of(text)) == set(paths_of(tomllib.loads(text)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("dotted", "inner key", "deep"), 4),
        (("text",), 6),
        (("list",), 13),
        (("list", 1), 15),
        (("list", 2, "b", 0, "c"), 16),
        (("list", 3), 18),
        (("host",), 20),
        (("a", "b c", "d", "x"), 23),
        (("device_spec",), 24),
        (("device_spec", 0, "vendor_id"), 25),
        (("device_spec", 1), 26),
        (("device_spec", 1, "address", "domain"), 27),
        (("device_spec", 1, "many", 1, "y"), 33),
        (("host", "more", "z"), 35),
        (("device_spec", 2, "escaped", 'A"'), 37),
    ],
    ids=str,
)
def test_a_path_stands_on_its_line(path: TomlPath, line: int) -> None:
    assert lines_of(TRICKY)[path] == line


def test_an_empty_text_has_no_paths() -> None:
    assert lines_of("") == {}


KEYS = st.sampled_from(["a", "b-1", "3", '"x.y"', "'[z]'", '"\\"="'])
SCALARS = st.sampled_from(["1", "-2.5", "true", '"]"', "'}'", '"""\n[x]\n"""', "'''a\n'''", "07:32:00.5", '"#"', "''"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: "[\n" + ",#,\n ".join(values) + " ]")
        | st.dictionaries(KEYS, inner.filter(lambda text: "\n" not in text), max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        )
    ),
    max_leaves=6,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=3)


@given(root=TABLES, arrays=st.lists(TABLES, max_size=3), tables=st.dictionaries(KEYS, TABLES, max_size=3))
def test_any_document_is_indexed_as_it_is_parsed(
    root: dict[str, str], arrays: list[dict[str, str]], tables: dict[str, dict[str, str]]
) -> None:
    parts = [("", root), *(("[[entries]]", table) for table in arrays)]
    parts += [(f"[tables.{name}]", table) for name, table in tables.items()]
    text = "\n".join(f"{head}\n" + "".join(f"{key}={value}\n" for key, value in body.items()) for head, body in parts)
    lines = text.split("\n")
    index = lines_of(text)
    assert set(index) == set(paths_of(tomllib.loads(text)))
    for path, line in index.items():
        name = path[-1]
        if isinstance(name, str) and name.isalnum():
            assert name in lines[line - 1]
