# SPDX-License-Identifier: Apache-2.0
"""A west command's Python file → the options it takes, without running a line of it.

Followed are calls of argparse's methods in the command's do_add_parser and in every function
that a parser is handed to, as far as `Scripts` finds the function. Handing a parser to anything
else leaves the options open.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from zephyr_ask.sources.commands_modules import (
    Function,
    Module,
    arguments_of,
    called,
    constant,
    name_of,
    parameters,
    text_of,
)
from zephyr_ask.sources.commands_scripts import Place, Scripts
from zephyr_ask.sources.yaml_text import cut

HELP_CHARS = 200
_DEPTH = 6  # of calls that are followed; Zephyr's need 3
_MAKERS = frozenset(
    ("add_parser", "add_subparsers", "add_argument_group", "add_mutually_exclusive_group",
     "ArgumentParser")
)  # fmt: skip
_HARMLESS = frozenset(
    ("getattr", "hasattr", "id", "isinstance", "len", "print", "repr", "str", "type", "vars")
)


@dataclass(slots=True)
class Options:
    """What a command takes. `options`: every spelling of an option → its help."""

    options: dict[str, str] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)
    subcommands: list[str] = field(default_factory=list)
    description: str = ""
    passes_rest: bool = False  # what it does not know goes on to another program
    open_options: bool = False  # it takes options that were not found
    exact: bool = False  # long options cannot be abbreviated


class Commands:
    """Reads the options of the commands of one project; those of runners once for all."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts
        self._runners: dict[str, Options] = {}

    def options(self, path: str, name: str, class_name: str) -> Options | None:
        """Of the command `name`, whose class is in the file at `path`; None without either."""
        module = self._scripts.at(path)
        found = self._scripts.command_class(module, class_name) if module is not None else None
        if module is None or found is None:
            return None
        options = Options()
        walk = _Walk(self._scripts, name, options)
        try:
            walk.start(Place(module, found))
        except RecursionError:  # an expression of thousands of parts
            options.open_options = True
        if posixpath.join(posixpath.dirname(path), "run_common.py") in walk.files:
            self._add_runners(path, options)
        if not options.open_options:
            for spelling in ("-h", "--help"):
                options.options.setdefault(spelling, "show the command's help")
        return options

    def _add_runners(self, path: str, options: Options) -> None:
        """Options of the programs that flash and debug, which such commands pass theirs to."""
        folder = posixpath.join(posixpath.dirname(path), "runners")
        if folder not in self._runners:
            self._runners[folder] = self._read_runners(folder)
        for spelling, said in self._runners[folder].options.items():
            options.options.setdefault(spelling, said)
        options.open_options |= self._runners[folder].open_options

    def _read_runners(self, folder: str) -> Options:
        walk = _Walk(self._scripts, "", Options())
        listing = self._scripts.at(f"{folder}/__init__.py")
        names = listing.texts.get("_names") if listing is not None else None
        if not isinstance(names, ast.List):
            return Options(open_options=True)
        for name in ["core", *map(constant, names.elts)]:
            module = self._scripts.at(f"{folder}/{name}.py")
            if module is None:
                walk.options.open_options = True
                continue
            for found in module.classes.values():
                for method in ("add_parser", "do_add_parser"):
                    walk.method(Place(module, found), method)
        return walk.options


