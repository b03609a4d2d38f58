"""What someone who wrote broken JSON most likely meant, to show it in an error (rule D6)."""

import json
import re
from itertools import takewhile

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[\w.*+-]+|\s+|.', re.DOTALL)
_WORDS = {"true": "true", "false": "false", "none": "null", "null": "null"}
_CURLY_QUOTES = str.maketrans("\u201c\u201d\u201e\u2018\u2019\u201a", "\"\"\"'''")
_LONGEST = 4_000
"""Of a longer text the message would be no help, and matching quotes may take time to its square."""
_CLOSERS = {"{": "}", "[": "]"}
_COMMENTS = ("#", ";")
"""What begins a comment in a config file, where it stands on a line of its own."""


def repair_json(text: str) -> str | None:
    """The nearest JSON object or list, not empty, to a text that is not JSON; None if there is none near.

    Mends single and typographic quotes, Python's True, False and None, bare words, trailing
    commas, brackets that are missing at the end or around the whole, and takes a comment at the end out.
    """
    if len(text) > _LONGEST:
        return None
    tokens = _mended_tokens(text.translate(_CURLY_QUOTES))
    several = [["[", *tokens]] if tokens[:1] == ["{"] and tokens.count("{") > 1 else []
    for candidate in (tokens, ["{", *tokens], *several):
        mended = "".join(_without_trailing_commas(_closed(candidate)))
        try:
            value = json.loads(mended)
        except (ValueError, RecursionError):
            continue
        if value and isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
    return None


def _mended_tokens(text: str) -> list[str]:
    tokens = takewhile(lambda token: token not in _COMMENTS, _TOKEN.findall(text))
    return [_mended(token) for token in tokens if not token.isspace()]


def _mended(token: str) -> str:
    if len(token) > 1 and token[0] == "'":
        return json.dumps(re.sub(r"\\(.)", r"\1", token[1:-1]), ensure_ascii=False)
    if re.fullmatch(r"[\w.*+-]+", token):
        return _WORDS.get(token.lower()) or json.dumps(token, ensure_ascii=False)
    return token


def _closed(tokens: list[str]) -> list[str]:
    missing: list[str] = []
    for token in tokens:
        if token in _CLOSERS:
            missing.append(_CLOSERS[token])
        elif missing and token == missing[-1]:
            missing.pop()
    return [*tokens, *reversed(missing)]


def _without_trailing_commas(tokens: list[str]) -> list[str]:
    kept: list[str] = []
    for part in reversed(tokens):
        if part != "," or (kept and kept[-1] not in _CLOSERS.values()):
            kept.append(part)
    return kept[::-1]
