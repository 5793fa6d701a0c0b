# SPDX-License-Identifier: Apache-2.0
"""A C header without its comments, and where the Doxygen comments among them stood.

One search for the characters that open a comment or a string, one search for the end of each:
linear in the text, whatever is unterminated in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate, count
from operator import add

MARK = "\x01"  # stands in the code where a Doxygen comment stood

_OPENER = re.compile(r"//|/\*|[\"']")
_LINE = re.compile(r"[^\\\n]*(?:\\[\s\S][^\\\n]*)*")  # a backslash continues a comment, too
_STRING = re.compile(r'[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?')
_CHARACTER = re.compile(r"(?:[^'\\\n]|\\.){1,8}'|")  # no more: an apostrophe stands alone in #error
_MISLEADING = re.compile(r"[{};#\n\x01]")  # in a string, to a reader of the code
_SECTION = re.compile(r"[@\\](?:end)?cond\b")
# `/**/` and rulers such as `/*****` are plain comments.
_DOXYGEN = re.compile(r"/\*[*!](?![*/])|//[/!](?!/)")


@dataclass(frozen=True, slots=True)
class Code:
    """A header with as many lines as its source; a comment in it is MARK or a space."""

    text: str
    comments: tuple[str, ...]  # the Doxygen comments, with their delimiters
    places: tuple[int, ...]  # offset in `text` of each one's MARK, ascending
    breaks: tuple[int, ...]  # offsets of the line breaks and of the end
    unterminated: int  # line of a comment that nothing ends, else 0

    def line(self, offset: int) -> int:
        """1-based."""
        return bisect_left(self.breaks, offset) + 1

    def following(self, offset: int) -> int:
        """Index of the first comment at or after the offset; may be len(comments)."""
        return bisect_left(self.places, offset)


def split_comments(text: str) -> Code:
    """Separate the code of a header from its comments."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace(MARK, " ").lstrip("\ufeff")
    out: list[str] = []
    comments: list[str] = []
    places: list[int] = []
    size = done = unterminated = 0
    opener = _OPENER.search(text)
    while opener:
        start, end = opener.span()
        end = _end(text, opener[0], end)
        piece = text[start:end]
        if piece[0] == "/":
            if piece[1] == "*" and not (end - start >= 4 and piece.endswith("*/")):
                unterminated = text.count("\n", 0, start) + 1
            out.append(text[done:start])
            size += start - done
            if _DOXYGEN.match(piece) or _SECTION.search(piece):
                places.append(size)
                comments.append(piece)
                out.append(MARK)
            else:
                out.append(" ")
            breaks = piece.count("\n")
            if breaks:
                out.append(_line_breaks(text, start, breaks))
                size += len(out[-1])
            size += 1
            done = end
        elif _MISLEADING.search(piece):
            out += text[done : start + 1], _MISLEADING.sub(_harmless, piece[1:])
            size += end - done
            done = end
        opener = _OPENER.search(text, end)
    out.append(text[done:])
    code = "".join(out)
    lengths = accumulate(map(len, code.split("\n")))
    return Code(
        code, tuple(comments), tuple(places), tuple(map(add, lengths, count())), unterminated
    )


def _end(text: str, opener: str, start: int) -> int:
    """Where the comment or string ends whose opener ends at `start`."""
    if opener == "/*":
        closed = text.find("*/", start)
        return len(text) if closed < 0 else closed + 2
    ender = {"//": _LINE, '"': _STRING, "'": _CHARACTER}[opener]
    found = ender.match(text, start)
    return found.end() if found else start


def _line_breaks(text: str, start: int, count: int) -> str:
    """The line breaks of a comment. Inside a directive they do not end it."""
    ahead = text[text.rfind("\n", 0, start) + 1 : start].lstrip()
    return "\\\n" * count if ahead.startswith("#") else "\n" * count


def _harmless(found: re.Match[str]) -> str:
    return "\n" if found[0] == "\n" else "_"
