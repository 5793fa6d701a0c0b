# SPDX-License-Identifier: Apache-2.0
"""Boards, SoCs, shields, snippets and samples; targets and the names before them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources.hardware import parse_deprecated, read_hardware
from zephyr_ask.sources.hardware_targets import (
    board_targets,
    full_target,
    old_board_name,
    soc_index,
    targets,
)
from zephyr_ask.types import Change, Listing, Symbol


def nothing(path: str) -> str | None:
    return None


def read(path: str, text: str, load: Callable[[str], str | None] = nothing) -> Listing:
    return read_hardware(path, text, load)


BOARD = """\
# what it is
board:
  name: fern_dk
  full_name: Fern DK
  vendor: acme
  revision:
    format: letter
    default: "B"
    exact: true
    revisions:
      - name: "A"
      - name: B
  socs:
    - name: fern9
      variants:
        - name: ns
          cpucluster: big
        - name: slow
          cpucluster: big
          variants:
            - name: xip
    - name: moss1
      variants:
        - name: hot
"""
SOC = """\
family:
  - name: fern
    series:
      - name: fern_x
        socs:
          - name: fern9
            cpuclusters:
              - name: big
              - name: little
    socs:
      - name: fern0
series:
  - name: moss
    socs:
      - name: moss1
socs:
  - name: lone
  - extend: moss9
    cpuclusters: [{name: extra}]
"""


def test_a_board() -> None:
    listing = read("boards/acme/fern_dk/board.yml", BOARD)
    assert listing.note is None
    (symbol,) = listing.symbols
    assert (symbol.name, symbol.kind, symbol.line, symbol.summary) == (
        "fern_dk", "board", 3, "Fern DK",
    )  # fmt: skip
    assert symbol.text == "Fern DK board by acme with the SoC fern9 moss1"
    assert symbol.details == {
        "full_name": "Fern DK",
        "vendor": "acme",
        "revisions": ["A", "B"],
        "revision_default": "B",
        "revision_format": "letter",
        "revision_exact": True,
        "socs": [
            {"name": "fern9", "variants": [
                {"name": "ns", "cpucluster": "big"},
                {"name": "slow", "cpucluster": "big", "variants": [{"name": "xip"}]},
            ]},
            {"name": "moss1", "variants": [{"name": "hot"}]},
        ],
    }  # fmt: skip


def test_several_boards_and_extensions() -> None:
    text = """\
boards:
  - name: one
    socs: [{name: moss1}]
  - extend: fern_dk
    variants:
      - {name: xtra, qualifier: fern9/big/ns}
      - {name: more, qualifier: fern9/big/ns/xtra}
  - name: two
    variants: [{name: v}]
"""
    listing = read("boards/b/board.yml", text)
    assert [(s.name, s.line) for s in listing.symbols] == [("one", 2), ("fern_dk", 4), ("two", 8)]
    assert listing.symbols[1].details["extend"] is True
    files = [*listing.symbols, *read("boards/a/board.yml", BOARD).symbols]
    files += read("soc/soc.yml", SOC).symbols
    assert board_targets(files) == {
        "one": ["one/moss1"],
        "two": ["two/v"],
        "fern_dk": [
            "fern_dk/fern9/big",
            "fern_dk/fern9/big/ns",
            "fern_dk/fern9/big/ns/xtra",
            "fern_dk/fern9/big/ns/xtra/more",
            "fern_dk/fern9/big/slow",
            "fern_dk/fern9/big/slow/xip",
            "fern_dk/fern9/little",
            "fern_dk/moss1",
            "fern_dk/moss1/hot",
        ],
    }


def test_targets_without_the_soc() -> None:
    details = read("b/board.yml", BOARD).symbols[0].details
    assert targets(details, {}) == [
        "fern9/big", "fern9/big/ns", "fern9/big/slow", "fern9/big/slow/xip", "moss1", "moss1/hot",
    ]  # fmt: skip


def test_socs() -> None:
    symbols = read("soc/acme/soc.yml", SOC).symbols
    assert [(s.name, s.line, s.details["level"]) for s in symbols] == [
        ("fern", 2, "family"), ("fern_x", 4, "series"), ("fern9", 6, "soc"), ("fern0", 11, "soc"),
        ("moss", 13, "series"), ("moss1", 15, "soc"), ("lone", 17, "soc"), ("moss9", 18, "soc"),
    ]  # fmt: skip
    assert symbols[0].details == {
        "level": "family", "series": ["fern_x"], "socs": ["fern9", "fern0"],
    }  # fmt: skip
    assert symbols[2].details == {
        "level": "soc", "series": "fern_x", "family": "fern", "cpuclusters": ["big", "little"],
    }  # fmt: skip
    assert soc_index(symbols) == {
        "fern9": ["big", "little"], "fern0": [], "moss1": [], "lone": [], "moss9": ["extra"],
    }  # fmt: skip


def test_a_series_with_the_name_of_a_soc() -> None:
    text = "series:\n- name: same\n  socs:\n  - name: same\n"
    assert [(s.details["level"], s.line) for s in read("s/soc.yml", text).symbols] == [
        ("series", 2), ("soc", 4),
    ]  # fmt: skip


def test_shields() -> None:
    text = (
        "shields:\n  - name: leaf\n    full_name: Leaf\n    vendor: acme\n"
        "    supported_features: [sensor]\n  - name: 'root_2'\n"
    )
    first, second = read("boards/shields/leaf/shield.yml", text).symbols
    assert (first.name, first.kind, first.line, first.details) == (
        "leaf", "shield", 2, {"full_name": "Leaf", "vendor": "acme", "features": ["sensor"]},
    )  # fmt: skip
    assert (second.name, second.line) == ("root_2", 6)
    assert read("x/shield.yml", "shield: {name: solo}").symbols[0].name == "solo"


def test_shields_without_a_shield_yml() -> None:
    text = "config SHIELD_A\n\tdef_bool $(shields_list_contains,shield_a)\n"
    text += "config SHIELD_B\n\tdef_bool $(shields_list_contains, shield_b)\n"
    path = "boards/shields/ab/Kconfig.shield"
    assert [(s.name, s.line) for s in read(path, text).symbols] == [
        ("shield_a", 2), ("shield_b", 4),
    ]  # fmt: skip
    asked: list[str] = []

    def load(name: str) -> str | None:
        asked.append(name)
        return "shield: {name: shield_a}"

    assert read(path, text, load) == Listing()
    assert asked == ["boards/shields/ab/shield.yml"]


def test_a_snippet() -> None:
    text = """\
