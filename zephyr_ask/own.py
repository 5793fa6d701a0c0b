# SPDX-License-Identifier: Apache-2.0
"""What the checked files define themselves: an application's options, bindings, boards, code."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable

from zephyr_ask.report import Own

_OPTION = re.compile(r"^[ \t]*(?:menuconfig|config|choice)[ \t]+([A-Za-z0-9_]+)", re.MULTILINE)
_DEFINED = re.compile(r"compile_definitions(?:_ifdef)?[ \t]*\(([^()]*)", re.IGNORECASE)
_CONFIG = re.compile(r"(?<![\w{])CONFIG_(\w+)")
_COMPATIBLE = re.compile(r"""^[ \t]*compatible:[ \t]*["']?([^\s"'#]+)""", re.MULTILINE)
_NAME = re.compile(r"""^[ \t]*(?:-[ \t]+)?name:[ \t]*["']?([\w.+-]+)""", re.MULTILINE)
_SHIELD = re.compile(r"shields_list_contains,[ \t]*([^)\s]+)\)")

Found = defaultdict[str, set[str]]


def own_names(files: Iterable[tuple[str, str]]) -> Own:
    """What files, as (path, text), define: to be collected from all of a folder before any of it
    is checked. Texts that are not what their name says give nothing."""
    found: Found = defaultdict(set)
    for path, text in files:
        path = path.replace("\\", "/")
        for matches, collect in _COLLECT:
            if matches(path):
                collect(posixpath.basename(path), text, found)
    return Own(**{key: frozenset(names) for key, names in found.items()})


def _kconfig(name: str, text: str, found: Found) -> None:
    found["options"].update(_OPTION.findall(text))
    found["shields"].update(_SHIELD.findall(text))


def _cmake(name: str, text: str, found: Found) -> None:
    for arguments in _DEFINED.findall(text):
        found["options"].update(_CONFIG.findall(arguments))


def _code(name: str, text: str, found: Found) -> None:
    from zephyr_ask.syntaxes.code import defined_in

    names = defined_in(text)
    found["options"].update(n[7:] for n in names if n.startswith("CONFIG_"))
    found["api"].update(names)
    if name.endswith((".h", ".hpp", ".hh", ".hxx")):
        found["headers"].add(name)


def _binding(name: str, text: str, found: Found) -> None:
    found["compatibles"].update(_COMPATIBLE.findall(text))


def _board(name: str, text: str, found: Found) -> None:
    found["boards"].update(_NAME.findall(text))


def _shield(name: str, text: str, found: Found) -> None:
    found["shields"].update(_NAME.findall(text))


def _snippet(name: str, text: str, found: Found) -> None:
    found["snippets"].update(_NAME.findall(text)[:1])


def _suffix(*suffixes: str) -> Callable[[str], bool]:
    return lambda path: path.endswith(suffixes)


_COLLECT: list[tuple[Callable[[str], bool], Callable[[str, str, Found], None]]] = [
    (lambda path: posixpath.basename(path).startswith("Kconfig"), _kconfig),
    (_suffix("CMakeLists.txt", ".cmake"), _cmake),
    (_suffix(".c", ".h", ".cpp", ".hpp", ".cc", ".hh", ".cxx", ".hxx"), _code),
    (lambda path: bool(re.search(r"(?:^|/)bindings/.*\.ya?ml$", path)), _binding),
    (_suffix("/board.yml"), _board),
    (_suffix("/shield.yml"), _shield),
    (_suffix("/snippet.yml"), _snippet),
]
