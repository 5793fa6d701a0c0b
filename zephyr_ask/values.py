# SPDX-License-Identifier: Apache-2.0
"""Whether a .conf file may give an option a value, by Zephyr's rules, or more leniently.

A false alarm is worse than a miss: what depends on other options (a range with a condition, a
prompt with one) is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from zephyr_ask.types import Symbol

_STRING = re.compile(r'"(?:\\.|[^"\\])*"\s*(?:#.*)?')
_INTEGER = re.compile(r"[+-]?\d+")
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]+")


def type_of(symbols: Sequence[Symbol]) -> str:
    """The type that all definitions agree on; "" where they do not, or none says."""
    types = {symbol.details["type"] for symbol in symbols if symbol.details.get("type")}
    return str(types.pop()) if len(types) == 1 else ""


def wrong_value(symbols: Sequence[Symbol], value: str, quoted: bool = True) -> str | None:
    """What is wrong with `CONFIG_X=value`, in one phrase; None where it may be right.

    `value`: all that stands right of "=", and before it if there are spaces. `quoted`: False
    where a shell or YAML took the quotes off strings already.
    """
    kind = type_of(symbols)
    if value[:1] in (" ", "\t") and value.strip():
        return 'no spaces around "="'
    text = value.strip()
    bare = re.sub(r"\s+#.*", "", text)
    if kind in ("bool", "tristate"):
        allowed = "yn" if kind == "bool" else "ymn"
        if len(bare) == 1 and bare in allowed:
            return None
        meant = _meant(bare)
        return f"a {kind} takes {' or '.join(allowed) if kind == 'bool' else 'y, m or n'}" + (
            f": write {meant}" if meant else ""
        )
    if kind == "string":
        if quoted and not _STRING.fullmatch(text):
            return f'a string stands in quotes: write "{text.strip(chr(34))}"'
        return None
    if kind in ("int", "hex"):
        return _wrong_number(symbols, kind, bare)
    return None


def _meant(value: str) -> str:
    word = value.strip("\"'").lower()
    if word in ("y", "yes", "true", "1", "on", "enable", "enabled"):
        return "y"
    return "n" if word in ("n", "no", "false", "0", "off", "disable", "disabled") else ""


def _wrong_number(symbols: Sequence[Symbol], kind: str, value: str) -> str | None:
    if kind == "int" and not _INTEGER.fullmatch(value):
        number = int(value, 16) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}", value) else None
        return "an int takes a decimal number" + (f": write {number}" if number is not None else "")
    if kind == "hex" and not _HEX.fullmatch(value):
        return "a hex takes a hexadecimal number such as 0x1f"
    if len(value) > 30:
        return None
    number = int(value, 10 if kind == "int" else 16)
    bounds = _range(symbols, kind)
    if bounds and not bounds[0] <= number <= bounds[1]:
        low, high = (f"{b}" if kind == "int" else f"{b:#x}" for b in bounds)
        return f"out of range {low} to {high}"
    return None


def _range(symbols: Sequence[Symbol], kind: str) -> tuple[int, int] | None:
    """The range that holds whatever else is set, the widest; None where one is not literal or has
    a condition, or where a definition that can be set has none."""
    found: list[tuple[int, int]] = []
    for symbol in symbols:
        ranges = symbol.details.get("ranges", [])
        if not ranges and symbol.details.get("prompt"):
            return None  # where only this definition holds, anything goes
        for entry in ranges:
            low, high = str(entry.get("low", "")), str(entry.get("high", ""))
            if entry.get("if") or not (_literal(low, kind) and _literal(high, kind)):
                return None
            base = 10 if kind == "int" else 16
            found.append((int(low, base), int(high, base)))
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def _literal(text: str, kind: str) -> bool:
    pattern = _INTEGER if kind == "int" else re.compile(r"0[xX][0-9a-fA-F]+")
    return bool(pattern.fullmatch(text)) and len(text) < 30


def can_be_set(symbols: Sequence[Symbol]) -> bool:
    """Whether some definition has a prompt, under whatever condition."""
    entries = [symbol for symbol in symbols if not symbol.details.get("configdefault")]
    return not entries or any(symbol.details.get("prompt") for symbol in entries)
