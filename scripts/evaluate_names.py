# SPDX-License-Identifier: Apache-2.0
"""How well names are looked up and checked; the second half of evaluate.py.

Seeded: the same names, the same alterations, the same figures.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from alter import alter

from zephyr_ask.checkfiles import File, files
from zephyr_ask.checking import judge
from zephyr_ask.index import Index
from zephyr_ask.known import TreeNames
from zephyr_ask.naming import names_in
from zephyr_ask.own import own_names
from zephyr_ask.report import Own
from zephyr_ask.symbols import Catalog
from zephyr_ask.types import SymbolKind
from zephyr_ask.verify import check
from zephyr_ask.workspace import Workspace

LOOKED_UP = 500
SHARES: dict[SymbolKind, int] = {"kconfig": 120, "binding": 50, "board": 30}  # of 200 names
SEEDS = range(5)
LISTED = 200  # findings that are printed


def report(index: Index, workspace: Workspace) -> None:
    with index.reading():
        names = TreeNames(index.table, workspace)
        look_up(index)
        for seed in SEEDS:
            mixed(names, index, seed)
        of_the_tree(names, workspace, "samples/**/*.conf")
        of_the_tree(names, workspace, "**/*.rst")


def _names(index: Index, kind: SymbolKind) -> list[str]:
    return sorted(filter(None, index.table.names(kind).split("\n")))


def look_up(index: Index) -> None:
    """Names, each asked alone: is its own card the first?"""
    rng = random.Random(1)
    catalog = Catalog(index.table)
    right = asked = 0
    wrong: list[str] = []
    kinds: dict[SymbolKind, float] = {"kconfig": 0.6, "binding": 0.2, "board": 0.1, "sample": 0.05,
                                      "api": 0.05}  # fmt: skip
    for kind, share in kinds.items():
        known = _names(index, kind)
        for name in rng.sample(known, min(len(known), round(share * LOOKED_UP))):
            question = f"CONFIG_{name}" if kind == "kconfig" else name
            cards = catalog.cards(names_in(question)[0])
            asked += 1
            if cards and cards[0].name == name and cards[0].status == "defined":
                right += 1
            else:
                wrong.append(question)
    print(f"\nexact look-up: {right} of {asked} names first, {right / asked:.3f} (at least 0.99)")
    for question in wrong[:10]:
        print(f"  not {question}")


def mixed(names: TreeNames, index: Index, seed: int) -> None:
    """200 real names and 200 that were altered as models alter them, in one text."""
    rng = random.Random(seed)
    lines: list[tuple[str, str | None]] = []  # line, the name it was made of if it is altered
    for kind, count in SHARES.items():
        known = _names(index, kind)
        if kind == "board":
            known = sorted(t for targets in names.catalog.boards.values() for t in targets)
        if kind == "kconfig":
            known = [name for name in known if name.isupper() and _plain(names, name)]
        chosen = rng.sample(known, 2 * count)
        everything = set(known) | set(_names(index, kind))
        for name in chosen[:count]:
            lines.append((_written(kind, name), None))
        for name in chosen[count:]:
            altered, _ = alter(name, kind, rng, everything)
            lines.append((_written(kind, altered), _shown(kind, name)))
    rng.shuffle(lines)
    text = "\n".join(line for line, _ in lines)
    found = check(text, "answer.md", names, Own())
    by_line = {finding.line - 1: finding for finding in found.findings}
    altered_lines = [at for at, (_, meant) in enumerate(lines) if meant is not None]
    caught = [at for at in altered_lines if at in by_line]
    false = [at for at in by_line if lines[at][1] is None]
    meant = [at for at in caught if lines[at][1] in by_line[at].suggestions[:3]]
    print(f"seed {seed}: recall {len(caught) / len(altered_lines):.3f} (at least 0.99), "
          f"{len(false)} false alarms (0), intended name among three "
          f"{len(meant) / len(altered_lines):.3f} (at least 0.85)")  # fmt: skip
    for at in false[:5]:
        print(f"  false: {lines[at][0]}: {by_line[at].message}")
    for at in [at for at in altered_lines if at not in by_line][:5]:
        print(f"  missed: {lines[at][0]} for {lines[at][1]}")


def _plain(names: TreeNames, name: str) -> bool:
    """An option of applications, as models write them: not one of a sample, test or sysbuild."""
    symbols = names.defined("kconfig", name)
    return any(s.details.get("scope") == "app" and not s.details.get("is_choice") for s in symbols)


def _shown(kind: SymbolKind, name: str) -> str:
    return f"CONFIG_{name}" if kind == "kconfig" else name


def _written(kind: SymbolKind, name: str) -> str:
    if kind == "kconfig":
        return f"Set `CONFIG_{name}`."
    if kind == "binding":
        return f'The node has `compatible = "{name}";`.'
    return f"Run `west build -b {name} app`."


def of_the_tree(names: TreeNames, workspace: Workspace, pattern: str) -> None:
    """Zephyr's own files: whatever is reported is a false alarm, or a page that is out of date."""
    base = Path(workspace.base)
    paths = [p for p in sorted(base.glob(pattern)) if "doc/releases" not in p.as_posix()]
    texts = [
        File(str(Path(entry.path).relative_to(base)), entry.text)
        for entry in files([str(path) for path in paths])
        if isinstance(entry, File)
    ]
    folders = sorted({path.parent for path in paths if "samples" in path.parts})
    found = judge(texts, own_names(_around(folders, base)), names)
    findings = [finding for report in found for finding in report.findings]
    unknowable = Counter(n.why for report in found for n in report.not_checked)
    checked = sum(report.checked for report in found)
    print(f"\n{pattern}: {len(texts)} files, {checked} names checked, {len(findings)} findings, "
          f"{sum(unknowable.values())} not checked")  # fmt: skip
    for why, count in unknowable.most_common(12):
        print(f"  not checked {count}: {why}")
    kinds = Counter((finding.kind, finding.status) for finding in findings)
    for (kind, status), count in kinds.most_common():
        print(f"  {status} {kind}: {count}")
    for finding in findings[:LISTED]:
        print(f"    {finding.file}:{finding.line}:{finding.column}: {finding.message}")


def _around(folders: Sequence[Path], base: Path) -> list[tuple[str, str]]:
    """The Kconfig files of samples: each defines what its own files may use."""
    found = []
    for folder in folders:
        for path in sorted(folder.glob("Kconfig*")):
            if path.is_file():
                found.append((str(path.relative_to(base)), path.read_text("utf-8", "replace")))
    return found
