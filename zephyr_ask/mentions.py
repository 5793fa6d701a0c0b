# SPDX-License-Identifier: Apache-2.0
"""Any text → the names of Zephyr's in it. Pure: whether they exist is for `verify.py` to say."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from zephyr_ask.syntaxes.code import c
from zephyr_ask.syntaxes.devicetree import devicetree
from zephyr_ask.syntaxes.kconfig import cmake, conf, kconfig, plain
from zephyr_ask.syntaxes.mention import Mention, MentionKind, Source, Syntax
from zephyr_ask.syntaxes.prose import markdown, rst, sniff
from zephyr_ask.syntaxes.shell import shell
from zephyr_ask.syntaxes.yamls import yamls

__all__ = ["Mention", "MentionKind", "find", "syntax_of"]


def _kconfig_block(source: Source, start: int, end: int) -> Iterator[Mention]:
    """What pages call kconfig is as often an excerpt of a prj.conf."""
    reader = conf if sniff(source.text[start:end]) == "conf" else kconfig
    yield from reader(source, start, end)


def _markdown(source: Source, start: int, end: int) -> Iterator[Mention]:
    yield from markdown(source, start, end, LANGUAGES)


def _rst(source: Source, start: int, end: int) -> Iterator[Mention]:
    yield from rst(source, start, end, LANGUAGES)


# By the word behind a fence or a directive; what is not here is sniffed.
LANGUAGES: dict[str, Syntax] = {
    **dict.fromkeys(("c", "cpp", "c++", "h", "hpp", "cc", "cxx"), c),
    **dict.fromkeys(("dts", "devicetree", "dtsi", "overlay"), devicetree),
    **dict.fromkeys(("cfg", "conf", "config", "properties", "ini", "kconf", "prj.conf"), conf),
    "kconfig": _kconfig_block,
    "cmake": cmake,
    **dict.fromkeys(("yaml", "yml"), yamls),
    **dict.fromkeys(("console", "shell", "sh", "bash", "zsh", "bat", "powershell"), shell),
    **dict.fromkeys(("python", "py", "json", "rust", "diff", "makefile", "toml", "xml"), plain),
}
_SUFFIXES: dict[str, Syntax] = {
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp", ".cc", ".cxx", ".hh", ".hxx", ".ino", ".S"), c),
    **dict.fromkeys((".overlay", ".dts", ".dtsi"), devicetree),
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mdc", ".txt"), _markdown),
    ".conf": conf,
    ".cmake": cmake,
    ".rst": _rst,
    **dict.fromkeys((".yaml", ".yml"), yamls),
    **dict.fromkeys((".sh", ".bash", ".bat", ".ps1", ".mk"), shell),
    **dict.fromkeys((".py", ".json", ".rs", ".toml", ".ld", ".xml", ".patch", ".diff"), plain),
}
_RST = re.compile(r"^\.\. [\w:-]+::|:kconfig:option:`|:c:\w+:`", re.MULTILINE)


def syntax_of(filename: str, text: str) -> Syntax:
    """How a text is read: by its file's name, or where that says nothing ("-"), by its looks."""
    name = posixpath.basename(filename.replace("\\", "/"))
    suffix = posixpath.splitext(name)[1]
    if name == "CMakeLists.txt":
        return cmake
    if name.endswith("_defconfig") or name in ("defconfig", ".config"):
        return conf
    if name.startswith("Kconfig") and suffix not in (".md", ".rst", ".txt"):
        return kconfig
    known = _SUFFIXES.get(suffix) or _SUFFIXES.get(suffix.lower())
    if known:
        return known
    if name in ("Makefile", "Dockerfile", "Containerfile", "Justfile", "justfile"):
        return shell
    if _RST.search(text):
        return _rst
    if "```" in text or "~~~" in text:
        return _markdown
    return LANGUAGES.get(sniff(text), _markdown)


def find(text: str, filename: str) -> list[Mention]:
    """Every mention in a text, in its order, each place once.

    `filename`: chooses the syntax; "-" for a text without a name. Never raises for any text.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = Source(text)
    found: dict[tuple[int, int, str], Mention] = {}
    for mention in syntax_of(filename, text)(source, 0, len(text)):
        # What says most of a place is found first by every syntax.
        found.setdefault((mention.line, mention.column, mention.kind), mention)
    return sorted(found.values(), key=lambda m: (m.line, m.column, m.kind))
