# SPDX-License-Identifier: Apache-2.0
"""The words of a Kconfig line: quotes, comments, conditions, macros, help texts. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

LINE_CHARS = 10_000  # the longest line of Zephyr's own files has 304
VALUE_CHARS = 1_000  # of an expanded value: a few lines of macros can stand for 10**9 characters
HELP_CHARS = 10_000  # the longest help text in Zephyr has 2,324
_PASSES = 4  # of expansion, for macros that name macros; Zephyr's need two
_MACROS = 50  # expanded in one value

ENTRY_WITH_MACRO = re.compile(
    r"^[ \t]*(?:config|menuconfig|configdefault|choice)[ \t]+[^\n#]*\$\(", re.MULTILINE
)
_MACRO = re.compile(r"\$\(([A-Za-z0-9_-]+)\)")
# What is never closed ends with the line: a match that fails would be tried at every quote.
_QUOTED = r""""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?"""
_COMMENT = re.compile(rf"{_QUOTED}|(\#)")
_IF = re.compile(rf"""{_QUOTED}|(?:(?<=[\s)"'])|^)(if)(?=[\s(!"'$])""")
_ESCAPE = re.compile(r"\\(.)")
_BASE = re.compile(r"^\$(?:\(ZEPHYR_BASE\)|\{ZEPHYR_BASE\}|ZEPHYR_BASE)/+")


def expand(text: str, macros: Mapping[str, str]) -> str:
    """`text` with the macros that are known; functions and unknown names stay as they are."""
    if "$(" not in text or not macros:
        return text
    for _ in range(_PASSES):
        expanded = _MACRO.sub(lambda match: macros.get(match[1], match[0]), text, _MACROS)
        if expanded == text:
            break
        text = expanded[: max(VALUE_CHARS, len(text))]
    return text


def without_comment(text: str) -> str:
    """A line without its comment; a # inside quotes starts none."""
    if "#" not in text:
        return text
    for match in _COMMENT.finditer(text):
        if match[1]:
            return text[: match.start()].rstrip()
    return text


def split_if(text: str) -> tuple[str, str]:
    """`value if condition` → both; "" where there is no condition."""
    if "if" not in text:
        return text, ""
    for match in _IF.finditer(text):
        if match[1]:
            return text[: match.start()].rstrip(), tidy(text[match.end() :])
    return text, ""


def tidy(expression: str) -> str:
    """An expression with single spaces."""
    return " ".join(expression.split()) if '"' not in expression else expression.strip()


def read_string(text: str) -> tuple[str, str, bool]:
    """A string or a bare word at the start of `text` → it, what follows it, and whether its
    quotes are closed."""
    quote = text[:1]
    if quote != '"' and quote != "'":
        word, _, rest = text.partition(" ")
        return word, rest, True
    end = text.find(quote, 1)
    if "\\" in text:
        while end > 0 and (end - len(text[:end].rstrip("\\"))) % 2:
            end = text.find(quote, end + 1)
    if end < 0:
        return text[1:], "", False
    value = text[1:end]
    return _ESCAPE.sub(r"\1", value) if "\\" in value else value, text[end + 1 :].lstrip(), True


def two_values(text: str) -> tuple[str, str]:
    """The ends of a range; the second is "" where only one stands there.

    Either may be a macro function whose arguments hold spaces.
    """
    depth = 0
    quote = ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char in " \t" and depth <= 0:
            return text[:place], text[place:].strip()
    return text, ""


def help_text(lines: Sequence[str], start: int) -> tuple[str, int]:
    """The help text whose first line may be `lines[start]`, and the number of the line after its
    last.

    It lasts until a line that is indented less than its first one.
    """
    count = len(lines)
    while start < count and (not lines[start] or lines[start].isspace()):
        start += 1
    if start == count:
        return "", start
    first = lines[start].expandtabs()
    indent = len(first) - len(first.lstrip())
    if not indent:
        return "", start
    kept = [first[indent:].rstrip()]
    end = place = start + 1
    while place < count:
        line = lines[place].expandtabs()
        body = line.lstrip()
        place += 1
        if not body:
            kept.append("")
            continue
        if len(line) - len(body) < indent:
            break
        kept.append(line[indent:].rstrip())
        end = place
    return "\n".join(kept[: end - start])[:HELP_CHARS], end


def plain(prompt: str, help_: str) -> str:
    """What a search reads: the prompt as a line, then each paragraph of the help as one."""
    if not help_:
        return prompt
    paragraphs = [" ".join(paragraph.split()) for paragraph in help_.split("\n\n")]
    return "\n".join(text for text in (prompt, *paragraphs) if text)


def target_of(path: str, target: str, relative: bool) -> str:
    """The pattern of a source statement in the file `path`, relative to the zephyr folder.

    Macros that are not known stay in it.
    """
    target = _BASE.sub("", target)
    if relative and not target.startswith(("/", "$")):
        target = posixpath.join(posixpath.dirname(path), target)
    return posixpath.normpath(target) if target else ""


def scope_of(path: str) -> str:
    """Which build the options of a file belong to: "app", "sysbuild", "sample" or "test"."""
    parts = path.split("/")
    name = parts.pop()
    if name.startswith("Kconfig.sysbuild") or "sysbuild" in parts:
        return "sysbuild"
    if parts[:1] != [".."]:
        parts = parts[:1]
    return "sample" if "samples" in parts else "test" if "tests" in parts else "app"
