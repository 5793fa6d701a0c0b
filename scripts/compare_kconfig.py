#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How complete the table of Kconfig symbols is, against Zephyr's own kconfiglib.

    python scripts/compare_kconfig.py TREE [--list N]

TREE is a full Zephyr checkout; nothing is written to it. kconfiglib reads it as the build does,
but with all architectures, SoCs, boards, shields and toolchains at once, first for the
application, then for sysbuild; a source statement whose file is missing finds an empty one. Then
every Kconfig file is read by zephyr_ask, one by one. Modules that are not checked out are named
by west.yml alone. Needs west's own dependencies (PyYAML, pykwalify). Exits with 1 where less than
99.5 % of kconfiglib's symbols are in the table.
"""

from __future__ import annotations

import argparse
import glob
import os
import re
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True  # of the tree's modules, in the tree

from zephyr_ask.sources import kconfig_generated as generated  # noqa: E402
from zephyr_ask.sources.kconfig import read_kconfig  # noqa: E402
from zephyr_ask.types import Symbol  # noqa: E402
from zephyr_ask.workspace import decode  # noqa: E402

TARGET = 99.5  # %
ROOTS = {"app": "Kconfig", "sysbuild": "share/sysbuild/Kconfig"}
_PROJECT = re.compile(r"^ {4}- name: *(\S+)", re.MULTILINE)
_COMPATIBLE = re.compile(r"""^compatible:[ ]*["']?([^\s"'#]+)""", re.MULTILINE)
Place = tuple[str, str, int]  # name, path, line


class Hardware:
    """Boards, SoCs and architectures of the tree, by its own scripts."""

    def __init__(self, tree: Path) -> None:
        import list_boards  # type: ignore[import-not-found]
        import list_hardware  # type: ignore[import-not-found]

        socs = list_hardware.find_v2_systems(Namespace(soc_roots=[tree])).get_socs()
        archs = list_hardware.find_v2_archs(Namespace(arch_roots=[tree], arch=None))["archs"]
        boards = list_boards.find_v2_boards(
            Namespace(board_roots=[tree], soc_roots=[tree], board=None, board_dir=[])
        ).values()
        self.socs = sorted({str(folder) for soc in socs for folder in soc.folder})
        self.archs = sorted(str(arch["path"]) for arch in archs)
        self.boards = {board.name: [str(d) for d in board.directories] for board in boards}
        self.targets = [board.name for board in boards]
        self.targets += [f"{board.name}/{qualifiers}" for board in boards
                         for qualifiers in list_boards.board_v2_qualifiers(board)]  # fmt: skip
        self.revisions = sorted({r.name for board in boards for r in board.revisions})


def stubs(folder: Path, tree: Path, hardware: Hardware) -> None:
    """What the build would write for one board, for all of them."""
    import gen_driver_kconfig_dts  # type: ignore[import-not-found]
    import zephyr_module  # type: ignore[import-not-found]

    def sources(name: str, folders: Iterable[str], file: str) -> None:
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_text("".join(f'osource "{f}/{file}"\n' for f in folders), encoding="utf-8")

    sources("arch/Kconfig", hardware.archs, "Kconfig")
    for file in ("Kconfig", "Kconfig.soc", "Kconfig.defconfig", "Kconfig.sysbuild"):
        sources(f"soc/{file}", hardware.socs, file)
    places = sorted({place for folders in hardware.boards.values() for place in folders})
    for file in ("Kconfig", "Kconfig.defconfig", "Kconfig.sysbuild"):
        sources(f"boards/{file}", places, file)
    with open(folder / "boards/Kconfig", "a", encoding="utf-8") as stub:
        for revision in hardware.revisions:  # normalised by the tree's own function
            stub.write(f"R := {revision}\nconfig BOARD_REVISION_$(normalize_upper,$(R))\n\tbool\n")
    with open(folder / f"boards/Kconfig.{hardware.targets[0]}", "w", encoding="utf-8") as stub:
        for target in hardware.targets:
            stub.write(f"T := {target}\nconfig BOARD_$(normalize_upper,$(T))\n\tbool\n")
        for name, folders in hardware.boards.items():
            stub.writelines(f'osource "{place}/Kconfig.{name}"\n' for place in folders)
    lines = []
    for project in projects(tree):
        sanitized = re.sub("[^a-zA-Z0-9]", "_", project)
        lines += zephyr_module.kconfig_module_opts(sanitized, True, False)
    (folder / "Kconfig.modules").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "Kconfig.sysbuild.modules").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "empty").touch()
    arguments, sys.argv = sys.argv, ["", "--kconfig-out", str(folder / "Kconfig.dts"),
                                     "--bindings-dirs", str(tree / "dts/bindings")]  # fmt: skip
    gen_driver_kconfig_dts.main()
    sys.argv = arguments


