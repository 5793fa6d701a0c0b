# SPDX-License-Identifier: Apache-2.0
"""West commands and their options, read from Python files that are never run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources.commands import builtin_commands, read_commands
from zephyr_ask.types import Listing, Symbol

YML = """\
# commands
west-commands:
  - file: scripts/cmds/plant.py
    commands:
      - name: plant
        class: Plant
        help: plant a tree
      - name: water
        class: Water
        help: water it
"""
PLANT = '''\
import argparse
import os, sys
from pathlib import Path

sys.path.append(os.fspath(Path(__file__).parent.parent))
sys.path.insert(0, str(HERE / "more" / "lib"))
import soil
from common import Forced as Base
from garden.tools import add_tools
from west.commands import WestCommand

raise SystemExit("this file is read, not run")

ABOUT = f"""Plants trees.

{soil.TEXT}

Then waits."""


class Plant(Base):
    def __init__(self):
        super().__init__("plant", "plant a tree", ABOUT, accepts_unknown_args=True)

    def do_add_parser(self, adder):
        parser = adder.add_parser(self.name, help=self.help, allow_abbrev=False)
        parser.add_argument("-k", "--kind", default="oak",
                            help="""which kind of
                            tree; %(default)s by default, 100%% wood""")
        self.add_force(parser)
        group = parser.add_argument_group("more")
        group.add_argument("--hidden", help=argparse.SUPPRESS)
        group.add_argument("--deep" "er", help="a" + " b" if X else "c")
        group.add_argument("--shade", action=argparse.BooleanOptionalAction)
        for name in ("--left", "--right"):
            group.add_argument(name, help=f"to the {name}")
        soil.add_soil(parser)
        parser = add_tools(parser)
        parser.add_argument("places", metavar="PLACE", nargs="*")
        print(parser)
        return parser


class Water(WestCommand):
    def __init__(self):
        super(Water, self).__init__("water", "water it", "Waters.")

    def do_add_parser(self, adder):
        parser = adder.add_parser(self.name)
        subs = parser.add_subparsers()
        rain = subs.add_parser("rain", help="let it rain")
        rain.add_argument("--hours")
        subs.add_parser("hose").add_argument("rest", nargs=argparse.REMAINDER)
        return parser
'''
FILES = {
    "scripts/west-commands.yml": YML,
    "scripts/cmds/plant.py": PLANT,
    "scripts/cmds/common.py": """\
class Forced:
    @staticmethod
    def add_force(parser):
        parser.add_argument("-f", "--force", action="store_true", help="do it")
""",
    "scripts/soil.py": """\
TEXT = "text"
def add_soil(p_parser, wet=False):
    p_parser.add_argument("--soil", help="which soil")
    if wet:
        add_soil(p_parser)
""",
    "scripts/more/lib/garden/tools.py": """\
def add_tools(parser=None):
    if parser is None:
        parser = argparse.ArgumentParser()
    parser.add_argument("--spade")
    return parser
