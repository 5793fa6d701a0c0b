# SPDX-License-Identifier: Apache-2.0
"""What each directive of docutils, Sphinx and Zephyr leaves behind.

Every directive is accepted with any argument and option. Most fall into one of four
families (`_FAMILIES`): content that is read on, text kept as it stands, a line of text
in place of what the documentation build would make, or nothing, by a named rule.
Nodes made here are plain docutils nodes plus three attributes on `nodes.container`:
`label` (what stands before the content), `rule` (why there is nothing) and `rows`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from zephyr_ask.sources.parser import Span


class _AnyOptions(dict[str, Any]):
    """An option_spec that takes every option as text."""

    def __missing__(self, key: str) -> Callable[[str | None], str]:
        return _text


def _text(argument: str | None) -> str:
    return argument or ""


class _Base(Directive):
    """One optional argument of any length, any option, and content."""

    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOptions({"name": _text})
    has_content = True

    @property
    def argument(self) -> str:
        return " ".join(self.arguments[0].split()) if self.arguments else ""

    @property
    def reader(self) -> Any:
        """The page's Reader."""
        return self.state.document.reader  # type: ignore[attr-defined]

    def children(self, into: nodes.Element | None = None) -> nodes.Element:
        """The content, read on."""
        node = into if into is not None else nodes.container()
        if self.content:
            self.state.nested_parse(self.content, self.content_offset, node)
        return node

    def sentence(self, text: str) -> list[nodes.Node]:
        """A paragraph of text made here, then the content, read on."""
        node = self.children()
        node.label = text  # type: ignore[attr-defined]
        return [node]

    def file(self, name: str) -> tuple[str, list[str]] | None:
        """A file that an argument names: its path and lines, or None if it is not there."""
        # By line number: the machine has moved on, perhaps out of the file.
        including, _ = self.state_machine.get_source_and_line(self.lineno)
        found: tuple[str, list[str]] | None = self.reader.read(name, including)
        return found

    def nothing(self, rule: str) -> list[nodes.Node]:
        node = nodes.container()
        node.rule = rule  # type: ignore[attr-defined]
        return [node]


class Container(_Base):
    """The content counts; the argument is a title, if there is one."""

    def run(self) -> list[nodes.Node]:
        title = self.argument
        return self.sentence(f"**{title}**" if title else "")


class Plain(_Base):
    """The content counts; the argument is an instruction (`only:: html`)."""

    def run(self) -> list[nodes.Node]:
        return self.sentence("")


class Admonition(_Base):
    """`note`, `warning`, …: quoted, after its name."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        node = self.children(nodes.note())
        node.label = _ADMONITIONS[self.name.lower()]  # type: ignore[attr-defined]
        return [node]


class TitledAdmonition(_Base):
    def run(self) -> list[nodes.Node]:
        node = self.children(nodes.note())
        node.label = self.argument.rstrip(":")  # type: ignore[attr-defined]
        return [node]


class Version(_Base):
    """`versionadded:: 3.2 text`."""

    def run(self) -> list[nodes.Node]:
        number, _, text = self.argument.partition(" ")
        node = self.children(nodes.note())
        node.label = f"{_VERSIONS[self.name.lower()]} {number}"  # type: ignore[attr-defined]
        if text:
            paragraph = nodes.paragraph(text, "", *self.state.inline_text(text, self.lineno)[0])
            node.insert(0, paragraph)
        return [node]


class Verbatim(_Base):
    """Text that is kept as it stands: code, formulas, grammars."""

    def run(self) -> list[nodes.Node]:
        lines = list(self.content)
        argument = self.argument
        if self.name in ("math", "productionlist", "parsed-literal") and argument:
            lines = [argument, *lines]
            argument = ""
        node = nodes.literal_block("", "\n".join(lines))
        node.language = _language(argument)  # type: ignore[attr-defined]
        caption = self.options.get("caption", "")
        if caption:
            return [
                nodes.paragraph(caption, "", *self.state.inline_text(caption, self.lineno)[0]),
                node,
            ]
        return [node]


def _language(argument: str) -> str:
    language = argument.split(" ")[0].lower()
    return "" if language in ("none", "text", "default") else language


class Drop(_Base):
    """Nothing to read: build instructions, navigation, raw output, drawings."""

    def run(self) -> list[nodes.Node]:
        return self.nothing(_DROPPED[self.name.lower()])


class Sentence(_Base):
    """A line in place of what the documentation build makes."""

    def run(self) -> list[nodes.Node]:
        template = _SENTENCES[self.name.lower()]
        if "{argument}" in template and not self.argument:
            return self.sentence("")
        return self.sentence(template.format(argument=self.argument))


class Signature(_Base):
    """`py:function::`, `option::`, `envvar::`, …: the signature, then the content."""

    def run(self) -> list[nodes.Node]:
        signatures = self.arguments[0].split("\n") if self.arguments else []
        return self.sentence(", ".join(f"`{s.strip()}`" for s in signatures if s.strip()))


class Figure(_Base):
    """A picture's alternative text and caption."""

    def run(self) -> list[nodes.Node]:
        alt = " ".join(self.options.get("alt", "").split())
        if not alt and not self.content:
            return self.nothing("picture without text")
        return self.sentence(f"Figure: {alt}" if alt else "")


