"""Python code as fingerprints that survive new names, comments and layout: tokens, shingles, winnowing.

After Schleimer, Wilkerson and Aiken, Winnowing: local algorithms for document fingerprinting (SIGMOD 2003): of every
``WINDOW`` neighbouring shingles the smallest hash is kept, so any run of WINDOW + LENGTH - 1 equal tokens is found.
"""

from __future__ import annotations

import builtins
import hashlib
import io
import keyword
import tokenize

LENGTH, WINDOW = 9, 4  # tokens in a shingle, shingles in a window
SKIPPED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
Token = tuple[str, int]  # normalised text, line number from 1
Shingle = tuple[int, int, int]  # hash, first line, last line


def tokens(source: str) -> list[Token]:
    """The tokens of a piece of code: own names become one letter, strings too; keywords, built-in names, attributes,
    numbers and operators stay. Code that does not parse gives the tokens before the fault.
    """
    found: list[Token] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type not in SKIPPED:
                found.append((_normal(token, found), token.start[0]))
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def _normal(token: tokenize.TokenInfo, before: list[Token]) -> str:
    if token.type == tokenize.NAME:
        known = keyword.iskeyword(token.string) or hasattr(builtins, token.string)
        return token.string if known or (before and before[-1][0] == ".") else "n"
    if token.type == tokenize.STRING or tokenize.tok_name[token.type].startswith("FSTRING"):
        return "s"
    return token.string


def shingles(source: str) -> list[Shingle]:
    """The hash of every run of ``LENGTH`` tokens, with the lines it covers."""
    found = tokens(source)
    return [
        (_hash([text for text, _ in found[place : place + LENGTH]]), found[place][1], found[place + LENGTH - 1][1])
        for place in range(len(found) - LENGTH + 1)
    ]


def winnowed(source: str, without: frozenset[int] = frozenset()) -> dict[int, tuple[int, int]]:
    """Fingerprint -> (first line, last line), leaving out the shingles in ``without``."""
    all_of_them = shingles(source)
    kept: dict[int, tuple[int, int]] = {}
    for place in range(max(1, len(all_of_them) - WINDOW + 1) if all_of_them else 0):
        value, first, last = min(all_of_them[place : place + WINDOW])
        if value not in without:
            kept.setdefault(value, (first, last))
    return kept


def _hash(texts: list[str]) -> int:
    return int.from_bytes(hashlib.blake2b("\0".join(texts).encode(), digest_size=8).digest(), "big")
