# SPDX-License-Identifier: Apache-2.0
"""Verdicts on names: there, not there, not to be known; the files that are read; SARIF."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_nearest import ALTER, invented

from zephyr_ask.checkfiles import MAX_BYTES, File, Skipped, files
from zephyr_ask.elsewhere import may_define, module_of
from zephyr_ask.nearest import suggest
from zephyr_ask.report import Finding, Report, Target
from zephyr_ask.sarif import sarif, uri
from zephyr_ask.types import Change, Symbol, SymbolKind
from zephyr_ask.verify import Own, check, own_names


class Tree:
    """A tree of a few names: `report.Names` over dicts."""

    def __init__(self) -> None:
        self.symbols: dict[tuple[str, str], list[Symbol]] = defaultdict(list)
        self.changes: dict[tuple[str, str], tuple[Change, str | None]] = {}
        self.spoken: dict[tuple[str, str], tuple[str, int]] = {}
        self.targets: dict[str, tuple[str, ...]] = {}
        self.old: dict[str, str] = {}
        self.headers: set[str] | None = set()
        self.modules: set[str] = set()
        self.vendors: set[str] = set()
        self.missing: set[str] = set()
        self.lacks: set[str] = set()

    def add(self, kind: SymbolKind, name: str, path: str = "Kconfig", **details: Any) -> None:
        self.symbols[kind, name].append(Symbol(name, kind, path, 1, 1, "", "", details))

    def defined(self, kind: str, name: str) -> Sequence[Symbol]:
        return self.symbols.get((kind, name), [])

    def near(self, kind: str, name: str, limit: int) -> Sequence[str]:
        if kind == "include":
            return suggest(name, sorted(self.headers or ()), limit)
        return suggest(name, [n for k, n in self.symbols if k == kind], limit)

    def became(self, kind: str, name: str) -> tuple[Change | None, str | None]:
        return self.changes.get((kind, name), (None, None))

    def mentioned(self, kind: str, name: str) -> tuple[str, int] | None:
        return self.spoken.get((kind, name))

    def has(self, what: str) -> bool:
        word, colon, name = what.partition(":")
        if not colon:
            return word not in self.lacks
        return name in {"module": self.modules, "vendor": self.vendors,
                        "property": {"oak,supply"}, "path": set()}[word]  # fmt: skip

    def absent(self, kind: str, name: str) -> str | None:
        for path in self.missing:
            if may_define(path, name):
                return f"{path} is missing"
        return None

    def header(self, path: str) -> bool | None:
        return None if self.headers is None else path in self.headers

    def target(self, written: str) -> Target | None:
        if written in self.old:
            return Target(False, (), self.old[written], ("boards/old.cmake", 7))
        board = written.partition("/")[0]
        if board not in self.targets:
            return None
        full = tuple(f"{board}/{q}" for q in self.targets[board])
        return Target(written in full or (written == board and len(full) == 1), full)

    def properties(self, compatible: str) -> Collection[str] | None:
        found = self.symbols.get(("binding", compatible))
        return {p for symbol in found for p in symbol.details["properties"]} if found else None

    def token(self, token: str) -> bool:
        return any(k == "binding" and n.replace(",", "_").replace("-", "_") == token
                   for k, n in self.symbols)  # fmt: skip

    def claims(self, name: str, called: bool) -> bool:
        return called and name.startswith(("k_", "K_"))


def option(tree: Tree, name: str, kind: str = "bool", scope: str = "app", **more: Any) -> None:
    details = {"type": kind, "prompt": f"The {name}", "scope": scope, **more}
    tree.add("kconfig", name, more.pop("path", "Kconfig"),
             **{k: v for k, v in details.items() if v is not None and k != "path"})  # fmt: skip


@pytest.fixture
def tree() -> Tree:
    tree = Tree()
    option(tree, "SHELL_BACKEND_SERIAL")
    option(tree, "LEAF")
    option(tree, "LEAF_MODE", "tristate")
    option(tree, "LEAF_COUNT", "int", ranges=[{"low": "1", "high": "9"}])
    option(tree, "LEAF_LIMIT", "int", ranges=[{"low": "1", "high": "9", "if": "TREE"}])
    option(tree, "LEAF_SOME", "int", ranges=[{"low": "1", "high": "LEAF_COUNT"}])
    option(tree, "LEAF_MASK", "hex", ranges=[{"low": "0x0", "high": "0xff"}])
    option(tree, "LEAF_NAME", "string")
    option(tree, "HAS_LEAF", prompt=None)
    option(tree, "HAS_TWIG", prompt=None)
    option(tree, "HAS_TWIG", path="soc/Kconfig")
    option(tree, "LEAF_COLOUR", is_choice=True, type=None)
    option(tree, "BOOT_IMAGE", scope="sysbuild")
    option(tree, "SAMPLE_PORT", "int", scope="sample", path="samples/net/port/Kconfig")
    tree.add("binding", "oak,leaf", properties=["colour", "leaf-gpios"])
    tree.add("binding", "oak,old-leaf", properties=["wilted"])
    tree.vendors = {"oak"}
    tree.add("board", "oak_dk")
    tree.targets = {"oak_dk": ("o1/cpuapp", "o1/cpunet"), "elm_dk": ("e1",)}
    tree.old = {"oak_dk_o1_cpuapp": "oak_dk/o1/cpuapp"}
    tree.add("shield", "leaf_shield")
    tree.add("snippet", "leaf-console")
    tree.add("sample", "samples/basic/leaf")
    tree.add("west", "build", options={"--pristine": "", "-p": "", "-b": "", "--board": ""})
    tree.add("west", "flash", options={"--runner": ""}, passes_rest=True)
    tree.add("api", "k_sem_take")
    tree.headers = {"zephyr/kernel.h", "zephyr/drivers/gpio.h"}
    tree.changes["kconfig", "OLD_LEAF"] = (
        Change("OLD_LEAF", "kconfig", "renamed", "3.2", ("LEAF",), "doc/releases/m-3.2.rst", 45),
        "LEAF",
    )
    tree.changes["kconfig", "DEAD_LEAF"] = (
        Change("DEAD_LEAF", "kconfig", "removed", "3.1", (), "doc/releases/r-3.1.rst", 9),
        None,
    )
    tree.spoken["kconfig", "SHELL_BACKEND_OLD"] = ("doc/releases/r-2.0.rst", 3)
    return tree


def messages(report: Report) -> list[str]:
    return [f"{f.line}:{f.column}: {f.message}" for f in report.findings]


def whys(report: Report) -> dict[str, str]:
    return {n.name: n.why for n in report.not_checked}


def test_unknown_and_gone(tree: Tree) -> None:
    text = "CONFIG_SHELL_BACKEND_UART=y\nCONFIG_OLD_LEAF=y\nCONFIG_DEAD_LEAF=n\nCONFIG_LEAF=y\n"
    report = check(text, "prj.conf", tree)
    assert messages(report) == [
        "1:1: unknown CONFIG_SHELL_BACKEND_UART: did you mean CONFIG_SHELL_BACKEND_SERIAL?",
        "2:1: gone since v3.2: renamed to CONFIG_LEAF (doc/releases/m-3.2.rst:45)",
        "3:1: gone since v3.1: removed (doc/releases/r-3.1.rst:9)",
    ]
    unknown, renamed, removed = report.findings
    assert (unknown.kind, unknown.name) == ("kconfig", "CONFIG_SHELL_BACKEND_UART")
    assert unknown.suggestions[0] == "CONFIG_SHELL_BACKEND_SERIAL"
    assert (renamed.replacement, renamed.evidence) == (
        "CONFIG_LEAF",
        ("doc/releases/m-3.2.rst", 45),
    )
    assert renamed.suggestions[0] == "CONFIG_LEAF" and removed.replacement is None
    assert report.checked == 4 and not report.not_checked


def test_a_name_without_likeness_has_no_suggestion(tree: Tree) -> None:
    assert messages(check("CONFIG_ZYZZYVA=y", "prj.conf", tree)) == ["1:1: unknown CONFIG_ZYZZYVA"]


def test_spoken_of_only(tree: Tree) -> None:
    (finding,) = check("CONFIG_SHELL_BACKEND_OLD=y", "prj.conf", tree).findings
    assert finding.status == "gone" and finding.evidence == ("doc/releases/r-2.0.rst", 3)
    assert "doc/releases/r-2.0.rst:3" in finding.message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("CONFIG_LEAF=yes", "invalid CONFIG_LEAF=yes: a bool takes y or n: write y"),
        ("CONFIG_LEAF=true", "invalid CONFIG_LEAF=true: a bool takes y or n: write y"),
        ("CONFIG_LEAF=0", "invalid CONFIG_LEAF=0: a bool takes y or n: write n"),
        ("CONFIG_LEAF=m", "invalid CONFIG_LEAF=m: a bool takes y or n"),
        ("CONFIG_LEAF=", "invalid CONFIG_LEAF=: a bool takes y or n"),
        ('CONFIG_LEAF="y"', 'invalid CONFIG_LEAF="y": a bool takes y or n: write y'),
        ("CONFIG_LEAF = y", 'invalid CONFIG_LEAF = y: no spaces around "="'),
        ("CONFIG_LEAF_MODE=2", "invalid CONFIG_LEAF_MODE=2: a tristate takes y, m or n"),
        (
            "CONFIG_LEAF_COUNT=0x10",
            "invalid CONFIG_LEAF_COUNT=0x10: an int takes a decimal number: write 16",
        ),
        ("CONFIG_LEAF_COUNT=12", "invalid CONFIG_LEAF_COUNT=12: out of range 1 to 9"),
        ("CONFIG_LEAF_MASK=0x100", "invalid CONFIG_LEAF_MASK=0x100: out of range 0x0 to 0xff"),
        (
            "CONFIG_LEAF_MASK=high",
            "invalid CONFIG_LEAF_MASK=high: a hex takes a hexadecimal number such as 0x1f",
        ),
        (
            "CONFIG_LEAF_NAME=fern",
            'invalid CONFIG_LEAF_NAME=fern: a string stands in quotes: write "fern"',
        ),
        ("CONFIG_HAS_LEAF=y", "invalid CONFIG_HAS_LEAF=y: has no prompt, other options set it"),
        (
            "CONFIG_LEAF_COLOUR=y",
            "invalid CONFIG_LEAF_COLOUR=y: a choice: set one of its options to y",
        ),
        (
            "CONFIG_BOOT_IMAGE=y",
            "invalid CONFIG_BOOT_IMAGE: belongs in sysbuild.conf as SB_CONFIG_BOOT_IMAGE",
        ),
        (
            "SB_CONFIG_LEAF=y",
            "invalid SB_CONFIG_LEAF: no option of sysbuild: write CONFIG_LEAF in prj.conf",
        ),
    ],
)
def test_wrong_values(tree: Tree, line: str, said: str) -> None:
    tree.modules.add("mcuboot")
    (finding,) = check(line, "prj.conf", tree).findings
    assert (finding.status, finding.message) == ("invalid", said)


@pytest.mark.parametrize(
    "line",
    [
        "CONFIG_LEAF=y",
        "CONFIG_LEAF=n # why not",
        "# CONFIG_LEAF is not set",
        "#CONFIG_LEAF=yes",
        "CONFIG_LEAF_MODE=m",
        "CONFIG_LEAF_COUNT=9",
        "CONFIG_LEAF_LIMIT=99",
        "CONFIG_LEAF_SOME=-3",
        "CONFIG_LEAF_MASK=0XfF",
        "CONFIG_LEAF_MASK=1f",
        'CONFIG_LEAF_NAME="a \\"b\\" # c"',
        'CONFIG_LEAF_NAME=""  # empty',
        "CONFIG_HAS_TWIG=y",
        "CONFIG_LEAF=${WANTED}",
        "CONFIG_LEAF_COUNT=<number of leaves>",
        "SB_CONFIG_BOOT_IMAGE=y",
        "no assignment at all",
    ],
)
def test_right_values(tree: Tree, line: str) -> None:
    report = check(line, "prj.conf", tree)
    assert messages(report) == [] and not report.not_checked


def test_values_on_command_lines_are_judged_with_care(tree: Tree) -> None:
    text = (
        "west build -- -DCONFIG_LEAF=yes -DCONFIG_LEAF_NAME=fern -DCONFIG_LEAF_COUNT=$N\n"
        'west build -- -DCONFIG_LEAF_NAME=\\"a\\" -DCONFIG_LEAF_MODE="m"\n'
    )
    assert messages(check(text, "a.sh", tree)) == [
        "1:17: invalid CONFIG_LEAF=yes: a bool takes y or n: write y"
    ]


def test_what_cannot_be_known_is_not_wrong(tree: Tree) -> None:
    tree.missing.add("drivers/wood/Kconfig.bark")
    text = "".join(
        f"CONFIG_{name}=y\n"
        for name in ("FOO", "MY_APP", "LV_USE_LEAF", "BARK_DEPTH", "SAMPLE_PORT", "APP_OWN")
    )
    report = check(
        text + "# CONFIG_LEAF_*\n", "prj.conf", tree, Own(options=frozenset({"APP_OWN"}))
    )
    assert messages(report) == []
    assert whys(report) == {
        "CONFIG_FOO": "a placeholder",
        "CONFIG_MY_APP": "a placeholder",
        "CONFIG_LV_USE_LEAF": "may be of the module lvgl, which is not checked out",
        "CONFIG_BARK_DEPTH": "drivers/wood/Kconfig.bark is missing",
        "CONFIG_SAMPLE_PORT": "defined by samples/net/port only",
        "CONFIG_LEAF_": "the beginning of names",
    }
    tree.modules.add("lvgl")
    assert len(check("CONFIG_LV_USE_LEAF=y", "prj.conf", tree).findings) == 1


def test_an_option_of_a_sample_is_there_in_the_sample(tree: Tree) -> None:
    report = check("CONFIG_SAMPLE_PORT=80\n", "zephyr/samples/net/port/prj.conf", tree)
    assert report == Report((), (), 1)


def test_a_text_may_define_what_it_uses(tree: Tree) -> None:
    kconfig = "config FERN\n\tbool\n\tdepends on LEAF && MOSS_BED\n"
    assert messages(check(kconfig, "Kconfig", tree)) == ["3:21: unknown MOSS_BED"]
    code = "#define CONFIG_FERN 1\nint a = CONFIG_FERN + CONFIG_LEAFS;\n"
    assert messages(check(code, "a.c", tree)) == [
        "2:23: unknown CONFIG_LEAFS: did you mean CONFIG_LEAF?"
    ]


def test_devicetree(tree: Tree) -> None:
    text = """\