class _Walk:
    """Goes through the functions that make one command's parser."""

    def __init__(self, scripts: Scripts, command: str, options: Options) -> None:
        self.command = command
        self.options = options
        self.files: set[str] = set()
        self._scripts = scripts
        self._seen: set[int] = set()

    def start(self, place: Place) -> None:
        found = self._scripts.method(place, "__init__")
        if found is not None:
            self._init(*found)
        if not self.method(place, "do_add_parser"):
            self.options.open_options = True

    def method(self, place: Place, name: str) -> bool:
        found = self._scripts.method(place, name)
        if found is None:
            return False
        self._function(*found, 0, parameters(found[1], found[0].owner))
        return True

    def _init(self, place: Place, function: Function) -> None:
        """What the constructor tells west."""
        for call in ast.walk(function):
            if not (isinstance(call, ast.Call) and called(call) == "__init__"):
                continue
            said = {keyword.arg: keyword.value for keyword in call.keywords}
            said |= dict(zip(("name", "help", "description", "accepts_unknown_args"), call.args,
                             strict=False))  # fmt: skip
            rest = said.get("accepts_unknown_args")
            self.options.passes_rest = isinstance(rest, ast.Constant) and rest.value is True
            if "description" in said:
                description = text_of(said["description"], place.module)
                self.options.description = re.sub(r"\n+…(?=\n|$)", "", description).strip()

    def _function(
        self, place: Place, function: Function, depth: int, parsers: Collection[str]
    ) -> None:
        """`parsers`: those of its parameters that are parsers, or add them."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self.files.add(place.module.path)
        body = _Body(self, place, depth, parsers)
        for statement in function.body:
            body.visit(statement)

    def follow(
        self, place: Place, call: ast.Call, depth: int, is_parser: Callable[[ast.expr], bool]
    ) -> None:
        """A function that a parser is handed to."""
        found = self._scripts.callee(place, call.func)
        if found is None or depth >= _DEPTH:
            self.options.open_options = True
            return
        names = parameters(found[1], found[0].owner)
        said = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
        parsers = {name for name, value in said if name and is_parser(value)}
        if len(parsers) < sum(map(is_parser, arguments_of(call))):
            self.options.open_options = True  # in *arguments, …
        self._function(*found, depth + 1, parsers)


class _Body(ast.NodeVisitor):
    """One function: which of its names are parsers, and what is done with them."""

    def __init__(self, walk: _Walk, place: Place, depth: int, parsers: Collection[str]) -> None:
        self._walk = walk
        self._place = place
        self._module: Module = place.module
        self._depth = depth
        self._parsers = set(parsers)
        self._loops: dict[str, list[str]] = {}

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        value = node.value
        if isinstance(value, ast.Call) and (
            called(value) in _MAKERS or any(map(self._is_parser, arguments_of(value)))
        ):
            self._parsers |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name) and isinstance(node.iter, (ast.List, ast.Tuple)):
            items = [constant(item) for item in node.iter.elts]
            self._loops[node.target.id] = items if all(items) else []
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name = called(node)
        if isinstance(node.func, ast.Attribute) and name == "add_argument":
            self._argument(node)
        elif name in _MAKERS:
            self._maker(node)
        elif name not in _HARMLESS and any(map(self._is_parser, arguments_of(node))):
            self._walk.follow(self._place, node, self._depth, self._is_parser)

    def _is_parser(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._parsers

    def _maker(self, node: ast.Call) -> None:
        options = self._walk.options
        for keyword in node.keywords:
            value = getattr(keyword.value, "value", None)
            if keyword.arg == "allow_abbrev" and value is False:
                options.exact = True
            if keyword.arg == "parents":
                named = keyword.value.elts if isinstance(keyword.value, ast.List) else [None]
                options.open_options |= not all(n is not None and self._is_parser(n) for n in named)
        if called(node) == "add_parser" and node.args:
            name = text_of(node.args[0], self._module)
            if name and name != self._walk.command and name not in options.subcommands:
                options.subcommands.append(name)

    def _argument(self, node: ast.Call) -> None:
        options = self._walk.options
        said = {keyword.arg: keyword.value for keyword in node.keywords}
        found = [self._spellings(argument) for argument in node.args]
        options.open_options |= not all(found)
        spellings = [spelling for each in found for spelling in each]
        if not spellings:
            return
        if name_of(said.get("nargs")) == "REMAINDER" or constant(said.get("nargs")) == "...":
            options.passes_rest = True
        if not spellings[0].startswith("-"):
            name = constant(said.get("metavar")) or spellings[0]
            if name not in options.positional:
                options.positional.append(name)
            return
        if name_of(said.get("action")) == "BooleanOptionalAction":
            spellings += ["--no-" + s[2:] for s in spellings if s.startswith("--")]
        text = _help(said.get("help"), said.get("default"), self._module)
        for spelling in spellings:
            if not options.options.get(spelling):
                options.options[spelling] = text

    def _spellings(self, node: ast.expr) -> list[str]:
        if isinstance(node, ast.Name) and node.id in self._loops:
            return self._loops[node.id]
        text = "" if isinstance(node, ast.JoinedStr) else text_of(node, self._module)
        return [text] if text else []


def _help(node: ast.expr | None, default: ast.expr | None, module: Module) -> str:
    text = " ".join(text_of(node, module).split())
    if isinstance(default, ast.Constant) and default.value is not None:
        text = text.replace("%(default)s", str(default.value))
    text = re.sub(r"%\(\w+\)s", "…", text).replace("%%", "%")
    return cut(text, HELP_CHARS)
