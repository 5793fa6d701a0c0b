# SPDX-License-Identifier: Apache-2.0
"""YAML text → plain values, whatever the text: what the readers of YAML files share.

PyYAML with libyaml reads Zephyr's 2,887 bindings in 0.5 s; without libyaml it takes ten times as
long. Merge keys (`<<`) are not followed, dates stay text, a tag that YAML does not know is
ignored.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

CHARS = 2_000_000  # of a file; the largest that Zephyr has are far below
VALUES = 100_000  # after aliases are followed; a page of aliases can stand for 10**9 of them
DEPTH = 40  # of nesting; Zephyr's own files have 8
ITEMS = 256  # of a list that is kept
VALUE_CHARS = 500  # of a text that is kept
NAME_CHARS = 200  # Zephyr's longest name has 64; a longer word names nothing
_DROPPED = ("timestamp", "merge", "value")  # implicit types of plain words
_GENERIC = ("timestamp", "binary", "set", "omap", "pairs")  # explicit ones that JSON lacks
_BRACKETS = 500  # libyaml gives up at 1,000; Python's own stack may be in use already


def load_yaml(path: str, text: str) -> tuple[Any, str | None]:
    """The value of a YAML text, and a line that says what is wrong with it.

    A value consists of dict, list, str, int, float, bool and None; None with a note where the
    text is not YAML. Keys of a dict may be of any scalar type.
    """
    import yaml

    text = text.removeprefix("\ufeff")
    if len(text) > CHARS:
        return None, f"{path}: left out, since it has {len(text):,} characters"
    if max(text.count("["), text.count("{")) > _BRACKETS and _too_deep(text):
        return None, f"{path}: not read, since its lists are nested too deeply"
    try:
        value = yaml.load(text, _loader())
        return (_bounded(value) if "&" in text and "*" in text else value), None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        last = text.rstrip("\n").count("\n")
        where = f"{path}:{min(mark.line, last) + 1}" if mark is not None else path
        return None, f"{where}: not YAML: {_short(str(error.problem or error.context))}"
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError,
            RecursionError) as error:  # fmt: skip
        return None, f"{path}: not YAML: {_short(str(error))}"


def _short(message: str) -> str:
    return " ".join(message.split())[:120]


def _too_deep(text: str) -> bool:
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > _BRACKETS:
            return True
    return False


@lru_cache(maxsize=1)
def _loader() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    prefix = "tag:yaml.org,2002:"
    dropped = {prefix + name for name in _DROPPED}

    class Loader(base):  # type: ignore[misc]
        yaml_implicit_resolvers = {
            first: [pair for pair in pairs if pair[0] not in dropped]
            for first, pairs in base.yaml_implicit_resolvers.items()
        }

    def generic(loader: Any, node: Any) -> Any:
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        return loader.construct_scalar(node)

    def number(construct: Any) -> Any:
        def read(loader: Any, node: Any) -> Any:
            try:
                return construct(loader, node)
            except ValueError:  # "0x_" looks like one; one of 5,000 digits is refused
                return loader.construct_scalar(node)

        return read

    for name in _GENERIC:
        Loader.add_constructor(prefix + name, generic)
    Loader.add_constructor(prefix + "int", number(base.construct_yaml_int))
    Loader.add_constructor(prefix + "float", number(base.construct_yaml_float))
    Loader.add_constructor(None, generic)
    return Loader


def _bounded(value: Any) -> Any:
    """A copy in which nothing is shared. Raises ValueError where it would be too large."""
    left = VALUES

    def copy(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > DEPTH:
            raise ValueError("its aliases stand for too many values, or for themselves")
        if isinstance(value, list):
            return [copy(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {key: copy(item, depth + 1) for key, item in value.items()}
        return value

    return copy(value, 0)


def mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def word(value: Any) -> str:
    """A scalar as text: 96 → "96", true → "true"; "" for what is no scalar."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode(errors="replace").decode()  # JSON and SQLite take no half characters
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > 64:
        return hex(value)  # decimal digits of a huge one are refused
    return str(value) if isinstance(value, (int, float)) else ""


def line_of(value: Any) -> str:
    """A scalar as one line."""
    return " ".join(word(value).split())


def name_in(value: Any) -> str:
    """A scalar as a name; "" for what is none."""
    name = line_of(value)
    return name if len(name) <= NAME_CHARS else ""


def words(value: Any) -> list[str]:
    """A scalar, a list of them, or words in one text → a list."""
    if isinstance(value, list):
        return [text for item in value[:ITEMS] if (text := line_of(item))]
    return word(value).split()[:ITEMS]


def plain(value: Any, depth: int = 4) -> Any:
    """A value that JSON can hold, bounded."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 64 else hex(value)[:VALUE_CHARS]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return [plain(item, depth - 1) for item in value[:ITEMS]] if depth else []
    if isinstance(value, dict):
        items = list(value.items())[:ITEMS] if depth else []
        return {word(key)[:VALUE_CHARS]: plain(item, depth - 1) for key, item in items}
    return word(value)[:VALUE_CHARS]


_SENTENCE = re.compile(
    r"\A.{2,}?[.:!?](?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?=\s+[A-Z\"'`(]|\Z)"
)


def sentence(text: str, limit: int = 200) -> str:
    """The first sentence of the first paragraph, in one line."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    found = _SENTENCE.match(paragraph)
    return cut(found[0] if found else paragraph, limit)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, ended at a word where there is one."""
    if len(text) <= limit:
        return text
    short = text[: limit - 1]
    end = max(short.rfind(" "), short.rfind("\n"))
    return (short[:end] if end > limit // 2 else short).rstrip() + "…"


_KEY = re.compile(
    r"""^(\ *)(?:"([^"\n]+)"|'([^'\n]+)'|([^\s\#"'\[{\-][^\n:]*?))\ *:(?=\ |$)\ *([|>][^\n]*)?""",
    re.MULTILINE | re.VERBOSE,
)


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Path of the keys of block mappings → its line. Keys inside lists belong to the list's."""
    found: dict[tuple[str, ...], int] = {}
    stack: list[tuple[int, str]] = []
    block = -1  # indentation of the key whose value is a block of text
    for indent, name, opens, line in _keys(text):
        if 0 <= block < indent:
            continue
        block = indent if opens else -1
        while stack and stack[-1][0] >= indent:
            stack.pop()
        if len(stack) < DEPTH:
            stack.append((indent, name))
            found.setdefault(tuple([key for _, key in stack]), line)
    return found


def _keys(text: str) -> Iterator[tuple[int, str, bool, int]]:
    line, place = 1, 0
    for match in _KEY.finditer(text):
        start = match.start()
        line += text.count("\n", place, start)
        place = start
        yield len(match[1]), match[2] or match[3] or match[4], match[5] is not None, line


class NameLines:
    """Where `name:` and `extend:` say a name. Asked for in the order of the file, so that equal
    names are told apart."""

    _NAME = re.compile(
        r"""^[ ]*(?:-[ ]+)*(?:name|extend):[ ]*["']?([^"'\n#]*[^"'\s#])""", re.MULTILINE
    )

    def __init__(self, text: str) -> None:
        self._lines: dict[str, list[int]] = defaultdict(list)
        line, place = 1, 0
        for match in self._NAME.finditer(text):
            line += text.count("\n", place, match.start())
            place = match.start()
            self._lines[match[1]].append(line)

    def take(self, name: str) -> int:
        """The line of the next mention of `name`; 1 if none is found."""
        lines = self._lines.get(name)
        if not lines:
            return 1
        return lines.pop(0) if len(lines) > 1 else lines[0]
