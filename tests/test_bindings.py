# SPDX-License-Identifier: Apache-2.0
"""Devicetree bindings: what is inherited, from where, and what broken files still give."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources.bindings import properties, read_binding, read_property
from zephyr_ask.sources.yaml_text import key_lines, load_yaml, plain, sentence
from zephyr_ask.types import Listing

FOLDER = "dts/bindings/"
BASE = """\
# every device
properties:
  status:
    type: string
    description: Whether it is used.
    enum: [okay, disabled]
  reg:
    type: array
    description: |
      Where it is. Second sentence.
  "#address-cells":
    type: int
"""
COMMON = """\
include: base.yaml
properties:
  acorn,depth:
    type: int
    default: 0x10
    description: How deep it is planted, e.g. in Mulch. More of it.
  reg:
    required: true
"""
ACORN = """\
title: Acorn sensor
description: |
  An acorn that counts squirrels.

  It sleeps in winter.
compatible: "acme,acorn"
include: ["acme,acorn-common.yaml", other.yaml]
bus: [i2c, spi]
on-bus: i2c
acorn-cells:
  - branch
  - leaf
properties:
  "#address-cells":
    const: 1
  shade:
    type: boolean
    deprecated: true
"""


def read(
    files: Mapping[str, str], name: str = "acme,acorn.yaml", asked: list[str] | None = None
) -> Listing:
    """Reads one of some files that lie in dts/bindings."""
    places = {name: FOLDER + name for name in files}

    def load(path: str) -> str | None:
        if asked is not None:
            asked.append(path)
        return files.get(PurePosixPath(path).name)

    return read_binding(FOLDER + name, files[name], load, places.get)


FILES = {
    "acme,acorn.yaml": ACORN,
    "acme,acorn-common.yaml": COMMON,
    "base.yaml": BASE,
    "other.yaml": "properties: {other: {type: phandle}}",
}


def test_a_binding_with_what_it_includes() -> None:
    asked: list[str] = []
    listing = read(FILES, asked=asked)
    assert listing.note is None
    (symbol,) = listing.symbols
    assert (symbol.name, symbol.kind, symbol.line, symbol.end_line) == (
        "acme,acorn", "binding", 6, 18,
    )  # fmt: skip
    assert symbol.summary == "Acorn sensor"
    assert symbol.text.startswith("Acorn sensor\nAn acorn that counts squirrels.")
    assert "acorn,depth: How deep it is planted, e.g. in Mulch." in symbol.text
    details = symbol.details
    assert details["bus"] == ["i2c", "spi"]
    assert details["on_bus"] == "i2c"
    assert details["cells"] == {"acorn-cells": ["branch", "leaf"]}
    assert details["includes"] == [FOLDER + "acme,acorn-common.yaml", FOLDER + "other.yaml"]
    assert details["properties"] == {
        "#address-cells": {"type": "int", "const": 1, "path": FOLDER + "base.yaml", "line": 11},
        "shade": {"type": "boolean", "deprecated": True, "line": 16},
        "acorn,depth": {
            "type": "int",
            "default": 16,
            "description": "How deep it is planted, e.g. in Mulch. More of it.",
            "path": FOLDER + "acme,acorn-common.yaml",
            "line": 3,
        },
    }
    assert details["inherited"] == {
        FOLDER + "base.yaml": {"status": [3, "string"], "reg": [7, "array", True]},
        FOLDER + "other.yaml": {"other": [1, "phandle"]},
    }
    assert set(asked) == {FOLDER + name for name in FILES if name != "acme,acorn.yaml"}


def test_all_properties_in_one_form() -> None:
    found = properties(read(FILES).symbols[0].details)
    assert list(found) == ["#address-cells", "shade", "acorn,depth", "reg", "status", "other"]
    assert found["reg"] == {
        "type": "array", "required": True, "path": FOLDER + "base.yaml", "line": 7,
    }  # fmt: skip
    described = read_property(FOLDER + "base.yaml", BASE, "reg")
    assert described == {"type": "array", "description": "Where it is. Second sentence.", "line": 7}
    assert read_property(FOLDER + "base.yaml", BASE, "absent") is None


def test_a_file_without_a_compatible_defines_nothing() -> None:
    assert read(FILES, "base.yaml") == Listing()
    assert read(FILES, "acme,acorn-common.yaml") == Listing()


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        ("{name: base.yaml, property-allowlist: [reg]}", {"reg"}),
        ("{name: base.yaml, property-blocklist: [reg]}", {"status", "#address-cells"}),
        ("{name: base.yaml, property-allowlist: reg}", {"status", "reg", "#address-cells"}),
        ("{name: base.yaml}", {"status", "reg", "#address-cells"}),
    ],
)
def test_filters(entry: str, kept: set[str]) -> None:
    files = {"base.yaml": BASE, "x.yaml": f"compatible: x\ninclude: [{entry}]\n"}
    assert set(properties(read(files, "x.yaml").symbols[0].details)) == kept


def test_required_where_any_says_so() -> None:
    files = {
        "a.yaml": "properties: {p: {type: int, required: true}}",
        "b.yaml": "properties: {p: {type: int, required: false}}",
        "x.yaml": "compatible: x\ninclude: [b.yaml, a.yaml]\nproperties: {p: {required: false}}\n",
    }
    assert properties(read(files, "x.yaml").symbols[0].details)["p"]["required"] is True


def test_child_bindings() -> None:
    parent = """\
