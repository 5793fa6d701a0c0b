# SPDX-License-Identifier: Apache-2.0
"""A Python file as far as it can be known without running it: its functions, classes, imports
and constant texts."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_CHARS = 1_000_000  # of a file; the largest of Zephyr's commands has 60,000
_DEF = (ast.FunctionDef, ast.AsyncFunctionDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    path: str
    functions: dict[str, Function]
    classes: dict[str, ast.ClassDef]
    imports: dict[str, tuple[str, str]]  # name here → (module, name there or "")
    texts: dict[str, ast.expr]  # what a name of the module is set to
    folders: tuple[str, ...]  # where it looks for modules, relative to one of its own folders


def parse_module(path: str, text: str) -> Module | None:
    if len(text) > _CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\\d" in somebody's text is not ours to report
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None
    module = Module(path, {}, {}, {}, {}, tuple(_folders(text)))
    for node in _statements(tree.body):
        if isinstance(node, _DEF):
            module.functions[node.name] = node
        elif isinstance(node, ast.ClassDef):
            module.classes[node.name] = node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (node.module or "", alias.name)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            module.texts[node.targets[0].id] = node.value
    return module


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Of a module, those inside `if` and `try` among them."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try)):
            yield from _statements(node.body)
            yield from _statements(node.orelse)
        else:
            yield node


_PATH_LINE = re.compile(r"^[ \t]*sys\.path\.(?:insert|append)\((.*)\)", re.MULTILINE)


def _folders(text: str) -> Iterator[str]:
    """The constant ends of what a file adds to sys.path: "pylib/twister"."""
    for match in _PATH_LINE.finditer(text):
        parts = re.findall(r"""["']([\w./-]+)["']""", match[1])
        if parts:
            yield "/".join(part.strip("/") for part in parts)


def method_of(node: ast.ClassDef, name: str) -> Function | None:
    return next((f for f in node.body if isinstance(f, _DEF) and f.name == name), None)


def parameters(function: Function, owner: ast.ClassDef | None) -> list[str]:
    """Names of a function's positional parameters, but a method's `self`."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    static = any(name_of(decorator) == "staticmethod" for decorator in function.decorator_list)
    return names if owner is None or static else names[1:]


# --- values


def called(call: ast.Call) -> str:
    return name_of(call.func)


def name_of(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def arguments_of(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def constant(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def text_of(node: ast.expr | None, module: Module, depth: int = 8) -> str:
    """A text as far as it is constant; "…" for what is filled in at run time."""
    if node is None or not depth:
        return ""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        parts = [text_of(p.value, module, depth - 1) or "…" if isinstance(p, ast.FormattedValue)
                 else constant(p) for p in node.values]  # fmt: skip
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left, module, depth - 1) + text_of(node.right, module, depth - 1)
    if isinstance(node, ast.IfExp):
        return text_of(node.body, module, depth - 1)
    if isinstance(node, ast.Call) and called(node) == "dedent" and node.args:
        return text_of(node.args[0], module, depth - 1)
    if isinstance(node, ast.Name):
        return text_of(module.texts.get(node.id), module, depth - 1)
    return ""
