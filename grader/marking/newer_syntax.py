"""Whether a newer Python than this one reads a piece of code: what newer versions have added to the language is rewritten in
older words, and what is left must be read here. What fails even then is an error of the code.
"""

from __future__ import annotations

import ast
import re
import warnings

BEGINS = re.compile(r"#.*|(?<![\w])(?P<prefix>[A-Za-z]{0,2})(?P<quote>'''|\"\"\"|'|\")")
MAGIC = re.compile(r"^(\s*)[%!?].*$|(?<==)\s*[%!].*$", re.MULTILINE)  # IPython's own, no Python
LONGEST = 100_000  # characters of a cell or file that is looked at
NEWER = (  # written so since 3.12, 3.12, 3.14
    (re.compile(r"^(\s*)type\s+(\w+)(?:\[[^\]=]*\])?\s*=", re.MULTILINE), r"\1\2 ="),
    (re.compile(r"^(\s*(?:async\s+)?(?:def|class)\s+\w+)\s*\[[^\n]*?\]\s*(?=[(:])", re.MULTILINE), r"\1"),
    (re.compile(r"^(\s*except\*?)\s+([\w.]+(?:\s*,\s*[\w.]+)+)\s*:", re.MULTILINE), r"\1 (\2):"),
)


def needs_newer(source: str) -> bool:
    """Whether code that this Python cannot read would be read by a newer one."""
    return len(source) <= LONGEST and not _parses(source) and _parses(in_older_words(source))


def in_older_words(source: str) -> str:
    """The code with f-strings and t-strings as tuples of their expressions, without type parameters and the like."""
    made, place = [], 0
    while found := BEGINS.search(source, place):
        made.append(source[place : found.start()])
        if found["quote"] is None:  # a comment
            made.append(found[0])
            place = found.end()
            continue
        filled = set(found["prefix"].lower()) & {"f", "t"}
        end, expressions = _end_of(source, found.end(), found["quote"], bool(filled))
        made.append(
            "(" + "".join(f"({one}\n), " for one in expressions) + ")" if filled else source[found.start() : end]
        )
        place = end
    text = "".join([*made, source[place:]])
    for pattern, older in NEWER:
        text = pattern.sub(older, text)
    return text


def _end_of(source: str, place: int, quote: str, filled: bool) -> tuple[int, list[str]]:
    """(where a string ends, the expressions in its braces). place: behind its first quote; filled: whether braces count."""
    expressions: list[str] = []
    while place < len(source) and not source.startswith(quote, place):
        if filled and source[place] == "{" and source[place + 1 : place + 2] != "{":
            place, found = _field(source, place + 1)
            expressions += found
        else:
            place += 2 if source[place] == "\\" or source[place : place + 2] == "{{" else 1
    return place + len(quote), expressions


def _field(source: str, place: int) -> tuple[int, list[str]]:
    """(where a field in braces ends, its expressions, those of its format too)."""
    depth, start, end, nested = 0, place, None, []
    while place < len(source):
        sign = source[place]
        string = BEGINS.match(source, place) if end is None else None
        if string is not None and string["quote"] is None:
            place = string.end()
            continue
        if string is not None:
            place, _ = _end_of(source, string.end(), string["quote"], bool(set(string["prefix"].lower()) & {"f", "t"}))
            continue
        if end is not None and sign == "{":
            place, more = _field(source, place + 1)
            nested += more
            continue
        if sign == "}" and depth == 0:
            break
        depth += (sign in "([{") - (sign in ")]}")
        ends = sign == ":" or (sign == "!" and source[place + 1 : place + 2] != "=")
        if end is None and depth == 0 and ends:
            end = place
        place += 1
    own = source[start : place if end is None else end].strip()
    own = re.sub(r"(?<![=!<>])=$", "", own)  # f"{x=}"
    return place + 1, [in_older_words(own), *nested]


def _parses(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = MAGIC.sub(lambda found: f"{found[1]}pass" if found[1] is not None else " 0", source)
            compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