def projects(tree: Path) -> list[str]:
    try:
        return _PROJECT.findall((tree / "west.yml").read_text(encoding="utf-8"))
    except OSError:
        return []


def truth(root: str, folder: Path, tree: Path, board: str) -> tuple[Any, list[str]]:
    """kconfiglib's Kconfig of one root, and the files that it had to do without."""
    import kconfiglib  # type: ignore[import-not-found]

    os.environ.update({
        "ZEPHYR_BASE": str(tree), "srctree": str(tree), "KCONFIG_DOC_MODE": "1",
        "KCONFIG_BINARY_DIR": str(folder), "KCONFIG_BOARD_DIR": str(folder / "boards"),
        "HWM_SCHEME": "v2", "ARCH": "*", "ARCH_DIR": str(tree / "arch"), "BOARD": board,
        "BOARD_REVISION": "", "BOARD_QUALIFIERS": "", "SHIELD_AS_LIST": "",
        "TOOLCHAIN_KCONFIG_DIR": str(tree / "cmake/toolchain/*"),
        "APPLICATION_SOURCE_DIR": str(folder), "KERNELVERSION": "0",
    })  # fmt: skip
    missing: list[str] = []

    def found(pattern: str) -> list[str]:
        names = glob.glob(pattern)
        if not names and kconfig._line.split()[0] in ("source", "rsource"):
            missing.append(os.path.relpath(pattern, tree))
        return names or [str(folder / "empty")]

    kconfiglib.iglob = found
    # Boards that exclude one another depend on one another in circles.
    kconfiglib._check_dep_loop_sym = lambda sym, ignore_choice: None
    kconfig = kconfiglib.Kconfig.__new__(kconfiglib.Kconfig)  # `found` looks at its line
    kconfig.__init__(str(tree / root), warn=False)
    return kconfig, missing


def table(tree: Path) -> tuple[list[Symbol], list[str], float]:
    """Symbols of every Kconfig file, notes, and seconds of CPU without reading from disk."""
    texts = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith("Kconfig"):
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, tree).replace(os.sep, "/")
                texts[relative] = decode(Path(path).read_bytes())
    began = time.process_time()
    listings = [read_kconfig(path, text, texts.get) for path, text in texts.items()]
    seconds = time.process_time() - began
    print(f"{len(texts):,} Kconfig files, {sum(map(len, texts.values())) / 1e6:.1f} MB, "
          f"read in {seconds:.2f} s CPU")  # fmt: skip
    symbols = [symbol for listing in listings for symbol in listing.symbols]
    return symbols, [listing.note for listing in listings if listing.note], seconds


def generated_names(tree: Path, hardware: Hardware) -> set[str]:
    """What the rules of kconfig_generated make of the tree."""
    names = {name for project in projects(tree) for name in generated.modules(project)}
    names |= {generated.board(target) for target in hardware.targets}
    names |= {generated.revision(name) for name in hardware.revisions}
    for path in (tree / "dts/bindings").rglob("*.y*ml"):
        names |= {generated.dt_has(c) for c in _COMPATIBLE.findall(decode(path.read_bytes()))}
    return names


def nodes(kconfig: Any) -> dict[Place, Any]:
    """Every definition that kconfiglib saw in a file of the tree."""
    return {
        (symbol.name, os.path.normpath(node.filename), node.linenr): node
        for symbol in kconfig.unique_defined_syms
        for node in symbol.nodes
        if not os.path.isabs(node.filename)
    }


def facts(node: Any) -> dict[str, Any]:
    return {"prompt": " ".join(node.prompt[0].split()) if node.prompt else "",
            "help": "" if node.help is None or "$(" in node.help else node.help.split(),
            "defaults": len(node.defaults), "selects": len(node.selects),
            "implies": len(node.implies), "ranges": len(node.ranges)}  # fmt: skip


def own_facts(symbol: Symbol, node: Any) -> dict[str, Any]:
    details = symbol.details
    expanded = node.help is not None and "$(" in node.help  # kconfiglib leaves macros in a help
    return {"prompt": symbol.summary,
            "help": "" if expanded else details.get("help", "").split() or "",
            **{key: len(details.get(key, ())) for key in
               ("defaults", "selects", "implies", "ranges")}}  # fmt: skip