description: A tree.
compatible: acme,tree
child-binding:
  include:
    - name: base.yaml
      property-blocklist: [status]
  description: A branch.
  compatible: acme,branch
  properties:
    length:
      type: int
      required: true
  child-binding:
    properties:
      leaf:
        type: string
"""
    tree, branch = read({"x.yaml": parent, "base.yaml": BASE}, "x.yaml").symbols
    assert (tree.name, branch.name, branch.line) == ("acme,tree", "acme,branch", 8)
    child = tree.details["child"]
    assert child["compatible"] == "acme,branch"
    assert child["properties"]["length"] == {"type": "int", "required": True, "line": 10}
    assert set(properties(child)) == {"length", "reg", "#address-cells"}
    assert child["child"]["properties"] == {"leaf": {"type": "string", "line": 15}}
    assert branch.details["parent"] == "acme,tree"
    assert branch.summary == "A branch."


def test_a_child_filter_reaches_the_included_child() -> None:
    files = {
        "c.yaml": "child-binding: {properties: {a: {type: int}, b: {type: int}}}",
        "x.yaml": "compatible: x\ninclude:\n"
        "  - {name: c.yaml, child-binding: {property-allowlist: [b]}}\n",
        "y.yaml": "compatible: y\ninclude: c.yaml\n",
    }
    assert set(properties(read(files, "x.yaml").symbols[0].details["child"])) == {"b"}
    assert set(properties(read(files, "y.yaml").symbols[0].details["child"])) == {"a", "b"}


def test_an_include_that_changes_is_read_again() -> None:
    files = {
        "deep.yaml": "properties: {first: {type: int}}",
        "mid.yaml": "include: deep.yaml\n",
        "x.yaml": "compatible: x\ninclude: mid.yaml\n",
    }
    assert "first" in properties(read(files, "x.yaml").symbols[0].details)
    files["deep.yaml"] = "properties: {second: {type: int}}"
    assert set(properties(read(files, "x.yaml").symbols[0].details)) == {"second"}


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ({"x.yaml": "compatible: x\ninclude: x.yaml\n"}, "includes itself through x.yaml"),
        (
            {"x.yaml": "compatible: x\ninclude: a.yaml\n", "a.yaml": "include: x.yaml\n"},
            "a.yaml: includes itself through x.yaml",
        ),
        ({"x.yaml": "compatible: x\ninclude: [no.yaml]\n"}, "includes no.yaml, which is not"),
        ({"x.yaml": "compatible: x\ninclude: a.yaml\n", "a.yaml": "[1]"}, "a.yaml: a binding is"),
        ({"x.yaml": "compatible: x\nproperties:\n  a: [\n"}, "x.yaml:3: not YAML:"),
        ({"x.yaml": "compatible: x\n" + "[" * 9000}, "nested too deeply"),
        ({"x.yaml": "compatible: x\na: &a [*a]\n"}, "for themselves"),
    ],
)
def test_what_is_wrong_is_said_and_the_rest_is_kept(files: dict[str, str], note: str) -> None:
    listing = read(files, "x.yaml")
    assert listing.note is not None and note in listing.note and "\n" not in listing.note
    assert [symbol.name for symbol in listing.symbols] == ["x"]


def test_files_that_all_include_one_another_end() -> None:
    names = [f"f{i}.yaml" for i in range(12)]
    files = {name: f"include: [{', '.join(names)}]\n" for name in names}
    files["x.yaml"] = "compatible: x\ninclude: f0.yaml\n"
    listing = read(files, "x.yaml")
    assert listing.note is not None and listing.symbols[0].name == "x"


def test_aliases_cannot_grow_without_bound() -> None:
    rows = ["a0: &a0 [x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    value, note = load_yaml("x.yaml", "\n".join(rows))
    assert value is None and note is not None and "aliases" in note
    merges = ["b0: &b0 {x: 1}"]
    merges += [f"b{i}: &b{i}\n  <<: [{', '.join([f'*b{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert load_yaml("x.yaml", "\n".join(merges))[0] is None


def test_odd_values_become_json() -> None:
    text = """\