class Rubric(_Base):
    def run(self) -> list[nodes.Node]:
        text = self.state.inline_text(self.argument, self.lineno)[0]
        return self.sentence(f"**{nodes.Element('', *text).astext()}**" if self.argument else "")


class Board(_Base):
    """`zephyr:board:: name` stands for the page's title: the board's full name."""

    def run(self) -> list[nodes.Node]:
        name = self.argument
        reader = self.reader
        node = self.sentence(f"Board `{name}`")[0]
        if reader.title is None:
            reader.title = reader.board_name(name) or name
        return [node]


class CodeSample(_Base):
    """`zephyr:code-sample:: id` and its category: the page's title and summary."""

    def run(self) -> list[nodes.Node]:
        reader = self.reader
        title = " ".join(self.options.get("name", "").split()) or self.argument
        if reader.title is None:
            reader.title = title
        interfaces = self.options.get("relevant-api", "").split()
        uses = f"API: {', '.join(f'`{name}`' for name in interfaces)}" if interfaces else ""
        return self.sentence(uses)


class AppCommands(_Base):
    """`zephyr-app-commands`: the commands that it stands for."""

    def run(self) -> list[nodes.Node]:
        lines = app_commands({k: " ".join(v.split()) for k, v in self.options.items()})
        node = nodes.literal_block("", "\n".join(lines))
        node.language = "console"  # type: ignore[attr-defined]
        return [node]


_GOALS = ("flash", "debug", "debugserver", "attach", "rtt", "simulate")


def app_commands(options: dict[str, str]) -> list[str]:
    """Options of the directive → command lines; west unless `:tool: cmake`."""
    app = options.get("zephyr-app") or options.get("app") or ""
    lines = []
    if "cd-into" in options and app:
        lines, app = [f"cd {app}"], ""
    board, folder = options.get("board", ""), options.get("build-dir", "")
    goals = options.get("goals", "build").split()
    extra = [f"-DCONF_FILE={options['conf']}"] if options.get("conf") else []
    if options.get("gen-args"):
        extra.append(options["gen-args"])
    shield = options.get("shield", "").split()
    if options.get("tool") == "cmake":
        build = f"build/{folder}" if folder else "build"
        words = ["cmake", "-B", build, "-GNinja", f"-DBOARD={board}" if board else ""]
        words += [f'-DSHIELD="{name}"' for name in shield] + [*extra, app]
        lines.append(" ".join(filter(None, words)))
        targets = [goal for goal in goals if goal != "build"]
        return [*lines, *(f"ninja -C {build} {goal}".strip() for goal in targets or [""])]
    words = ["west build", f"-b {board}" if board else ""]
    words += [f"-S {name}" for name in options.get("snippets", "").replace(",", " ").split()]
    words += [f"--shield {name}" for name in shield]
    words += [f"-d build/{folder}" if folder else "", options.get("west-args", ""), app]
    words += ["--", *extra] if extra else []
    lines.append(" ".join(filter(None, words)))
    for goal in goals:
        if goal in _GOALS:
            lines.append(f"west {goal} {options.get(f'{goal}-args', '')}".strip())
        elif goal != "build":
            lines.append(f"west build -t {goal}")
    return lines


class ListTable(_Base):
    """Rows are the outer items, cells the inner ones."""

    def run(self) -> list[nodes.Node]:
        content = self.children()
        table = nodes.container()
        rows = [
            (
                getattr(row, "span", None),
                [
                    cell
                    for inner in row.children
                    if isinstance(inner, nodes.bullet_list)
                    for cell in inner.children
                ],
            )
            for outer in content.children
            if isinstance(outer, nodes.bullet_list)
            for row in outer.children
        ]
        table.rows = rows  # type: ignore[attr-defined]
        table.header = _number(self.options.get("header-rows", ""))  # type: ignore[attr-defined]
        table.label = f"**{self.argument}**" if self.argument else ""  # type: ignore[attr-defined]
        return [table]


def _number(text: str) -> int:
    return int(text) if text.strip().isdigit() else 0


