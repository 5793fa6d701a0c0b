# SPDX-License-Identifier: Apache-2.0
"""A Kconfig file → its symbols, and the files that it sources.

The unit is one file: its Listing depends on its own text and on the templates that it expands.
A template is a file whose entries' names hold macros: `config $(module)_LOG_LEVEL`. The file
that sets `module` and sources it defines these symbols, and they stand in its Listing with the
template's path and line; alone, a template defines only entries with plain names. All other
source statements are recorded as links.

`details` of a Symbol, "kconfig"; keys are left out where the value is empty or false:

    {"type": "bool|tristate|string|int|hex", "prompt", "prompt_if": expression,
     "depends": [expressions: of the enclosing if, menu and choice in this file, outermost
                 first, then the entry's own],
     "defaults": [{"value", "if"}], "selects": [{"name", "if"}], "implies": [{"name", "if"}],
     "ranges": [{"low", "high", "if"}], "help": lines of text,
     "choice": name or prompt of the enclosing choice, "menu": [prompts, outermost first],
     "scope": "app|sysbuild|sample|test" (always there), "is_choice", "configdefault",
     "menuconfig", "deprecated": true, "via": [path, line] of the file that sources the template}

Values and expressions are as written, quotes included, with the macros of this file and of
Kconfig.constants in place; other macros and functions stay: "$(dt_chosen_enabled,zephyr,bt)".

`links`: {"to": pattern relative to the zephyr folder, macros kept; "line"; and where they are
not empty "if": [enclosing conditions], "menu": [prompts]}.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Any

from zephyr_ask.sources.kconfig_entry import OPEN_QUOTE, PROPERTIES, Entry, Frame
from zephyr_ask.sources.kconfig_text import (
    ENTRY_WITH_MACRO,
    LINE_CHARS,
    VALUE_CHARS,
    expand,
    help_text,
    read_string,
    scope_of,
    target_of,
    tidy,
    without_comment,
)
from zephyr_ask.types import Listing, Load, Symbol

CONSTANTS = "Kconfig.constants"  # of macros that every file may use: UINT8_MAX, …
_DEPTH = 64  # of if, menu and choice; the deepest in Zephyr has 8
_NESTED = 8  # templates that source templates; Zephyr's go two deep
_EXPANDED = 1_000_000  # characters of templates in one file; Zephyr's largest sum is 128,000
_WORD = re.compile(r"\s*([A-Za-z0-9_$-]+)\s*", re.ASCII)
_ASSIGNMENT = re.compile(r"(:=|\+=|=)\s*(.*)", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")  # ZEPHYR_TFLITE-MICRO_MODULE
_CONSTANT = re.compile(r"\$\([A-Z0-9_]+\)")
_SET = re.compile(r"^[ \t]*([A-Za-z0-9_-]+)[ \t]*:?=[ \t]*(.*\S)", re.MULTILINE)


def read_kconfig(path: str, text: str, load: Load) -> Listing:
    """What one file defines. `text` is asked for LF newlines; `load` for templates and
    Kconfig.constants, by their paths relative to the zephyr folder.

    The first thing that is wrong is the note; all that can be read is read.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text or text.count("\ufffd", 0, 4096) * 10 > min(len(text), 4096):
        return Listing(note=f"{path}: left out, since it is binary")
    reader = _Reader(path, load)
    reader.read(path, text)
    return Listing(tuple(reader.symbols), links=tuple(reader.links), note=reader.note)


