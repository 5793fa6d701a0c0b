# SPDX-License-Identifier: Apache-2.0
"""Terms, and the ranking as a pure function."""

from __future__ import annotations

import pytest

from zephyr_ask.analyzer import names, question_terms, terms
from zephyr_ask.index import Candidate
from zephyr_ask.retrieval import (
    DEFAULT,
    QUESTION_CHARS,
    Sought,
    choose,
    clean,
    is_about_change,
    rank,
)
from zephyr_ask.types import Kind, QuestionError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Enable logging in prj.conf", ["enable", "logging", "prj_conf", "prj", "conf"]),
        ("CONFIG_LOG_MODE", ["config_log_mode", "log_mode", "log", "mode"]),
        ("nordic,nrf-uarte", ["nordic_nrf_uarte", "nordic", "nrf", "uarte"]),
        ("samples/basic/blinky", ["samples_basic_blinky", "samples", "basic", "blinky"]),
        ("Wi-Fi", ["wi_fi", "wifi", "wi", "fi"]),
        ("doesn't it's isn\u2019t", []),
        ("__device_dts_ord_xx", ["device_dts_ord_xx", "device", "dts", "ord", "xx"]),
        ("the of and", []),
        ("x" * 100, []),
        ("Überlänge Größe", ["überlänge", "größe"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_documents_and_questions_meet() -> None:
    document = set(terms("Set CONFIG_LOG_MODE_DEFERRED for deferred mode."))
    for question in ("CONFIG_LOG_MODE_DEFERRED", "LOG_MODE_DEFERRED", "log mode deferred"):
        assert document & set(question_terms(question, lambda term: True))


def test_question_terms_add_compounds_and_synonyms() -> None:
    known = {"devicetree", "hello_world"}
    assert question_terms("device tree", known.__contains__) == ["device", "tree", "devicetree"]
    assert "hello_world" in question_terms("hello world", known.__contains__)
    assert {"bluetooth", "le"} <= set(question_terms("BLE", known.__contains__))
    assert "sysbuild" in question_terms("child image", known.__contains__)
    assert question_terms("3 x 4", known.__contains__) == []


def test_names() -> None:
    assert names("set CONFIG_PM for nrf52840dk and st,lis2dh but not a-b or x2") == [
        "pm", "nrf52840dk", "st_lis2dh"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "question",
    ["what replaced pinmux", "removed in 4.0?", "how do I migrate to 3.7", "is it deprecated",
     "since when is X gone from Kconfig", "after 3.6 my board fails", "what's new in 4.1"],
)  # fmt: skip
def test_questions_about_changes(question: str) -> None:
    assert is_about_change(question)


@pytest.mark.parametrize(
    "question", ["how do I enable logging", "change the stack size", "new thread", "3.3 V supply"]
)
def test_other_questions(question: str) -> None:
    assert not is_about_change(question)


def test_clean() -> None:
    assert clean("  a\tb\x1b[31m\n c\x00 ") == "a b [31m c"
    assert len(clean("word " * 30_000)) <= QUESTION_CHARS
    for empty in ("", "  \n\t ", "\x00\x1b"):
        with pytest.raises(QuestionError):
            clean(empty)


def candidate(number: int, page: str, bm25: float, **more: object) -> Candidate:
    kind: Kind = "doc"
    values = {"kind": kind, "copies": 1, "title": "Page", **more}
    return Candidate(
        id=number, page=page, file=page, start_line=number, digest=b"", bm25=bm25,
        **values,  # type: ignore[arg-type]
    )  # fmt: skip


NOTHING = Sought((), frozenset(), (), False, {})


def order(candidates: list[Candidate], dense: list[float] | None, sought: Sought = NOTHING,
          **weights: float) -> list[int]:  # fmt: skip
    ranked = rank(sought, candidates, dense, DEFAULT._replace(**weights))
    assert all(0 <= entry.score <= 1 for entry in ranked)
    return [entry.candidate.id for entry in ranked]


def test_words_alone_keep_their_order() -> None:
    candidates = [candidate(n, f"doc/{n}.rst", 10 - n) for n in range(5)]
    assert order(candidates, None) == [0, 1, 2, 3, 4]


def test_the_encoder_can_turn_the_order() -> None:
    candidates = [candidate(n, f"doc/{n}.rst", 10 - n) for n in range(3)]
    assert order(candidates, [0.1, 0.2, 0.9])[0] == 2
    words = rank(NOTHING, candidates, [0.1, 0.2, 0.9], DEFAULT._replace(dense=0.0))
    assert [entry.candidate.id for entry in words] == [0, 1, 2]


def test_a_page_with_more_evidence_wins() -> None:
    candidates = [candidate(1, "doc/a.rst", 10), candidate(2, "doc/b.rst", 9.9),
                  candidate(3, "doc/b.rst", 9.8), candidate(4, "doc/c.rst", 1)]  # fmt: skip
    assert order(candidates, None)[0] == 2
    assert order(candidates, None, evidence=0.0)[0] == 1


def test_release_notes_rank_down_unless_asked_for() -> None:
    candidates = [candidate(1, "doc/releases/r.rst", 10, kind="releases"),
                  candidate(2, "doc/b.rst", 9.5), candidate(3, "doc/c.rst", 0)]  # fmt: skip
    assert order(candidates, None)[0] == 2
    assert order(candidates, None, NOTHING._replace(change=True))[0] == 1


def test_boards_that_are_not_named_and_boilerplate_rank_down() -> None:
    board = candidate(1, "boards/acme/oak3/doc/index.rst", 10, kind="boards", title="Oak3 Kit")
    other = [candidate(2, "doc/b.rst", 9.5), candidate(3, "doc/c.rst", 0)]
    assert order([board, *other], None)[0] == 2
    assert order([board, *other], None, NOTHING._replace(board_words=("oak3",)))[0] == 1
    copied = candidate(1, "doc/a.rst", 10, copies=100)
    assert order([copied, *other], None)[0] == 2
    assert order([copied, *other], None, boilerplate=1.0)[0] == 1


def test_a_rare_name_counts() -> None:
    candidates = [candidate(1, "doc/a.rst", 10), candidate(2, "doc/b.rst", 9),
                  candidate(3, "doc/c.rst", 0)]  # fmt: skip
    assert order(candidates, None, NOTHING._replace(rare=frozenset({2})))[0] == 2


def test_choose_takes_two_of_a_page() -> None:
    candidates = [candidate(n, "doc/a.rst" if n < 4 else f"doc/{n}.rst", 10 - n) for n in range(8)]
    chosen = choose(rank(NOTHING, candidates, None), 5)
    assert len(chosen) == 5
    assert sum(entry.candidate.page == "doc/a.rst" for entry in chosen) == 2
