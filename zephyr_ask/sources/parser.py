# SPDX-License-Identifier: Apache-2.0
"""docutils' parser, extended by what it does not keep: where each node's lines stand.

docutils gives a node one line number, sometimes its first and sometimes its last.
Both state machines are watched here instead: a node spans from the line at which
the machine began to look to the line it had reached when the node was attached.
Lines are those of the file they came from, so included text keeps its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Directive, Parser, states
from docutils.statemachine import StringList

from zephyr_ask.sources.inline import markdown


class Span(NamedTuple):
    """Lines of one file, 1-based, inclusive."""

    path: str
    first: int
    last: int


class _Lines(StringList):  # type: ignore[misc, unused-ignore]
    """docutils' lines, with short cuts for plain ASCII: it looks at each character of each
    table for double width and combining marks."""

    def __getitem__(self, i: Any) -> Any:
        return self.data[i] if type(i) is int else super().__getitem__(i)

    def pad_double_width(self, pad_char: str) -> None:
        if not all(line.isascii() for line in self.data):
            super().pad_double_width(pad_char)

    def get_2D_block(  # noqa: N802 - docutils' name
        self, top: int, left: int, bottom: int, right: int, strip_indent: bool = True
    ) -> Any:
        block = self[top:bottom]
        if not all(line.isascii() for line in block.data):
            return super().get_2D_block(top, left, bottom, right, strip_indent)
        block.data = [line[left:right].rstrip() for line in block.data]
        indents = [len(line) - len(line.lstrip()) for line in block.data if line]
        indent = min(indents, default=0)
        if strip_indent and 0 < indent < right:
            block.data = [line[indent:] for line in block.data]
        return block


class _LazyStates(dict[str, Any]):
    """A machine's states, each made when it is first entered.

    docutils makes all thirteen for every list and every directive, and uses two or three:
    that is half of its parsing time.
    """

    def __init__(self, machine: Any, classes: Any) -> None:
        super().__init__()
        self._machine = machine
        self._classes = {state.__name__: state for state in classes}

    def __missing__(self, name: str) -> Any:
        state = self[name] = self._classes[name](self._machine, self._machine.debug)
        if hasattr(self._machine, "memo"):  # else the machine's own start does it
            state.runtime_init()
        return state


# What the two mixins below are mixed into is untyped.
_Untyped: Any = object


class _Watching(_Untyped):  # type: ignore[misc]
    """Mixed into both state machines: records a Span as `span` on each new node."""

    _first = 0  # offset of the line at which the machine began to look

    def add_states(self, state_classes: Any) -> None:
        self.states: Any = _LazyStates(self, state_classes)

    def attach_observer(self, observer: Any) -> None:
        """docutils would note the current line in the document at every line: not used."""

    def check_line(self, context: Any, state: Any, transitions: Any = None) -> Any:
        if not context:
            self._first = self.line_offset
        if transitions is None and _is_text(self.line, state):
            if self._take_paragraph(state):
                return [], "Body", []
            transitions = ("text",)
        first, parent = self._first, self.node
        before = len(parent.children)
        try:
            return super().check_line(context, state, transitions)
        finally:
            added = parent.children[before:]
            if self.node is not parent:
                added = [*added, self.node]
            if added:
                _mark(added, self.input_lines, first, self.line_offset)

    def _take_paragraph(self, state: Any) -> bool:
        """Attach a plain paragraph at once, without docutils' second state for it."""
        lines = self.input_lines
        first = self.line_offset
        last, data = first, lines.data
        while last < len(data) and data[last].strip():
            last += 1
        if not _is_paragraph(data, first, last):
            return False
        text = [line.rstrip() for line in data[first:last]]
        nodes_, _ = state.paragraph(text, self.abs_line_number())
        before = len(self.node.children)
        self.node += nodes_
        _mark(self.node.children[before:], lines, first, last - 1)
        # To the blank line, or the end: there docutils' own paragraph ends, too.
        self.next_line(min(last, len(data) - 1) - first)
        return True


_ENUMERATOR = re.compile(r"[A-Za-z]{1,9}[.)]")


def _is_text(line: str, state: Any) -> bool:
    """Whether a line that begins a block begins a paragraph, title or definition: what starts
    with a letter does, unless it is an enumerator. Saves a dozen patterns that cannot match."""
    return line[:1].isalpha() and type(state).__name__ == "Body" and not _ENUMERATOR.match(line)


_INLINE_START = re.compile(r"[A-Za-z]|`|:[a-z][a-z:-]*:`|\*\*?[A-Za-z]")
_LINE = re.compile(r"([!-/:-@\[-`{-~])\1* *$")


