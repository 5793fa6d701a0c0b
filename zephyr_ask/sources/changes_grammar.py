# SPDX-License-Identifier: Apache-2.0
"""What the sentences of a marked text say became of the names in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from zephyr_ask.sources import changes_rules as rules
from zephyr_ask.sources.changes_names import NAME, NAMES, RUNS
from zephyr_ask.types import Became

Indexes = tuple[int, ...]


class Verdict(NamedTuple):
    """One statement; names are indexes into those of the text."""

    gone: Indexes
    became: Became
    instead: Indexes


# The word that says most wins where several are said of a name.
WEIGHT: dict[Became, int] = {"deprecated": 0, "removed": 1, "replaced": 2, "renamed": 3}


class _Clause:
    """A reduced sentence, and the names behind its marks."""

    def __init__(self, sentence: str) -> None:
        self.runs: list[Indexes] = []
        self.pairs: list[tuple[int, int]] = []
        reduced = " ".join(rules.NOISE.sub("", sentence).replace(" ,", ",").split())
        self.named = rules.NAMED.search(sentence) is not None
        self.text = rules.MARKS.sub(self._run, rules.ALTERNATING.sub(self._paired, reduced))

    def _paired(self, match: re.Match[str]) -> str:
        """Takes "A to B, C to D" out, which as runs would read "A to B and C"."""
        self.pairs += [(_index(old), _index(new)) for old, new in rules.PAIR.findall(match[0])]
        return f"{match[1]} {match[2]} {match[3]}"

    def _run(self, match: re.Match[str]) -> str:
        self.runs.append(tuple(_index(mark) for mark in re.findall(NAME, match[0])))
        return chr(RUNS + len(self.runs) - 1)

    def names(self, mark: str | None) -> Indexes:
        return self.runs[ord(mark) - RUNS] if mark else ()

    def word_before(self, at: int) -> str:
        match = re.search(r"[a-z]+(?=\s*$)", self.text[max(0, at - 24) : at])
        return match[0] if match else ""


def _index(mark: str) -> int:
    return ord(mark) - NAMES


def judge(text: str, inherited: Became | None, listed: bool) -> list[Verdict]:
    """Statements in a text as `changes_names.mark` gives it.

    `inherited`: what the line or heading above says of the names that this text begins with.
    `listed`: that line introduces a list of pairs, so that "A (B)" offers B instead of A.
    """
    verdicts: list[Verdict] = []
    text = _unbracketed(text, verdicts, inherited if listed else None)
    clauses = [_Clause(part) for part in _clauses(text)]
    found = [list(_stated(clause, inherited)) for clause in clauses]
    if inherited and not verdicts and not any(found) and clauses:
        found[0] = list(_begins(clauses[0], inherited))
    last = list(verdicts)
    for clause, stated in zip(clauses, found, strict=True):
        verdicts += stated
        last = stated or last
        verdicts += _of_last(clause, last)
    return verdicts


def _unbracketed(text: str, verdicts: list[Verdict], listed: Became | None) -> str:
    for pattern, word in rules.ABBREVIATED:
        text = pattern.sub(word, text)
    text = " ".join(text.split())
    if "(" not in text:
        return text

    def bracket(match: re.Match[str]) -> str:
        inner = tuple(_index(mark) for mark in re.findall(NAME, match[3]))
        if match[2] in ("previously", "was", "formerly"):
            verdicts.append(Verdict(inner, "renamed", (_index(match[1]),)))
        elif match[2] not in ("", "see") or listed:
            verdicts.append(Verdict((_index(match[1]),), listed or "replaced", inner))
        return match[1]

    text = rules.NAMELESS.sub("", rules.BRACKET.sub(bracket, text))
    return rules.ASIDE.sub("", rules.ONLY_NAMES.sub(r"\1", text))


def _clauses(text: str) -> Iterator[str]:
    for sentence in rules.SENTENCE.split(text):
        sentence = rules.SINCE.sub(" ", rules.PLACE.sub("", sentence))
        at = 0
        for match in rules.CLAUSE.finditer(sentence):
            if rules.STATES.search(sentence, at, match.start()):
                yield sentence[at : match.start()]
                at = match.end()
        yield sentence[at:]


def _stated(clause: _Clause, inherited: Became | None) -> Iterator[Verdict]:
    """Who went, with who is offered in the same breath."""
    text = clause.text
    if not clause.runs:
        return
    for old, new in clause.pairs:
        yield Verdict((old,), _by_words(text, inherited or "renamed"), (new,))
    for pattern, became in rules.PAIRS:
        for match in pattern.finditer(text):
            gone, instead = clause.names(match["o"]), clause.names(match["w"])
            if _hindered(clause, match) or (gone[0], instead[0]) in clause.pairs:
                continue
            around = text[max(0, match.start() - 24) : match.end()]
            word = _by_words(around if became is None else match[0], inherited or "replaced")
            yield Verdict(gone, word if word == "deprecated" else became or word, instead)
    for match in rules.INSTEAD_OF.finditer(text):
        if _advises(text, match):
            yield Verdict(clause.names(match["o"]), "replaced", clause.names(match["w"]))
    if "renam" in text or ("changed" in text and clause.named):
        for match in (*rules.FROM_TO.finditer(text), *rules.CHANGED_TO.finditer(text)):
            if not _hindered(clause, match):
                yield Verdict(clause.names(match["o"]), "renamed", clause.names(match["w"]))
    for pattern, became in rules.PLAIN:
        for match in pattern.finditer(text):
            if not _hindered(clause, match):
                verbs = match.groupdict().get("verbs") or ""
                yield Verdict(clause.names(match["o"]), became or _by_words(verbs, "removed"), ())


def _hindered(clause: _Clause, match: re.Match[str]) -> bool:
    """Is the name only part of what went ("the prompt of X"), or did nothing go ("not removed")?"""
    before = clause.word_before(match.start())
    if match.start() == match.start("o"):
        return bool(rules.BEFORE.fullmatch(before)) and not rules.MEANS.search(
            clause.text[: match.start()]
        )
    return "w" not in match.groupdict() and bool(rules.HINDERS.fullmatch(before))


def _advises(text: str, match: re.Match[str]) -> bool:
    """Does "B instead of A" tell to use B?"""
    between = text[match.start("w") : match.start("o")]
    before = text[: match.start()]
    return bool(rules.ADVISED.search(before) or rules.OUGHT_TO_BE_USED.search(between))


_REMOVED = re.compile(
    r"remov|delet|drop|elimin|gone|no longer|any ?more|retired|unsupported|not exist"
)


def _by_words(text: str, otherwise: Became) -> Became:
    """deprecated beside renamed or replaced: the old name still worked then."""
    removed = _REMOVED.search(text)
    if re.search(r"deprecat|obsolete\b", text) and not removed:
        return "deprecated"
    if "renam" in text:
        return "renamed"
    if re.search(r"replac|supersed", text):
        return "replaced"
    return "removed" if removed else otherwise


def _begins(clause: _Clause, inherited: Became) -> Iterator[Verdict]:
    match = rules.BEGINS.match(clause.text)
    if match:
        paired = inherited in ("renamed", "replaced")
        instead = clause.names(match["w"]) if paired else ()
        yield Verdict(clause.names(match["o"]), inherited, instead)


def _of_last(clause: _Clause, last: list[Verdict]) -> Iterator[Verdict]:
    """What this clause says of the names of the last statement: "They were removed. Use B."""
    gone = tuple(dict.fromkeys(index for verdict in last for index in verdict.gone))
    if not gone:
        return
    if match := rules.PRONOUN.match(clause.text):
        yield Verdict(gone, _by_words(match["verbs"], "removed"), ())
    taken = {index for verdict in last for index in (*verdict.gone, *verdict.instead)}
    became = max((verdict.became for verdict in last), key=WEIGHT.__getitem__)
    for pattern in rules.BACK if clause.runs else ():
        for match in pattern.finditer(clause.text):
            instead = clause.names(match["w"])
            if not taken.intersection(instead):
                yield Verdict(gone, became, instead)
                return


