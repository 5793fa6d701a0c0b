# SPDX-License-Identifier: Apache-2.0
"""Answer → what a person reads on a terminal; Answer → the dict of JSON, MCP and the app.

Nothing of rich is imported for JSON. All text is cleaned before it is laid out: pages and
questions may hold anything, and none of it may reach the terminal as an escape.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask.cards import card_lines, card_to_dict
from zephyr_ask.console import clean
from zephyr_ask.types import Answer, Hit, Revision

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from zephyr_ask.layout import Layout

SCHEMA = 1
SCORE_DIGITS = 4  # ranks apart at a glance; the encoder's int8 weights are no more exact
MS_DIGITS = 1
TEXT_COLUMNS = 100  # longer lines are hard to follow, however wide the terminal is
NARROW_COLUMNS = 50  # beneath it the passage needs the gutter's columns more
SHORT_COMMIT = 10  # digits, as `git describe` abbreviates in a tree of Zephyr's size
QUESTION_CHARS = 160  # of the question in a message: two lines

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_URL = re.compile(r"[^!-~]")


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """The answer as JSON values: schema 1, floats rounded, what is not finite None."""
    revision = answer.revision
    return {
        "schema": SCHEMA,
        "question": _plain(answer.question),
        "revision": {
            "version": _plain(revision.version),
            "commit": None if revision.commit is None else _plain(revision.commit),
            "modified": revision.modified,
            "path": _plain(revision.path),
        },
        "abstained": bool(answer.abstained),
        "confidence": _rounded(answer.confidence),
        "symbols": [_cleaned(card_to_dict(card)) for card in answer.cards],
        "passages": [_passage_to_dict(hit) for hit in answer.hits],
        "answer": None,
        "timings_ms": {
            _plain(name): _rounded(value, MS_DIGITS) for name, value in answer.timings_ms.items()
        },
    }


def answer_to_json(answer: Answer) -> str:
    """The answer as one line of ASCII, whatever is in it: one object a line for scripts."""
    import json

    return json.dumps(answer_to_dict(answer), allow_nan=False)


def _passage_to_dict(hit: Hit) -> dict[str, Any]:
    chunk, reasons = hit.chunk, hit.reasons
    return {
        "rank": int(hit.rank),
        "path": _plain(chunk.path),
        "start_line": int(chunk.start_line),
        "end_line": int(chunk.end_line),
        "page": _plain(chunk.page),
        "title": _plain(chunk.title),
        "heading": [_plain(part) for part in chunk.heading],
        "url": _plain(hit.url),
        "kind": chunk.kind,
        "text": _plain(hit.source),
        "markdown": _plain(chunk.text),
        "score": _rounded(hit.score),
        "reasons": {
            "lexical_rank": None if reasons.lexical_rank is None else int(reasons.lexical_rank),
            "lexical_score": _rounded(reasons.lexical_score),
            "dense_score": _rounded(reasons.dense_score),
            "page_score": _rounded(reasons.page_score),
            "prior": _rounded(reasons.prior),
        },
    }


def _cleaned(value: Any) -> Any:
    """JSON values with every text as UTF-8 can carry it."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return {_plain(str(key)): _cleaned(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else _plain(str(value))


def _plain(text: str) -> str:
    """`text` as UTF-8 can carry it: halves of surrogate pairs become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _rounded(value: float | None, digits: int = SCORE_DIGITS) -> float | None:
    """A float of Python's own (numpy's has no JSON), or None where JSON has no number."""
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), digits)


def print_answer(console: Console, answer: Answer, *, verbosity: int = 0) -> None:
    """Print the passages; or, of an abstained answer, that and the nearest pages.

    `verbosity`: -1 leaves the footer out, 1 adds reasons, urls and timings, 2 says more.
    """
    from rich.text import Text

    text = Text("\n").join(answer_lines(console, answer, verbosity=verbosity))
    # The lines are laid out already; rich is to pass them on as they are.
    console.print(text, soft_wrap=True)


def answer_lines(console: Console, answer: Answer, *, verbosity: int = 0) -> list[Text]:
    """What print_answer prints, in lines that fit the console."""
    from rich.text import Text

    from zephyr_ask.layout import Layout

    layout = Layout(console)
    width = min(console.width, TEXT_COLUMNS)
    digits = len(str(max((hit.rank for hit in answer.hits), default=1)))
    gutter = digits + (1 if console.width < NARROW_COLUMNS else 2)
    lines: list[Text] = []
    for card in answer.cards:
        lines += card_lines(layout, card, width, _placer(layout, answer.revision))
        lines.append(Text())
    only_unknown = bool(answer.cards) and not answer.hits
    if answer.abstained and not only_unknown:
        lines += _abstention(layout, answer, width)
    for hit in answer.hits:
        rank = str(hit.rank).rjust(digits).ljust(gutter)
        block = _heading(layout, hit, width - gutter)
        block += _place(layout, hit, answer.revision, console.width - gutter, verbosity)
        if verbosity >= 1:
            block += layout.wrap(Text(_reasons_text(hit), "dim"), width - gutter)
        # The nearest pages of an abstained answer are named, not offered as the answer.
        if not answer.abstained or verbosity >= 1:
            block += [Text(), *layout.lines(hit.chunk.text, width - gutter)]
        for at, line in enumerate(block):
            start = Text().append(" " * gutter if at else rank, "" if at else "bold")
            lines.append(start.append_text(line))
            lines[-1].rstrip()
        lines.append(Text())
    if verbosity >= 0:
        footer = layout.clean(_footer_text(answer, verbosity))
        lines += layout.wrap(Text(footer, "dim"), width)
    elif lines:
        lines.pop()  # the blank line that set the footer off
    return lines


def _placer(layout: Layout, revision: Revision) -> Callable[[str, int], Text]:
    from rich.text import Text

    def place(path: str, line: int) -> Text:
        text = Text(layout.clean(f"{path}:{line}").replace("\n", " "), style="green")
        if uri := file_uri(revision, path, line):
            text.stylize(_link(uri))
        return Text().append_text(text)

    return place


def _abstention(layout: Layout, answer: Answer, width: int) -> list[Text]:
    from rich.text import Text

    question = " ".join(layout.clean(answer.question).split())
    if len(question) > QUESTION_CHARS:
        question = question[:QUESTION_CHARS].rstrip() + layout.clean("…")
    version = layout.clean(answer.revision.version)
    said = Text(f"The Zephyr {version} docs do not seem to answer this question:", "bold")
    lines = layout.wrap(said, width)
    lines += [Text("  ").append_text(line) for line in layout.wrap(Text(question), width - 2)]
    nearest = "The nearest pages, which may not help:" if answer.hits else "No page comes near."
    return [*lines, Text(), Text(nearest), Text()]


def _heading(layout: Layout, hit: Hit, width: int) -> list[Text]:
    """The page's title and the heading path, in as many lines as they need."""
    from rich.text import Text

    def one_line(text: str) -> str:
        return " ".join(layout.clean(text).split())

    line = Text(one_line(hit.chunk.title or hit.chunk.page), style="bold")
    if hit.url.startswith(("https://", "http://")):
        line.stylize(_link(_NOT_IN_URL.sub("", hit.url)))
    out = Text().append_text(line)
    for part in hit.chunk.heading:
        out.append(layout.clean(" › "), "dim").append(one_line(part))
    return layout.wrap(out, width)


