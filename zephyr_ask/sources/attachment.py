# SPDX-License-Identifier: Apache-2.0
"""Which Doxygen comment of a header speaks of which declaration, and what it is inside of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from zephyr_ask.sources.comments import Code
from zephyr_ask.sources.doxygen import Doxygen, parse

_STRUCTURE = re.compile(
    r"[@\\](?:(addtogroup|defgroup)[ \t]+([\w-]+)|(cond|endcond|name)\b|([{}]))"
)
_ABOUT = re.compile(
    r"[@\\](?:def|struct|union|enum|typedef|var)[ \t]+(\w+)|[@\\]fn\b[^\n(]{0,200}?(\w{1,100}) *\("
)
_TRAILING = re.compile(r"/\*[*!]<|//[/!]<")
# What may stand between a comment and its declaration.
_BETWEEN = re.compile(
    r"\s*(?:#[ \t]*(?:if|ifdef|ifndef|else|elif|endif|undef)\b"
    r"[^\\\n]*(?:\\[\s\S][^\\\n]*)*(?:\n\s*|\Z))*\Z"
)
_SEPARATORS = re.compile(r"[\s,;]*\Z")


class Attachment:
    """The Doxygen comments of one header. A comment in front speaks of one declaration only."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._trailing = [_TRAILING.match(comment) is not None for comment in code.comments]
        self._last_trailing = max((i for i, yes in enumerate(self._trailing) if yes), default=-1)
        self._taken = bytearray(self._trailing)  # these are never in front of what they are about
        self._about: dict[int, set[str]] = {}  # comment → names that it says it is about
        self._named: dict[str, int] = {}
        self._starts = [-1]  # offsets from which on …
        self._scopes = [("", False)]  # … the group is this, and the code hidden or not
        self._structure()

    def _structure(self) -> None:
        groups: list[str] = []
        hidden = 0
        for index, comment in enumerate(self._code.comments):
            if "@" not in comment and "\\" not in comment:
                continue
            opening = ""
            for found in _STRUCTURE.finditer(comment):
                if found[2]:
                    opening = found[2]
                elif found[3] == "cond":
                    hidden += 1
                elif found[3] == "endcond":
                    hidden = max(0, hidden - 1)
                elif found[4] == "{":
                    groups.append(opening or (groups[-1] if groups else ""))
                    opening = ""
                elif found[4] and groups:
                    groups.pop()
            scope = (groups[-1] if groups else "", hidden > 0)
            if scope != self._scopes[-1]:
                self._starts.append(self._code.places[index])
                self._scopes.append(scope)
            for found in _ABOUT.finditer(comment):
                name = found[1] or found[2]
                self._about.setdefault(index, set()).add(name)
                self._named.setdefault(name, index)

    def scope(self, offset: int) -> tuple[str, bool]:
        """The innermost group at an offset, and whether @cond hides it."""
        return self._scopes[bisect_right(self._starts, offset) - 1]

    def of(self, names: Sequence[str], start: int, behind: int, end: int) -> Doxygen | None:
        """What is said of the declaration of `names` at start..end: before it, from `behind`
        on, or anywhere by name."""
        found = None
        index = self._code.following(start)  # of the first comment that is not in front
        if index and not self._taken[index - 1]:
            found = self._before(names, start, index - 1)
        if found is None and self._last_trailing >= index:
            found = self._behind(behind, end, index)
        if found is None and self._named:
            for name in names:
                if name in self._named:
                    return parse(self._code.comments[self._named[name]])
        return found

    def _before(self, names: Sequence[str], start: int, index: int) -> Doxygen | None:
        self._taken[index] = 1  # or rejected: what follows is farther away
        comment = self._code.comments[index]
        if comment.startswith("/* "):  # only a section's end
            return None
        if not _BETWEEN.match(self._code.text[self._code.places[index] + 1 : start]):
            return None
        about = self._about.get(index)
        if about and about.isdisjoint(names):
            return None
        if comment.startswith("//"):
            comment = self._lines(index)
        found = parse(comment)
        return None if found.elsewhere else found

    def _lines(self, index: int) -> str:
        """Comments of one line that follow one another are one."""
        first = index
        places, text = self._code.places, self._code.text
        while (
            first
            and self._code.comments[first - 1].startswith("//")
            and text[places[first - 1] + 1 : places[first]].isspace()
        ):
            first -= 1
        return "\n".join(self._code.comments[first : index + 1])

    def _behind(self, behind: int, end: int, index: int) -> Doxygen | None:
        """A comment `/**< … */` between `behind` and the end, or right after it."""
        code = self._code
        while index < len(code.places) and code.places[index] < behind:
            index += 1
        while index < len(code.places):
            place = code.places[index]
            if self._trailing[index]:
                if place < end or _SEPARATORS.match(code.text[end:place]):
                    return parse(code.comments[index])
                return None
            if place >= end:
                return None
            index += 1
        return None
