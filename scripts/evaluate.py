#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How good the ranking and the abstaining are, on questions whose answering pages are known.

    python scripts/evaluate.py --workspace DIR --questions FILE [--model DIR] [--misses]

DIR is a west workspace or a zephyr folder at the revision that the questions were judged on.
A question is a JSON object a line: question, kind, targets (paths relative to zephyr, any of
which answers it), weak (leave out). Measures are over the distinct pages of the ranked
chunks: hit@1, recall@5, recall@10, MRR@10. `unanswerable` questions measure abstaining.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import evaluate_names  # noqa: E402

from zephyr_ask import retrieval  # noqa: E402
from zephyr_ask.answer import Session  # noqa: E402
from zephyr_ask.index import Candidate, Index  # noqa: E402
from zephyr_ask.naming import names_in  # noqa: E402
from zephyr_ask.refresh import fill_vectors, refresh  # noqa: E402
from zephyr_ask.retrieval import DEFAULT, Weights  # noqa: E402
from zephyr_ask.symbols import Catalog  # noqa: E402
from zephyr_ask.table import Entry  # noqa: E402
from zephyr_ask.workspace import find, user_cache  # noqa: E402

OF_SYMBOLS = ("kconfig", "binding")  # a Kconfig or binding file counts as the page
NOT_RST = (*OF_SYMBOLS, "unanswerable")
DEPTH = 10


@dataclass(frozen=True)
class Question:
    """A row of the questions with what the index offers for it."""

    row: dict[str, Any]
    sought: retrieval.Sought
    candidates: list[Candidate]
    cosines: list[float] | None
    symbols: list[Entry]
    near: list[float] | None  # cosines of the symbols
    cards: list[str]  # files of the cards that stand above the passages


@dataclass(frozen=True)
class Score:
    n: int
    hit1: float
    recall5: float
    recall10: float
    mrr10: float

    def line(self, name: str) -> str:
        return (f"{name:<34} {self.n:>4} {self.hit1:>7.3f} {self.recall5:>9.3f} "
                f"{self.recall10:>10.3f} {self.mrr10:>7.3f}")  # fmt: skip


HEADER = f"{'':<34} {'n':>4} {'hit@1':>7} {'recall@5':>9} {'recall@10':>10} {'MRR@10':>7}"


def score(found: Sequence[tuple[Question, list[str]]]) -> Score:
    """Of (question, ranked pages) pairs."""
    ranks = [first_rank(question, pages) for question, pages in found]
    n = max(1, len(ranks))
    return Score(
        len(ranks),
        sum(r == 1 for r in ranks) / n,
        sum(0 < r <= 5 for r in ranks) / n,
        sum(0 < r <= 10 for r in ranks) / n,
        sum(1 / r for r in ranks if 0 < r <= DEPTH) / n,
    )


def first_rank(question: Question, pages: Sequence[str]) -> int:
    """1-based rank of the first page that answers it; 0 if none does."""
    targets = set(question.row["targets"])
    return next((i for i, page in enumerate(pages, 1) if page in targets), 0)


def pages_of(ranked: Sequence[retrieval.Ranked]) -> list[str]:
    return list(dict.fromkeys(entry.candidate.page for entry in ranked))


def shown(question: Question, weights: Weights) -> list[str]:
    """The pages of a question's ranking, those of its cards first."""
    return list(dict.fromkeys([*question.cards, *pages_of(ranked_by(question, weights))]))


def look_up(index: Index, encoder: Any, row: dict[str, Any], depth: int) -> Question:
    text = retrieval.clean(row["question"])
    sought = retrieval.seek(index, text)
    candidates = index.search(retrieval.expression(sought.terms), depth)
    cosines = None
    if encoder is not None and candidates:
        cosines = retrieval.similarities(index, encoder, text, candidates, keep_in(index, encoder))
    symbols = retrieval.search_symbols(index, sought, (), DEFAULT) if sought.terms else []
    near = None
    if encoder is not None and symbols:
        near = retrieval.symbol_similarities(index, encoder, text, symbols,
                                             keep_in(index, encoder))  # fmt: skip
    cards = Catalog(index.table).cards(names_in(text)[0])
    places = []
    for card in cards:
        if card.definitions:
            places.append(card.definitions[0].path)
        elif card.evidence:
            places.append(card.evidence[0])
    return Question(row, sought, candidates, cosines, symbols, near, places)


