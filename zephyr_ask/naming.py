# SPDX-License-Identifier: Apache-2.0
"""Question → the names in it, as people write them: CONFIG_LOG, `nordic,nrf-uarte`,
k_timer_start(), nrf52840dk, samples/hello_world. Pure: whether a name exists is looked up later.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from zephyr_ask.types import SymbolKind

CHARS = 4000  # that are read of a question
NAMES = 8  # looked up of one question; a pasted log holds hundreds

_TOKEN = re.compile(r"[\w][\w,./+-]*[\w+]|\w")
_CALL = re.compile(r"(?<!\w)([A-Za-z_]\w{1,200})\(")
_CONFIG = re.compile(r"(?<!\w)(?:SB_)?CONFIG_([A-Za-z0-9_]+)")
_TARGET = re.compile(r"[a-z][a-z0-9_]*(?:@[\w.]+)?(?:/[a-z0-9_]+)+")
_COMPATIBLE = re.compile(r"[a-z][a-z0-9-]*,[a-z0-9][\w.+-]*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_LOWER = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_BOARD = re.compile(r"[a-z](?=[a-z0-9_]*\d)[a-z0-9_]+(?:@[\w.]+)?(?:/[a-z0-9_]+)*")
_PART = re.compile(r"[A-Z]{2,}[0-9][A-Z0-9]*")  # as a data sheet writes it: TCA9548A
_HARDWARE: tuple[SymbolKind, ...] = ("board", "shield", "soc", "snippet")
ANY: tuple[SymbolKind, ...] = ("kconfig", "binding", "api", *_HARDWARE, "sample", "west")
# What people write around a name when they ask for nothing else.
_FRAME = frozenset(
    re.findall(
        r"\w+",
        """what is are the a an does do mean means define defined where which kconfig config option
    symbol binding compatible devicetree function macro board api of in zephyr show me about
    explain describe and or""",
    )
)


_COMMAND = re.compile(r"west\s+([a-z][a-z0-9-]*)")


class Named(NamedTuple):
    """A name in a question."""

    name: str
    kinds: tuple[SymbolKind, ...]  # what it can be
    sure: bool  # it is meant as a name of Zephyr's: worth a word even if there is none


def names_in(question: str) -> tuple[list[Named], bool]:
    """The names in a cleaned question, in its order, and whether it holds nothing else."""
    question = question[:CHARS]
    found: dict[str, Named] = {}
    if command := _COMMAND.fullmatch(question.strip()):
        return [Named(command[1], ("west",), True)], True
    calls = {match[1] for match in _CALL.finditer(question)}
    tokens = [token for token in _TOKEN.findall(question) if token not in ("-", "_")]
    alone = len([t for t in tokens if t.lower() not in _FRAME]) <= 1
    rest = 0
    for token in tokens:
        for piece in _pieces(token):
            named = _named(piece, calls, alone and len(tokens) == 1)
            if named is not None:
                found.setdefault(named.name, named)
            elif piece.lower() not in _FRAME:
                rest += 1
    return list(found.values())[:NAMES], bool(found) and rest == 0


def _pieces(token: str) -> list[str]:
    """`a,b` of a list without blanks is two names; `vendor,part` is one."""
    if "," in token and not _COMPATIBLE.fullmatch(token):
        return [piece for piece in token.split(",") if piece]
    return [token.rstrip(".")]


def _named(token: str, calls: set[str], whole: bool) -> Named | None:
    if match := _CONFIG.fullmatch(token.partition("=")[0]):
        return Named(match[1], ("kconfig",), True)
    if token.upper() in ("CONFIG", "CONFIG_", "SB_CONFIG_"):
        return None
    if _COMPATIBLE.fullmatch(token):
        return Named(token, ("binding",), bool(re.search(r"\d|-", token)) or whole)
    if token.startswith(("samples/", "tests/")):
        path = re.sub(r"/(?:README\.rst|sample\.yaml|prj\.conf|src/?.*)?$", "", token)
        return Named(path.rstrip("/"), ("sample",), True)
    if _TARGET.fullmatch(token):
        return Named(token, ("board",), whole)
    if token in calls:
        return Named(token, ("api",), "_" in token)
    if _UPPER.fullmatch(token):
        return Named(token, ("kconfig", "api"), whole)
    if _LOWER.fullmatch(token):
        return Named(token, ("api", *_HARDWARE), whole)
    if _BOARD.fullmatch(token) or _PART.fullmatch(token):
        return Named(token, (*_HARDWARE, "binding"), whole or "/" in token)
    if whole and token.isascii() and (token.isupper() or "_" in token):
        return Named(token, ANY, len(token) > 3)
    if whole:
        return Named(token, ANY, False)
    return None