def _is_paragraph(lines: list[str], first: int, end: int) -> bool:
    """Whether docutils would make one paragraph, and nothing else, of lines[first:end].

    True only where that is certain: text from the first line's first column, no blank line
    and no indentation inside, no underline, no "::" at the end.
    """
    if first == end or not _INLINE_START.match(lines[first]) or _ENUMERATOR.match(lines[first]):
        return False
    if end - first > 1:
        if _LINE.match(lines[first + 1]):
            return False
        for line in lines[first + 1 : end]:
            if not line or line[0].isspace():
                return False
    return not lines[end - 1].rstrip().endswith("::")


def _mark(added: list[Any], lines: Any, first: int, last: int) -> None:
    """Set `span` on the nodes made of lines[first..last]."""
    path, start = _place(lines, first)
    if path is None or start is None:
        return
    end_path, end = _place(lines, min(last, len(lines) - 1))
    if end_path != path or end is None:
        end = start
    for node in added:
        if "span" in node.__dict__ or not isinstance(node, nodes.Element):
            continue
        bare = isinstance(node, nodes.literal_block) and "language" not in node.__dict__
        line = node.line if bare else None
        if line is not None and start < line <= end:  # the block after a paragraph's "::"
            start = line
        node.span = Span(path, start, max(start, end))  # type: ignore[attr-defined]


def _place(lines: Any, offset: int) -> tuple[str | None, int | None]:
    """File and 1-based line of a machine's line."""
    try:
        path, number = lines.items[offset]
    except IndexError:
        return None, None
    return path, None if number is None else number + 1


class _NestedMachine(_Watching, states.NestedStateMachine):
    pass


class _Machine(_Watching, states.RSTStateMachine):
    pass


class _Inliner(states.Inliner):
    """Leaves inline markup to `markdown`: faster, and no role can be unknown."""

    def __init__(self, substitutions: Mapping[str, str], targets: frozenset[str]) -> None:
        super().__init__()
        self._substitutions = substitutions
        self._targets = targets

    _compiled: ClassVar[dict[str, Any]] = {}

    def init_customizations(self, settings: Any) -> None:
        """docutils' patterns, which its targets need; compiled once, not once a page."""
        if not self._compiled:
            inliner = states.Inliner()
            inliner.init_customizations(settings)
            self._compiled.update(vars(inliner))
        vars(self).update(self._compiled)

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> Any:
        return [nodes.Text(markdown(text, self._substitutions, self._targets))], []


_TRANSITIONS: dict[type, list[tuple[str, Any, str]]] = {}


class _StateMixin(_Untyped):  # type: ignore[misc]
    """What all states share: watched nested machines, and this program's directives."""

    transitions: Any
    transition_order: Any

    nested_sm = _NestedMachine
    nested_sm_cache: list[Any] = []  # noqa: RUF012 - docutils' own protocol

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def nested_parse(self, block: Any, input_offset: int, node: Any = None, *args: Any,
                     **kwargs: Any) -> Any:  # fmt: skip
        """Most list items and table cells are one paragraph: no machine is started for it."""
        data = block.data
        end = len(data)
        while end and not data[end - 1].strip():
            end -= 1
        if node is None or args or kwargs or not _is_paragraph(data, 0, end):
            return super().nested_parse(block, input_offset, node, *args, **kwargs)
        before = len(node.children)
        lines = [line.rstrip() for line in data[:end]]
        paragraph, _ = self.paragraph(lines, input_offset + 1)
        node += paragraph
        _mark(node.children[before:], block, 0, end - 1)
        return input_offset + len(data)

    def add_initial_transitions(self) -> None:
        """The same for every instance of a class: compiled and sorted once, not once a list."""
        known = _TRANSITIONS.get(type(self))
        if known is None:
            super().add_initial_transitions()
            _TRANSITIONS[type(self)] = [
                (name, self.transitions[name][0], self.transitions[name][2])
                for name in self.transition_order
            ]
            return
        self.transition_order = [name for name, *_ in known]
        self.transitions = {
            name: (pattern, getattr(self, name), next_state) for name, pattern, next_state in known
        }

    def unlink(self) -> None:
        super().unlink()
        self.transitions = {}  # bound methods, which would keep this state alive

    def eof(self, context: Any) -> Any:
        machine = self.state_machine
        parent = machine.node
        before = len(parent.children)
        result = super().eof(context)
        lines = machine.input_lines
        _mark(parent.children[before:], lines, machine._first, len(lines) - 1)
        return result

    def directive(self, match: Any, **option_presets: Any) -> Any:
        from zephyr_ask.sources.directives import directive_class

        name = match.group(1)
        return self.run_directive(directive_class(name), match, name, option_presets)

    def substitution_def(self, match: Any) -> Any:
        """Definitions were read before parsing (`definitions`)."""
        *_, blank_finish = self.state_machine.get_first_known_indented(
            match.end(), strip_indent=False
        )
        return [nodes.comment()], blank_finish


