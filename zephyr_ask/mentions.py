# SPDX-License-Identifier: Apache-2.0
"""Any text → the names of Zephyr's in it. Pure: whether they exist is for `verify.py` to say.

A syntax is loaded when a text needs it: its regular expressions take 5 to 10 ms to compile, and
`west ask --check prj.conf` needs one of eight.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from importlib import import_module
from typing import cast

from zephyr_ask.syntaxes.mention import Mention, MentionKind, Source, Syntax

__all__ = ["Mention", "MentionKind", "find", "syntax_of"]

# Module of syntaxes/, each with a function of the same name unless a dot says which.
_ANY = {
    "c": "code.c",
    "devicetree": "devicetree",
    "conf": "kconfig.conf",
    "kconfig": "kconfig",
    "cmake": "kconfig.cmake",
    "plain": "kconfig.plain",
    "yaml": "yamls",
    "shell": "shell",
}
# By the word behind a fence or a directive; what is not here is sniffed.
LANGUAGES: dict[str, str] = {
    **dict.fromkeys(("c", "cpp", "c++", "h", "hpp", "cc", "cxx"), "c"),
    **dict.fromkeys(("dts", "devicetree", "dtsi", "overlay"), "devicetree"),
    **dict.fromkeys(("cfg", "conf", "config", "properties", "ini", "kconf", "prj.conf"), "conf"),
    "kconfig": "kconfig",
    "cmake": "cmake",
    **dict.fromkeys(("yaml", "yml"), "yaml"),
    **dict.fromkeys(("console", "shell", "sh", "bash", "zsh", "bat", "powershell"), "shell"),
    **dict.fromkeys(("python", "py", "json", "rust", "diff", "makefile", "toml", "xml"), "plain"),
}
_SUFFIXES: dict[str, str] = {
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp", ".cc", ".cxx", ".hh", ".hxx", ".ino", ".s"), "c"),
    **dict.fromkeys((".overlay", ".dts", ".dtsi"), "devicetree"),
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mdc", ".txt"), "markdown"),
    ".conf": "conf",
    ".cmake": "cmake",
    ".rst": "rst",
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    **dict.fromkeys((".sh", ".bash", ".bat", ".ps1", ".mk"), "shell"),
    **dict.fromkeys((".py", ".json", ".rs", ".toml", ".ld", ".xml", ".patch", ".diff"), "plain"),
}
_SCRIPTS = ("Makefile", "Dockerfile", "Containerfile", "Justfile", "justfile")
_RST = re.compile(r"^\.\. [\w:-]+::|:kconfig:option:`|:c:\w+:`", re.MULTILINE)


def syntax_of(filename: str, text: str) -> str:
    """How a text is read: by its file's name, or where that says nothing ("-"), by its looks."""
    name = posixpath.basename(filename.replace("\\", "/"))
    suffix = posixpath.splitext(name)[1].lower()
    if name == "CMakeLists.txt":
        return "cmake"
    if name.endswith("_defconfig") or name in ("defconfig", ".config"):
        return "conf"
    if name.startswith("Kconfig") and suffix not in (".md", ".rst", ".txt"):
        return "kconfig"
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if name in _SCRIPTS:
        return "shell"
    if _RST.search(text):
        return "rst"
    if "```" in text or "~~~" in text:
        return "markdown"
    from zephyr_ask.syntaxes.prose import sniff

    return sniff(text) or "markdown"


def _load(syntax: str) -> Syntax:
    module, _, function = _ANY[syntax].partition(".")
    return cast(
        "Syntax", getattr(import_module(f"zephyr_ask.syntaxes.{module}"), function or module)
    )


def _of_block(language: str, text: str) -> Syntax:
    """How a page's code block is read."""
    from zephyr_ask.syntaxes.prose import sniff

    syntax = LANGUAGES.get(language) or sniff(text) or "shell"
    if syntax == "kconfig" and sniff(text) == "conf":
        syntax = "conf"  # what pages call Kconfig is as often a piece of a prj.conf
    return _load(syntax)


def _read(source: Source, syntax: str) -> Iterator[Mention]:
    end = len(source.text)
    if syntax in ("markdown", "rst"):
        from zephyr_ask.syntaxes.prose import markdown, rst

        return (markdown if syntax == "markdown" else rst)(source, 0, end, _of_block)
    return _load(syntax)(source, 0, end)


def find(text: str, filename: str) -> list[Mention]:
    """Every mention in a text, in its order, each place once.

    `filename`: chooses the syntax; "-" for a text without a name. Never raises for any text.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found: dict[tuple[int, int, str], Mention] = {}
    for mention in _read(Source(text), syntax_of(filename, text)):
        # What says most of a place is found first by every syntax.
        found.setdefault((mention.line, mention.column, mention.kind), mention)
    return sorted(found.values(), key=lambda m: (m.line, m.column, m.kind))
