# SPDX-License-Identifier: Apache-2.0
"""A C header of include/zephyr → the names it defines, with what Doxygen comments say of them.

Both branches of a conditional are read, since an index belongs to a tree and not to a build.
Names that macros put together (`_CONCAT`, `##`) are not seen.

`details` of a Symbol of kind "api"; empty keys are left out:
    what        function, macro, struct, union, enum, enumerator, typedef, variable (`extern`)
    signature   str, one line; an object-like macro's with its value where that is short
    params      [{"name": str, "text": str}]
    returns     str, or [{"retval": "-EINVAL", "text": str}] led by {"text": str} if that is said
    deprecated  str, the reason; True without one
    group       str, Doxygen's innermost
    since       str, a release
    syscall     True
    enum        str, an enumerator's enum
    internal    True; then neither text nor more details than `what`, `enum` and `deprecated`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

from zephyr_ask.sources import declarations
from zephyr_ask.sources.attachment import Attachment
from zephyr_ask.sources.comments import MARK, split_comments
from zephyr_ask.sources.declarations import STATEMENT_CHARS, Declared, one_line
from zephyr_ask.sources.doxygen import Doxygen
from zephyr_ask.sources.preprocessor import DIRECTIVE, closing, without_directives
from zephyr_ask.types import Listing, Symbol

VALUE_CHARS = 60  # of a macro's value in its signature: a number, a BIT(), two flags
# Constants for devicetree sources: half of all macros, and their names say what they are.
_LIGHT = "include/zephyr/dt-bindings/"
_NESTED_LIMIT = 100  # structures in a structure; Zephyr 4.1.99 has 11
_UNCLOSED = 20  # blocks without an end, after which a file is not read on

_TOKEN = re.compile(rf"[{{}};]|{DIRECTIVE}")
_CONSTANT = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)(.*)", re.MULTILINE)
_PARAMETERS = re.compile(r"\([^)]*\)?")
_BLANK = MARK + "\\ \t\n"
_NESTED = re.compile(r"\b(?:struct|union|enum)\b[^;{}()=]{0,300}\{")
_TAIL = re.compile(r"[^;{}#]*;")
_ENUMERATOR = re.compile(r"([A-Za-z_]\w*)(?=\s*(\()?)|[,()]|[\d.]+\w*")
_PRIVATE = ("_", "z_", "Z_")
_EXTERN_C = re.compile(r'extern\s*"C(?:\+\+)?"\s*\Z')
_RECOVERY = re.compile(r"^\}", re.MULTILINE)


def read_header(path: str, text: str) -> Listing:
    """Names that a header defines, in the order of their lines. Never raises on content."""
    reader = _Reader(path, text)
    if path.startswith(_LIGHT) and "enum" not in text:
        reader.constants()
    else:
        reader.run()
    symbols = sorted(reader.symbols, key=lambda symbol: symbol.line)
    note = f"{path}: {'; '.join(reader.problems)}" if reader.problems else None
    return Listing(tuple(symbols), note=note)


class _Reader:
    """Walks through a header from statement to statement."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._code = split_comments(text)
        self._text = self._code.text
        self._remarks = Attachment(self._code)
        self._start = 0  # of the statement that is being read
        self._guard: str | None = None
        self._unclosed = 0
        self.symbols: list[Symbol] = []
        self.problems: list[str] = []

    def run(self) -> None:
        if self._code.unterminated:
            self.problems.append(f"the comment of line {self._code.unterminated} has no end")
        text = self._text
        token = _TOKEN.search(text)
        while token:
            kind, end = text[token.start()], token.end()
            if kind == "#":
                self._directive(token)
            elif kind == "{":
                end = self._block(token.start())
                if self._unclosed > _UNCLOSED:
                    self.problems.append("the rest is left out")
                    break
            else:
                if kind == ";" and token.start() - self._start < STATEMENT_CHARS:
                    self._statement(token.start())
                self._start = end
            token = _TOKEN.search(text, end)

    def constants(self) -> None:
        """Read no more than the names of macros, and what a comment says of them in one line."""
        remarks = self._remarks if self._code.comments else None
        guarded = False
        line, done = 1, 0
        for found in _CONSTANT.finditer(self._text):
            name, (start, end) = found[1], found.span()
            if not guarded and not found[2].strip(_BLANK):
                guarded = True
                continue
            line += self._text.count("\n", done, start)
            done = start
            doc = remarks.of((name,), start, start, end) if remarks else None
            brief = doc.brief if doc else ""
            details: dict[str, Any] = {"what": "macro"}
            if name.startswith(_PRIVATE) or (remarks and remarks.scope(start)[1]):
                details["internal"] = True
            self.symbols.append(Symbol(name, "api", self._path, line, line, brief, "", details))

    # --- directives

    def _directive(self, token: re.Match[str]) -> None:
        word = token[1]
        if word == "define":
            self._define(token)
        elif self._guard is None and word == "ifndef":
            self._guard = token[2]
        # A statement goes on behind a directive only inside of parentheses; what else stands
        # there is a macro call without a semicolon, assembly, or the head of a function that
        # has another head in the other branch.
        pending = self._text[self._start : token.start()]
        if len(pending) < STATEMENT_CHARS:
            if pending.count("(") > pending.count(")"):
                return
            if word in ("else", "elif", "endif") and ")" in pending:
                self._statement(token.start())
        self._start = token.end()

    def _define(self, token: re.Match[str]) -> None:
        name, body = token[2], token[3]
        if not name or name.startswith("CONFIG_"):  # stands in for an option not set by Kconfig
            return
        if name == self._guard and not body.strip(_BLANK):
            self._guard = ""
            return
        start, end = token.span()
        doc = self._remarks.of((name,), start, start, end)
        signature = ""
        if not name.startswith(_PRIVATE):
            signature = f"#define {name}"
            if body.startswith("("):
                parameters = _PARAMETERS.match(body)
                signature += one_line(parameters[0]) if parameters else ""
            elif len(body) <= 4 * VALUE_CHARS and len(value := one_line(body)) <= VALUE_CHARS:
                signature = f"{signature} {value}".rstrip()
        deprecated = "__DEPRECATED_MACRO" in body
        if "\n" in body:
            end -= len(body) - len(body.rstrip(_BLANK))
        else:
            end = start
        self._add("macro", name, start, end, doc, signature, deprecated)

    # --- statements

    def _statement(self, end: int) -> None:
        start = self._start
        text = without_directives(self._text, start, end)
        if not text.strip(_BLANK):
            return
        function = declarations.function(text)
        if function:
            self._function(function, start, end)
            return
        for declared in declarations.typedefs(text) or declarations.variables(text):
            at = start + declared.start
            doc = self._remarks.of((declared.name,), at, end, end)
            self._add(declared.what, declared.name, at, end, doc, declared.signature,
                      "__deprecated" in text)  # fmt: skip

    def _function(self, function: Declared, offset: int, end: int) -> None:
        start = offset + function.start
        doc = self._remarks.of((function.name,), start, end, end)
        self._add("function", function.name, start, end, doc, function.signature,
                  "__deprecated" in function.words, "__syscall" in function.words)  # fmt: skip

    def _block(self, opening: int) -> int:
        """Read what begins with the statement before a brace; where to read on."""
        start = self._start
        head = ""
        if opening - start < STATEMENT_CHARS:
            head = without_directives(self._text, start, opening)
        if _EXTERN_C.search(head):
            self._start = opening + 1
            return self._start
        end, defines = closing(self._text, opening, len(self._text))
        if end < 0:
            self._unclosed += 1
            self.problems.append(f"the brace of line {self._code.line(opening)} is not closed")
            recovery = _RECOVERY.search(self._text, opening)
            self._start = recovery.end() if recovery else opening + 1
            return self._start
        self._start = end + 1
        function = declarations.function(head)
        if function:
            self._function(function, start, end)
        elif "=" not in head:
            self._tag(head, start, opening, end)
        for define in defines:
            self._define(define)
        return self._start

    # --- structures

    def _tag(self, head: str, offset: int, opening: int, end: int) -> None:
        """A struct, union or enum, the typedef around it, and what its body defines."""
        declared = declarations.tag(head)
        if declared is None:
            return
        start, body = offset + declared.start, (opening + 1, end)
        typedefs: Sequence[str] = ()
        tail = _TAIL.match(self._text, end + 1)
        if tail and tail.end() - end < STATEMENT_CHARS:
            end = tail.end() - 1
            self._start = tail.end()
            if declared.words.startswith("typedef"):
                typedefs = declarations.declarators(f"{declared.what} {tail[0][:-1]}")
        names = [name for name in (declared.name, *typedefs) if name]
        doc = self._remarks.of(names, start, end, end)
        deprecated = "__deprecated" in head or (tail is not None and "__deprecated" in tail[0])
        if declared.name:
            self._add(declared.what, declared.name, start, end, doc, declared.signature, deprecated)
        for name in typedefs:
            signature = f"typedef {declared.what} {declared.name or '{…}'} {name}"
            self._add("typedef", name, start, end, doc, signature, deprecated)
        if declared.what == "enum":
            self._enumerators(names[0] if names else "", *body)
        elif "{" in self._text[slice(*body)]:
            self._nested(*body)

    def _nested(self, start: int, end: int) -> None:
        """Structures with a name, and enumerators, inside of a structure."""
        code = without_directives(self._text, start, end)
        done = start
        for found in islice(_NESTED.finditer(code), _NESTED_LIMIT):
            begin, opening = start + found.start(), start + found.end() - 1
            declared = declarations.tag(found[0][:-1])
            last, _ = closing(self._text, opening, end)
            if declared is None or last < 0 or begin < done:
                continue
            if declared.name:
                doc = self._remarks.of((declared.name,), begin, last, last)
                self._add(declared.what, declared.name, begin, last, doc, declared.signature)
            if declared.what == "enum":
                self._enumerators(declared.name, opening + 1, last)
                done = last

    def _enumerators(self, enum: str, start: int, end: int) -> None:
        depth = 0
        name, begin = "", -1  # the enumerator whose value is being read; -1: none begun
        for token in _ENUMERATOR.finditer(without_directives(self._text, start, end)):
            if token[1]:
                if begin < 0:
                    begin = start + token.start()
                    name = "" if token[2] else token[1]  # a macro's call
            elif token[0] == "(":
                depth += 1
            elif token[0] == ")":
                depth -= 1
            elif token[0] == "," and depth <= 0:
                self._enumerator(enum, name, begin, start + token.start())
                name, begin = "", -1
        self._enumerator(enum, name, begin, end)

    def _enumerator(self, enum: str, name: str, begin: int, end: int) -> None:
        if name:
            doc = self._remarks.of((name,), begin, begin, end)
            self._add("enumerator", name, begin, begin, doc, enum=enum)

    # --- symbols

    def _add(self, what: str, name: str, start: int, end: int, doc: Doxygen | None,
             signature: str = "", deprecated: bool = False, syscall: bool = False,
             enum: str = "") -> None:  # fmt: skip
        group, hidden = self._remarks.scope(start)
        internal = hidden or name.startswith(_PRIVATE) or (doc is not None and doc.internal)
        if hidden:
            doc = None
        details: dict[str, Any] = {"what": what}
        if not internal:
            if signature:
                details["signature"] = signature
            if doc:
                _describe(details, doc)
                group = doc.group or group
            if group:
                details["group"] = group
            if syscall:
                details["syscall"] = True
        if deprecated or (doc and doc.deprecated is not None):
            details["deprecated"] = (doc and doc.deprecated) or True
        if enum:
            details["enum"] = enum
        if internal:
            details["internal"] = True
        line = self._code.line(start)
        self.symbols.append(
            Symbol(
                name, "api", self._path, line, self._code.line(end) if end > start else line,
                doc.brief if doc else "", doc.text if doc and not internal else "", details,
            )
        )  # fmt: skip


def _describe(details: dict[str, Any], doc: Doxygen) -> None:
    if doc.params:
        details["params"] = doc.params
    if any("retval" in value for value in doc.returns):
        details["returns"] = doc.returns
    elif doc.returns:
        details["returns"] = " ".join(value["text"] for value in doc.returns)
    if doc.since:
        details["since"] = doc.since
