# SPDX-License-Identifier: Apache-2.0
"""Kconfig files → symbols and links: the language, templates, and files that are broken."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest
from conftest import MINIATURE, ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources import kconfig_generated as generated
from zephyr_ask.sources.kconfig import read_kconfig
from zephyr_ask.types import Listing, Symbol
from zephyr_ask.workspace import decode

PATH = "drivers/fan/Kconfig"


def nothing(path: str) -> str | None:
    return None


def listing(text: str, load: Callable[[str], str | None] = nothing, path: str = PATH) -> Listing:
    return read_kconfig(path, dedent(text), load)


def symbols(text: str, **others: Any) -> dict[str, Symbol]:
    """Symbols of a text that has nothing wrong with it, by name."""
    found = listing(text, **others)
    assert found.note is None
    return {symbol.name: symbol for symbol in found.symbols}


def test_entry() -> None:
    found = symbols(
        """\
        # a comment

        config FAN_SPEED
        \tint "Speed of the fan" if FAN_TUNING
        \tdefault 900 if FAN_QUIET && !FAN_LOUD  # turns a minute
        \tdefault 1500
        \trange 100 3000 if FAN_SMALL
        \trange 100 $(limit,a b)
        \tdepends on FAN
        \tselect PWM if FAN_PWM
        \tselect GPIO
        \timply SENSOR
        \thelp
        \t  Turns a minute that
        \t  the fan makes.

        \t    deeper

        \t  Another paragraph.

        config NEXT
        """
    )
    fan = found["FAN_SPEED"]
    assert (fan.kind, fan.path, fan.line, fan.end_line) == ("kconfig", PATH, 3, 19)
    assert fan.summary == "Speed of the fan"
    assert fan.text.splitlines() == [
        "Speed of the fan", "Turns a minute that the fan makes.", "deeper", "Another paragraph."
    ]  # fmt: skip
    assert fan.details == {
        "type": "int",
        "prompt": "Speed of the fan",
        "prompt_if": "FAN_TUNING",
        "depends": ["FAN"],
        "defaults": [{"value": "900", "if": "FAN_QUIET && !FAN_LOUD"}, {"value": "1500"}],
        "ranges": [
            {"low": "100", "high": "3000", "if": "FAN_SMALL"},
            {"low": "100", "high": "$(limit,a b)"},
        ],
        "selects": [{"name": "PWM", "if": "FAN_PWM"}, {"name": "GPIO"}],
        "implies": [{"name": "SENSOR"}],
        "help": "Turns a minute that\nthe fan makes.\n\n  deeper\n\nAnother paragraph.",
        "scope": "app",
    }
    assert found["NEXT"].details == {"scope": "app"}
    assert found["NEXT"].line == found["NEXT"].end_line == 21


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bool", {"type": "bool"}),
        ("boolean", {"type": "bool"}),
        ('tristate "T"', {"type": "tristate", "prompt": "T"}),
        ("string 'Single \"quoted\"'", {"type": "string", "prompt": 'Single "quoted"'}),
        ('hex "With \\"escapes\\" and #1"', {"type": "hex", "prompt": 'With "escapes" and #1'}),
        ('bool "The if in here" if(B)', {"type": "bool", "prompt": "The if in here", "prompt_if": "(B)"}),
        ('prompt "Later"', {"prompt": "Later"}),
        ("def_bool y", {"type": "bool", "defaults": [{"value": "y"}]}),
        ("def_tristate m if X", {"type": "tristate", "defaults": [{"value": "m", "if": "X"}]}),
        ("def_int 7", {"type": "int", "defaults": [{"value": "7"}]}),
        ("def_hex 0x7", {"type": "hex", "defaults": [{"value": "0x7"}]}),
        ('def_string "s"', {"type": "string", "defaults": [{"value": '"s"'}]}),
        ('default "a if b # c" if D # e', {"defaults": [{"value": '"a if b # c"', "if": "D"}]}),
        ("default y if(A || B)", {"defaults": [{"value": "y", "if": "(A || B)"}]}),
        ("default $(dt_bool,a,b) if C", {"defaults": [{"value": "$(dt_bool,a,b)", "if": "C"}]}),
        ("depends on (A  ||\tB) && C", {"depends": ["(A || B) && C"]}),
        ("option defconfig_list", {}),
        ('bool "Gone [DEPRECATED]"', {"type": "bool", "prompt": "Gone [DEPRECATED]", "deprecated": True}),
        ("select DEPRECATED", {"selects": [{"name": "DEPRECATED"}], "deprecated": True}),
    ],
)  # fmt: skip
def test_properties(line: str, expected: dict[str, Any]) -> None:
    assert symbols(f"config A\n\t{line}\n")["A"].details == {**expected, "scope": "app"}


def test_continued_lines() -> None:
    found = symbols(
        """\
        config A
            bool "A"
            depends on B && \\
                       C
            default y
        config D
        """
    )
    assert found["A"].details["depends"] == ["B && C"]
    assert (found["A"].line, found["A"].end_line, found["D"].line) == (1, 5, 6)


def test_conditions_and_menus_come_from_outside() -> None:
    found = symbols(
        """\
        menu "Cooling"
        \tdepends on POWER
        \tvisible if EXPERT

        if FAN || PUMP

        menuconfig FAN_CURVE
        \tbool "Curve" if MANY
        \tdepends on FAN_SPEED

        menu "Fine"

        configdefault FAN_STEPS
        \tdefault 3

        endmenu # Fine
        endif
        config PUMP_HIDDEN
        \tbool
        endmenu
        config OUTSIDE
        \tbool "Outside"
        """
    )
    curve = found["FAN_CURVE"].details
    assert curve["depends"] == ["POWER", "FAN || PUMP", "FAN_SPEED"]
    assert curve["menu"] == ["Cooling"]
    assert curve["prompt_if"] == "EXPERT && MANY"
    assert curve["menuconfig"] is True
    steps = found["FAN_STEPS"].details
    assert steps["depends"] == ["POWER", "FAN || PUMP"]
    assert steps["menu"] == ["Cooling", "Fine"]
    assert steps["configdefault"] is True
    assert "prompt_if" not in found["PUMP_HIDDEN"].details
    assert found["OUTSIDE"].details == {"type": "bool", "prompt": "Outside", "scope": "app"}


def test_choices() -> None:
    found = symbols(
        """\
        choice FAN_MODE
        \tbool "How it turns"
        \tdefault FAN_SLOW
        \tdepends on FAN
        \thelp
        \t  One of them.

        config FAN_SLOW
        \tbool "Slowly"
        if TURBO
        config FAN_FAST
        \tbool "Fast"
        endif
        endchoice

        choice
        \tprompt "Where it blows"
        config FAN_UP
        \tbool "Up"
        endchoice
        config AFTER
        """
    )
    mode = found["FAN_MODE"]
    assert mode.details["is_choice"] is True
    assert mode.details["defaults"] == [{"value": "FAN_SLOW"}]
    assert (mode.line, mode.end_line) == (1, 6)
    assert found["FAN_SLOW"].details["choice"] == "FAN_MODE"
    assert found["FAN_SLOW"].details["depends"] == ["FAN"]
    assert found["FAN_FAST"].details["depends"] == ["FAN", "TURBO"]
    assert found["FAN_FAST"].details["choice"] == "FAN_MODE"
    assert found["FAN_UP"].details["choice"] == "Where it blows"
    assert "choice" not in found["AFTER"].details
    assert list(found) == ["FAN_MODE", "FAN_SLOW", "FAN_FAST", "FAN_UP", "AFTER"]


@pytest.mark.parametrize(
    ("text", "help_", "last"),
    [
        ("config A\n\thelp\n\t  One\nconfig B\n", "One", 3),
        ("config A\n\t---help---\n\n\n\t  One\n\t    Two\n\n\n", "One\n  Two", 6),
        ("config A\n  help\n    config C\n    # D\n    if E\n  bool\n", "config C\n# D\nif E", 6),
        ("config A\n\thelp\nconfig B\n", "", 2),
        ("config A\n\thelp\n        eight\n\tone tab is eight\n", "eight\none tab is eight", 4),
        ("config A\n\thelp", "", 2),
    ],
)
def test_help_ends_with_its_indentation(text: str, help_: str, last: int) -> None:
    found = listing(text)
    assert found.symbols[0].details.get("help", "") == help_
    assert found.symbols[0].end_line == last
    assert {symbol.name for symbol in found.symbols} <= {"A", "B"}


def test_macros() -> None:
    constants = {"Kconfig.constants": "BYTE_MAX := 255\nSIX := 6\n"}
    found = symbols(
        """\
        DT_FLASH := acme,flash
        later = $(prefix)_END
        prefix = FAN
        now := $(prefix)_NOW
        words = one
        words += two
        $(warning-if,$(prefix),look)

        config A
        \tint "About $(prefix), $(words)"
        \tdefault $(dt_size,$(DT_FLASH)) if $(now) && $(later)
        \trange 0 $(BYTE_MAX)
        \tdepends on $(unknown)
        """,
        load=constants.get,
    )
    assert found["A"].summary == "About FAN, one two"
    assert found["A"].details["defaults"] == [
        {"value": "$(dt_size,acme,flash)", "if": "FAN_NOW && FAN_END"}
    ]
    assert found["A"].details["ranges"] == [{"low": "0", "high": "255"}]
    assert found["A"].details["depends"] == ["$(unknown)"]


TEMPLATE = dedent(
    """\
    # A template.

    choice "$(module)_LEVEL_CHOICE"
    \tprompt "Level of $(module-str)"

    config $(module)_LEVEL_OFF
    \tbool "Off"

    endchoice

    config $(module)_LEVEL
    \tint
    \tdefault 0 if $(module)_LEVEL_OFF
    \thelp
    \t  Of $(module-str).

    config ALWAYS_THERE
    \tbool
    """
)
TREE = {
    "subsys/Kconfig.template.level": TEMPLATE,
    "drivers/fan/Kconfig.one": "config FAN_$(number)_PIN\n\tint 'Pin of fan $(number)'\n",
    "drivers/fan/Kconfig.plain": "config PLAIN\n\tbool\n",
    "drivers/fan/Kconfig.template.outer": 'config $(module)_X\nrsource "../../subsys/Kconfig.template.level"\n',
}


def test_template_is_expanded_where_it_is_sourced() -> None:
    text = """\
        if FAN
        module = FAN
        module-str = the fan
        source "subsys/Kconfig.template.level"
        module = PUMP
        module-str = the pump
        source "$(ZEPHYR_BASE)/subsys/Kconfig.template.level"
        endif
        """
    found = listing(text, TREE.get)
    assert found.note is None and found.links == ()
    assert [symbol.name for symbol in found.symbols] == [
        "FAN_LEVEL_CHOICE", "FAN_LEVEL_OFF", "FAN_LEVEL",
        "PUMP_LEVEL_CHOICE", "PUMP_LEVEL_OFF", "PUMP_LEVEL",
    ]  # fmt: skip
    off, level = found.symbols[1:3]
    assert (level.path, level.line, level.end_line) == ("subsys/Kconfig.template.level", 11, 15)
    assert level.details["via"] == [PATH, 4]
    assert level.details["depends"] == ["FAN"]
    assert level.details["defaults"] == [{"value": "0", "if": "FAN_LEVEL_OFF"}]
    assert level.details["help"] == "Of the fan."
    assert off.details["choice"] == "FAN_LEVEL_CHOICE"
    assert found.symbols[0].summary == "Level of the fan"
    assert found.symbols[5].details["via"] == [PATH, 7]
    assert off.details["scope"] == "app"


def test_template_of_any_name_and_templates_in_templates() -> None:
    found = symbols(
        'number = 0\nrsource "Kconfig.one"\nnumber = 1\norsource "Kconfig.one"\n', load=TREE.get
    )
    assert [s.summary for s in found.values()] == ["Pin of fan 0", "Pin of fan 1"]
    found = symbols('module = M\nrsource "Kconfig.template.outer"\n', load=TREE.get)
    assert list(found) == ["M_X", "M_LEVEL_CHOICE", "M_LEVEL_OFF", "M_LEVEL"]
    assert all(s.details["via"] == [PATH, 2] for s in found.values())
    assert found["M_LEVEL"].path == "subsys/Kconfig.template.level"


def test_template_alone_defines_its_plain_entries() -> None:
    found = listing(TEMPLATE, path="subsys/Kconfig.template.level")
    assert [symbol.name for symbol in found.symbols] == ["ALWAYS_THERE"]
    assert found.note is None


def test_only_what_may_be_a_template_is_loaded() -> None:
    asked: list[str] = []

    def load(path: str) -> str | None:
        asked.append(path)
        return TREE.get(path)

    listing('source "drivers/fan/Kconfig.plain"\nconfig A\n', load)
    assert asked == []
    found = listing(
        'module = M\nrsource "Kconfig.plain"\nrsource "Kconfig.one"\nsource "a/*/K"\n', load
    )
    assert asked == ["drivers/fan/Kconfig.plain"]
    assert [link["to"] for link in found.links] == [
        "drivers/fan/Kconfig.plain", "drivers/fan/Kconfig.one", "a/*/K"
    ]  # fmt: skip


def test_missing_template_is_named() -> None:
    found = listing('config A\nmodule = M\nsource "subsys/Kconfig.template.gone"\nconfig B\n')
    assert found.note == f"{PATH}:3: subsys/Kconfig.template.gone is not there"
    assert [symbol.name for symbol in found.symbols] == ["A", "B"]
    assert found.links[0]["to"] == "subsys/Kconfig.template.gone"


def test_links() -> None:
    found = listing(
        """\
        source "subsys/Kconfig"
        menu "Fans"
        depends on FAN
        if BIG
        rsource "Kconfig.big"
        orsource "../*/Kconfig.fan"
        osource "$(FAN_DIR)/Kconfig"
        source "${ZEPHYR_BASE}/lib//Kconfig"
        endif
        endmenu
        """
    )
    assert found.links == (
        {"to": "subsys/Kconfig", "line": 1},
        {"to": "drivers/fan/Kconfig.big", "line": 5, "if": ["FAN", "BIG"], "menu": ["Fans"]},
        {"to": "drivers/*/Kconfig.fan", "line": 6, "if": ["FAN", "BIG"], "menu": ["Fans"]},
        {"to": "$(FAN_DIR)/Kconfig", "line": 7, "if": ["FAN", "BIG"], "menu": ["Fans"]},
        {"to": "lib/Kconfig", "line": 8, "if": ["FAN", "BIG"], "menu": ["Fans"]},
    )
    other = listing('rsource "sub/Kconfig"\n', path="../modules/fan/Kconfig")
    assert other.links[0]["to"] == "../modules/fan/sub/Kconfig"


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("Kconfig", "app"),
        ("drivers/fan/Kconfig.samples", "app"),
        ("share/sysbuild/images/Kconfig", "sysbuild"),
        ("soc/acme/Kconfig.sysbuild", "sysbuild"),
        ("tests/fan/Kconfig.sysbuild", "sysbuild"),
        ("samples/fan/Kconfig", "sample"),
        ("samples/fan/sysbuild/Kconfig", "sysbuild"),
        ("tests/fan/Kconfig", "test"),
        ("subsys/tests/Kconfig", "app"),
        ("../modules/fan/samples/blow/Kconfig", "sample"),
        ("../application/Kconfig", "app"),
    ],
)
def test_scope(path: str, scope: str) -> None:
    assert symbols("config A\n", path=path)["A"].details["scope"] == scope


# --- what is broken


@pytest.mark.parametrize(
    ("text", "note", "names"),
    [
        ("if A\nconfig B\nif C\nconfig D\n", "1: `if` is never closed", "B D"),
        ("config A\nmenu 'M'\nconfig B\n", "2: `menu` is never closed", "A B"),
        ("choice C\nconfig B\n", "1: `choice` is never closed", "C B"),
        ("config A\nendif\nendmenu\nconfig B\n", "2: `endif` without `if`", "A B"),
        ("if A\nmenu 'M'\nconfig B\nendif\nconfig C\n", "2: `menu` is never closed", "B C"),
        ('config A\n\tbool "open\nconfig B\n\tbool "B"\n', "2: a quote is never closed", "A B"),
        ('menu "open\nconfig B\nendmenu\n', "1: a quote is never closed", "B"),
        ("config\nconfig B\n", "1: `config` without a name", "B"),
        ("config A B\nconfig C\n", "1: more than a name after `config`", "A C"),
        ("\tdefault y\nconfig B\n", "1: `default` outside of an entry", "B"),
        ("help\n  text\nconfig B\n", "1: `help` outside of an entry", "B"),
        ("config A\n\tboool\nconfig B\n", "2: `boool` is no Kconfig keyword", "A B"),
        ("config A\n\t<<<<<<< HEAD\nconfig B\n", "2: not understood", "A B"),
        ("config A\n\tdefault\n\tselect if B\nconfig C\n", "2: a value is missing", "A C"),
        ("config A\n\trange 1\nconfig B\n", "2: a range needs two values", "A B"),
        ('source ""\nconfig B\n', "1: `source` without a file", "B"),
    ],
)
def test_one_note_and_the_rest_is_read(text: str, note: str, names: str) -> None:
    found = listing(text)
    assert found.note == f"{PATH}:{note}"
    assert [symbol.name for symbol in found.symbols] == names.split()


@pytest.mark.parametrize(
    "text", ["", "\n", "# only a comment", "\ufeffconfig A\n\tbool\n", "config A\r\n\tbool \"A\"\r\n\thelp\r\n\t  H\r\n"]
)  # fmt: skip
def test_plain_oddities(text: str) -> None:
    found = listing(text)
    assert found.note is None
    assert all(s.name == "A" and "\r" not in json.dumps(s.details) for s in found.symbols)


def test_latin_1_and_binary() -> None:
    found = read_kconfig(PATH, decode('config A\n\tbool "L\xfcfter"\n'.encode("latin-1")), nothing)
    assert found.note is None and found.symbols[0].summary == "L\ufffdfter"
    for data in (b"\x7fELF\0\0\1\0" * 999, bytes(range(256)) * 20):
        for text in (decode(data), data.decode("latin-1")):
            assert read_kconfig(PATH, text, nothing) == Listing(
                note=f"{PATH}: left out, since it is binary"
            )


def test_templates_that_source_themselves() -> None:
    tree = {
        "a.template": 'config $(m)_A\nsource "a.template"\n',
        "b.template": 'config $(m)_B\nsource "c.template"\n',
        "c.template": 'config $(m)_C\nsource "b.template"\n',
    }
    for name, names in (("a", ["M_A"]), ("b", ["M_B", "M_C"])):
        found = listing(f'm = M\nsource "{name}.template"\nconfig Z\n', tree.get)
        assert [symbol.name for symbol in found.symbols] == [*names, "Z"]
        assert found.note and found.note.endswith("sources itself")
    own = 'm = M\nconfig A_$(m)\nsource "drivers/fan/Kconfig"\n'
    assert [s.name for s in listing(own, {PATH: own}.get).symbols] == ["A_M"]


def seconds_of(text: str, load: Callable[[str], str | None] = nothing) -> tuple[float, Listing]:
    began = time.process_time()
    found = listing(text, load)
    json.dumps([[s.details for s in found.symbols], found.links])
    return time.process_time() - began, found


BOMB = {f"t{n}.template": "config $(m)_X\n" + f'source "t{n + 1}.template"\n' * 9 for n in range(9)}
LARGE = {
    "one line of 5 MB": "config A\n\tbool \"" + "x" * 5_000_000,
    "one line of quotes": "config A\n" + ("\tbool \"" + "\\\"" * 4_000 + " # x\n") * 60,
    "one line of ifs": "config A\n" + ("\tdefault " + "if " * 3_000 + "\n") * 60,
    "many open blocks": "if A\nconfig B\n" * 60_000,
    "many ends": "if A\n" * 30_000 + "endmenu\n" * 30_000,
    "macros that double": "a = $(b)" + "$(b)" * 200 + "\nb = $(a)" + "$(a)" * 200 + "\nconfig C\n"
    + "\tdefault $(a)\n" * 500,
    "a long help": "config A\n\thelp\n" + "\t  word\n" * 60_000,
    "one continued line": "config A\n\tdepends on " + "A && \\\n" * 60_000,
    "templates that multiply": "m = M\nsource \"t0.template\"\n",
}  # fmt: skip


@pytest.mark.parametrize("what", LARGE)
def test_large_or_growing(what: str) -> None:
    took, found = seconds_of(LARGE[what], BOMB.get)
    assert took < 5, took  # the slowest takes 1 s
    assert found.symbols or what == "many ends"
    if what not in ("macros that double", "a long help", "one continued line"):
        assert found.note and found.note.count("\n") == 0 and len(found.note) < 200
    assert all(len(s.text) < 20_000 for s in found.symbols)


LINES = st.sampled_from(
    ["config A", "menuconfig B", "configdefault C", "choice", "choice D", "endchoice", "menu 'M'",
     'menu "M', "endmenu", "if X", "if", "endif", "\tbool", '\tbool "P" if Q', "\tdefault y if",
     "\tdepends on", "\tdepends on E && \\", "\tselect F if G", "\thelp", "\t  text", "  less", "",
     "\trange 1 2", "m = M", "m := $(m)$(m)", "m +=", "config $(m)_H", 'source "t.template"',
     'rsource "../x/K', "orsource", "comment 'c'", "\tvisible if V", "\\", '"', "$(m)", "\x0c", "é",
     "\tprompt 'q", "mainmenu 'x'", "optional", "\toption x"]
)  # fmt: skip
TREE_OF_ONE = {"t.template": 'config $(m)_T\nchoice "$(m)_U"\nmenu\nendif\nsource "t.template"\n'}


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES | st.text(max_size=12), max_size=40))
def test_any_text_gives_a_listing(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = read_kconfig(PATH, text, TREE_OF_ONE.get)
    json.dumps([[s.details for s in found.symbols], found.links])
    count = text.count("\n") + 1
    for symbol in found.symbols:
        assert 1 <= symbol.line <= symbol.end_line
        assert symbol.end_line <= (count if symbol.path == PATH else 6)
        assert symbol.name and "$(" not in symbol.name
        assert "\n" not in symbol.summary
    assert found.note is None or (
        found.note.startswith((PATH, "t.template")) and "\n" not in found.note
    )
    assert read_kconfig(PATH, text, TREE_OF_ONE.get) == found


# --- names that the build makes


def test_generated_names() -> None:
    assert generated.dt_has("nordic,nrf-uarte") == "DT_HAS_NORDIC_NRF_UARTE_ENABLED"
    assert generated.dt_has("acme,fan-1.5/x@2+") == "DT_HAS_ACME_FAN_1_5_X_2__ENABLED"
    assert generated.modules("hal_nordic")[0] == "ZEPHYR_HAL_NORDIC_MODULE"
    assert generated.modules("tf-m.x") == ("ZEPHYR_TF_M_X_MODULE", "ZEPHYR_TF_M_X_MODULE_BLOBS")
    assert generated.board("acorn_dk") == "BOARD_ACORN_DK"
    assert generated.board("acorn_dk/fruit/core0") == "BOARD_ACORN_DK_FRUIT_CORE0"
    assert generated.revision("0.14.0") == "BOARD_REVISION_0_14_0"


def test_module() -> None:
    path = "../modules/fan/zephyr/module.yml"
    found = generated.read_module(path, "# c\nname: wind-mill\nblobs:\n  - path: x\n")
    assert found.note is None
    assert [(s.name, s.line, s.details["scope"]) for s in found.symbols] == [
        ("ZEPHYR_WIND_MILL_MODULE", 2, "app"),
        ("ZEPHYR_WIND_MILL_MODULE_BLOBS", 2, "app"),
        ("ZEPHYR_WIND_MILL_MODULE", 2, "sysbuild"),
    ]
    for text in ("", "build:\n  cmake: .\n"):
        names = [s.name for s in generated.read_module(path, text).symbols]
        assert names == ["ZEPHYR_FAN_MODULE"] * 2


@pytest.mark.parametrize("text", ["- a", "a: [", "\0", "name: [1]\nblobs: 3", "a: &a [*a]"])
def test_broken_module(text: str) -> None:
    found = generated.read_module("zephyr/module.yml", text)
    assert found.symbols == ()
    assert found.note and found.note.startswith("zephyr/module.yml") and "\n" not in found.note


# --- whole trees


def test_miniature() -> None:
    def load(path: str) -> str | None:
        file = MINIATURE / path
        return file.read_text() if file.is_file() else None

    names: set[str] = set()
    for file in sorted(MINIATURE.rglob("Kconfig*")):
        path = file.relative_to(MINIATURE).as_posix()
        found = read_kconfig(path, file.read_text(), load)
        assert found.note is None
        names |= {symbol.name for symbol in found.symbols}
    assert {"LOG", "LOG_MODE", "GPIO_LOG_LEVEL", "BOOTLOADER_ACORN", "SOC_FRUIT"} <= names


def test_compare_needs_a_tree() -> None:
    script = ROOT / "scripts/compare_kconfig.py"
    run = subprocess.run(
        [sys.executable, script, MINIATURE], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "kconfiglib.py" in run.stderr