class CsvTable(_Base):
    """Rows from the content or a file of the tree; no cell is parsed further."""

    def run(self) -> list[nodes.Node]:
        table = nodes.container()
        table.label = f"**{self.argument}**" if self.argument else ""  # type: ignore[attr-defined]
        rows: list[Any] = []
        table.header = _number(self.options.get("header-rows", ""))  # type: ignore[attr-defined]
        for cells in csv.reader([self.options.get("header", "")], skipinitialspace=True):
            rows.append((None, cells))
            table.header += 1  # type: ignore[attr-defined]
        lines, place = self._lines()
        delimiter = {"tab": "\t", "space": " "}.get(self.options.get("delim", ""), ",")
        table.path = place(1)[0]  # type: ignore[attr-defined]
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        before = 0
        try:
            for cells in reader:
                path, first = place(before + 1)
                last = max(first, place(reader.line_num)[1])
                before = reader.line_num
                if cells:
                    rows.append((Span(path, first, last), cells))
        except csv.Error:
            return [nodes.literal_block("", "\n".join(lines))]
        table.rows = [  # type: ignore[attr-defined]
            (
                span,
                [
                    nodes.paragraph("", "", *self.state.inline_text(c, self.lineno)[0])
                    for c in cells
                ],
            )
            for span, cells in rows
        ]
        return [table]

    def _lines(self) -> tuple[list[str], Callable[[int], tuple[str, int]]]:
        """The rows' text, and the file and line of its n-th (1-based) line."""
        if "file" in self.options:
            found = self.file(self.options["file"])
            if found:
                path, lines = found
                return list(lines), lambda n: (path, n)
        content = self.content

        def place(n: int) -> tuple[str, int]:
            try:
                path, offset = vars(content)["items"][n - 1]
            except IndexError:
                path, line = self.state_machine.get_source_and_line(self.lineno)
                offset = (line or 1) - 1
            return str(path), int(offset or 0) + 1

        return list(content), place


class Include(_Base):
    """Another file's lines, parsed in place, with their own path and numbers."""

    def run(self) -> list[nodes.Node]:
        reader = self.reader
        found = self.file(self.argument)
        if not found:
            return self.nothing("included file is not in the tree")
        path, lines = found
        first, last = slice_lines(lines, self.options)
        if "literal" in self.options or "code" in self.options:
            return [_foreign(path, lines, first, last, self.options.get("code", ""))]
        source, line = self.state_machine.get_source_and_line(self.lineno)
        if not reader.enter(path):
            return self.nothing("file includes itself")
        items = [(path, n) for n in range(first, last)]
        text = [line.expandtabs(8).rstrip() for line in lines[first:last]]
        self.state_machine.insert_input(StringList(text, items=items), path)
        node = self.nothing("replaced by the included file")[0]
        if source is not None and line is not None:
            node.span = Span(source, line, line + self.block_text.count("\n"))  # type: ignore[attr-defined]
        return [node]


class LiteralInclude(_Base):
    """Lines of a file of the tree, as code that is cited where it stands."""

    def run(self) -> list[nodes.Node]:
        found = self.file(self.argument)
        if not found:
            return self.sentence(f"See `{self.argument}`.")
        path, lines = found
        first, last = slice_lines(lines, self.options)
        return [_foreign(path, lines, first, last, self.options.get("language", ""))]


def _foreign(path: str, lines: list[str], first: int, last: int, language: str) -> nodes.Node:
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    node = nodes.literal_block("", "\n".join(line.rstrip() for line in lines[first:last]))
    node.language = _language(language)  # type: ignore[attr-defined]
    node.exact = True  # type: ignore[attr-defined]
    node.foreign = Span(path, first + 1, max(first + 1, last))  # type: ignore[attr-defined]
    return node


def slice_lines(lines: list[str], options: dict[str, str]) -> tuple[int, int]:
    """Lines that the options select, 0-based, end exclusive; one consecutive range."""
    first, last = 0, len(lines)
    if options.get("start-line", "").lstrip("-").isdigit():
        first = range(len(lines) + 1)[int(options["start-line"])] if lines else 0
    if options.get("end-line", "").lstrip("-").isdigit():
        last = min(len(lines), int(options["end-line"]) % (len(lines) + 1))
    numbers = [
        int(n)
        for part in options.get("lines", "").split(",")
        for n in part.split("-")
        if n.strip().isdigit()
    ]
    if numbers:
        open_end = options["lines"].strip().endswith("-")
        first, last = min(numbers) - 1, len(lines) if open_end else max(numbers)
    for name, shift in (("start-after", 1), ("start-at", 0)):
        if options.get(name):
            first = next(
                (i + shift for i in range(first, last) if options[name] in lines[i]), first
            )
    for name, shift in (("end-before", 0), ("end-at", 1)):
        if options.get(name):
            last = next((i + shift for i in range(first, last) if options[name] in lines[i]), last)
    return max(0, first), min(len(lines), max(first, last))


