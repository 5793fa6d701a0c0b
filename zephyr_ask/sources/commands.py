# SPDX-License-Identifier: Apache-2.0
"""A project's west-commands.yml, and the installed west's own commands → symbols.

`details` of a "west", keys left out where they would be empty:

    "options": {every spelling: help}, absent where the command's file is not in this tree
    "positional": [names], "subcommands": [names]; options of subcommands are among "options"
    "passes_rest": true where what the command does not know goes on to another program; the
        options of Zephyr's runners are then among "options"
    "open_options": true where the command may take options that were not found
    "exact": true where a long option cannot be abbreviated
    "file", "class": of the Python file, relative to the zephyr folder

west's own have the path "west" and the line 0; "west" itself has the options before a command.
"""

from __future__ import annotations

import importlib
import posixpath
from collections.abc import Iterator
from typing import Any

from zephyr_ask.sources.commands_options import HELP_CHARS, Commands, Options
from zephyr_ask.sources.commands_scripts import Scripts
from zephyr_ask.sources.yaml_text import (
    NameLines,
    cut,
    line_of,
    load_yaml,
    mapping,
    name_in,
    sequence,
)
from zephyr_ask.types import Listing, Load, Symbol

TEXT_CHARS = 1500
_DESCRIPTION_CHARS = 700
BUILT_IN = "west"  # the path of west's own commands, which are no file of the tree


def read_commands(path: str, text: str, load: Load) -> Listing:
    """Commands of one project. `load` is asked for the Python files that they are in."""
    text = text.removeprefix("\ufeff")
    value, note = load_yaml(path, text)
    if note is None and not isinstance(mapping(value).get("west-commands"), list):
        note = f"{path}: no list of west-commands"
    if note is not None:
        return Listing(note=note)
    lines = NameLines(text)
    commands = Commands(Scripts(load))
    symbols = []
    for entry in map(mapping, sequence(value["west-commands"])):
        file = line_of(entry.get("file"))
        script = _script(path, file, load)
        for command in map(mapping, sequence(entry.get("commands"))):
            name = name_in(command.get("name"))
            if name:
                symbols.append(_command(path, name, command, script, commands, lines))
    return Listing(tuple(symbols), note=None if symbols else f"{path}: names no command")


def _script(path: str, file: str, load: Load) -> str | None:
    """The Python file that `file` means: relative to the project, whose folder is one of those
    above `path`."""
    if not file or file.startswith("/"):
        return None
    folder = posixpath.dirname(path)
    while True:
        place = posixpath.normpath(posixpath.join(folder, file))
        if load(place) is not None:
            return place
        if not folder or posixpath.basename(folder) == "..":
            return None
        folder = posixpath.dirname(folder)


def _command(
    path: str,
    name: str,
    command: dict[Any, Any],
    script: str | None,
    commands: Commands,
    lines: NameLines,
) -> Symbol:
    class_name = line_of(command.get("class"))
    options = commands.options(script, name, class_name) if script is not None else None
    details = _details(options) if options is not None else {}
    if script is not None:
        details["file"] = script
    if class_name:
        details["class"] = class_name
    line = lines.take(name)
    summary = line_of(command.get("help"))
    return Symbol(name, "west", path, line, line, cut(summary, HELP_CHARS),
                  _text(name, summary, options), details)  # fmt: skip


def _details(options: Options) -> dict[str, Any]:
    details = {
        "options": options.options,
        "positional": options.positional,
        "subcommands": options.subcommands,
        "passes_rest": options.passes_rest,
        "open_options": options.open_options,
        "exact": options.exact,
    }
    return {key: value for key, value in details.items() if value or key == "options"}


def _text(name: str, summary: str, options: Options | None) -> str:
    """What a search by meaning reads."""
    text = f"west {name}: {summary}"
    if options is None:
        return cut(text, TEXT_CHARS)
    if options.description and options.description != summary:
        text += "\n" + cut(options.description, _DESCRIPTION_CHARS)
    for spelling, said in options.options.items():
        line = f"{spelling}: {said}"
        if said and spelling.startswith("--") and len(text) + len(line) + 1 <= TEXT_CHARS:
            text += "\n" + line
    return cut(text, TEXT_CHARS)


# --- west's own


def builtin_commands() -> Listing:
    """Commands of the installed west, asked of its own parser. Nothing is run.

    Costs 0.14 s where west's modules are not loaded yet, and 8 ms where they are.
    """
    symbols: list[Symbol] = []
    try:
        main: Any = importlib.import_module("west.app.main")  # it has no types
        app = main.WestApp()
        parser, adder = app.make_parsers()
        for command in app.builtins.values():
            command.add_parser(adder)
            options = _introspected(command.parser)
            options.passes_rest |= getattr(command, "accepts_unknown_args", False) is True
            options.description = str(command.description or "").strip()
            symbols.append(_builtin(str(command.name), str(command.help or ""), options))
        symbols.append(_builtin("west", "west's own options, before a command",
                                _introspected(parser)))  # fmt: skip
    except Exception as error:  # west's inside: another release may have another
        return Listing(tuple(symbols), note=f"west: its own commands are not known: {error!r:.100}")
    return Listing(tuple(symbols))


def _builtin(name: str, summary: str, options: Options) -> Symbol:
    summary = " ".join(summary.split())
    return Symbol(name, "west", BUILT_IN, 0, 0, cut(summary, HELP_CHARS),
                  _text(name, summary, options), _details(options))  # fmt: skip


def _introspected(parser: Any) -> Options:
    import argparse

    options = Options(exact=not parser.allow_abbrev)
    for action in _actions(parser):
        said = "" if action.help is argparse.SUPPRESS else " ".join(str(action.help or "").split())
        said = cut(said.replace("%%", "%"), HELP_CHARS)
        for spelling in action.option_strings:
            options.options.setdefault(spelling, said)
        options.passes_rest |= action.nargs == argparse.REMAINDER
        if isinstance(action, argparse._SubParsersAction):
            options.subcommands += [str(name) for name in action.choices]
        elif not action.option_strings:
            options.positional.append(str(action.metavar or action.dest))
    return options


def _actions(parser: Any) -> Iterator[Any]:
    import argparse

    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction) and action.dest != "command":
            for below in action.choices.values():
                yield from _actions(below)