""",
}


def read(files: Mapping[str, str], path: str = "scripts/west-commands.yml") -> Listing:
    return read_commands(path, files[path], files.get)


def named(listing: Listing, name: str) -> Symbol:
    return next(symbol for symbol in listing.symbols if symbol.name == name)


def test_a_command_and_all_that_adds_options_to_it() -> None:
    listing = read(FILES)
    assert listing.note is None
    plant = named(listing, "plant")
    assert (plant.kind, plant.path, plant.line, plant.summary) == (
        "west", "scripts/west-commands.yml", 5, "plant a tree",
    )  # fmt: skip
    assert plant.details == {
        "options": {
            "-k": "which kind of tree; oak by default, 100% wood",
            "--kind": "which kind of tree; oak by default, 100% wood",
            "-f": "do it",
            "--force": "do it",
            "--hidden": "",
            "--deeper": "a b",
            "--shade": "",
            "--no-shade": "",
            "--left": "to the …",
            "--right": "to the …",
            "--soil": "which soil",
            "--spade": "",
            "-h": "show the command's help",
            "--help": "show the command's help",
        },
        "positional": ["PLACE"],
        "passes_rest": True,
        "exact": True,
        "file": "scripts/cmds/plant.py",
        "class": "Plant",
    }
    assert plant.text.startswith("west plant: plant a tree\nPlants trees.\n\nThen waits.\n--kind: ")


def test_subcommands() -> None:
    water = named(read(FILES), "water")
    assert water.line == 8
    assert water.details["subcommands"] == ["rain", "hose"]
    assert "--hours" in water.details["options"]
    assert water.details["passes_rest"] is True
    assert "open_options" not in water.details


def test_without_the_python_file_the_options_are_not_known() -> None:
    listing = read({"scripts/west-commands.yml": YML})
    assert listing.note is None
    assert [symbol.details for symbol in listing.symbols] == [
        {"class": "Plant"}, {"class": "Water"},
    ]  # fmt: skip


def test_another_projects_files_are_relative_to_it() -> None:
    files = {"../modules/tree/" + path: text for path, text in FILES.items()}
    listing = read(files, "../modules/tree/scripts/west-commands.yml")
    assert listing.symbols[0].details["file"] == "../modules/tree/scripts/cmds/plant.py"
    assert "--spade" in listing.symbols[0].details["options"]


@pytest.mark.parametrize(
    "lines",
    [
        ["unknown(parser)"],
        ["elsewhere.add(parser)"],
        ["self.not_there(parser)"],
        ["parser.add_argument(*NAMES)"],
        ["parser.add_argument(f'--{x}')"],
        ["parser.add_argument('--known', SHORT)"],
        ["for x in ('--known', LONG):", "    parser.add_argument(x)"],
        ["add(*[parser])", "unknown(*[parser], parser)"],
        ["adder.add_parser('x', parents=[shared])"],
        ["adder.add_parser('x', parents=shared)"],
    ],
)
def test_options_that_cannot_be_followed_leave_them_open(lines: list[str]) -> None:
    body = "".join(f"        {line}\n" for line in lines)
    text = "import elsewhere\nclass Plant:\n    def do_add_parser(self, adder):\n"
    text += "        parser = adder.add_parser(self.name)\n" + body
    text += "        parser.add_argument('--known')\n"
    details = named(read({**FILES, "scripts/cmds/plant.py": text}), "plant").details
    assert details["open_options"] is True
    assert details["options"] == {"--known": ""}


def test_parsers_that_share_options_are_followed() -> None:
    text = """\
class Plant:
    def do_add_parser(self, adder):
        shared_parser = argparse.ArgumentParser(add_help=False)
        shared_parser.add_argument("--both")
        return adder.add_parser(self.name, parents=[shared_parser])
"""
    details = named(read({**FILES, "scripts/cmds/plant.py": text}), "plant").details
    assert "open_options" not in details and "--both" in details["options"]


RUN = """\
def add_parser_common(command, parser_adder=None, parser=None):
    parser = parser_adder.add_parser(command.name)
    parser.add_argument("--runner")
    return parser
"""
FLASH = """\
from run_common import add_parser_common
class Plant(X):
    def __init__(self):
        super().__init__("plant", "", "", accepts_unknown_args=True)
    def do_add_parser(self, adder):
        return add_parser_common(self, adder)