def _explicit() -> Any:
    """docutils lists the methods for explicit markup unbound: put this module's in."""
    own = {name: getattr(_StateMixin, name) for name in ("directive", "substitution_def")}
    explicit = type(states.Body.explicit)(**vars(states.Body.explicit))
    explicit.constructs = [
        (own.get(method.__name__, method), pattern) for method, pattern in explicit.constructs
    ]
    return explicit


_StateMixin.explicit = _explicit()
_STATES = tuple(type(state.__name__, (_StateMixin, state), {}) for state in states.state_classes)


class RstParser(Parser):
    """`docutils.parsers.rst.Parser` on watched machines."""

    def __init__(self, inliner: states.Inliner) -> None:
        super().__init__(inliner=inliner)
        self.state_classes = _STATES

    def parse(self, inputstring: str, document: nodes.document) -> None:
        self.setup_parse(inputstring, document)
        machine = _Machine(state_classes=_STATES, initial_state="Body", debug=False)
        machine.run(_Lines(_lines(inputstring), document["source"]), document, inliner=self.inliner)
        self.finish_parse()


_NOT_NEWLINES = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")


def _lines(text: str) -> list[str]:
    """As docutils reads lines, but split at newlines only: it splits at form feeds, too, and
    loses count."""
    if _NOT_NEWLINES.search(text):
        text = _NOT_NEWLINES.sub(" ", text)
    if "\t" in text:
        return [line.expandtabs(8).rstrip() for line in text.split("\n")]
    return [line.rstrip() for line in text.split("\n")]


_SETTINGS: Any = None


def _settings() -> Any:
    global _SETTINGS
    if _SETTINGS is None:
        settings = frontend.get_default_settings(Parser)
        settings.report_level = 5  # nothing is printed
        settings.halt_level = 5
        settings.warning_stream = False
        settings.file_insertion_enabled = False  # `include` here is this program's own
        settings.raw_enabled = False
        settings.auto_id_prefix = "id"  # as Sphinx names what has no name
        settings.line_length_limit = 10_000_000
        _SETTINGS = settings
    return _SETTINGS


def parse(
    text: str, path: str, reader: Any, substitutions: Mapping[str, str], targets: frozenset[str]
) -> nodes.document:
    """Text of the page at `path` → doctree whose elements carry `span` where known.

    `reader` is what directives use to read other files of the tree. Raises whatever
    docutils raises on a page that it cannot parse, RecursionError among it.
    """
    document = utils.new_document(path, _settings().copy())
    document.reader = reader  # type: ignore[attr-defined]
    _StateMixin.nested_sm_cache.clear()  # a failed parse may have left one half-run
    RstParser(_Inliner(substitutions, targets)).parse(text, document)
    return document


_DEFINITION = re.compile(
    r"^[ \t]*\.\.[ ]+\|(?P<key>[^|\n]+)\|[ ]+(?P<how>replace|unicode|image|raw|date)::"
    r"[ ]*(?P<value>[^\n]*(?:\n[ \t]+[^\n:. \t][^\n]*)*)",
    re.MULTILINE,
)
_TARGET = re.compile(r"^[ \t]*\.\.[ ]+_(?P<name>`[^`\n]+`|[^\s:`][^:\n]*):", re.MULTILINE)


def definitions(text: str) -> dict[str, str]:
    """Substitution definitions of a file: name → what stands for it."""
    found: dict[str, str] = {}
    if ".. |" not in text and "..  |" not in text:
        return found
    for match in _DEFINITION.finditer(text):
        value = " ".join(match["value"].split())
        if match["how"] == "unicode":
            value = _unicode(value)
        elif match["how"] in ("raw", "image", "date"):
            value = ""
        found[match["key"]] = value
    return {key: markdown(value, found, frozenset()) for key, value in found.items()}


def _unicode(value: str) -> str:
    characters = []
    for code in value.split(" .. ")[0].split():
        match = re.fullmatch(r"(?:0x|x|\\x|U\+?|u|\\u|&#x)([0-9a-fA-F]+);?", code)
        if match and int(match[1], 16) <= 0x10FFFF:
            characters.append(chr(int(match[1], 16)))
        else:
            characters.append(code)
    return "".join(characters)


def hyperlink_targets(text: str) -> frozenset[str]:
    """Lower-case names of the explicit targets of a file."""
    return frozenset(match["name"].strip("`").lower() for match in _TARGET.finditer(text))


__all__ = ["Directive", "Span", "definitions", "hyperlink_targets", "parse"]
