# SPDX-License-Identifier: Apache-2.0
"""C and C++: options, includes, compatibles in their C form, and what is called.

Every call is a mention, a name of Zephyr's or not: who knows the prefixes decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from zephyr_ask.syntaxes.mention import Mention, Source, options

_COMMENT = re.compile(
    r'(?P<keep>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])[ \t]*([^>"\n]+?)[ \t]*[>"]', re.MULTILINE)
_DRV_COMPAT = re.compile(r"^[ \t]*#[ \t]*define[ \t]+DT_DRV_COMPAT[ \t]+(\w+)", re.MULTILINE)
# Macros by the place of the compatible among their arguments.
_FIRST = (
    "DT_HAS_COMPAT_STATUS_OKAY|DT_COMPAT_GET_ANY_STATUS_OKAY|DT_NUM_INST_STATUS_OKAY|"
    "DT_FOREACH_STATUS_OKAY(?:_VARGS)?|DT_COMPAT_ON_BUS|DT_HAS_COMPAT_ON_BUS_STATUS_OKAY"
)
_COMPAT = re.compile(
    rf"\b(?:(?:{_FIRST})[ \t]*\(\s*(?P<first>[a-z]\w*)\s*[,)]"
    r"|DT_(?:NODE_HAS_COMPAT(?:_STATUS_OKAY)?|NODE_HAS_COMPAT_STATUS)[ \t]*\([^(),\n]*"
    r"(?:\([^()\n]*\))?[^(),\n]*,\s*(?P<second>[a-z]\w*)\s*[,)]"
    r"|DT_INST[ \t]*\(\s*\w+\s*,\s*(?P<inst>[a-z]\w*)\s*\))"
)
_CALL = re.compile(r"(?<![\w.>#])(?<!->)([A-Za-z_]\w{2,})[ \t]*\(")
_STRUCT = re.compile(r"\b(?:struct|enum|union)[ \t]+([a-z_]\w+)(?=\s*[*\w])(?!\s*\{)")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(
    r"^(?!\s)(?!(?:return|else|case|typedef)\b)\w[\w \t*]{0,120}?[\s*](\w+)[ \t]*\("
    r"[^;{}#=()]{0,400}"
    r"(?:\([^;{}#=()]{0,80}\)[^;{}#=()]{0,400}){0,4}\)\s*(?:\w+\s*)?[{;]",
    re.MULTILINE,
)
_TYPE = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")
_TAIL = re.compile(r"\}\s*(\w+)\s*;")
_WORDS = frozenset(
    re.findall(
        r"\S+", "if for while switch return sizeof do else case defined alignof typeof offsetof"
    )
)


def blank_comments(text: str, strings: bool = False) -> str:
    """`text` with comments (and with `strings`, what strings hold) as spaces; lines stay."""

    def blank(match: re.Match[str]) -> str:
        if match["keep"] is not None and not strings:
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return _COMMENT.sub(blank, text)


def defined_in(text: str) -> set[str]:
    """Functions, macros and types that a C file defines or declares itself."""
    text = blank_comments(text, strings=True)
    found = set(_DEFINE.findall(text)) | set(_FUNCTION.findall(text))
    return found | set(_TYPE.findall(text)) | set(_TAIL.findall(text))


def c(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Mentions of a C or C++ file, in no order."""
    text = source.text[start:end]
    own = defined_in(text)
    for mention in options(source, start, end, "code"):
        yield (
            mention
            if mention.shown not in own
            else source.mention(
                "kconfig",
                mention.name,
                _offset(source, mention),
                "definition",
                shown=mention.shown,
            )
        )
    code = blank_comments(text)
    for match in _INCLUDE.finditer(code):
        form = "angle" if match[1] == "<" else "quoted"
        yield source.mention("include", match[2], start + match.start(2), form)
    bare = blank_comments(text, strings=True)
    for match in _DRV_COMPAT.finditer(bare):
        yield source.mention("binding", match[1], start + match.start(1), "token")
    for match in _COMPAT.finditer(bare):
        group = str(match.lastgroup)
        if match[group] != "compat":  # a macro's own argument
            yield source.mention("binding", match[group], start + match.start(group), "token")
    for match in _CALL.finditer(bare):
        if match[1] not in own and match[1] not in _WORDS:
            yield source.mention("api", match[1], start + match.start(1), "call")
    for match in _STRUCT.finditer(bare):
        if match[1] not in own:
            yield source.mention("api", match[1], start + match.start(1), "struct")


def _offset(source: Source, mention: Mention) -> int:
    return source.offset(mention.line, mention.column)