"""


def test_options_of_runners() -> None:
    files = {
        **FILES,
        "scripts/cmds/plant.py": FLASH,
        "scripts/cmds/run_common.py": RUN,
        "scripts/cmds/runners/__init__.py": "_names = ['spade']",
        "scripts/cmds/runners/core.py": "class R:\n  def add_parser(cls, parser):\n"
        "    parser.add_argument('--erase')\n    cls.do_add_parser(parser)\n"
        "  def do_add_parser(cls, parser): pass\n",
        "scripts/cmds/runners/spade.py": "class S(R):\n  def do_add_parser(cls, parser):\n"
        "    parser.add_argument('--dig')\n    parser.add_argument('hole')\n",
    }
    details = named(read(files), "plant").details
    assert list(details["options"]) == ["--runner", "--erase", "--dig", "-h", "--help"]
    assert "open_options" not in details and "positional" not in details
    del files["scripts/cmds/runners/spade.py"]
    assert named(read(files), "plant").details["open_options"] is True
    del files["scripts/cmds/runners/__init__.py"]
    assert named(read(files), "plant").details["open_options"] is True


@pytest.mark.parametrize(
    "text",
    [
        "",
        "class Plant(",
        "class Plant(Plant): pass",
        "\x00",
        "class Plant(A): pass\nclass A(B): pass\nclass B(A): pass",
        "class Plant:\n  def do_add_parser(self, parser): self.do_add_parser(parser)",
        "from plant import f\nclass Plant:\n  def do_add_parser(s, parser): f(parser)",
        "class Plant:\n  def do_add_parser(self, parser): " + "(" * 150 + ")" * 150,
        "A = B\nB = A\nclass Plant:\n  def do_add_parser(s, parser): parser.add_argument(A)",
        "x = " + "-" * 90_000 + "1",
        "class Plant:\n  def do_add_parser(s, parser): parser" + ".f()" * 3000,
        "class Plant:\n  def do_add_parser(s, parser): '\\d'",
    ],
)
def test_broken_python(text: str) -> None:
    listing = read({**FILES, "scripts/cmds/plant.py": text})
    assert [symbol.name for symbol in listing.symbols] == ["plant", "water"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "no list of west-commands"),
        ("west-commands: 3", "no list of west-commands"),
        ("west-commands: [", "not YAML"),
        ("west-commands: [3, {commands: 4}, {file: [], commands: [{name: {}}]}]", "no command"),
        ("west-commands: [{file: /etc/passwd, commands: [{name: a}]}]", None),
        ("west-commands: [{file: ../../../x, commands: [{name: 5, help: null}]}]", None),
    ],
)
def test_broken_lists(text: str, note: str | None) -> None:
    listing = read({"a/west-commands.yml": text}, "a/west-commands.yml")
    if note is None:
        assert listing.note is None and len(listing.symbols) == 1
    else:
        assert listing.note is not None and note in listing.note
        assert "a/west-commands.yml" in listing.note and listing.symbols == ()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=100), st.text(max_size=60))
def test_any_text_gives_a_listing(yml: str, python: str) -> None:
    read({"a/west-commands.yml": yml}, "a/west-commands.yml")
    listing = read({**FILES, "scripts/cmds/plant.py": python})
    json.dumps([symbol.details for symbol in listing.symbols])


def test_wests_own_commands() -> None:
    listing = builtin_commands()
    assert listing.note is None
    update = named(listing, "update")
    assert (update.path, update.line, update.kind) == ("west", 0, "west")
    assert {"-n", "--narrow", "--help"} <= set(update.details["options"])
    assert "PROJECT" in update.details["positional"]
    assert named(listing, "grep").details["passes_rest"] is True
    own = named(listing, "west").details
    assert "--version" in own["options"] and "update" in own["subcommands"]
    assert "--narrow" not in own["options"]
    json.dumps([symbol.details for symbol in listing.symbols])


def test_wests_own_help_has_the_same_options() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "west", "update", "-h"], capture_output=True, text=True, check=True
    )
    for option in named(builtin_commands(), "update").details["options"]:
        assert option in result.stdout


def test_yaml_and_west_are_loaded_only_when_asked_for() -> None:
    code = (
        "import sys, zephyr_ask.sources.commands, zephyr_ask.sources.bindings, "
        "zephyr_ask.sources.hardware\n"
        "print([name for name in ('yaml', 'west', 'argparse') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
