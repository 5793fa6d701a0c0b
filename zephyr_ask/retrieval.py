# SPDX-License-Identifier: Apache-2.0
"""Question → ranked chunks, with the reason for each rank.

Words choose the candidates (BM25), the encoder and the words together order them, and
what else a page offers on the question counts for it. `rank` is pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from zephyr_ask.analyzer import names, question_terms, terms
from zephyr_ask.index import Candidate, Index
from zephyr_ask.table import Entry
from zephyr_ask.types import SYMBOLS_OF, Kind, QuestionError, Reasons, Symbol, shown_name

if TYPE_CHECKING:
    from zephyr_ask.encoder import Encoder

QUESTION_CHARS = 4000  # what is read of a question: the encoder stops at a quarter of it
QUESTION_TERMS = 48  # distinct terms searched for; of a longer question the rarest


class Weights(NamedTuple):
    """Every weight and rule of the ranking; `scripts/evaluate.py` switches each off in turn."""

    candidates: int = 100  # chunks that the words choose
    dense: float = 0.7  # share of the encoder's score; the rest is the words'
    evidence: float = 0.2  # share of the page's next candidates' scores that its best gets
    page: float = 0.3  # weight of the words' score of the whole page
    name: float = 0.2  # what a chunk gains that holds a rare name of the question
    releases: float = 0.8  # factor for release notes, unless the question is about a change
    boards: float = 0.85  # factor for a board that the question does not name
    boilerplate: float = 0.9  # factor for text that stands on COPIES pages or more
    symbols: int = 24  # symbols that the words choose
    kconfig: float = 0.85  # factor for an option's own text among the pages
    bindings: float = 0.8  # the same for a binding; one that is named has its card
    api: float = 0.75  # and for a function or macro


DEFAULT = Weights()
# A best passage less near than this does not answer the question: from the table of thresholds
# that scripts/evaluate.py prints. One that holds a rare name of the question may be farther off,
# since the encoder has never seen that name.
NEAR = 0.5
NAMED = 0.35
COVERED = 0.5  # the same for `coverage`
KIND_OF: dict[str, Kind] = {symbols: kind for kind, symbols in SYMBOLS_OF.items()}
WORDS_ALONE = 0.7  # further factor for symbols where there is no encoder
COPIES = 3  # pages with the same text, names and numbers aside: it explains none of them
RARE = 50  # chunks; a name that more of them hold tells them apart no better than a word
BOARD_WORD_CHARS = 4  # shorter words are in too many boards' names
PAGES = 400  # pages whose whole text is scored


class Sought(NamedTuple):
    """What a question is searched with."""

    terms: tuple[str, ...]  # distinct
    rare: frozenset[int]  # chunks that hold a rare name of the question
    board_words: tuple[str, ...]  # words that can name a board
    change: bool  # it is about a version or a change
    pages: dict[str, float]  # page → BM25 of its whole text


# A question about a version or a change is answered by release notes.
_CHANGE = re.compile(
    r"""\b(?: migrat\w* | deprecat\w* | upgrad\w* | releas\w* | changelog | obsolete
      | (?:was|were|been|is|are|got|get)\s+(?:\w+\s+)?(?:removed|renamed|replaced|dropped|moved)
      | (?:removed|renamed|replaced|dropped|introduced|added|new|changed)\s+(?:in|since|with|by)\b
      | what(?:'s|\s+is|\s+has)?\s+(?:new|replaced|replaces|happened\s+to|became)
      | since\s+(?:when|version|zephyr|v?\d) | replacement\s+(?:for|of) | instead\s+of\s+the\s+old
      | (?:after|since|from|past|before|moving\s+to|updat\w+\s+to|switch\w+\s+to)\s+
        (?:zephyr\s+|ncs\s+|version\s+)?v?\d+\.\d+ | no\s+longer | used\s+to\s+(?:work|be|compile)
      | gone\s+(?:from|since|in) | LTS\d?
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def is_about_change(question: str) -> bool:
    """Whether a question is about a version, or about something that changed."""
    return _CHANGE.search(question) is not None


def clean(question: str) -> str:
    """The question as it is searched for: one line, no control characters, at most
    QUESTION_CHARS characters. Raises QuestionError if nothing is left."""
    text = "".join(c if c.isprintable() else " " for c in question[: 4 * QUESTION_CHARS])
    text = " ".join(text.split())[:QUESTION_CHARS]
    if not text:
        raise QuestionError("the question is empty", 'ask one: west ask "how do I enable logging"')
    return text


def seek(index: Index, question: str) -> Sought:
    """Look up what ranking needs to know of a cleaned question."""
    words = question_terms(question, lambda term: bool(index.holders(term, 1)))
    if len(words) > QUESTION_TERMS:
        words = sorted(words, key=index.frequency)[:QUESTION_TERMS]
    rare: set[int] = set()
    for name in names(question):
        found = index.holders(name, RARE + 1)
        if len(found) <= RARE:
            rare.update(found)
    board_words = tuple(
        word
        for word in words
        if len(word) >= BOARD_WORD_CHARS
        and (any(c.isdigit() for c in word) or len(index.holders(word, RARE + 1)) <= RARE)
    )
    return Sought(
        terms=tuple(words),
        rare=frozenset(rare),
        board_words=board_words,
        change=is_about_change(question),
        pages=index.page_scores(expression(words), PAGES) if words else {},
    )


def expression(words: Sequence[str]) -> str:
    """Distinct terms → an FTS5 expression that matches what holds any of them."""
    return " OR ".join(f'"{word}"' for word in words)


class Ranked(NamedTuple):
    candidate: Candidate
    score: float  # [0, 1]
    reasons: Reasons


class Ranking(NamedTuple):
    """Chunks, best first, and how much of the question they cover."""

    ranked: tuple[Ranked, ...]
    confidence: float  # [0, 1]
    answers: bool  # whether that is enough


def search(
    index: Index,
    encoder: Callable[[], Encoder | None],
    question: str,
    kinds: Sequence[Kind] = (),
    weights: Weights = DEFAULT,
    keep: Callable[[list[tuple[bytes, bytes]]], None] | None = None,
    symbols: bool = True,
) -> Ranking:
    """Rank the chunks of `index` for a cleaned question, its symbols among them.

    `encoder` is called once it is needed; None means by words alone. `keep` is given the
    vectors that had to be made, as (digest, float16 bytes).
    """
    sought = seek(index, question)
    candidates: list[Candidate] = []
    pages = [kind for kind in kinds if kind not in SYMBOLS_OF]
    if sought.terms and (pages or not kinds):
        candidates = index.search(expression(sought.terms), weights.candidates, pages)
    dense = None
    model = encoder() if candidates else None
    if model is not None:
        dense = similarities(index, model, question, candidates, keep)
    ranked = rank(sought, candidates, dense, weights)
    if symbols and weights.symbols and sought.terms:
        found = search_symbols(index, sought, kinds, weights)
        if found and model is None and not candidates:
            model = encoder()
        if found:
            near = symbol_similarities(index, model, question, found, keep) if model else None
            ranked = merge(ranked, rank_symbols(found, near, dense, weights))
    if model is None:
        sure = coverage(index, sought, ranked)
        return Ranking(tuple(ranked), sure, bool(ranked) and sure >= COVERED)
    sure = confidence(ranked)
    named = any(entry.candidate.id in sought.rare for entry in ranked[:5]
                if entry.candidate.kind not in SYMBOLS_OF)  # fmt: skip
    return Ranking(tuple(ranked), sure, sure >= (NAMED if named else NEAR))


def similarities(
    index: Index,
    encoder: Encoder,
    question: str,
    candidates: Sequence[Candidate],
    keep: Callable[[list[tuple[bytes, bytes]]], None] | None = None,
) -> list[float]:
    """Cosine of the question and each candidate, in [-1, 1]."""
    from zephyr_ask.corpus import encoder_text

    return _cosines(
        index, encoder, question, [c.digest for c in candidates],
        lambda at: encoder_text(index.chunk(candidates[at].id)), keep,
    )  # fmt: skip


def _cosines(
    index: Index,
    encoder: Encoder,
    question: str,
    digests: Sequence[bytes],
    text_of: Callable[[int], str],
    keep: Callable[[list[tuple[bytes, bytes]]], None] | None,
) -> list[float]:
    """Cosine of the question and each text; vectors that are not stored are made."""
    import numpy as np

    stored = index.vectors(encoder.hash, digests)
    missing = {digest: at for at, digest in enumerate(digests) if digest not in stored}
    texts = [text_of(at) for at in missing.values()]
    encoded: Any = encoder.encode([question, *texts])
    # Through float16 whether stored or new: a rank never depends on which it was.
    made = [(digest, row.astype(np.float16).tobytes())
            for digest, row in zip(missing, encoded[1:], strict=True)]  # fmt: skip
    if made and keep is not None:
        keep(made)
    stored.update(made)
    rows = np.frombuffer(b"".join(stored[digest] for digest in digests), np.float16)
    matrix = rows.reshape(len(digests), -1).astype(np.float32)
    return [float(score) for score in matrix @ encoded[0]]


def search_symbols(
    index: Index, sought: Sought, kinds: Sequence[Kind], weights: Weights
) -> list[Entry]:
    """Symbols that share words with the question, the best of each kind."""
    found: list[Entry] = []
    for kind, symbols in SYMBOLS_OF.items():
        if not kinds or kind in kinds:
            found += index.table.search(expression(sought.terms), symbols, weights.symbols // 2)
    return sorted(found, key=lambda e: (-e.bm25, e.symbol.path, e.symbol.line))[: weights.symbols]


def symbol_similarities(
    index: Index,
    encoder: Encoder,
    question: str,
    found: Sequence[Entry],
    keep: Callable[[list[tuple[bytes, bytes]]], None] | None = None,
) -> list[float]:
    """Cosine of the question and each symbol, in [-1, 1]."""
    from zephyr_ask.corpus import digest_of

    texts = [symbol_text(entry.symbol) for entry in found]
    digests = [digest_of(text.encode(errors="surrogatepass")) for text in texts]
    return _cosines(index, encoder, question, digests, texts.__getitem__, keep)


def rank_symbols(
    found: Sequence[Entry],
    near: Sequence[float] | None,
    pages: Sequence[float] | None,
    weights: Weights,
) -> list[Ranked]:
    """Symbols on the scale of the pages' chunks, whose cosines are `pages`."""
    if not found:
        return []
    lexical = _scaled([entry.bm25 for entry in found])
    low, high = (min(pages), max(pages)) if pages else (0.0, 1.0)
    span = (high - low) or 1.0
    ranked = []
    for at, (entry, words) in enumerate(zip(found, lexical, strict=True)):
        kind = KIND_OF[entry.symbol.kind]
        prior = {"kconfig": weights.kconfig, "bindings": weights.bindings}.get(kind, weights.api)
        dense = min(1.2, max(0.0, (near[at] - low) / span)) if near else words
        if near is None:  # words alone know nothing of what a symbol's few words mean
            prior *= WORDS_ALONE
        own = (weights.dense * dense + (1 - weights.dense) * words) * prior
        candidate = Candidate(entry.id, entry.symbol.path, kind, entry.symbol.path,
                              entry.symbol.line, b"", entry.bm25, 1, entry.symbol.name)  # fmt: skip
        # What a page adds to its chunks a symbol's file cannot: its own words count for it.
        page = weights.page * words * prior
        ranked.append(
            Ranked(
                candidate,
                (own + page) / _most(weights),
                Reasons(at + 1, words, near[at] if near else None, page, prior),
            )
        )
    return sorted(ranked, key=_order)


def merge(first: Sequence[Ranked], second: Sequence[Ranked]) -> list[Ranked]:
    return sorted([*first, *second], key=_order)


def _order(entry: Ranked) -> tuple[float, str, int, str]:
    candidate = entry.candidate
    return (-entry.score, candidate.file, candidate.start_line, candidate.page)


def _most(weights: Weights) -> float:
    """The highest score that `rank` could give."""
    return (1 + weights.name) * (1 + 1.75 * weights.evidence) + weights.page


def symbol_text(symbol: Symbol) -> str:
    """What the encoder reads of a symbol."""
    return f"{shown_name(symbol)}: {symbol.summary}\n{symbol.text}"


def _scaled(values: Sequence[float]) -> list[float]:
    """To [0, 1] over the candidates; all 1 where they are equal."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def rank(
    sought: Sought,
    candidates: Sequence[Candidate],
    dense: Sequence[float] | None,
    weights: Weights = DEFAULT,
) -> list[Ranked]:
    """Candidates in BM25 order (best first), cosines in the same order → ranking."""
    if not candidates:
        return []
    lexical = _scaled([c.bm25 for c in candidates])
    near = _scaled(dense) if dense is not None else lexical
    priors = [_prior(c, sought, weights) for c in candidates]
    own = [
        (weights.dense * d + (1 - weights.dense) * w) * p
        for d, w, p in zip(near, lexical, priors, strict=True)
    ]
    added = _page_scores(candidates, own, sought, weights)
    order = sorted(
        range(len(own)),
        key=lambda i: (-(own[i] + added[candidates[i].page]), candidates[i].file,
                       candidates[i].start_line, candidates[i].page),
    )  # fmt: skip
    most = _most(weights)
    return [
        Ranked(
            candidates[i],
            (own[i] + added[candidates[i].page]) / most,
            Reasons(
                lexical_rank=i + 1,
                lexical_score=lexical[i],
                dense_score=dense[i] if dense is not None else None,
                page_score=added[candidates[i].page],
                prior=priors[i],
            ),
        )
        for i in order
    ]


def _page_scores(
    candidates: Sequence[Candidate], own: Sequence[float], sought: Sought, weights: Weights
) -> dict[str, float]:
    """What each page adds to its chunks: its other candidates, and its words as a whole."""
    found: dict[str, list[float]] = {}
    kinds = {c.page: c.kind for c in candidates}
    for candidate, score in zip(candidates, own, strict=True):
        found.setdefault(candidate.page, []).append(score)
    lowest = min(sought.pages.values(), default=0.0)
    whole = [sought.pages.get(page, lowest) for page in found]
    added = {}
    for (page, scores), words in zip(found.items(), _scaled(whole), strict=True):
        scores.sort(reverse=True)
        # The second counts whole, the third half, the fourth a quarter.
        added[page] = weights.evidence * sum(s / 2**n for n, s in enumerate(scores[1:4]))
        factor = weights.releases if kinds[page] == "releases" and not sought.change else 1.0
        added[page] += weights.page * words * factor
    return added


def _prior(candidate: Candidate, sought: Sought, weights: Weights) -> float:
    prior = 1.0
    if candidate.kind == "releases" and not sought.change:
        prior *= weights.releases
    if candidate.kind == "boards" and not _names_board(sought, candidate):
        prior *= weights.boards
    if candidate.copies >= COPIES:
        prior *= weights.boilerplate
    if candidate.id in sought.rare:
        prior *= 1 + weights.name
    return prior


def _names_board(sought: Sought, candidate: Candidate) -> bool:
    """Whether a word of the question stands in a board's title or path."""
    if not sought.board_words:
        return False
    own = {*terms(candidate.title), *terms(candidate.page)}
    together = " ".join(own)
    return any(
        word in own or (word in together and any(c.isdigit() for c in word))
        for word in sought.board_words
    )


def confidence(ranked: Sequence[Ranked]) -> float:
    """How near the best passage comes to the question: its cosine, in [0, 1].

    Of the first five, since those are shown. Measured against coverage of the question's
    words and mixtures of both, the cosine alone tells best what can be answered.
    """
    best = max((entry.reasons.dense_score or 0.0 for entry in ranked[:5]), default=0.0)
    return max(0.0, min(1.0, best))


def coverage(index: Index, sought: Sought, ranked: Sequence[Ranked]) -> float:
    """Share of the question's words, by rarity, that the first five passages hold, in [0, 1].

    What there is to go by without an encoder.
    """
    ids = [e.candidate.id for e in ranked[:5] if e.candidate.kind not in SYMBOLS_OF]
    total = index.chunk_count()
    weights = {term: math.log(1 + total / (0.5 + index.frequency(term))) for term in sought.terms}
    held = sum(weight for term, weight in weights.items() if index.hold(term, ids))
    return held / sum(weights.values()) if any(weights.values()) else 0.0


def choose(ranked: Sequence[Ranked], count: int, of_a_page: int = 2) -> list[Ranked]:
    """The first `count` chunks, at most `of_a_page` of one page, none twice: lines that many
    pages include are shown once."""
    taken: dict[str, int] = {}
    places: set[tuple[str, int]] = set()
    chosen: list[Ranked] = []
    for entry in ranked:
        if len(chosen) == count:
            break
        page, place = entry.candidate.page, (entry.candidate.file, entry.candidate.start_line)
        if taken.get(page, 0) < of_a_page and place not in places:
            taken[page] = taken.get(page, 0) + 1
            places.add(place)
            chosen.append(entry)
    return chosen