_ADMONITIONS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "important": "Important", "hint": "Hint",
    "caution": "Caution", "danger": "Danger", "attention": "Attention", "error": "Error",
    "seealso": "See also", "todo": "To do",
}  # fmt: skip
_VERSIONS = {
    "versionadded": "Added in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version", "versionremoved": "Removed in version",
}  # fmt: skip
_DROPPED = {
    **dict.fromkeys(("toctree", "contents", "sectnum", "zephyr:code-sample-listing",
                     "zephyr:board-catalog", "kconfig:search", "genindex", "tableofcontents",
                     "related-code-samples"), "navigation"),
    **dict.fromkeys(("highlight", "rst-class", "class", "default-domain", "currentmodule",
                     "module", "py:module", "py:currentmodule", "index", "tabularcolumns",
                     "cssclass", "meta", "role", "default-role", "sectionauthor", "codeauthor",
                     "title", "target-notes", "header", "footer", "restructuredtext-test-directive",
                     "unicode", "replace", "date"), "build instruction"),
    **dict.fromkeys(("raw",), "raw output"),
    **dict.fromkeys(("graphviz", "digraph", "graph", "uml", "plantuml", "mermaid", "mscgen",
                     "blockdiag", "wavedrom", "ditaa"), "drawing"),
}  # fmt: skip
_SENTENCES = {
    "doxygengroup": "API reference: group `{argument}`",
    "doxygenfunction": "API reference: function `{argument}`",
    "doxygenstruct": "API reference: struct `{argument}`",
    "doxygendefine": "API reference: macro `{argument}`",
    "doxygenenum": "API reference: enum `{argument}`",
    "doxygentypedef": "API reference: type `{argument}`",
    "doxygenvariable": "API reference: variable `{argument}`",
    "doxygenfile": "API reference: file `{argument}`",
    "doxygenclass": "API reference: class `{argument}`",
    "automodule": "Python module `{argument}`",
    "autoclass": "Python class `{argument}`",
    "autofunction": "Python function `{argument}`",
    "automethod": "Python method `{argument}`",
    "autoattribute": "Python attribute `{argument}`",
    "autodata": "Python name `{argument}`",
    "autoexception": "Python exception `{argument}`",
    "zephyr:board-supported-hw": "The hardware that this board supports, from its devicetree.",
    "zephyr:board-supported-runners": "The runners that flash and debug this board.",
    "manifest-projects-table": "The projects of the west manifest.",
    "api-overview-table": "The stability level of each API.",
}
_FAMILIES: dict[str, type[_Base]] = {
    **dict.fromkeys(_ADMONITIONS, Admonition),
    **dict.fromkeys(("admonition", "collapse", "details", "dropdown"), TitledAdmonition),
    **dict.fromkeys(_VERSIONS, Version),
    **dict.fromkeys(_DROPPED, Drop),
    **dict.fromkeys(_SENTENCES, Sentence),
    **dict.fromkeys(("code-block", "code", "sourcecode", "parsed-literal", "math",
                     "productionlist", "prompt", "code-tab", "doctest"), Verbatim),
    **dict.fromkeys(("only", "container", "compound", "tabs", "hlist", "centered", "epigraph",
                     "highlights", "pull-quote", "ifconfig", "glossary", "line-block"), Plain),
    **dict.fromkeys(("tab", "group-tab", "topic", "sidebar", "table", "tab-item"), Container),
    **dict.fromkeys(("image", "figure"), Figure),
    **dict.fromkeys(("zephyr:code-sample", "zephyr:code-sample-category"), CodeSample),
    "rubric": Rubric,
    "zephyr:board": Board,
    "zephyr-app-commands": AppCommands,
    "list-table": ListTable,
    "csv-table": CsvTable,
    "include": Include,
    "literalinclude": LiteralInclude,
}  # fmt: skip


def directive_class(name: str) -> type[_Base]:
    """The class for a directive; an unknown one keeps its argument and its content."""
    name = name.lower()
    found = _FAMILIES.get(name)
    if found is not None:
        return found
    return Signature if ":" in name or name in _SIGNATURES else Container


_SIGNATURES = {
    "function", "method", "attribute", "data", "envvar", "option", "cmdoption", "program",
    "describe", "object", "class", "exception",
}  # fmt: skip
