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

from zephyr_ask.sources.inline import markdown


class Span(NamedTuple):
    """Lines of one file, 1-based, inclusive."""

    path: str
    first: int
    last: int


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


class _Watching:
    """Mixed into both state machines: records a Span as `span` on each new node."""

    _first: tuple[str | None, int | None] = (None, None)

    def add_states(self, state_classes: Any) -> None:
        self.states = _LazyStates(self, state_classes)

    def _end(self) -> tuple[str | None, int | None]:
        lines = self.input_lines  # type: ignore[attr-defined]
        try:
            source, offset = lines.info(len(lines) - 1)
        except (IndexError, TypeError):
            return None, None
        return source, None if offset is None else offset + 1

    def check_line(self, context: Any, state: Any, transitions: Any = None) -> Any:
        if not context:
            self._first = self.get_source_and_line()  # type: ignore[attr-defined]
        first, parent = self._first, self.node  # type: ignore[has-type]
        before = len(parent.children)
        try:
            return super().check_line(context, state, transitions)  # type: ignore[misc]
        finally:
            added = parent.children[before:]
            if self.node is not parent:
                added = [*added, self.node]
            if added:
                _mark(added, first, self.get_source_and_line())  # type: ignore[attr-defined]


def _mark(
    added: list[Any], first: tuple[str | None, int | None], last: tuple[str | None, int | None]
) -> None:
    path, start = first
    if path is None or start is None:
        return
    end = last[1] if last[0] == path and last[1] is not None else start
    for node in added:
        if hasattr(node, "span") or not isinstance(node, nodes.Element):
            continue
        bare = isinstance(node, nodes.literal_block) and not hasattr(node, "language")
        line = node.line if bare else None
        if line is not None and start < line <= end:  # the block after a paragraph's "::"
            start = line
        node.span = Span(path, start, max(start, end))  # type: ignore[attr-defined]


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


class _StateMixin:
    """What all states share: watched nested machines, and this program's directives."""

    nested_sm = _NestedMachine
    nested_sm_cache: list[Any] = []  # noqa: RUF012 - docutils' own protocol

    def __init__(self, state_machine: Any, debug: bool = False) -> None:
        super().__init__(state_machine, debug)  # type: ignore[call-arg]
        self.nested_sm_kwargs = {"state_classes": _STATES, "initial_state": "Body"}

    def eof(self, context: Any) -> Any:
        machine = self.state_machine  # type: ignore[attr-defined]
        parent = machine.node
        before = len(parent.children)
        result = super().eof(context)  # type: ignore[misc]
        _mark(parent.children[before:], machine._first, machine._end())
        return result

    def directive(self, match: Any, **option_presets: Any) -> Any:
        from zephyr_ask.sources.directives import directive_class

        name = match.group(1)
        return self.run_directive(  # type: ignore[attr-defined]
            directive_class(name), match, name, option_presets
        )

    def substitution_def(self, match: Any) -> Any:
        """Definitions were read before parsing (`definitions`)."""
        *_, blank_finish = self.state_machine.get_first_known_indented(  # type: ignore[attr-defined]
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


_StateMixin.explicit = _explicit()  # type: ignore[attr-defined]
_STATES = tuple(
    type(state.__name__, (_StateMixin, state), {}) for state in states.state_classes
)


class RstParser(Parser):
    """`docutils.parsers.rst.Parser` on watched machines."""

    def __init__(self, inliner: states.Inliner) -> None:
        super().__init__(inliner=inliner)
        self.state_classes = _STATES

    def parse(self, inputstring: str, document: nodes.document) -> None:
        self.setup_parse(inputstring, document)
        machine = _Machine(state_classes=_STATES, initial_state="Body", debug=False)
        lines = [_expand(line) for line in inputstring.split("\n")]
        machine.run(lines, document, inliner=self.inliner)
        self.finish_parse()


def _expand(line: str) -> str:
    # docutils' reading, but line by line: its own splits at form feeds and loses count.
    return re.sub(r"[\v\f\x1c-\x1e\x85\u2028\u2029]", " ", line).expandtabs(8).rstrip()


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
    document.reader = reader
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
