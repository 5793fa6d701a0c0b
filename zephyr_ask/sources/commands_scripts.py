# SPDX-License-Identifier: Apache-2.0
"""The Python files of one file of west commands: where a function or a class that one of them
names is defined, found by what they import, without importing anything.

A module is looked for beside the file that names it, in the folder above, and where the file's
own sys.path lines point.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from zephyr_ask.sources.commands_modules import (
    Function,
    Module,
    method_of,
    name_of,
    parse_module,
)
from zephyr_ask.types import Load

_BASES = 6  # classes up from a command's; Zephyr's have 1 that is in the tree
_FILES = 2000  # asked for, most of which are not there; Zephyr's own commands ask for 126


class Place(NamedTuple):
    """Where code stands: in a class, or in none."""

    module: Module
    owner: ast.ClassDef | None


class Scripts:
    """`load`: path → text of a file of the tree, or None."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._modules: dict[str, Module | None] = {}

    def at(self, path: str) -> Module | None:
        """The file at `path`; None if it is not there or is no Python."""
        if path not in self._modules:
            text = self._load(path) if len(self._modules) < _FILES else None
            self._modules[path] = None if text is None else parse_module(path, text)
        return self._modules[path]

    def command_class(self, module: Module, name: str) -> ast.ClassDef | None:
        """The class `name`; without a name the only one that adds a parser."""
        if name:
            return module.classes.get(name)
        found = [c for c in module.classes.values() if method_of(c, "do_add_parser") is not None]
        return found[0] if len(found) == 1 else None

    def imported(self, name: str, user: Module) -> Module | None:
        """The module that `import name` in `user` finds, if it is one of the tree's."""
        tail = name.replace(".", "/")
        folder = posixpath.dirname(user.path)
        roots = [folder, posixpath.dirname(folder)] if folder else [""]
        places = [*roots, *(posixpath.join(root, more) for more in user.folders for root in roots)]
        for place in dict.fromkeys(places):
            for end in (".py", "/__init__.py"):
                found = self.at(posixpath.normpath(posixpath.join(place, tail + end)))
                if found is not None:
                    return found
        return None

    def method(self, place: Place, name: str, depth: int = 0) -> tuple[Place, Function] | None:
        """A method of a class or of its bases, and where it is."""
        if place.owner is None:
            return None
        found = method_of(place.owner, name)
        if found is not None:
            return place, found
        for base in self.bases(place) if depth < _BASES else ():
            where = self.method(base, name, depth + 1)
            if where is not None:
                return where
        return None

    def bases(self, place: Place) -> Iterator[Place]:
        """The base classes of a class that are found."""
        module = place.module
        for base in place.owner.bases if place.owner is not None else ():
            if isinstance(base, ast.Attribute):
                source, name = module.imports.get(name_of(base.value), ("", ""))[0], base.attr
            else:
                name = name_of(base)
                if name in module.classes:
                    yield Place(module, module.classes[name])
                source, name = module.imports.get(name, ("", ""))
            other = self.imported(source, module) if source else None
            if other is not None and name in other.classes:
                yield Place(other, other.classes[name])

    def callee(self, place: Place, target: ast.expr) -> tuple[Place, Function] | None:
        """The function that a call's target names."""
        module = place.module
        if isinstance(target, ast.Name):
            return self._function(module, target.id)
        if not isinstance(target, ast.Attribute):
            return None
        value, name = target.value, target.attr
        if isinstance(value, ast.Call) and name_of(value.func) == "super":
            found = (self.method(base, name) for base in self.bases(place))
            return next((where for where in found if where is not None), None)
        owner = value.id if isinstance(value, ast.Name) else ""
        if owner in ("self", "cls"):
            return self.method(place, name)
        if owner in module.classes:
            return self.method(Place(module, module.classes[owner]), name)
        source, inner = module.imports.get(owner, ("", ""))
        whole = f"{source}.{inner}" if inner else source
        other = self.imported(whole, module) if whole else None
        return self._function(other, name) if other is not None else None

    def _function(self, module: Module, name: str) -> tuple[Place, Function] | None:
        if name in module.functions:
            return Place(module, None), module.functions[name]
        source, inner = module.imports.get(name, ("", ""))
        other = self.imported(source, module) if source and inner else None
        if other is None or inner not in other.functions:
            return None
        return Place(other, None), other.functions[inner]
