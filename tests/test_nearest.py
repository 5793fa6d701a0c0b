# SPDX-License-Identifier: Apache-2.0
"""Suggestions: the intended name among the first three, quickly, and nothing for noise."""

from __future__ import annotations

import importlib.util
import random
import time
from types import ModuleType

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.nearest import Lexicon, score, suggest, words


def load_alter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("alter", ROOT / "scripts" / "alter.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ALTER = load_alter()

SUBSYSTEMS = [
    "NET",
    "BT",
    "UART",
    "SPI",
    "I2C",
    "GPIO",
    "LOG",
    "SHELL",
    "FLASH",
    "PM",
    "USB",
    "CAN",
]
OBJECTS = ["BUFFER", "THREAD", "STACK", "TIMEOUT", "BACKEND", "QUEUE", "SESSION", "CHANNEL", "CACHE",
           "POOL", "DISPLAY", "PARTITION", "HANDSHAKE", "ENDPOINT", "RETRY", "WATCHDOG"]  # fmt: skip
ASPECTS = ["SIZE", "COUNT", "PRIORITY", "MAX", "DEBUG", "ASYNC", "INIT", "LEVEL", "MODE", "PERIOD"]


def invented(number: int, seed: int = 7) -> list[str]:
    """Distinct names that have their words in common, as real ones have, each with a part number
    or another rare word now and then."""
    rng = random.Random(seed)
    names: dict[str, None] = {}
    while len(names) < number:
        parts = [rng.choice(SUBSYSTEMS), rng.choice(OBJECTS), rng.choice(ASPECTS)]
        if rng.random() < 0.85:
            chip = "".join(rng.choices("ABCDEFGHKLMNPRST", k=3)) + str(rng.randrange(10, 9999))
            parts.insert(1, chip)
        if rng.random() < 0.3:
            parts.insert(rng.randrange(1, 3), rng.choice(OBJECTS))
        names["_".join(parts)] = None
    return list(names)


def test_words() -> None:
    assert words("nordic,nrf-uarte") == ["NORDIC", "NRF", "UARTE"]
    assert words("samples/basic/blinky") == ["SAMPLES", "BASIC", "BLINKY"]
    assert words("__a__") == ["A"]
    assert words("") == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SHELL_BACKEND_UART", "SHELL_BACKEND_SERIAL"),
        ("SPEED_OPTIMIZED", "SPEED_OPTIMIZATIONS"),
        ("BT_MAX_CONNECTIONS", "BT_MAX_CONN"),
        ("HEAP_MEMORY_POOL_SIZE", "HEAP_MEM_POOL_SIZE"),
        ("ENABLE_SHELL_HISTORY", "SHELL_HISTORY"),
        ("HISTORY_SHELL", "SHELL_HISTORY"),
        ("MAIN_STAKC_SIZE", "MAIN_STACK_SIZE"),
        ("PM_DEVICES", "PM_DEVICE"),
    ],
)
def test_the_mistakes_that_models_make(wrong: str, right: str) -> None:
    real = ["SHELL_BACKEND_SERIAL", "SHELL_BACKEND_RTT", "SHELL_HISTORY", "SPEED_OPTIMIZATIONS",
            "SIZE_OPTIMIZATIONS", "BT_MAX_CONN", "BT_MAX_PAIRED", "HEAP_MEM_POOL_SIZE",
            "MAIN_STACK_SIZE", "IDLE_STACK_SIZE", "PM_DEVICE", "PM", "UART_ASYNC_API"]  # fmt: skip
    assert suggest(wrong, real)[0] == right


def test_a_wrong_vendor() -> None:
    real = ["bosch,bme280", "bosch,bmi160", "nordic,nrf-uart", "nordic,nrf-uarte", "st,lis2dh"]
    assert suggest("bosh,bme280", real)[0] == "bosch,bme280"
    assert suggest("st,bme280", real)[0] == "bosch,bme280"
    assert suggest("nordic,uarte", real)[0] == "nordic,nrf-uarte"


def test_nothing_for_noise_and_no_more_than_asked_for() -> None:
    real = invented(500)
    assert suggest("ZYZZYVA_QUUXLE", real) == []
    assert suggest("", real) == suggest("___", real) == []
    assert suggest("UART_BUFFER", []) == []
    assert len(suggest("UART_BUFFER_SIZE", real, 5)) <= 5
    assert suggest("UART_BUFFER_SIZE", real, 0) == []


def test_the_name_itself_is_no_suggestion() -> None:
    assert "SHELL_HISTORY" not in suggest("SHELL_HISTORY", ["SHELL_HISTORY", "SHELL_HISTORIES"])


def test_a_lexicon_takes_names_as_one_string() -> None:
    real = invented(300)
    wrong = real[17] + "_SUPPORT"
    assert suggest(wrong, Lexicon("\n".join(real))) == suggest(wrong, real)
    assert suggest(wrong, Lexicon("\r\n".join(real[:5]))) is not None


def test_score_is_one_for_the_same_words_only() -> None:
    same = score("A_BCD_EFG", "A_BCD_EFG", lambda word: 1.0)
    assert same == 1.0
    assert 0 < score("A_BCD_EFG", "A_EFG_BCD", lambda word: 1.0) < same
    assert score("ABC", "XYZ", lambda word: 1.0) == 0.0
    assert score("", "", lambda word: 1.0) == 0.0


@pytest.mark.parametrize(("size", "least"), [(4_000, 0.9), (20_000, 0.85)])
def test_the_intended_name_is_among_the_first_three(size: int, least: float) -> None:
    real = invented(size)
    known = frozenset(real)
    rng = random.Random(3)
    found = 0
    taken: list[float] = []
    for name in rng.sample(real, 100):
        altered, _ = ALTER.alter(name, "kconfig", rng, known)
        start = time.process_time()
        found += name in suggest(altered, real)
        taken.append(time.process_time() - start)
    assert found >= 100 * least
    # With what is prepared for it; half of them, since the machine has other things to do.
    assert sorted(taken)[50] < 0.08


def test_altered_names_are_never_real() -> None:
    real = frozenset(invented(2_000))
    rng = random.Random(5)
    hows = set()
    for name in sorted(real)[:300]:
        altered, how = ALTER.alter(name, "kconfig", rng, real)
        assert altered not in real and altered != name
        hows.add(how)
    assert {"dropped", "swapped", "paraphrased", "added", "number", "slip"} <= hows
    assert ALTER.alter("a,b-c", "binding", random.Random(1), {"a,b-c"}) == ALTER.alter(
        "a,b-c", "binding", random.Random(1), {"a,b-c"}
    )


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.lists(st.text(max_size=30), max_size=20))
def test_any_text_may_be_asked_for(name: str, real: list[str]) -> None:
    assert len(suggest(name, real)) <= 3