class _Reader:
    """State of one file: macros, open blocks and the open entry."""

    def __init__(self, path: str, load: Load) -> None:
        self.symbols: list[Symbol] = []
        self.links: list[dict[str, Any]] = []
        self.note: str | None = None
        self._own = path
        self._load = load
        self._scope = scope_of(path)
        self._macros: dict[str, str] = {}
        self._constants: dict[str, str] | None = None
        self._fresh = False  # a macro was set since the last source that is no template
        self._templates: dict[str, str | None] = {}
        self._left = _EXPANDED
        self._open: list[str] = []  # files being read, the template last
        self._via: list[Any] = []
        self._path = path
        self._frames = [Frame("file", 0, None)]
        self._entry: Entry | None = None
        self._menu: Frame | None = None  # whose own properties are being read

    def read(self, path: str, text: str) -> None:
        """Read a file or, inside of one, a template."""
        outer, self._path = self._path, path
        self._open.append(path)
        base = len(self._frames)
        self._lines(self._bounded(text.split("\n")))
        self._close()
        self._menu = None
        if len(self._frames) > base:
            frame = self._frames[base]
            self._complain(frame.line, f"`{frame.kind}` is never closed")
            del self._frames[base:]
        self._open.pop()
        self._path = outer

    def _bounded(self, lines: list[str]) -> list[str]:
        if max(map(len, lines)) <= LINE_CHARS:
            return lines
        for number, line in enumerate(lines, 1):
            if len(line) > LINE_CHARS:
                self._complain(number, f"left out, since it has {len(line):,} characters")
                lines[number - 1] = ""
        return lines

    def _complain(self, line: int, what: str) -> None:
        if self.note is None:
            self.note = f"{self._path}:{line}: {what}"

    def _lines(self, lines: list[str]) -> None:
        number = 0
        count = len(lines)
        while number < count:
            line = lines[number]
            number += 1
            first = number
            while line[-1:] == "\\" and number < count and len(line) < LINE_CHARS:
                line = line[:-1] + " " + lines[number]
                number += 1
            match = _WORD.match(line)
            if match is None:
                if line and line.lstrip()[:1] not in ("", "#"):
                    self._complain(first, "not understood")
                continue
            word = match[1]
            rest = line[match.end() :].rstrip()
            if "#" in rest:
                rest = without_comment(rest)
            if word in ("help", "---help---"):
                text, number = help_text(lines, number)
                self._help(text, first, number)
            elif word in PROPERTIES:
                self._property(word, rest, first, number)
            elif word in _STATEMENTS:
                self._close()
                self._menu = None
                _STATEMENTS[word](self, word, rest, first)
            else:
                self._assign(word, rest, first)

    # --- macros

    def _assign(self, word: str, rest: str, line: int) -> None:
        match = _ASSIGNMENT.match(rest)
        if match is None:
            if "$" not in word:  # a call such as $(warning-if,…)
                self._complain(line, f"`{word[:40]}` is no Kconfig keyword")
            return
        value = match[2]
        if match[1] != "=":
            value = expand(value, self._macros)
        if match[1] == "+=" and word in self._macros:
            value = f"{self._macros[word]} {value}"
        self._macros[word] = value[:VALUE_CHARS]
        self._fresh = True

    def _expand(self, text: str) -> str:
        """A value with this file's macros and those of Kconfig.constants."""
        if "$(" not in text:
            return text
        text = expand(text, self._macros)
        if _CONSTANT.search(text):
            if self._constants is None:
                known = self._load(CONSTANTS) if self._own != CONSTANTS else None
                self._constants = dict(_SET.findall(known or ""))
            text = expand(text, self._constants)
        return text

    # --- entries and their properties

    def _config(self, word: str, rest: str, line: int) -> None:
        name = expand(rest, self._macros)
        if "$(" in name:
            name = ""  # a template's, without its macros
        elif self._via and name == rest:
            name = ""  # defined by the template alone, once
        elif not _NAME.fullmatch(name):
            match = _NAME.match(name)
            name = match[0] if match else ""
            self._complain(line, f"more than a name after `{word}`" if name else
                           f"`{word}` without a name")  # fmt: skip
        self._entry = entry = Entry(name, line, self._frames[-1])
        if word != "config":
            entry.details[word] = True

    def _choice(self, word: str, rest: str, line: int) -> None:
        name = expand(read_string(rest)[0], self._macros)
        if not _NAME.fullmatch(name) or (self._via and "$(" not in rest):
            name = ""
        self._entry = entry = Entry(name, line, self._frames[-1])
        entry.details["is_choice"] = True
        entry.block = self._push("choice", line)
        entry.block.choice = entry

    def _comment(self, word: str, rest: str, line: int) -> None:
        self._entry = Entry("", line, self._frames[-1])

    def _property(self, word: str, rest: str, line: int, end: int) -> None:
        rest = self._expand(rest)
        if self._entry is not None:
            self._entry.end = end
            wrong = self._entry.set(word, rest)
            if wrong:
                self._complain(line, wrong)
        elif self._menu is not None:
            self._menu.set(word, rest)
        else:
            self._complain(line, f"`{word}` outside of an entry")

    def _help(self, text: str, line: int, end: int) -> None:
        if self._entry is None:
            self._complain(line, "`help` outside of an entry")
            return
        self._entry.end = max(end, line)
        if text:
            self._entry.details["help"] = expand(text, self._macros)

    def _close(self) -> None:
        """The open entry becomes a symbol."""
        entry = self._entry
        if entry is None:
            return
        self._entry = None
        if entry.name:
            self.symbols.append(entry.symbol(self._path, self._scope, self._via))

    # --- blocks

    def _push(self, kind: str, line: int) -> Frame:
        if len(self._frames) < _DEPTH:
            frame = Frame(kind, line, self._frames[-1])
        else:
            self._complain(line, "nested too deeply")
            frame = Frame(kind, line, None)
        self._frames.append(frame)
        return frame

    def _if(self, word: str, rest: str, line: int) -> None:
        self._push("if", line).conditions.append(tidy(self._expand(rest)))

    def _menu_(self, word: str, rest: str, line: int) -> None:
        prompt, _, closed = read_string(self._expand(rest))
        if not closed:
            self._complain(line, OPEN_QUOTE)
        self._menu = frame = self._push("menu", line)
        frame.menus = [*frame.menus, prompt]

    def _end(self, word: str, rest: str, line: int) -> None:
        kind = word[3:]
        last = len(self._frames) - 1
        for place in range(last, max(0, last - _DEPTH), -1):
            frame = self._frames[place]
            if frame.kind == kind:
                if place < last:
                    inner = self._frames[place + 1]
                    self._complain(inner.line, f"`{inner.kind}` is never closed")
                del self._frames[place:]
                return
            if frame.kind == "template":
                break
        self._complain(line, f"`{word}` without `{kind}`")

    # --- other files

    def _source(self, word: str, rest: str, line: int) -> None:
        target, _, closed = read_string(expand(rest, self._macros))
        if not closed:
            self._complain(line, OPEN_QUOTE)
        to = target_of(self._path, target, word.startswith(("r", "or", "gr")))
        if not to:
            self._complain(line, f"`{word}` without a file")
        elif self._may_be_template(to):
            text = self._template(to)
            if text is not None:
                self._expand_template(to, text, line)
                self._fresh = self._fresh and "template" not in posixpath.basename(to)
                return
            if "template" in posixpath.basename(to) and self._templates[to] is None:
                self._complain(line, f"{to} is not there")
        if to and not self._via:
            self._fresh = False
            frame = self._frames[-1]
            link: dict[str, Any] = {"to": to, "line": line}
            if frame.conditions:
                link["if"] = list(frame.conditions)
            if frame.menus:
                link["menu"] = frame.menus
            self.links.append(link)

    def _may_be_template(self, to: str) -> bool:
        """Whether a file has to be looked into. Of Zephyr's 1,722 source statements after a
        macro 514 are of templates; this asks for 6 more."""
        return (
            bool(self._macros)
            and (self._fresh or "template" in posixpath.basename(to))
            and not any(char in to for char in "*?[$")
        )

    def _template(self, path: str) -> str | None:
        """The text of a file if it is a template."""
        if path not in self._templates:
            self._templates[path] = self._load(path)
        text = self._templates[path]
        return text if text is not None and ENTRY_WITH_MACRO.search(text) else None

    def _expand_template(self, path: str, text: str, line: int) -> None:
        if path in self._open or len(self._open) > _NESTED:
            self._complain(line, f"{path} sources itself")
            return
        self._left -= len(text)
        if self._left < 0:
            self._complain(line, "too many templates")
            return
        via = self._via
        self._via = via or [self._own, line]
        self._push("template", line)
        self.read(path, text)
        self._frames.pop()
        self._via = via


_Statement = Callable[[_Reader, str, str, int], None]
_STATEMENTS: dict[str, _Statement] = {
    **dict.fromkeys(("config", "menuconfig", "configdefault"), _Reader._config),
    "choice": _Reader._choice,
    "comment": _Reader._comment,
    "mainmenu": _Reader._comment,
    "if": _Reader._if,
    "menu": _Reader._menu_,
    **dict.fromkeys(("endif", "endmenu", "endchoice"), _Reader._end),
    **dict.fromkeys(
        ("source", "rsource", "osource", "orsource", "gsource", "grsource"), _Reader._source
    ),
}
