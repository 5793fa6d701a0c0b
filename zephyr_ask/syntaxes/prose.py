# SPDX-License-Identifier: Apache-2.0
"""Pages: Markdown, reStructuredText and plain text. Code blocks are read by their language's
syntax; in the rest, CONFIG_ names count anywhere, compatibles in code and quotes only, and west
command lines in code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from zephyr_ask.syntaxes.mention import Mention, Source, Syntax, options
from zephyr_ask.syntaxes.shell import commands, named

_FENCE = re.compile(
    r"^(?P<indent>[ \t>]*(?:[-*+][ \t]+|\d+\.[ \t]+)?)(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)$",
    re.MULTILINE,
)
_CODE_BLOCK = re.compile(
    r"^(?P<indent>[ \t]*)\.\.[ \t]+(?:code-block|code|sourcecode|highlight|parsed-literal)::[ \t]*"
    r"(?P<info>[^\n]*)$",
    re.MULTILINE,
)
_APP = re.compile(r"^(?P<indent>[ \t]*)\.\.[ \t]+zephyr-app-commands::[^\n]*$", re.MULTILINE)
_APP_OPTION = re.compile(r"^[ \t]*:(?P<key>[\w-]+):[ \t]*(?P<value>[^\n]*)$", re.MULTILINE)
_ROLE = re.compile(r":(?P<role>[A-Za-z][\w:+.-]*):`(?P<argument>[^`\n]+)`")
_INLINE = re.compile(r"(?<!`)(?P<fence>`{1,2})(?!`)(?P<code>[^`\n]+)(?P=fence)(?![`_])")
_QUOTED = re.compile(r"[\"\u201c](?P<code>[a-z][\w-]*,[\w.,+-]+)[\"\u201d]")
_COMPATIBLE = re.compile(r"[a-z][a-z0-9-]*,[a-z0-9][a-z0-9.,+_-]*[a-z0-9]")
_ASSIGNED = re.compile(r'\s*compatible\s*=\s*"(?P<name>[^"]+)"')
_INCLUDED = re.compile(r'#[ \t]*include[ \t]*<([^>"\n]+)>')
_CALLED = re.compile(r"[A-Za-z_]\w+\(\)")


Choose = Callable[[str, str], Syntax]  # a block's language and text → how to read it


class Block(NamedTuple):
    """A code block: its language in lower case, "" if none is given, and its range."""

    language: str
    start: int
    end: int


def fenced(text: str, start: int, end: int) -> list[Block]:
    """Code fences of Markdown; one that is never closed ends with the text."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text, start, end):
        if opened is None:
            opened = match
        elif match["fence"].startswith(opened["fence"]) and not match["info"].strip():
            found.append(Block(_language(opened["info"]), opened.end(), match.start()))
            opened = None
    if opened is not None:
        found.append(Block(_language(opened["info"]), opened.end(), end))
    return found


def _language(info: str) -> str:
    word = re.match(r"[\s{.]*([\w+#.-]+)", info)
    return word[1].lower() if word else ""


def directed(text: str, start: int, end: int) -> list[Block]:
    """Code blocks of reStructuredText's directives."""
    found = []
    for match in _CODE_BLOCK.finditer(text, start, end):
        last = body_end(text, match.end(), end, len(match["indent"].expandtabs()))
        found.append(Block(_language(match["info"]), match.end(), last))
    return found


_LINE = re.compile(r"\n([ \t]*)(\S?)[^\n]*")


def body_end(text: str, start: int, end: int, indent: int) -> int:
    """Where the lines that are indented deeper than `indent` end; `start` ends the line above."""
    at = last = start
    while True:
        line = _LINE.match(text, at, end)
        if not line or (line[2] and len(line[1].expandtabs()) <= indent):
            return last
        at = line.end()
        if line[2]:
            last = at


def markdown(source: Source, start: int, end: int, syntax_of: Choose) -> Iterator[Mention]:
    """Markdown and plain text."""
    yield from _page(source, start, end, fenced(source.text, start, end), syntax_of)


def rst(source: Source, start: int, end: int, syntax_of: Choose) -> Iterator[Mention]:
    """reStructuredText: roles and directives besides."""
    text = source.text
    blocks = directed(text, start, end)
    yield from _page(source, start, end, blocks, syntax_of)
    for match in _ROLE.finditer(text, start, end):
        yield from _role(source, match)
    for match in _APP.finditer(text, start, end):
        last = body_end(text, match.end(), end, len(match["indent"].expandtabs()))
        for option in _APP_OPTION.finditer(text, match.end(), last):
            yield from _app_option(source, option)


def _page(
    source: Source, start: int, end: int, blocks: list[Block], syntax_of: Choose
) -> Iterator[Mention]:
    text = source.text
    at = start
    for block in blocks:
        if block.start > at:
            yield from _prose(source, at, block.start)
        syntax = syntax_of(block.language, text[block.start : block.end])
        yield from syntax(source, max(block.start, at), block.end)
        at = max(block.end, at)
    if at < end:
        yield from _prose(source, at, end)