def _place(layout: Layout, hit: Hit, revision: Revision, room: int, verbosity: int) -> list[Text]:
    """The file and its lines, and the published page where there is room for it.

    Neither is ever folded: a terminal does that by itself, and what is piped can be used.
    """
    from rich.text import Text

    chunk = hit.chunk
    span = f"{chunk.start_line}"
    if chunk.end_line != chunk.start_line:
        span += f"-{chunk.end_line}"
    shown = layout.clean(chunk.path).replace("\n", " ")
    place = Text(f"{shown}:{span}", style="green")
    if uri := file_uri(revision, chunk.path, chunk.start_line):
        place.stylize(_link(uri))
    place = Text().append_text(place)
    url = _NOT_IN_URL.sub("", hit.url)
    if url and place.cell_len + 2 + len(url) <= room:
        return [place.append("  ").append(url, "dim")]
    return [place, Text(url, "dim")] if url and verbosity >= 1 else [place]


def file_uri(revision: Revision, path: str, line: int) -> str:
    """The file: URI of `path` in the tree; "" where there is none, as of a relative tree.

    The fragment is the line, as kitty, iTerm2 and VS Code read it; others ignore it.
    """
    try:
        return f"{Path(revision.path, path).as_uri()}#{line}"
    except ValueError:  # not absolute, or not to be encoded
        return ""


def _link(uri: str) -> Any:
    from rich.style import Style

    return Style(link=uri)


def _reasons_text(hit: Hit) -> str:
    reasons = hit.reasons
    parts = [f"score {hit.score:.2f}"]
    if reasons.lexical_rank is not None:
        parts.append(f"words {reasons.lexical_score:.2f} (rank {reasons.lexical_rank})")
    if reasons.dense_score is not None:
        parts.append(f"meaning {reasons.dense_score:.2f}")
    if reasons.page_score:
        parts.append(f"page +{reasons.page_score:.2f}")
    if reasons.prior != 1:
        parts.append(f"prior {reasons.prior:.2f}")
    return ", ".join([*parts, hit.chunk.kind])


def _footer_text(answer: Answer, verbosity: int) -> str:
    """Zephyr's version and commit, whether the tree is modified, the time; then details."""
    revision, timings = answer.revision, answer.timings_ms
    parts = [f"Zephyr {revision.version}"]
    if revision.commit is None:
        parts.append("commit unknown")
    else:
        parts.append(revision.commit if verbosity >= 2 else revision.commit[:SHORT_COMMIT])
    if revision.modified:
        parts.append("modified")
    if timings:
        total = timings.get("total", sum(timings.values()))
        parts.append(f"{total / 1000:.2f} s")
    lines = [" · ".join(parts)]
    if verbosity >= 1:
        lines.append(f"confidence {answer.confidence:.2f}")
        steps = [f"{name} {ms:.0f} ms" for name, ms in timings.items() if name != "total"]
        lines[-1] += "".join(f" · {step}" for step in steps)
    if verbosity >= 2:
        lines.append(revision.path)
    return "\n".join(lines)


def print_notes(console: Console, answer: Answer) -> None:
    """Print the answer's notes, each in one line; `console` is stderr's."""
    for note in answer.notes:
        console.print("note: " + " ".join(clean(note, console.encoding).split()), soft_wrap=True)