_INTRODUCES: tuple[tuple[re.Pattern[str], Became], ...] = (
    (re.compile(r"\brenam(?:ed|ing)\b|\bnow called\b"), "renamed"),
    (re.compile(r"\b(?:remov(?:ed|al)|deleted|dropped|gone|no longer (?:available|supported))\b"),
     "removed"),
    (re.compile(r"\breplace(?:d|ments?)\b|\bsuperseded\b"), "replaced"),
    (re.compile(r"\b(?:deprecat(?:ed|ions?|ing)|obsolete)\b"), "deprecated"),
)  # fmt: skip
_ADDS = re.compile(
    r"\b(?:add(?:ed|s)?|new|introduc\w+|now (?:required|mandatory)|support for|affect\w*)\b"
)
# "The deprecated options have been removed", "Removed deprecated options"
_WAS_DEPRECATED = re.compile(
    r"\bdeprecated\s+(?:\w+\s+){0,4}(?:have|has|were|was|are|is)\b[^.]*remov"
    r"|remov\w+[^.]*\bdeprecated\b|deprecated in [\d.]+ (?:has|have)"
)


def introduced(text: str) -> Became | None:
    """What a line such as "these options were removed:" or a heading says of what follows it."""
    found = [
        (match.start(), became)
        for pattern, became in _INTRODUCES
        if (match := pattern.search(text)) is not None
    ]
    words = [became for _, became in found]
    if not words or ("renamed" not in words and _ADDS.search(text, min(found)[0])):
        return None
    if "deprecated" in words and not _WAS_DEPRECATED.search(text):
        return "deprecated"
    return words[0]