_DEVICETREE = re.compile(
    r"/dts-v1/|^[ \t]*compatible[ \t]*=[ \t]*\"|^[ \t]*&\w+[ \t]*\{|^/[ \t]*\{", re.MULTILINE
)
_CONF_LINE = re.compile(r"^[ \t]*(?:SB_)?CONFIG_\w+[ \t]*=", re.MULTILINE)
_KCONFIG = re.compile(r"^(?:menu)?config[ \t]+[A-Z0-9_]+[ \t]*$", re.MULTILINE)
_C = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]|^(?:static|void|int)\b[^\n]*\(", re.MULTILINE)


def sniff(text: str) -> str:
    """The language of a code block that does not say, or of what comes on stdin; "" if unknown."""
    if _DEVICETREE.search(text):
        return "devicetree"
    if _C.search(text):
        return "c"
    lines = [line for line in text.split("\n") if line.strip() and line.strip()[0] != "#"]
    if lines and len(_CONF_LINE.findall(text)) * 2 > len(lines):
        return "conf"
    return "kconfig" if _KCONFIG.search(text) else ""


def _prose(source: Source, start: int, end: int) -> Iterator[Mention]:
    text = source.text
    yield from options(source, start, end, "prose")
    yield from _indented_commands(source, start, end)
    for match in _INLINE.finditer(text, start, end):
        before = text[max(match.start() - 40, 0) : match.start()]
        if not re.search(r":[A-Za-z][\w:+.-]*:$", before):  # else a role: read as one
            yield from _code(source, match["code"], match.start("code"))
    for match in _QUOTED.finditer(text, start, end):
        if _COMPATIBLE.fullmatch(match["code"]):
            yield source.mention("binding", match["code"], match.start("code"), "prose")


_PROMPTED = re.compile(
    # Bounded: a line of blanks must not cost their square.
    r"^[ \t>]{0,40}?(?:[$%>][ \t]{1,8}|[ \t]{2})[ \t]{0,40}(?P<line>(?:west|cmake)[ \t][^\n]*"
    r"(?:\\\n[^\n]*)*)",
    re.MULTILINE,
)


def _indented_commands(source: Source, start: int, end: int) -> Iterator[Mention]:
    """Command lines outside of code blocks: behind a prompt, or indented and with an option."""
    for match in _PROMPTED.finditer(source.text, start, end):
        if "$" in match[0][: match.start("line") - match.start()] or " -" in match["line"]:
            yield from commands(source, match.start(), match.end("line"))


def _code(source: Source, code: str, offset: int) -> Iterator[Mention]:
    """Inline code."""
    assigned = _ASSIGNED.match(code)
    if assigned:
        yield source.mention(
            "binding", assigned["name"], offset + assigned.start("name"), "compatible"
        )
        return
    if _COMPATIBLE.fullmatch(code):
        yield source.mention("binding", code, offset, "prose")
        return
    included = _INCLUDED.search(code)
    if included:
        yield source.mention("include", included[1], offset + included.start(1), "angle")
        return
    if _CALLED.fullmatch(code):
        yield source.mention("api", code[:-2], offset, "call")
        return
    if code.startswith("west ") or "-D" in code:
        # From the backquote on: a command begins behind something.
        yield from commands(source, offset - 1, offset + len(code))


_TARGET = re.compile(r"[~!]?(?:[^<]*<)?(?P<name>[^<>]+?)>?")
_ROLES = {
    "dtcompatible": ("binding", "role"), "zephyr:board": ("board", "role"),
    "c:func": ("api", "call"), "c:macro": ("api", "macro"), "c:struct": ("api", "struct"),
    "c:enumerator": ("api", "macro"), "c:type": ("api", "struct"),
}  # fmt: skip


def _role(source: Source, match: re.Match[str]) -> Iterator[Mention]:
    kind, form = _ROLES.get(match["role"], ("", ""))
    target = _TARGET.fullmatch(match["argument"].strip())
    if not kind or not target:
        return
    name = target["name"].removesuffix("()").strip()
    if kind == "api" and not re.fullmatch(r"\w+", name):
        return
    offset = match.start("argument") + match["argument"].index(name)
    yield source.mention(kind, name, offset, form)  # type: ignore[arg-type]


def _app_option(source: Source, match: re.Match[str]) -> Iterator[Mention]:
    key, value, offset = match["key"], match["value"].strip(), match.start("value")
    if key == "board":
        yield from named(source, "board", value, offset, "option")
    elif key in ("shield", "snippets"):
        kind = "shield" if key == "shield" else "snippet"
        yield from named(source, kind, value, offset, "option")  # type: ignore[arg-type]
    elif key == "zephyr-app" and re.fullmatch(r"samples/[\w./+-]+", value.rstrip("/")):
        yield source.mention("sample", value.rstrip("/"), offset, "path")
    elif key in ("gen-args", "build-args", "west-args"):
        yield from commands(source, offset, match.end("value"))