def keep_in(index: Index, encoder: Any) -> Any:
    def keep(made: list[tuple[bytes, bytes]]) -> None:
        with index.writing():
            index.put_vectors(encoder.hash, made)

    return keep


def ranked_by(question: Question, weights: Weights) -> list[retrieval.Ranked]:
    candidates = question.candidates[: weights.candidates]
    cosines = question.cosines[: weights.candidates] if question.cosines else None
    ranked = retrieval.rank(question.sought, candidates, cosines, weights)
    if not weights.symbols:
        return ranked
    near = question.near if weights.dense else None
    return retrieval.merge(ranked, retrieval.rank_symbols(question.symbols, near, cosines, weights))


def dense_alone(index: Index, encoder: Any, questions: Sequence[Question]) -> list[Any]:
    """Every chunk by the encoder alone; all vectors are made first."""
    import numpy as np

    fill_vectors(index, encoder, lambda *_: None)
    rows = index.all_vectors(encoder.hash)
    matrix = np.frombuffer(b"".join(vector for _, vector in rows), np.float16)
    matrix = matrix.reshape(len(rows), -1).astype(np.float32)
    encoded = encoder.encode([retrieval.clean(q.row["question"]) for q in questions])
    found = []
    for question, vector in zip(questions, encoded, strict=True):
        order = np.argsort(-(matrix @ vector), kind="stable")[:400]
        found.append((question, list(dict.fromkeys(rows[i][0] for i in order))))
    return found


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive lies above a negative; ties count half."""
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    return sum(pairs) / len(pairs) if pairs else float("nan")


def variants() -> list[tuple[str, Weights]]:
    """Each weight and rule on its own: off, or to either side."""
    off: dict[str, Any] = {"evidence": 0.0, "page": 0.0, "name": 0.0, "releases": 1.0,
                           "boards": 1.0, "boilerplate": 1.0}  # fmt: skip
    named = [("both", DEFAULT), ("words alone", DEFAULT._replace(dense=0.0)),
             ("vectors alone, of the candidates", DEFAULT._replace(dense=1.0))]  # fmt: skip
    named += [(f"without {name}", DEFAULT._replace(**{name: value})) for name, value in off.items()]
    named.append(("without symbols", DEFAULT._replace(symbols=0)))
    named += [
        (f"{kind} {factor}", DEFAULT._replace(**cast("dict[str, Any]", {kind: factor})))
        for kind in ("kconfig", "bindings", "api")
        for factor in (0.7, 0.8, 0.9, 1.0)
    ]
    named += [(f"dense {share}", DEFAULT._replace(dense=share)) for share in (0.5, 0.6, 0.8)]
    named += [(f"{n} candidates", DEFAULT._replace(candidates=n)) for n in (32, 64, 200)]
    return named


def report_abstaining(questions: Sequence[Question]) -> None:
    """Confidence of what can be answered against that of what cannot, by where it is from."""
    rated = [(q, retrieval.confidence(ranked_by(q, DEFAULT))) for q in questions]
    plain = DEFAULT._replace(symbols=0)
    bare = [(q, retrieval.confidence(ranked_by(q, plain))) for q in questions]
    yes_bare = [c for q, c in bare if q.row["kind"] != "unanswerable"]
    no_bare = [c for q, c in bare if q.row["kind"] == "unanswerable"]
    print(f"\nAUROC without symbols {auroc(yes_bare, no_bare):.3f}")
    yes = [c for q, c in rated if q.row["kind"] != "unanswerable"]
    sets = {
        "real": [c for q, c in rated if q.row["kind"] == "unanswerable" and "own" not in q.row],
        "own": [c for q, c in rated if "own" in q.row],
    }
    both = sets["real"] + sets["own"]
    if not both or not yes:
        return
    print("\nabstaining")
    for name, no in (*sets.items(), ("all", both)):
        print(f"  AUROC {auroc(yes, no):.3f}: {len(no)} unanswerable ({name}), {len(yes)} others")
    for at in sorted({retrieval.NEAR, *(n / 100 for n in range(35, 66, 3))}):
        kept = sum(c >= at for c in yes) / len(yes)
        caught = [sum(c < at for c in no) / max(1, len(no)) for no in (*sets.values(), both)]
        mark = "  <- in use" if at == retrieval.NEAR else ""
        print(f"  threshold {at:.2f}: answers {kept:.2f}; abstains on {caught[0]:.2f} real, "
              f"{caught[1]:.2f} own; balanced {(kept + caught[2]) / 2:.2f}{mark}")  # fmt: skip


def own_unanswerable() -> list[dict[str, Any]]:
    lines = (Path(__file__).parent / "unanswerable.txt").read_text("utf-8").splitlines()
    return [
        {"id": f"u{n:02}", "question": line, "kind": "unanswerable", "targets": [], "own": True}
        for n, line in enumerate((x for x in lines if x and not x.startswith("#")), 1)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--model", default=None)
    parser.add_argument(
        "--all-vectors",
        action="store_true",
        help="also rank all chunks by vectors alone: makes every vector (minutes)",
    )
    parser.add_argument("--misses", action="store_true", help="print every miss with its ranks")
    args = parser.parse_args()
    top = args.workspace.resolve()
    topdir = top if (top / ".west").is_dir() else None
    base = top / "zephyr" if topdir else top
    workspace = find({**os.environ, "ZEPHYR_BASE": str(base)}, topdir)
    session = Session(workspace, model=args.model, cache=user_cache(os.environ), say=print)
    index, encoder = session.index(), session.encoder()
    refresh(index, workspace, lambda *_: None, print)
    rows = [json.loads(line) for line in args.questions.read_text("utf-8").splitlines() if line]
    rows = [row for row in rows if not row.get("weak")] + own_unanswerable()
    depth = max(w.candidates for _, w in variants())
    questions = [look_up(index, encoder, row, depth) for row in rows]
    pages = [q for q in questions if q.row["kind"] not in NOT_RST]

    print(HEADER)
    found = [(q, pages_of(ranked_by(q, DEFAULT))) for q in pages]
    print(score(found).line("all .rst rows"))
    for kind in sorted({q.row["kind"] for q in pages}):
        print(score([f for f in found if f[0].row["kind"] == kind]).line(f"  {kind}"))
    named = [q for q in questions if q.row["kind"] in OF_SYMBOLS]
    with_cards = [(q, shown(q, DEFAULT)) for q in named]
    print(score(with_cards).line("kconfig and binding rows"))
    print("\nablation\n" + HEADER)
    for name, weights in variants():
        if encoder is None and weights.dense != 0:
            continue
        print(score([(q, pages_of(ranked_by(q, weights))) for q in pages]).line(name))
        if name.partition(" ")[0] in ("both", "kconfig", "bindings", "api"):
            print(score([(q, shown(q, weights)) for q in named]).line("  kconfig and binding rows"))
    if args.all_vectors and encoder is not None:
        print(score(dense_alone(index, encoder, pages)).line("vectors alone, of all chunks"))
    report_abstaining(questions)
    evaluate_names.report(index, workspace)
    print("\nmisses: no answering page among the first five")
    for question, ranking in [*found, *with_cards]:
        at = first_rank(question, ranking)
        if not 0 < at <= 5:
            row = question.row
            print(f"  {row['id']} {row['kind']}: {row['question']}\n"
                  f"    wanted {', '.join(row['targets'])}; rank {at or 'none'}\n"
                  f"    got {', '.join(ranking[:5])}")  # fmt: skip
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
