# SPDX-License-Identifier: Apache-2.0
"""A reStructuredText page of Zephyr's documentation → Document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes

from zephyr_ask.sources.blocks import Writer
from zephyr_ask.sources.inline import markdown
from zephyr_ask.sources.parser import Span, definitions, hyperlink_targets, parse
from zephyr_ask.types import Block, Document, Kind, Section
from zephyr_ask.workspace import Stat, decode, stat_of

SUBSTITUTIONS = "doc/substitutions.txt"  # Zephyr's documentation build adds it to every page
INCLUDE_BYTES = 4_000_000  # a larger file is not text that a page shows
_AUTOMATIC_ID = re.compile(r"(id|toc-entry-)\d+")  # numbered by docutils: differs in Sphinx


def kind_of(path: str) -> Kind:
    """Which part of the documentation a page belongs to."""
    if path.startswith("doc/releases/"):
        return "releases"
    if path.startswith("doc/"):
        return "doc"
    return "boards" if path.startswith("boards/") else "samples"


class Reader:
    """Reads the files of the tree that a page is made from, and remembers which."""

    def __init__(self, base: Path, page: str) -> None:
        self.base = base
        self.page = page
        self.title: str | None = None  # set by a directive that stands for the page's title
        self.files: dict[str, list[str]] = {}  # path → lines
        self.used: dict[str, tuple[Stat, bytes | None]] = {}  # those that are missing, too
        self._entered: list[str] = []

    def enter(self, path: str) -> bool:
        """Whether `path` may be included once more: a bound on recursion."""
        self._entered.append(path)
        return path != self.page and self._entered.count(path) < 3 and len(self._entered) < 50

    def read(self, argument: str, including: str | None) -> tuple[str, list[str]] | None:
        """The file that a directive in `including` names → (path, lines); None if there is none
        in the tree."""
        for path in self._candidates(argument, including or self.page):
            lines = self.lines(path)
            if lines is not None:
                return path, lines
        return None

    def _candidates(self, argument: str, including: str) -> list[str]:
        if argument.startswith("/"):  # from the documentation's root
            places = ["doc" + argument, argument[1:]]
        else:
            folder = os.path.dirname(including)
            # The build copies doc/ and its siblings into one folder: relative to that, too.
            places = [os.path.join(folder, argument), os.path.join("doc", folder, argument)]
        normal = [os.path.normpath(p).replace(os.sep, "/") for p in places]
        return [p for p in normal if not p.startswith("..") and not os.path.isabs(p)]

    def lines(self, path: str) -> list[str] | None:
        """Lines of a file inside the tree; None where there is none, or it is no text."""
        if path not in self.files and path not in self.used:
            status = stat_of(str(self.base / path))  # before reading
            data = self._bytes(path) if 0 <= status[0] <= INCLUDE_BYTES else None
            self.used[path] = status, data
            if data is not None:
                self.files[path] = decode(data).split("\n")
        return self.files.get(path)

    def _bytes(self, path: str) -> bytes | None:
        try:
            real = (self.base / path).resolve()
            real.relative_to(self.base.resolve())
            data = real.read_bytes()
        except (OSError, ValueError, RuntimeError):
            return None
        return None if b"\0" in data[:8192] else data

    def board_name(self, name: str) -> str | None:
        """A board's full name from the board.yml beside its page."""
        folder = os.path.dirname(self.page)
        for path in (f"{folder}/board.yml", f"{os.path.dirname(folder)}/board.yml"):
            lines = self.lines(path)
            if lines is None:
                continue
            current = None
            for line in lines:
                match = re.match(r"\s*(?:- )?\s*(name|full_name):\s*(.+?)\s*$", line)
                if match and match[1] == "name":
                    current = match[2].strip("\"'")
                elif match and current == name:
                    return match[2].strip("\"'")
        return None


def read_page(base: Path, path: str, data: bytes) -> tuple[Document, Reader]:
    """Parse the page at `path` (relative to `base`) whose content is `data`.

    The Reader holds the lines of the page and of what it includes. Never raises on content:
    what docutils cannot parse is split at its headings, and the document's `note` says so.
    """
    text = decode(data)
    reader = Reader(base, path)
    reader.files[path] = text.split("\n")
    lists = issue_lists(reader.files[path]) if kind_of(path) == "releases" else []
    if lists:  # blanked rather than parsed: a tenth of all text, and the slowest to parse
        kept = list(reader.files[path])
        for first, last in lists:
            kept[first - 1 : last] = [""] * (last - first + 1)
        text = "\n".join(kept)
    substitutions = definitions(text)
    if "|" in text:
        shared = reader.lines(SUBSTITUTIONS)
        if shared is not None:
            substitutions = {**definitions("\n".join(shared)), **substitutions}
    targets = hyperlink_targets(text)
    try:
        tree = parse(text, path, reader, substitutions, targets)
        walked = _Sections(tree, reader)
        title, sections = walked.title, walked.found
        _release(tree)
        note = None
    except (Exception, RecursionError) as error:
        title, sections = _by_headings(path, reader.files[path], substitutions, targets)
        note = f"{path}: split at its headings, since docutils cannot parse it: {error!r:.200}"
    left_out = tuple(Block(path, a, b, "", rule="list of issues or CVE numbers") for a, b in lists)
    if left_out:
        sections.append(Section((), None, left_out))
    document = Document(
        path=path,
        title=_one_line(title) or path,
        kind=kind_of(path),
        sections=tuple(sections),
        includes=tuple(sorted(reader.used)),
        note=note,
    )
    return document, reader


