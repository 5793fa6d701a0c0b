# SPDX-License-Identifier: Apache-2.0
"""Board targets, from what `hardware.py` reads: board/soc[/cpucluster][/variant…].

A target is written as in `west build -b`, without a revision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from zephyr_ask.types import Symbol

Details = Mapping[str, Any]
Clusters = Mapping[str, Sequence[str]]  # name of a SoC → its CPU clusters


def soc_index(socs: Iterable[Symbol]) -> dict[str, list[str]]:
    """Name of a SoC → its CPU clusters, those that other files add among them."""
    found: dict[str, list[str]] = {}
    later: list[Symbol] = []
    for symbol in socs:
        if symbol.kind != "soc" or symbol.details.get("level") != "soc":
            continue
        if symbol.details.get("extend"):
            later.append(symbol)
        else:
            found.setdefault(symbol.name, list(symbol.details.get("cpuclusters", [])))
    for symbol in later:
        known = found.setdefault(symbol.name, [])
        known += [name for name in symbol.details.get("cpuclusters", []) if name not in known]
    return found


def board_targets(symbols: Iterable[Symbol]) -> dict[str, list[str]]:
    """Every board → its targets, from the "board" and "soc" symbols of a whole tree."""
    symbols = list(symbols)
    clusters = soc_index(symbols)
    boards: dict[str, Details] = {}
    extensions: dict[str, list[Details]] = defaultdict(list)
    for symbol in symbols:
        if symbol.kind == "board":
            if symbol.details.get("extend"):
                extensions[symbol.name].append(symbol.details)
            else:
                boards.setdefault(symbol.name, symbol.details)
    return {
        name: [f"{name}/{below}" for below in targets(details, clusters, extensions[name])]
        for name, details in boards.items()
    }


def targets(board: Details, soc_index: Clusters, extensions: Iterable[Details] = ()) -> list[str]:
    """Qualifiers of a board ("nrf5340/cpuapp/ns"), in the order of its file; [] for one without
    any, which is its own only target. `extensions`: details of the symbols that extend it.

    A SoC that `soc_index` does not know has the clusters that the board's variants name.
    """
    added: dict[str, list[str]] = defaultdict(list)
    for extension in extensions:
        for variant in extension.get("variants", []):
            added[variant.get("qualifier", "")].append(variant["name"])
    found: list[str] = []
    for soc in board.get("socs", []):
        name, variants = soc["name"], soc.get("variants", [])
        named = [v["cpucluster"] for v in variants if v.get("cpucluster")]
        clusters = soc_index.get(name, list(dict.fromkeys(named)))
        if not clusters:
            found += _below(name, variants, added)
        for cluster in clusters:
            own = [variant for variant in variants if variant.get("cpucluster") == cluster]
            found += _below(f"{name}/{cluster}", own, added)
    for variant in board.get("variants", []):
        found += _below(variant["name"], variant.get("variants", []), added)
    return found


def _below(base: str, variants: Sequence[Details], added: Mapping[str, list[str]]) -> Iterator[str]:
    yield base
    for variant in variants:
        yield from _below(f"{base}/{variant['name']}", variant.get("variants", []), added)
    for name in added.get(base, ()):
        yield from _below(f"{base}/{name}", (), added)


def full_target(written: str, boards: Mapping[str, list[str]]) -> str | None:
    """The target, with its qualifiers and without a revision, that `west build -b` takes
    `written` for; None where it takes it for none.

    A board that has one SoC may leave it out: "nrf52840dk", "nrf9160dk//ns", "frdm@B".
    """
    before, slash, qualifiers = written.partition("/")
    board = before.partition("@")[0]
    full = boards.get(board)
    if full is None:
        return None
    if not full:
        return None if slash else board
    heads = {target.split("/")[1] for target in full}
    if len(heads) == 1:
        if not slash:
            qualifiers = heads.pop()
        elif qualifiers.startswith("/"):
            qualifiers = heads.pop() + qualifiers
    target = f"{board}/{qualifiers}"
    return target if target in full else None


# --- names from before hardware model v2


def old_board_name(name: str, boards: Mapping[str, list[str]]) -> str | None:
    """Today's target of a name from before hardware model v2 (Zephyr 3.7), by the rule that most
    were renamed by: "nrf5340dk_nrf5340_cpuapp_ns" → "nrf5340dk/nrf5340/cpuapp/ns".

    `boards`: name → targets, as of `board_targets`. What follows the board's name is the
    qualifiers with "_" for "/"; all of them, or those after the SoC, or else some of them in
    order ("mps2_an521_ns"). A revision stays: "nrf9160dk_nrf9160@0.14.0". None where no target
    fits, or several do equally well.
    """
    name, at, revision = name.partition("@")
    if not name or "/" in name:
        return None
    whole = full_target(name, boards)
    found = {whole} if whole is not None else _fitting(_joined(name), boards)
    if len(found) != 1:
        return None
    board, slash, qualifiers = found.pop().partition("/")
    return f"{board}{at}{revision}{slash}{qualifiers}"


def _fitting(wanted: str, boards: Mapping[str, list[str]]) -> set[str]:
    """The targets that fit an old name best."""
    best: dict[int, set[str]] = defaultdict(set)
    for board, full in boards.items():
        start = _joined(board)
        if wanted.startswith(start + "_"):
            rest = wanted[len(start) + 1 :]
            for target in full if rest else ():
                how = _fits(rest, [_joined(part) for part in target.split("/")[1:]])
                if how is not None:
                    best[how].add(target)
    return best[min(best)] if best else set()


def _fits(rest: str, qualifiers: list[str]) -> int | None:
    """How well what follows a board's name tells a target: 0 is best; None: not at all."""
    if rest == "_".join(qualifiers):
        return 0
    if rest == "_".join(qualifiers[1:]):
        return 1
    for part in qualifiers:  # some of them, in order
        if rest == part:
            return 2
        rest = rest.removeprefix(part + "_")
    return None


def _joined(name: str) -> str:
    return name.lower().replace("/", "_").replace("-", "_")
