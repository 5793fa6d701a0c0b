# SPDX-License-Identifier: Apache-2.0
"""Directives in C code without comments, and the blocks of braces that they run through. Pure."""

from __future__ import annotations

import re

_REST = r"[^\\\n]*(?:\\[\s\S][^\\\n]*)*"  # of a line and of those that continue it
# Groups: a directive's word, the name behind it, what follows the name.
DIRECTIVE = rf"#[ \t]*([a-z]*)[ \t]*([A-Za-z_]\w*)?({_REST})"
_BRACE = re.compile(rf"[{{}}]|{DIRECTIVE}")
_LINES = re.compile(rf"^[ \t]*#{_REST}", re.MULTILINE)


def without_directives(text: str, start: int, end: int) -> str:
    """Code between two offsets, directives replaced by as many spaces."""
    code = text[start:end]
    return _LINES.sub(_blanks, code) if "#" in code else code


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def closing(text: str, opening: int, limit: int) -> tuple[int, list[re.Match[str]]]:
    """Offset of the brace that closes the one at `opening`, -1 without one before `limit`, and
    the definitions of macros between them (groups of DIRECTIVE).

    Each branch of a conditional starts as deep as the first. The block ends in front of a branch
    whose conditional began before the block, since that branch has a beginning of its own.
    """
    defines: list[re.Match[str]] = []
    depths: list[int] = []
    depth = 0
    for token in _BRACE.finditer(text, opening, limit):
        kind = text[token.start()]
        if kind == "{":
            depth += 1
        elif kind == "}":
            depth -= 1
            if depth <= 0:
                return token.start(), defines
        elif token[1] == "define":
            defines.append(token)
        elif token[1].startswith("if"):
            depths.append(depth)
        elif token[1].startswith("el"):
            if not depths:
                return token.start() - 1, defines
            depth = depths[-1]
        elif token[1] == "endif" and depths:
            depths.pop()
    return -1, []