def _release(tree: nodes.document) -> None:
    """Cut the ties from parent to child, so that the tree is freed at once: the garbage
    collector would take a fifth of the time to find its cycles."""
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        pending.extend(node.children)
        if isinstance(node, nodes.Element):
            node.children = []
    vars(tree).clear()


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Sections:
    """Walks a doctree; `found` holds its sections in page order, `title` the page's."""

    def __init__(self, tree: nodes.document, reader: Reader) -> None:
        self.found: list[Section] = []
        self._writer = Writer(reader.files)
        self._label: str | None = None  # id of the explicit target just before, if any
        top = next((c for c in tree.children if isinstance(c, nodes.section)), None)
        # A directive may have named the page; else its first section does.
        self._title_section = top if reader.title is None else None
        self.title = reader.title or (_one_line(top[0].astext()) if top is not None else "")
        self._visit(tree, (), None, Span(reader.page, 1, len(reader.files[reader.page])))

    def _visit(
        self, node: nodes.Element, heading: tuple[str, ...], anchor: str | None, last: Span
    ) -> None:
        """`last`: up to where the node may reach."""
        content = [c for c in node.children if not isinstance(c, (nodes.section, nodes.title))]
        inner = [c for c in node.children if isinstance(c, nodes.section)]
        until = _before(inner, last)
        own: Span | None = getattr(node, "span", None)
        if own is not None and until.path == own.path:
            own = Span(own.path, own.first, until.last)
        elif own is not None:  # an included file's section follows
            spans: list[Span] = [vars(c)["span"] for c in content if "span" in vars(c)]
            ends = [span.last for span in spans if span.path == own.path]
            own = Span(own.path, own.first, max([own.last, *ends]))
        blocks = self._writer.section(content, own, until)
        self.found.append(Section(heading, anchor, tuple(blocks)))
        for child in content:
            if isinstance(child, nodes.target):
                self._label = child["ids"][0] if child.get("ids") else self._label
            elif not isinstance(child, nodes.comment):
                self._label = None
        for index, child in enumerate(inner):
            name: tuple[str, ...] = (
                () if child is self._title_section else (_one_line(child[0].astext()),)
            )
            found = _anchor(child, self._label, anchor)
            self._label = None
            self._visit(child, (*heading, *name), found, _before(inner[index + 1 :], last))


def _before(sections: list[Any], otherwise: Span) -> Span:
    """The line before the first of `sections`, in the same file as it."""
    for section in sections:
        span = getattr(section, "span", None)
        if span is not None:
            return Span(span.path, 1, max(1, span.first - 1))
    return otherwise


def _anchor(section: nodes.Element, label: str | None, outer: str | None) -> str | None:
    ids: list[str] = section.get("ids", [])
    for name in ids:
        if not _AUTOMATIC_ID.fullmatch(name):
            return name
    return label or outer


# Sections of release notes that list GitHub issues or CVE numbers: nothing in them answers a
# question, and their thousands of titles share words with everything.
_ISSUE_LISTS = re.compile(
    r"issues?( related items| fixed| summary)?|(addressed|fixed|closed) issues"
    r"|(security )?vulnerabilit(y|ies)( related| addressed)?",
    re.IGNORECASE,
)


def issue_lists(lines: list[str]) -> list[tuple[int, int]]:
    """Line ranges beneath the headings of lists of issues: 1-based, inclusive."""
    found: list[tuple[int, int]] = []
    styles: list[str] = []
    open_level, start = -1, 0
    for number, name, style in _headings(lines):
        if style not in styles:
            styles.append(style)
        level = styles.index(style)
        if open_level >= 0 and level <= open_level:
            found.append((start, number - 1))
            open_level = -1
        if open_level < 0 and _ISSUE_LISTS.fullmatch(name):
            open_level, start = level, number + 2
    if open_level >= 0:
        found.append((start, len(lines)))
    return [(first, last) for first, last in found if first <= last]


def _headings(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """(1-based line, text, underline character) of each underlined heading."""
    for index in range(len(lines) - 1):
        line, below = lines[index], lines[index + 1]
        if (
            _UNDERLINE.match(below)
            and line[:1].strip()
            and not _UNDERLINE.match(line)
            and len(below.rstrip()) >= len(line.rstrip())
        ):
            yield index + 1, line.strip(), below[0]


_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")


def _by_headings(
    path: str, lines: list[str], substitutions: Mapping[str, str], targets: frozenset[str]
) -> tuple[str, list[Section]]:
    """Headings by their underlines, blocks by blank lines: for what docutils cannot parse."""
    title, styles = "", []
    heading: tuple[str, ...] = ()
    sections: list[Section] = []
    start = 0
    for number, raw, style in [*_headings(lines), (len(lines) + 1, "", "")]:
        blocks = _paragraphs(path, lines, start, number - 1, substitutions, targets)
        sections.append(Section(heading, None, tuple(blocks)))
        start = number + 1
        if style not in styles:
            styles.append(style)
        name = _one_line(markdown(raw, substitutions, targets))
        if title:
            heading = (*heading[: max(0, styles.index(style) - 1)], name)
        title = title or name
    return title, sections


def _paragraphs(
    path: str,
    lines: list[str],
    start: int,
    end: int,
    substitutions: Mapping[str, str],
    targets: frozenset[str],
) -> Iterator[Block]:
    """Runs of lines that are not blank, of lines[start:end]."""
    first: int | None = None
    for index in range(start, end + 1):
        blank = index == end or not lines[index].strip()
        if blank and first is not None:
            text = markdown("\n".join(lines[first:index]), substitutions, targets).strip("\n")
            yield Block(path, first + 1, index, text)
            first = None
        elif not blank and first is None:
            first = index