compatible: 96
bus: 5
properties:
  yes: {type: int}
  a: {type: string, enum: [2020-01-01, =, .nan, 0x_, !odd {b: 1}, null, on]}
  b: [list]
  c: {default: HUGE, type: {}}
  d: null
child-binding: [no]
gpio-cells: no
""".replace("HUGE", "0x" + "f" * 5000)
    listing = read({"x.yaml": text}, "x.yaml")
    assert listing.note is None
    (symbol,) = listing.symbols
    assert symbol.name == "96"
    json.dumps(symbol.details, allow_nan=False)
    found = symbol.details["properties"]
    assert found["a"]["enum"] == ["2020-01-01", "=", "nan", "0x_", {"b": 1}, None, True]
    assert set(found) == {"true", "a", "b", "c", "d"}
    assert len(found["c"]["default"]) <= 500


def test_lines_of_keys() -> None:
    text = 'a: |\n  b: no\n  c: no\n"#d": 1\ne:\n  f:\n    g: >-\n     h: no\n  i: 1\n- j: no\n'
    assert key_lines(text) == {
        ("a",): 1, ("#d",): 4, ("e",): 5, ("e", "f"): 6, ("e", "f", "g"): 7, ("e", "i"): 9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("Uses e.g. This one. Two", "Uses e.g. This one."),
        ("No end\nof line\n\nNext paragraph.", "No end of line"),
        ("Version 2.1 of it, at 3.3V. Then", "Version 2.1 of it, at 3.3V."),
        ("", ""),
    ],
)
def test_first_sentences(text: str, first: str) -> None:
    assert sentence(text) == first


def test_crlf_and_bom() -> None:
    (symbol,) = read({"x.yaml": "\ufeff" + ACORN.replace("\n", "\r\n")}, "x.yaml").symbols
    assert symbol.name == "acme,acorn" and symbol.line == 6


_PIECES = st.sampled_from(
    ["compatible: x", "include:", " - x.yaml", "properties:", "  p:", "    type: int", "    enum:",
     "child-binding:", "  compatible: y", "  properties:", "- [", "{", "&a", "*a", "'", '"', "|",
     "\t", "\x00", "\ufeff", "é", "\ud800", "? a", ": b", "!!set", "!!binary aGk=", "---", "%T", "null"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("\n".join) | st.text(max_size=80))
def test_any_text_gives_a_listing(text: str) -> None:
    listing = read({"x.yaml": text}, "x.yaml")
    for symbol in listing.symbols:
        symbol.name.encode()
        json.dumps([symbol.text, symbol.details], allow_nan=False).encode()
        assert 1 <= symbol.line <= symbol.end_line
    assert listing.note is None or "\n" not in listing.note


_words = st.sampled_from(["a", "type", "name", "", "é"])
_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["compatible", "include", "properties", "child-binding", "bus", "on-bus", "title",
             "description", "a-cells"]
        ),
        _values,
    )
)  # fmt: skip
def test_any_value_in_any_place(value: dict[str, object]) -> None:
    listing = read({"x.yaml": json.dumps(value)}, "x.yaml")
    for symbol in listing.symbols:
        json.dumps(symbol.details, allow_nan=False)


def test_plain_is_bounded() -> None:
    nested: object = "x" * 5000
    for _ in range(50):
        nested = [nested] * 3
    assert len(json.dumps(plain(nested))) < 2000
