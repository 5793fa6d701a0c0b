# SPDX-License-Identifier: Apache-2.0
"""Alter a real name the way language models get names wrong; for evaluations."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection

# What models write for what the tree says, either way round. Kept apart from the table of
# zephyr_ask/nearest.py: this one says what goes wrong, that one what is recognised.
_PARAPHRASES = """
    UART SERIAL|MEM MEMORY|BUF BUFFER|SIZE LEN|COUNT NUM|PRIO PRIORITY|IRQ INTERRUPT|CONN CONNECTION
    CTLR CONTROLLER|BT BLUETOOTH|BT BLE|NET NETWORK|LOG LOGGING|DEBUG DBG|PM POWER|WDT WATCHDOG
    ADV ADVERTISING|ENTROPY RNG|FS FILESYSTEM|INIT INITIALIZATION|DEV DEVICE|MSG MESSAGE
    ADDR ADDRESS
    MGMT MANAGEMENT|CLOCK CLK|FREQ FREQUENCY|DISPLAY SCREEN|RX RECEIVE|TX TRANSMIT|SEM SEMAPHORE
    ETH ETHERNET|STATS STATISTICS|SHELL CONSOLE|TIMEOUT DELAY|BACKEND DRIVER|HEAP POOL|FLASH NVM
    MAX MAXIMUM|PERIPHERAL SLAVE|CENTRAL MASTER|INST INSTANCE|SEC SECURITY|PKT PACKET|LEVEL LVL
"""
_ADDED_KCONFIG = re.findall(
    r"\S+",
    """ENABLE SUPPORT DRIVER ENABLED USE DEVICE MODE API DEFAULT SUBSYS MODULE SYSTEM ZEPHYR""",
)
_ADDED = ["device", "v2", "controller", "dev", "module", "ext"]
_VENDORS = re.findall(
    r"\S+", "nordic st nxp zephyr arm atmel espressif bosch ti microchip infineon silabs"
)


def alter(name: str, kind: str, rng: random.Random, names: Collection[str]) -> tuple[str, str]:
    """A wrong name made of a real one, and what was done to it.

    `kind`: a SymbolKind. `names`: every real name of the kind, a set for speed; the result is
    none of them. `how`: "dropped", "swapped", "paraphrased", "added", "number", "slip" or, for
    compatibles, "vendor".
    """
    ways = _WAYS + ([("vendor", _vendor)] * 3 if kind == "binding" and "," in name else [])
    for how, way in [rng.choice(ways) for _ in range(50)]:
        altered = way(name, rng)
        if altered and altered != name and altered not in names:
            return altered, how
    return name + ("_SUPPORT" if name.isupper() else "_support"), "added"


def _split(name: str) -> tuple[list[str], list[str]]:
    """Words and the joints between them: one joint fewer than words."""
    return re.split(r"[^A-Za-z0-9]+", name), re.findall(r"[^A-Za-z0-9]+", name)


def _join(words: list[str], joints: list[str]) -> str:
    joints = [*joints, *["_" if not joints else joints[-1]] * len(words)]
    return "".join(
        word + (joints[index] if index < len(words) - 1 else "") for index, word in enumerate(words)
    )


def _dropped(name: str, rng: random.Random) -> str:
    words, joints = _split(name)
    if len(words) < 3:
        return ""
    at = rng.randrange(1 if "," in name else 0, len(words))
    del words[at]
    del joints[max(at - 1, 0)]
    return _join(words, joints)


def _swapped(name: str, rng: random.Random) -> str:
    words, joints = _split(name)
    first = 1 if "," in name else 0
    if len(words) - first < 2:
        return ""
    at = rng.randrange(first, len(words) - 1)
    words[at], words[at + 1] = words[at + 1], words[at]
    return _join(words, joints)


def _paraphrased(name: str, rng: random.Random) -> str:
    words, joints = _split(name)
    pairs = [group.split() for group in _PARAPHRASES.replace("\n", "|").split("|") if group.strip()]
    found = [
        (index, pair[1 - pair.index(word.upper())])
        for index, word in enumerate(words)
        for pair in pairs
        if word.upper() in pair
    ]
    if not found:
        return ""
    at, other = rng.choice(found)
    words[at] = other if words[at].isupper() else other.lower()
    return _join(words, joints)


def _added(name: str, rng: random.Random) -> str:
    words, joints = _split(name)
    upper = name.isupper()
    at = rng.randrange(1, len(words) + 1)
    words.insert(at, rng.choice(_ADDED_KCONFIG if upper else _ADDED))
    joint = "_" if upper or "_" in name else "-"
    joints.insert(at - 1, joint)
    return _join(words, joints)


def _number(name: str, rng: random.Random) -> str:
    """Plural for singular or the other way round."""
    words, joints = _split(name)
    at = rng.choice([i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()] or [-1])
    if at < 0 or (at == 0 and "," in name):
        return ""
    s = "S" if words[at].isupper() else "s"
    words[at] = words[at][:-1] if words[at].endswith(s) else words[at] + s
    return _join(words, joints)


def _slip(name: str, rng: random.Random) -> str:
    """Two neighbours swapped, or a letter left out or doubled, in a long word."""
    words, joints = _split(name)
    long = [index for index, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return ""
    at = rng.choice(long)
    word = words[at]
    i = rng.randrange(1, len(word) - 1)
    words[at] = rng.choice(
        (
            word[:i] + word[i + 1] + word[i] + word[i + 2 :],
            word[:i] + word[i + 1 :],
            word[:i] + word[i] + word[i:],
        )
    )
    return _join(words, joints)


def _vendor(name: str, rng: random.Random) -> str:
    return f"{rng.choice(_VENDORS)},{name.split(',', 1)[1]}"


_WAYS: list[tuple[str, Callable[[str, random.Random], str]]] = [
    ("dropped", _dropped),
    ("swapped", _swapped),
    ("paraphrased", _paraphrased),
    ("added", _added),
    ("number", _number),
    ("slip", _slip),
]