name: moss-console
append:
  EXTRA_CONF_FILE: moss.conf
boards:
  /fern.*/:
    append:
      EXTRA_DTC_OVERLAY_FILE: fern.overlay
"""
    (symbol,) = read("snippets/moss/snippet.yml", text).symbols
    assert (symbol.name, symbol.kind, symbol.line) == ("moss-console", "snippet", 1)
    assert symbol.details == {
        "append": {"EXTRA_CONF_FILE": "moss.conf"},
        "boards": {"/fern.*/": {"EXTRA_DTC_OVERLAY_FILE": "fern.overlay"}},
    }


def test_a_sample() -> None:
    text = """\
sample:
  description: Counts leaves
    in autumn
  name: Leaf counter
common:
  tags: trees counting
  platform_allow:
    - fern_dk/fern9/big
tests:
  sample.leaf.one:
    tags: [trees]
    harness: console
  sample.leaf.two:
    platform_allow: oak birch
"""
    (symbol,) = read("samples/trees/leaf/sample.yaml", text).symbols
    assert (symbol.name, symbol.kind, symbol.line, symbol.summary) == (
        "samples/trees/leaf", "sample", 4, "Leaf counter",
    )  # fmt: skip
    assert symbol.text == "Leaf counter\nCounts leaves in autumn\ntrees counting"
    assert symbol.details == {
        "title": "Leaf counter",
        "tests": ["sample.leaf.one", "sample.leaf.two"],
        "tags": ["trees", "counting"],
        "platforms": ["fern_dk/fern9/big", "oak", "birch"],
        "harness": ["console"],
    }


def test_a_sample_without_words() -> None:
    (symbol,) = read("samples/x/sample.yaml", "tests: {a: null, b: []}").symbols
    assert (symbol.summary, symbol.line, symbol.details) == ("", 1, {"tests": ["a", "b"]})


DEPRECATED = """\
# set(no_DEPRECATED nothing)
set(old_dk_DEPRECATED fern_dk/fern9/big)
set(elm_DEPRECATED
    elm@B
)
set(elm_DEPRECATED ash)
set(a/b/c_DEPRECATED "d/b/c")
set(OTHER value)
set(open_DEPRECATED
"""


def test_names_that_cmake_still_takes() -> None:
    expected = {"old_dk": "fern_dk/fern9/big", "elm": "ash", "a/b/c": "d/b/c"}
    assert parse_deprecated(DEPRECATED) == expected
    listing = read("boards/deprecated.cmake", DEPRECATED)
    assert listing.symbols == ()
    assert listing.changes[0] == Change(
        "old_dk", "board", "renamed", "", ("fern_dk/fern9/big",), "boards/deprecated.cmake", 2
    )
    assert [change.line for change in listing.changes] == [2, 6, 7]


BOARDS = {
    "fern_dk": ["fern_dk/fern9/big", "fern_dk/fern9/big/ns", "fern_dk/fern9/little"],
    "fern": ["fern/moss1"],
    "fern-evb": ["fern-evb/fern9/qspi", "fern-evb/moss1/hyper"],
    "birch": ["birch/b1", "birch/b1/ns"],
    "bare": [],
    "twin": ["twin/t1/up", "twin/t2/up"],
}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("fern_dk_fern9_big_ns", "fern_dk/fern9/big/ns"),
        ("fern_dk_fern9_big", "fern_dk/fern9/big"),
        ("fern_dk_fern9_big_ns@1.2.0", "fern_dk@1.2.0/fern9/big/ns"),
        ("fern_dk_little", "fern_dk/fern9/little"),
        ("fern_dk_fern9_ns", "fern_dk/fern9/big/ns"),
        ("fern_dk_ns", "fern_dk/fern9/big/ns"),
        ("fern_evb_hyper", "fern-evb/moss1/hyper"),
        ("fern_moss1", "fern/moss1"),
        ("fern", "fern/moss1"),
        ("birch", "birch/b1"),
        ("bare", "bare"),
        ("birch_ns", "birch/b1/ns"),
        ("twin_up", None),
        ("twin_t2", "twin/t2/up"),
        ("fern_dk", None),
        ("fern_dk_", None),
        ("fern_dk_fern9_big_xx", None),
        ("oak", None),
        ("", None),
        ("@", None),
        ("fern_dk/fern9/big", None),
    ],
)
def test_names_from_before_the_hardware_model(old: str, new: str | None) -> None:
    assert old_board_name(old, BOARDS) == new


@pytest.mark.parametrize(
    ("written", "target"),
    [
        ("fern_dk/fern9/big", "fern_dk/fern9/big"),
        ("fern_dk@B/fern9/big", "fern_dk/fern9/big"),
        ("fern_dk//big/ns", "fern_dk/fern9/big/ns"),
        ("fern_dk", None),
        ("fern_dk/fern9", None),
        ("birch", "birch/b1"),
        ("birch@2", "birch/b1"),
        ("birch//ns", "birch/b1/ns"),
        ("birch/ns", None),
        ("twin//up", None),
        ("bare", "bare"),
        ("bare/x", None),
        ("oak", None),
        ("", None),
    ],
)
def test_what_west_build_takes(written: str, target: str | None) -> None:
    assert full_target(written, BOARDS) == target


@pytest.mark.parametrize(
    ("path", "text", "note"),
    [
        ("b/board.yml", "board: [", "b/board.yml:1: not YAML"),
        ("b/board.yml", "- 1", "a mapping of keys"),
        ("b/board.yml", "", "a mapping of keys"),
        ("b/board.yml", "board: {name: []}", "names nothing"),
        ("b/soc.yml", "family: 3\nseries: {a: b}\nsocs: [x, null]", "names nothing"),
        ("b/shield.yml", "shield: null\nshields: no", "names nothing"),
        ("b/snippet.yml", "name: {}", "names nothing"),
        ("b/other.yml", "name: x", "no file of boards"),
        ("b/soc.yml", "a: &a [*a]", "for themselves"),
        ("b/board.yml", "board:\n  name: a\n\tx: 1", "not YAML"),
    ],
)
def test_what_cannot_be_read_is_said(path: str, text: str, note: str) -> None:
    listing = read(path, text)
    assert listing.symbols == ()
    assert listing.note is not None and note in listing.note and path in listing.note


def test_numbers_as_names_crlf_and_bom() -> None:
    text = "\ufeffboard:\r\n  name: 96\r\n  full_name: true\r\n  socs: [{name: 1.5}]\r\n"
    (symbol,) = read("b/board.yml", text).symbols
    assert (symbol.name, symbol.line, symbol.summary) == ("96", 2, "true")
    assert symbol.details["socs"] == [{"name": "1.5"}]


_PLACES = ("board.yml", "soc.yml", "shield.yml", "snippet.yml", "sample.yaml")
_KEYS = st.sampled_from(
    ["board", "boards", "name", "extend", "socs", "variants", "series", "family", "cpuclusters",
     "shield", "shields", "append", "sample", "common", "tests", "tags", "revision", "revisions"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["x", "y z", "é", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(_PLACES), st.dictionaries(_KEYS, _VALUES, max_size=5))
def test_any_value_in_any_place(name: str, value: dict[str, object]) -> None:
    listing = read(f"samples/x/{name}", json.dumps(value))
    check(listing.symbols)
    board_targets(listing.symbols)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from((*_PLACES, "Kconfig.shield", "deprecated.cmake")), st.text(max_size=80))
def test_any_text_gives_a_listing(name: str, text: str) -> None:
    check(read(f"samples/x/{name}", text).symbols)


def check(symbols: tuple[Symbol, ...]) -> None:
    for symbol in symbols:
        symbol.name.encode()
        assert symbol.line >= 1 and "\n" not in symbol.name + symbol.summary
        json.dumps([symbol.text, symbol.details], allow_nan=False)


@settings(max_examples=100, deadline=None)
@given(st.text("fern_dk9@/-big", max_size=20))
def test_any_old_name_gives_a_target_or_none(name: str) -> None:
    found = old_board_name(name, BOARDS)
    known = {target for all_ in BOARDS.values() for target in all_} | {"bare"}
    assert found is None or "@" in name or found in known
    assert full_target(name, BOARDS) in {None, *known}
