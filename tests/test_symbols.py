# SPDX-License-Identifier: Apache-2.0
"""The symbol table follows the tree, and says of each name what the tree says."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import MINIATURE

from zephyr_ask import corpus
from zephyr_ask.cards import card_to_dict, facts, said
from zephyr_ask.index import Index
from zephyr_ask.known import TreeNames
from zephyr_ask.listing import pack, unpack
from zephyr_ask.naming import names_in
from zephyr_ask.refresh import refresh
from zephyr_ask.symbols import Catalog
from zephyr_ask.tree import look, source_of
from zephyr_ask.types import Card, silent
from zephyr_ask.verify import check
from zephyr_ask.workspace import Project, Workspace

PROJECT = Project("../modules/pebble", "pebble")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """The miniature, and one module beside it."""
    monkeypatch.setattr(corpus, "RACY_NS", 0)
    base = tmp_path / "zephyr"
    shutil.copytree(MINIATURE, base)
    module = tmp_path / "modules" / "pebble"
    (module / "zephyr" / "sub").mkdir(parents=True)
    (module / "zephyr" / "module.yml").write_text("name: pebble\nbuild:\n  kconfig: zephyr/Kconfig\n"
                                                  "  settings:\n    dts_root: .\n")  # fmt: skip
    (module / "zephyr" / "Kconfig").write_text(
        'config PEBBLE\n\tbool "Skip pebbles"\n\nrsource "sub/Kconfig.more"\n'
    )
    (module / "zephyr" / "sub" / "Kconfig.more").write_text('config PEBBLE_SPIN\n\tint "Spin"\n')
    (module / "Kconfig.foreign").write_text("config NOT_OURS\n\tbool\n")
    folder = module / "dts" / "bindings" / "misc"
    folder.mkdir(parents=True)
    (folder / "acme,pebble.yaml").write_text('description: A pebble.\ncompatible: "acme,pebble"\n')
    return Workspace(base, tmp_path, (), (PROJECT,))


@pytest.fixture
def index(tmp_path: Path, here: Workspace) -> Iterator[Index]:
    opened = Index(tmp_path / "index.sqlite3")
    refresh(opened, here, silent, lambda line: None)
    yield opened
    opened.close()


def again(index: Index, here: Workspace) -> None:
    assert refresh(index, here, silent, lambda line: None) is True


def card(index: Index, question: str) -> Card:
    cards = Catalog(index.table).cards(names_in(question)[0])
    assert cards, question
    return cards[0]


def place(of: Card) -> str:
    return f"{of.definitions[0].path}:{of.definitions[0].line}"


def line_of(base: Path, path: str, text: str) -> int:
    return (base / path).read_text().split("\n").index(text) + 1


@pytest.mark.parametrize(
    ("question", "path", "line"),
    [
        ("CONFIG_LOG", "subsys/logging/Kconfig", "menuconfig LOG"),
        ("LOG", "subsys/logging/Kconfig", "menuconfig LOG"),
        ("CONFIG_LOG=y", "subsys/logging/Kconfig", "menuconfig LOG"),
        ("what does CONFIG_GPIO_HOGS do", "drivers/Kconfig", "config GPIO_HOGS"),
        ("CONFIG_GPIO_LOG_LEVEL", "subsys/logging/Kconfig.template.log_level",
         "config $(module)_LOG_LEVEL"),
        ("acme,pear-gpio", "dts/bindings/gpio/acme,pear-gpio.yaml", 'compatible: "acme,pear-gpio"'),
        ("log_flush_all()", "include/zephyr/logging/log.h", "int log_flush_all(int timeout_ms);"),
        ("GPIO_ACTIVE_LOW", "include/zephyr/drivers/gpio.h", "#define GPIO_ACTIVE_LOW (1 << 0)"),
        ("acorn_dk", "boards/acme/acorn_dk/board.yml", "  name: acorn_dk"),
        ("lantern", "boards/shields/lantern/shield.yml", "  name: lantern"),
        ("CONFIG_PEBBLE_SPIN", "../modules/pebble/zephyr/sub/Kconfig.more", "config PEBBLE_SPIN"),
        ("acme,pebble", "../modules/pebble/dts/bindings/misc/acme,pebble.yaml",
         'compatible: "acme,pebble"'),
    ],
)  # fmt: skip
def test_a_name_shows_where_it_is_defined(
    index: Index, here: Workspace, question: str, path: str, line: str
) -> None:
    found = card(index, question)
    assert found.status == "defined"
    assert place(found) == f"{path}:{line_of(here.base, path, line)}"


def test_what_a_card_says_of_an_option(index: Index) -> None:
    told = dict(facts(card(index, "CONFIG_MAIN_STACK_SIZE")))
    assert told["type"] == "int" and told["range"] == "256 to 65536"
    assert told["default"].startswith("2048 if NETWORKING; 1024; 4096")
    assert "boards/acme/acorn_dk/Kconfig.defconfig" in told["default"]
    inherited = dict(facts(card(index, "CONFIG_GPIO_LOG_LEVEL")))
    assert inherited["depends on"] == "GPIO && LOG"
    assert dict(facts(card(index, "CONFIG_RAM_BASE")))["prompt"].startswith("none")
    assert dict(facts(card(index, "CONFIG_BOOTLOADER_ACORN")))["belongs to"] == "sysbuild"


def test_properties_come_through_includes(index: Index, here: Workspace) -> None:
    names = TreeNames(index.table, here)
    assert names.properties("acme,pear-gpio") == {"pin-count", "label", "reg", "drive-strength"}
    told = dict(facts(card(index, "acme,pear-gpio")))
    assert told["required"] == "reg, pin-count" and told["gpio-cells"] == "pin, flags"


def test_gone_and_unknown(index: Index) -> None:
    gone = card(index, "CONFIG_PINMUX")
    assert gone.status == "gone" and gone.evidence is not None
    assert gone.evidence[0].startswith("doc/releases/") and "gone" in said(gone)
    unknown = card(index, "CONFIG_LOG_BUFER_SIZE")
    assert unknown.status == "unknown" and unknown.near[0] == "LOG_BUFFER_SIZE"
    told = card_to_dict(unknown)
    assert told["path"] is None and told["details"]["near"][0] == "CONFIG_LOG_BUFFER_SIZE"
    assert Catalog(index.table).cards(names_in("how do I use SPI with a thread")[0]) == []
    index_cards = Catalog(index.table).cards(names_in("CONFIG_NOT_OURS")[0])
    assert index_cards[0].status == "unknown", "a module's Kconfig files that nothing sources"


def test_the_table_follows_every_kind_of_edit(index: Index, here: Workspace) -> None:
    base = here.base
    kconfig = base / "kernel" / "Kconfig"
    kconfig.write_text(kconfig.read_text().replace("config TIMESLICE_SIZE", "config SLICE_MS"))
    again(index, here)
    assert card(index, "CONFIG_SLICE_MS").status == "defined"
    assert card(index, "CONFIG_TIMESLICE_SIZE").status != "defined"

    template = base / "subsys" / "logging" / "Kconfig.template.log_level"
    template.write_text(template.read_text().replace("range 0 4", "range 0 7"))
    again(index, here)
    assert dict(facts(card(index, "CONFIG_GPIO_LOG_LEVEL")))["range"] == "0 to 7"

    included = base / "dts" / "bindings" / "base" / "pins.yaml"
    included.write_text(included.read_text() + "  colour:\n    type: string\n")
    again(index, here)
    assert "colour" in (TreeNames(index.table, here).properties("acme,pear-gpio") or ())

    included.rename(included.with_name("moved.yaml"))
    again(index, here)
    assert TreeNames(index.table, here).properties("acme,pear-gpio") is None
    included.with_name("moved.yaml").rename(base / "dts" / "bindings" / "gpio" / "pins.yaml")
    again(index, here)
    assert "colour" in (TreeNames(index.table, here).properties("acme,pear-gpio") or ())

    (base / "subsys" / "logging" / "Kconfig").unlink()
    again(index, here)
    assert card(index, "CONFIG_LOG_PRINTK").status != "defined"

    (here.base / ".." / "modules" / "pebble" / "zephyr" / "sub" / "Kconfig.more").write_text(
        'config PEBBLE_SINK\n\tbool "Sink"\n'
    )
    again(index, here)
    assert card(index, "CONFIG_PEBBLE_SINK").status == "defined"
    again(index, Workspace(here.base, here.topdir, (), ()))
    assert card(index, "CONFIG_PEBBLE").status == "unknown", (
        "the module is not checked out any more"
    )
    assert index.check() == []


def test_an_index_made_step_by_step_equals_one_made_at_once(
    index: Index, here: Workspace, tmp_path: Path
) -> None:
    board = here.base / "boards" / "acme" / "acorn_dk" / "board.yml"
    before = board.read_text()
    board.write_text(before.replace("acorn_dk", "oak_dk"))
    again(index, here)
    board.write_text(before)
    again(index, here)
    fresh = Index(tmp_path / "fresh.sqlite3")
    refresh(fresh, here, silent, lambda line: None)

    def content(of: Index) -> list[tuple[object, ...]]:
        sql = """SELECT p.path, s.kind, s.name, s.path, s.line, s.end_line, s.summary, s.data
                 FROM symbols s JOIN pages p ON p.id = s.page ORDER BY 1, 2, 3, 5"""
        return of._rows(sql)

    assert content(index) == content(fresh) and len(content(fresh)) > 50
    fresh.close()


def test_bad_files_cost_only_themselves(index: Index, here: Workspace) -> None:
    base = here.base
    (base / "kernel" / "Kconfig.bad").write_bytes(b'if X\nconfig LEFT_OPEN\n\tbool "\xe9\r\n')
    (base / "kernel" / "Kconfig.bin").write_bytes(bytes(range(256)) * 4)
    (base / "dts" / "bindings" / "base" / "loop.yaml").write_text(
        "include: loop.yaml\ncompatible: acme,loop\n"
    )
    (base / "dts" / "bindings" / "base" / "broken.yaml").write_text("a: [\ncompatible: acme,b\n")
    (base / "include" / "zephyr" / "open.h").write_text("int started(int a, /* never ends")
    (base / "boards" / "acme" / "birch_nano" / "board.yml").write_text("board: [1, {}]\n")
    again(index, here)
    assert card(index, "CONFIG_LEFT_OPEN").status == "defined"
    assert card(index, "acme,loop").status == "defined"
    assert card(index, "CONFIG_LOG").status == "defined"
    notes = index.notes()
    for name in ("Kconfig.bad", "Kconfig.bin", "loop.yaml", "broken.yaml", "open.h"):
        assert any(name in note for note in notes), name
    assert all("\n" not in note for note in notes)


def test_what_is_a_source() -> None:
    assert source_of("kernel/Kconfig") == "kconfig"
    assert source_of("boards/acme/a/Kconfig.defconfig") == "kconfig"
    assert source_of("doc/build/kconfig/Kconfig.rst") == "page"
    assert source_of("dts/bindings/base/x.yaml") == "binding"
    assert source_of("samples/a/sample.yaml") == "hardware"
    assert source_of("include/zephyr/a.h") == "header"
    assert source_of("drivers/a.h") is None and source_of("samples/a/testcase.yaml") is None


def module_of(here: Workspace) -> Path:
    return here.base.parent / "modules" / "pebble"


def test_a_hostile_module_stays_outside(here: Workspace) -> None:
    module = module_of(here)
    for text in ("build: []\n", "- 1\n", "build:\n  kconfig: [a]\n  settings: 3\n", ": [", "",
                 "build: !!bool maybe\n", "build: !!int ''\n", "build: !!timestamp x\n",
                 'build: {kconfig: "a\\0b"}\n', f"build: {{kconfig: {'a' * 300}}}\n",
                 "build: {kconfig: ../../../../../../../../etc/passwd}\n",
                 "build:\n  settings:\n    board_root: /etc\n    dts_root: [x]\n",
                 "build: {settings: {board_root: '../../..'}}\n"):  # fmt: skip
        (module / "zephyr" / "module.yml").write_text(text)
        found = look(here.base, here.projects)
        outside = [path for path in found.sources if path.startswith("../")]
        assert all(path.startswith("../modules/pebble/") for path in outside)
        assert not any("passwd" in path for path in found.sources)


def test_a_modules_links_and_patterns_do_not_lead_out(here: Workspace) -> None:
    module = module_of(here)
    (module / "zephyr" / "module.yml").write_text("build: {settings: {board_root: .}}\n")
    (module / "boards").symlink_to("/")
    outside = here.base.parent / "outside"
    outside.mkdir()
    (outside / "Kconfig").write_text("config OUTSIDE\n\tbool\n")
    (module / "zephyr" / "Kconfig").write_text(
        'rsource "a\0/*"\nrsource "../../../../../../../*/*/*"\nrsource "../../../outside/Kconfig"\n'
    )
    found = look(here.base, here.projects)
    assert {path for path in found.sources if path.startswith("../")} == {
        "../modules/pebble/zephyr/module.yml", "../modules/pebble/zephyr/Kconfig"
    }  # fmt: skip


def test_what_appears_where_nothing_was(index: Index, here: Workspace) -> None:
    module = module_of(here)
    (module / "zephyr" / "module.yml").write_text(
        "build: {kconfig: zephyr/Kconfig, settings: {board_root: ., dts_root: .}}\n"
    )
    shutil.rmtree(module / "dts")
    (module / "zephyr" / "Kconfig").write_text('rsource "d/*/Kconfig"\n')
    (module / "zephyr" / "d").mkdir()
    again(index, here)
    assert refresh(index, here, silent, lambda line: None) is False
    (module / "boards" / "evb").mkdir(parents=True)
    (module / "boards" / "evb" / "board.yml").write_text("board: {name: evb, socs: [{name: x}]}\n")
    again(index, here)
    assert card(index, "evb").status == "defined"
    (module / "dts" / "bindings").mkdir(parents=True)
    (module / "dts" / "bindings" / "t.yaml").write_text('compatible: "evil,thing"\n')
    again(index, here)
    assert card(index, "evil,thing").status == "defined"
    (module / "zephyr" / "d" / "n").mkdir()
    again(index, here)
    (module / "zephyr" / "d" / "n" / "Kconfig").write_text("config LATE_COMER\n\tbool\n")
    again(index, here)
    assert card(index, "CONFIG_LATE_COMER").status == "defined"


def test_paths_that_no_file_can_have(index: Index, here: Workspace) -> None:
    base = here.base
    (base / "lib").mkdir()
    (base / "lib" / "Kconfig").write_text(
        f'module = A\nsource "{"a" * 300}/Kconfig.template.x"\nsource "lib/Kconfig.template.l"\n'
    )
    (base / "lib" / "Kconfig.template.l").symlink_to("Kconfig.template.l")
    (base / "scripts" / "west-commands.yml").write_text(
        'west-commands: [{file: "a\\0b", commands: [{name: n}]}]\n'
    )
    (base / "dts" / "bindings" / "nul.yaml").write_text('include: ["a\\0b.yaml"]\n')
    again(index, here)
    assert refresh(index, here, silent, lambda line: None) is False, "it comes to rest"
    assert card(index, "CONFIG_LOG").status == "defined"


def test_names_that_follow_by_rule(index: Index) -> None:
    assert card(index, "acorn_dk/fruit/core").status == "defined"
    assert card(index, "acorn_dk_fruit_core").replacement == "acorn_dk/fruit/core"
    assert card(index, "CONFIG_DT_HAS_ACME_PEAR_UART_ENABLED").status == "defined"
    assert card(index, "CONFIG_BOARD_ACORN_DK_FRUIT_CORE").status == "defined"
    assert card(index, "west topdir").kind == "west"
    with index.writing():  # a tree without headers cannot say that a C name is none
        index._db.execute("DELETE FROM symbols WHERE kind = 8")
    for question in ("k_nowhere_take", "DT_NOWHERE", "k_nowhere_take()"):
        assert Catalog(index.table).cards(names_in(question)[0]) == []
    lower = card(index, "CONFIG_gpio")
    assert lower.status == "unknown" and lower.near == ("GPIO",)
    assert names_in("CONFIG_")[0] == [] or names_in("CONFIG_")[0][0].sure is False


def test_packing() -> None:
    assert unpack(pack("help \ud800", {"type": "bool"})) == ("help \ud800", {"type": "bool"})
    assert pack("", {}) == b"" and unpack(b"") == ("", {})
    with pytest.raises(ValueError):
        unpack(b"garbage")


@pytest.mark.parametrize(
    ("text", "name", "status"),
    [
        ("CONFIG_LOG=y\n", None, ""),
        ("CONFIG_LOG=yes\n", "CONFIG_LOG", "invalid"),
        ("CONFIG_MAIN_STACK_SIZE=12\n", "CONFIG_MAIN_STACK_SIZE", "invalid"),
        ("CONFIG_LOGS=y\n", "CONFIG_LOGS", "unknown"),
        ("CONFIG_PINMUX=y\n", "CONFIG_PINMUX", "gone"),
        ("CONFIG_RAM_BASE=0x10\n", "CONFIG_RAM_BASE", "invalid"),
        ("CONFIG_BOOTLOADER_ACORN=y\n", "CONFIG_BOOTLOADER_ACORN", "invalid"),
        ("CONFIG_PEBBLE=y\n", None, ""),
        ("CONFIG_DT_HAS_ACME_PEAR_GPIO_ENABLED=y\n", None, ""),
    ],
)
def test_checking_against_a_real_table(
    index: Index, here: Workspace, text: str, name: str | None, status: str
) -> None:
    names = TreeNames(index.table, here)
    if "DT_HAS" in text:
        text = text.removesuffix("=y\n")
        report = check(text, "notes.md", names)
    else:
        report = check(text, "prj.conf", names)
    found = [(f.name, f.status) for f in report.findings]
    assert found == ([(name, status)] if name else [])
    assert report.checked == 1


def test_boards_west_and_headers(index: Index, here: Workspace) -> None:
    names = TreeNames(index.table, here)
    text = """
    west build -b acorn_dk/fruit/core app
    west build -b acorn_dk/fruit/pip app
    west build -b acorn_dk_fruit_core app
    west plant --depth 3 here
    west plant --width 3 here
    west graft
    """
    report = check(text, "notes.sh", names)
    found = {f.name: f for f in report.findings}
    assert set(found) == {"acorn_dk/fruit/pip", "acorn_dk_fruit_core", "--width", "graft"}
    assert found["acorn_dk_fruit_core"].replacement == "acorn_dk/fruit/core"
    code = "#include <zephyr/logging/log.h>\n#include <zephyr/logging/logs.h>\n"
    assert [f.name for f in check(code, "a.c", names).findings] == ["zephyr/logging/logs.h"]
