# SPDX-License-Identifier: Apache-2.0
"""Kconfig symbols that no file of the tree spells out: the build makes them from bindings,
modules and boards. Their names by rule, as Zephyr 4.1's build makes them.

| file that the build writes | from | symbols | rule |
|---|---|---|---|
| Kconfig.dts | `compatible:` of every binding | DT_HAS_<X>_ENABLED | `dt_has` |
| Kconfig.modules | every project that is a module | ZEPHYR_<X>_MODULE, …_MODULE_BLOBS | `modules` |
| Kconfig.sysbuild.modules | the same | ZEPHYR_<X>_MODULE, of sysbuild | `modules` |
| boards/Kconfig.v2 of the tree | name and qualifiers of the target | BOARD_<X> | `board` |
| boards/Kconfig | the board's revision | BOARD_REVISION_<X> | `revision` |

All other files that it writes (soc/Kconfig.*, arch/Kconfig, Kconfig.shield, …) only source files
of the tree. SHIELD_<X> stand in Kconfig.shield, SOC_<X> in Kconfig.soc: written by hand.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from zephyr_ask.sources.yaml_text import load_yaml, mapping, sequence, word
from zephyr_ask.types import Listing, Symbol

_DEVICETREE = str.maketrans("-,.@/+", "______")
_NOT_WORD = re.compile(r"[^A-Za-z0-9_]")
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]")
_NAME_LINE = re.compile(r"^name[ \t]*:", re.MULTILINE)


def dt_has(compatible: str) -> str:
    """ "nordic,nrf-uarte" → "DT_HAS_NORDIC_NRF_UARTE_ENABLED" """
    return f"DT_HAS_{compatible.upper().translate(_DEVICETREE)}_ENABLED"


def modules(name: str) -> tuple[str, str]:
    """ "hal_nordic" → "ZEPHYR_HAL_NORDIC_MODULE", and what the module has if it has blobs."""
    module = f"ZEPHYR_{_NOT_ALNUM.sub('_', name).upper()}_MODULE"
    return module, f"{module}_BLOBS"


def board(target: str) -> str:
    """ "nrf52840dk" → "BOARD_NRF52840DK"; "nrf52840dk/nrf52840" → "BOARD_NRF52840DK_NRF52840"

    Every board has the first; every target, without its revision, the second.
    """
    return f"BOARD_{_NOT_WORD.sub('_', target).upper()}"


def revision(name: str) -> str:
    """ "0.14.0" → "BOARD_REVISION_0_14_0" """
    return f"BOARD_REVISION_{_NOT_WORD.sub('_', name).upper()}"


def read_module(path: str, text: str) -> Listing:
    """The symbols of a module, from its zephyr/module.yml.

    A module that does not say its name has that of its folder.
    """
    value, note = load_yaml(path, text)
    if note is None and not isinstance(value, dict) and value is not None:
        note = f"{path}: a mapping of keys is expected, and this is none"
    if note is not None:
        return Listing(note=note)
    data = mapping(value)
    name = word(data.get("name")).strip()
    if not name:
        name = posixpath.basename(posixpath.dirname(posixpath.dirname(path)))
    if not _NOT_WORD.sub("", name):
        return Listing(note=f"{path}: has no name, nor has its folder")
    found = _NAME_LINE.search(text)
    line = text.count("\n", 0, found.start()) + 1 if found else 1
    module, blobs = modules(name)
    there = f"Set where the module {name} is in the workspace."
    symbols = [_symbol(module, path, line, there, scope, True) for scope in ("app", "sysbuild")]
    if sequence(data.get("blobs")):
        said = f"The module {name} offers binary blobs."
        symbols.insert(1, _symbol(blobs, path, line, said, "app", False))
    return Listing(tuple(symbols))


def _symbol(name: str, path: str, line: int, said: str, scope: str, default: bool) -> Symbol:
    """`details` as those of kconfig.py, with {"generated": true}."""
    details: dict[str, Any] = {"type": "bool", "help": said, "scope": scope, "generated": True}
    if default:
        details["defaults"] = [{"value": "y"}]
    return Symbol(name, "kconfig", path, line, line, "", said, details)