/ { compatible = "oak,board"; };
&a { compatible = "oak,leaf"; colour = "red"; color = "red"; status = "okay"; #x-cells = <1>; };
&b { compatible = "oak,leef"; anything; };
&c { compatible = "oak,newer-leaf", "oak,leaf"; leaf-gpios = <1>; };
&d { compatible = "acme,thing", "simple-bus"; colour; };
&e { leaf-gpio = <1>; };
&f { compatible = "own,leaf"; anything; };
"""
    report = check(text, "app.overlay", tree, Own(compatibles=frozenset({"own,leaf"})))
    assert messages(report) == [
        "2:47: unknown property color of oak,leaf: did you mean colour?",
        "3:20: unknown oak,leef: did you mean oak,leaf?",
    ]
    assert whys(report) == {
        "oak,newer-leaf": "the node has another compatible, with a binding",
        "acme,thing": "a placeholder",
    }
    assert check('&b { compatible = "oak,leef"; };', "soc.dtsi", tree).findings == ()


def test_compatibles_in_prose_need_a_known_half(tree: Tree) -> None:
    text = "`oak,leef` `ash,old-leaf` `read,write` `oak,supply` `zephyr,console` `oak,leaf`\n"
    report = check(text, "a.md", tree)
    assert [f.name for f in report.findings] == ["oak,leef", "ash,old-leaf"]
    assert report.findings[1].suggestions[0] == "oak,old-leaf"
    assert list(whys(report)) == ["zephyr,console"]


def test_compatibles_in_c(tree: Tree) -> None:
    text = "#define DT_DRV_COMPAT oak_old_leaf\nDT_NUM_INST_STATUS_OKAY(oak_lief)\n"
    (finding,) = check(text, "a.c", tree).findings
    assert (finding.name, finding.suggestions[0]) == ("oak_lief", "oak_leaf")


def test_boards_shields_snippets_samples(tree: Tree) -> None:
    text = """\
west build -b oak_dk/o1/cpuapp samples/basic/leaf
west build -b oak_dk samples/basic/leaf/extra
west build -b oak_dk_o1_cpuapp --shield leaf_shield -S leaf-console
west build -b oak_kd --shield leaf_sheild -S leaf-consol samples/basic/laef
west build -b elm_dk -b <board> -b own_dk/x
"""
    report = check(text, "a.sh", tree, Own(boards=frozenset({"own_dk"})))
    assert [f.message for f in report.findings if f.kind != "option"] == [
        "invalid oak_dk: did you mean oak_dk/o1/cpuapp?",
        "gone: renamed to oak_dk/o1/cpuapp (boards/old.cmake:7)",
        "unknown board oak_kd: did you mean oak_dk?",
        "unknown shield leaf_sheild: did you mean leaf_shield?",
        "unknown snippet leaf-consol: did you mean leaf-console?",
        "unknown samples/basic/laef: did you mean samples/basic/leaf?",
    ]
    assert report.findings[0].suggestions == ("oak_dk/o1/cpuapp", "oak_dk/o1/cpunet")
    assert whys(report) == {"<board>": "a placeholder"}


def test_a_board_without_qualifiers(tree: Tree) -> None:
    tree.targets["fir"] = ()
    (finding,) = check("west build -b fir/o1", "a.sh", tree).findings
    assert (finding.status, finding.suggestions) == ("invalid", ("fir",))


def test_west_commands_and_options(tree: Tree) -> None:
    text = """\
west biuld -x
west build --prist --pristin --pristime -b elm_dk -- --anything
west flash --whatever
"""
    report = check(text, "a.sh", tree)
    assert [f.message for f in report.findings] == [
        "unknown west biuld: did you mean build?",
        "unknown option --pristime of west build: did you mean --pristine?",
    ]
    assert whys(report) == {
        "-x": "the options of west biuld are not known",
        "--whatever": "west flash may pass it on",
    }


def test_includes(tree: Tree) -> None:
    text = """\
#include <zephyr/kernel.h>
#include <zephyr/drivers/gpoi.h>
#include <kernel.h>
#include <stdio.h>
#include <zephyr/syscalls/leaf.h>
"""
    report = check(text, "a.c", tree)
    assert messages(report) == [
        "2:11: unknown zephyr/drivers/gpoi.h: did you mean zephyr/drivers/gpio.h?",
        "3:11: invalid <kernel.h>: write <zephyr/kernel.h>",
    ]
    assert list(whys(report)) == ["zephyr/syscalls/leaf.h"]
    tree.headers = None
    assert check(text, "a.c", tree).findings == ()


def test_api(tree: Tree) -> None:
    text = 'void f(void) { k_sem_take(&s); k_sem_grab(&s); printf(""); }\n'
    assert messages(check(text, "a.c", tree)) == [
        "1:32: unknown k_sem_grab: did you mean k_sem_take?"
    ]
    assert check(text, "a.c", tree, Own(api=frozenset({"k_sem_grab"}))).findings == ()
    seen = '#include "mine.h"\n' + text
    assert whys(check(seen, "a.c", tree)) == {"k_sem_grab": 'may be declared in "mine.h"'}
    assert len(check(seen, "a.c", tree, Own(headers=frozenset({"mine.h"}))).findings) == 1
    tree.lacks.add("api")
    assert whys(check(text, "a.c", tree)) == {"k_sem_grab": "this tree has no headers"}


def test_a_tree_without_kconfig_or_bindings_knows_nothing(tree: Tree) -> None:
    tree.lacks |= {"kconfig", "binding", "board", "west", "sample", "shield", "snippet"}
    text = 'CONFIG_ZZZZ_A=y\n```dts\n&a { compatible = "oak,none"; };\n```\n`west brew -b none1`\n'
    report = check(text, "a.md", tree)
    assert report.findings == () and len(report.not_checked) >= 4


def test_own_names() -> None:
    own = own_names(
        [
            ("app/Kconfig", "menuconfig APP_A\n  bool\nchoice APP_C\nconfig APP_B\n"),
            ("app/CMakeLists.txt", "target_compile_definitions(app PRIVATE CONFIG_APP_D=1)\n"),
            ("app/dts/bindings/x.yaml", 'compatible: "own,leaf" # c\n'),
            ("app/boards/own/board.yml", "board:\n  name: own_dk\n  socs:\n    - name: o1\n"),
            ("app/src/a.h", "#define K_OWN(x) x\nint k_own(int a);\nstruct k_own_t { int b; };\n"),
            ("app/notes.yaml", "compatible: no,binding\n"),
            ("app/boards/shields/s/shield.yml", "shield:\n  name: own_shield\n"),
            ("app/snippets/s/snippet.yml", "name: own-snippet\n"),
        ]
    )
    assert own.options == {"APP_A", "APP_B", "APP_C", "APP_D"}
    assert own.compatibles == {"own,leaf"} and "own_dk" in own.boards
    assert own.headers == {"a.h"} and {"K_OWN", "k_own", "k_own_t"} <= own.api
    assert own.shields == {"own_shield"} and own.snippets == {"own-snippet"}
    assert own_names([("Kconfig", "\0\ufffd config"), ("a.c", "int f(")]) == Own(
        headers=frozenset(), options=frozenset()
    )


def test_altered_names_are_found_and_real_ones_are_not() -> None:
    real = invented(4_000)
    known = frozenset(real)
    tree = Tree()
    for name in real:
        option(tree, name)
    rng = random.Random(11)
    chosen = rng.sample(real, 120)
    wrong = {ALTER.alter(name, "kconfig", rng, known)[0]: name for name in chosen[:60]}
    lines = [f"CONFIG_{name}=y" for name in [*wrong, *chosen[60:]]]
    rng.shuffle(lines)
    found = check("\n".join(lines), "prj.conf", tree).findings
    assert {f.name for f in found} == {f"CONFIG_{name}" for name in wrong}
    meant = sum(f"CONFIG_{wrong[f.name[7:]]}" in f.suggestions for f in found)
    assert meant >= 0.85 * len(wrong)


def test_modules_and_missing_files() -> None:
    assert module_of("LV_USE_LABEL") == "lvgl" and module_of("LV_Z_SHELL") == ""
    assert may_define("drivers/i2c/Kconfig.target", "I2C_EEPROM_TARGET")
    assert may_define("drivers/i2c/target/Kconfig", "I2C_TARGET")
    assert not may_define("drivers/i2c/Kconfig.target", "I2C_EEPROM")
    assert not may_define("Kconfig", "I2C")
    assert not may_define("share/sysbuild/build/Kconfig", "LEAF_BUILD_DATE")


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["a.md", "prj.conf", "a.c", "a.overlay", "-"]))
def test_any_text_can_be_checked(text: str, filename: str) -> None:
    report = check(text, filename, Tree())
    assert report.checked >= len(report.findings)


# --- the files


def paths(found: list[File | Skipped], of: type) -> list[str]:
    return [f.path for f in found if isinstance(f, of)]


def test_a_folder_is_walked(tmp_path: Path) -> None:
    for name in (
        "prj.conf",
        "src/main.c",
        "boards/oak.overlay",
        "dts/bindings/x.yaml",
        "notes.json",
        "build/zephyr/.config",
        "build/a.conf",
        "build-oak/CMakeCache.txt",
        "build-oak/b.conf",
        "buildings/c.conf",
        ".git/d.conf",
        "Kconfig",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("CONFIG_LEAF=y\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "src/again.c").symlink_to(tmp_path / "src/main.c")
    (tmp_path / "nowhere.conf").symlink_to(tmp_path / "none")
    found = list(files([str(tmp_path)]))
    read = [p.removeprefix(f"{tmp_path}/") for p in paths(found, File)]
    assert read == [
        "Kconfig",
        "boards/oak.overlay",
        "buildings/c.conf",
        "dts/bindings/x.yaml",
        "prj.conf",
        "src/again.c",
    ]
    assert [s for s in found if isinstance(s, Skipped)] == [
        Skipped(f"{tmp_path}/nowhere.conf", "no such file or directory", False)
    ]


def test_texts_of_every_encoding(tmp_path: Path) -> None:
    contents = {
        "bom.conf": b"\xef\xbb\xbfCONFIG_A=y\r\nCONFIG_B=y\r\n",
        "latin.conf": b"# gr\xfcn\nCONFIG_A=y\n",
        "mac.conf": b"CONFIG_A=y\rCONFIG_B=y\r",
        "utf16.conf": "CONFIG_A=y\n".encode("utf-16"),
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    found = {Path(f.path).name: f for f in files([str(tmp_path)])}
    assert all(isinstance(f, File) for f in found.values())
    texts = {name: f.text for name, f in found.items() if isinstance(f, File)}
    assert texts == {
        "bom.conf": "CONFIG_A=y\nCONFIG_B=y\n",
        "latin.conf": "# grün\nCONFIG_A=y\n",
        "mac.conf": "CONFIG_A=y\nCONFIG_B=y\n",
        "utf16.conf": "CONFIG_A=y\n",
    }


def test_what_is_not_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "binary.c").write_bytes(b"\x7fELF\0\0\0")
    (tmp_path / "huge.txt").write_bytes(b"a" * (MAX_BYTES + 1))
    assert list(files([str(tmp_path)])) == [
        Skipped(f"{tmp_path}/binary.c", "binary", False),
        Skipped(f"{tmp_path}/huge.txt", "larger than 2 MB", False),
    ]
    (missing,) = files([str(tmp_path / "none")])
    assert missing == Skipped(str(tmp_path / "none"), "no such file or directory", True)


def test_a_file_given_by_name_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    odd = tmp_path / "answer.json"
    odd.write_text("{}")
    assert list(files([str(odd), str(odd)])) == [File(str(odd), "{}")]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_said(tmp_path: Path) -> None:
    shut = tmp_path / "shut.conf"
    shut.write_text("CONFIG_A=y")
    shut.chmod(0)
    assert list(files([str(shut)])) == [Skipped(str(shut), "permission denied", True)]


# --- SARIF


def test_sarif_has_what_2_1_0_requires(tree: Tree) -> None:
    text = "CONFIG_SHELL_BACKEND_UART=y\nCONFIG_OLD_LEAF=y\nCONFIG_LEAF=yes\n"
    log = sarif([check(text, "my app/prj#1.conf", tree)], "0.1.0")
    assert json.loads(json.dumps(log)) == log
    assert log["version"] == "2.1.0" and "2.1.0" in log["$schema"]
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] and driver["version"] == "0.1.0"
    rules = [rule["id"] for rule in driver["rules"]]
    assert rules == ["unknown-symbol", "gone-symbol", "invalid-value"]
    assert [r["ruleId"] for r in run["results"]] == rules
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"] and result["level"] in ("error", "warning", "note")
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "my%20app/prj%231.conf"
        region = place["region"]
        assert region["startLine"] >= 1 and 1 <= region["startColumn"] < region["endColumn"]


def test_no_findings_are_a_valid_log() -> None:
    assert sarif([], "1")["runs"][0]["results"] == []


def test_uris(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri("./src/main.c") == "src/main.c"
    assert uri(str(tmp_path / "a b.c")) == "a%20b.c"
    assert uri("/elsewhere/é.c") == "file:///elsewhere/%C3%A9.c"
    assert uri("../up.c") == "../up.c"
    assert uri("-") == "stdin"


def test_findings_sort_as_they_stand(tree: Tree) -> None:
    report = check("CONFIG_B_UNKNOWN CONFIG_A_UNKNOWN\nCONFIG_OLD_LEAF", "a.txt", tree)
    assert [(f.line, f.column) for f in report.findings] == [(1, 1), (1, 18), (2, 1)]
    assert all(isinstance(f, Finding) for f in report.findings)