def disagreements(
    kconfig: Any, places: dict[Place, Any], symbols: list[Symbol]
) -> tuple[set[Place], Counter[str], list[str]]:
    """Definitions at the same place, and how often each fact of them differs."""
    import kconfiglib

    counts: Counter[str] = Counter()
    examples: list[str] = []
    common: set[Place] = set()
    types = defaultdict(set)
    for symbol in symbols:
        place = (symbol.name, symbol.path, symbol.line)
        node = places.get(place)
        if node is None or symbol.details.get("is_choice"):
            continue
        common.add(place)
        if "type" in symbol.details:
            types[symbol.name].add(symbol.details["type"])
        theirs, ours = facts(node), own_facts(symbol, node)
        for key, value in theirs.items():
            if ours[key] != value:
                counts[key] += 1
                examples.append(f"{symbol.path}:{symbol.line}: {symbol.name}: {key}: "
                                f"{ours[key]!r:.60} is {value!r:.60}")  # fmt: skip
    for symbol in kconfig.unique_defined_syms:
        kind = kconfiglib.TYPE_TO_STR[symbol.orig_type]
        if symbol.name in types and types[symbol.name] != {kind}:
            counts["type"] += 1
            examples.append(f"{symbol.name}: type: {types[symbol.name]} is {kind}")
    return common, counts, examples


def report(root: str, kconfig: Any, symbols: list[Symbol], names: set[str], limit: int) -> float:
    """Print the comparison of one root; the share in percent."""
    known = {symbol.name for symbol in kconfig.unique_defined_syms}
    have = known & names
    share = 100 * len(have) / max(1, len(known))
    print(f"\n{root}: {len(known):,} symbols of kconfiglib, {len(have):,} in the table: "
          f"{share:.2f} %")  # fmt: skip
    for name in sorted(known - names)[:limit]:
        places = [f"{n.filename}:{n.linenr}" for n in kconfig.syms[name].nodes]
        print(f"  missing {name}: {', '.join(places[:3])}")
    definitions = nodes(kconfig)
    common, counts, examples = disagreements(kconfig, definitions, symbols)
    facts_ = ("type", "prompt", "help", "defaults", "selects", "implies", "ranges")
    print(f"  {len(definitions):,} definitions in the tree, {len(common):,} of them in the table; "
          f"these differ in {', '.join(f'{key} {counts[key]}' for key in facts_)}")  # fmt: skip
    for name, path, line in sorted(definitions.keys() - common)[:limit]:
        print(f"  not in the table: {path}:{line}: {name}")
    for example in examples[:limit]:
        print(f"  {example}")
    return share


def unknown(symbols: list[Symbol], known: set[str]) -> dict[str, list[str]]:
    """Names that kconfiglib does not know, by where they come from."""
    places: dict[str, str] = {}
    for symbol in symbols:
        if symbol.name not in known and symbol.name not in places:
            details = symbol.details
            what = "choice" if details.get("is_choice") else details["scope"]
            path = details.get("via", [symbol.path])[0]
            places[symbol.name] = f"{what} in {path.split('/')[0] if '/' in path else '.'}"
    groups = defaultdict(list)
    for name, place in places.items():
        groups[place].append(name)
    return groups


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tree", type=Path, help="a full Zephyr checkout")
    parser.add_argument("--list", type=int, default=50, metavar="N", help="names shown at most")
    args = parser.parse_args()
    tree: Path = args.tree.resolve()
    if not (tree / "scripts/kconfig/kconfiglib.py").is_file():
        parser.error(f"{tree} has no scripts/kconfig/kconfiglib.py")
    sys.path[:0] = [str(tree / place) for place in ("scripts", "scripts/kconfig", "scripts/dts")]
    symbols, notes, _ = table(tree)
    print(f"{len(symbols):,} definitions, {len({s.name for s in symbols}):,} names")
    for note in notes[: args.list]:
        print(f"  note {note}")
    shares = []
    known: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        hardware = Hardware(tree)
        stubs(Path(folder), tree, hardware)
        names = {symbol.name for symbol in symbols} | generated_names(tree, hardware)
        for root, path in ROOTS.items():
            kconfig, missing = truth(path, Path(folder), tree, hardware.targets[0])
            known |= {symbol.name for symbol in kconfig.unique_defined_syms}
            shares.append(report(root, kconfig, symbols, names, args.list))
            for pattern in missing[: args.list]:
                print(f"  sourced, but not there: {pattern}")
    groups = unknown(symbols, known)
    print(f"\n{sum(map(len, groups.values())):,} names that kconfiglib does not know")
    for place, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        print(f"  {len(found):5} {place}: {', '.join(found[:3])}{', …' if found[3:] else ''}")
    return int(min(shares) < TARGET)


if __name__ == "__main__":
    sys.exit(main())
