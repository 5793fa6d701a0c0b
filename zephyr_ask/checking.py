# SPDX-License-Identifier: Apache-2.0
"""`west ask --check`: files → reports, and reports as text, JSON and SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyr_ask.checkfiles import File, Skipped, files
from zephyr_ask.own import own_names
from zephyr_ask.report import Finding, Names, Own, Report
from zephyr_ask.types import AskError, Revision
from zephyr_ask.verify import check

if TYPE_CHECKING:
    from rich.text import Text

SCHEMA = 1
_ROOT_FILES = ("CMakeLists.txt", "prj.conf", "sample.yaml")  # any of them makes an application
_UP = 4  # folders from a file to the root of its application: app/boards/vendor/name
_DOWN = 5  # folders below it: dts/bindings/vendor/kind
_OWN_FILES, _OWN_FOLDERS = 400, 400  # read for what they define; more is no application
_CODE = (".c", ".h", ".cpp", ".hpp", ".cc", ".cxx")
_STYLES = {"unknown": "red", "gone": "yellow", "invalid": "magenta"}


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in all the texts."""

    revision: Revision
    reports: tuple[Report, ...]
    skipped: tuple[Skipped, ...]

    @property
    def findings(self) -> list[Finding]:
        return [finding for report in self.reports for finding in report.findings]

    @property
    def checked(self) -> int:
        return sum(report.checked for report in self.reports)


def read(arguments: Sequence[str]) -> tuple[list[File], list[Skipped], Own]:
    """The texts to check, what cannot be, and the names that they and their applications define.

    Raises AskError where nothing can be read at all.
    """
    texts: list[File] = []
    skipped: list[Skipped] = []
    for entry in files(arguments):
        (texts if isinstance(entry, File) else skipped).append(entry)  # type: ignore[arg-type]
    failed = [entry for entry in skipped if entry.given]
    if failed and not texts:
        raise AskError(f"{failed[0].path}: {failed[0].why}", "west ask --check FILE, a folder or -")
    code = any(text.path.endswith(_CODE) for text in texts)
    around = [pair for root in _applications(texts) for pair in _own_files(root, code)]
    own = own_names([*((text.path, text.text) for text in texts), *around])
    return texts, skipped, own


def _applications(texts: Iterable[File]) -> set[Path]:
    """The roots of the applications that the files belong to."""
    roots = set()
    for folder in {Path(os.path.abspath(text.path)).parent for text in texts if text.path != "-"}:
        for above in [folder, *folder.parents][:_UP]:
            if (above / ".west").is_dir() or (above / "Kconfig.zephyr").is_file():
                break
            if any((above / name).is_file() for name in _ROOT_FILES):
                roots.add(above)
                break
    return roots


def _own_files(root: Path, code: bool) -> Iterator[tuple[str, str]]:
    """What an application defines beside the files that are checked; its C files, which are the
    most, only where `code` is."""
    found: list[str] = []
    for count, (folder, folders, names) in enumerate(os.walk(root)):
        depth = len(Path(folder).relative_to(root).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DOWN and not name.startswith((".", "build", "twister-out"))
        )
        found += [os.path.join(folder, name) for name in sorted(names) if _defines(name, code)]
        if count > _OWN_FOLDERS or len(found) > _OWN_FILES:
            break
    for entry in files(found[:_OWN_FILES], given=False):
        if isinstance(entry, File):
            yield entry.path, entry.text


def _defines(name: str, code: bool) -> bool:
    """Whether a file of this name may define names for others."""
    if name.startswith("Kconfig") or name == "CMakeLists.txt":
        return True
    return name.endswith((".yaml", ".yml", *_CODE) if code else (".yaml", ".yml"))


def judge(
    texts: Iterable[File], own: Own, names: Names, skipped: list[Skipped] | None = None
) -> list[Report]:
    """A report for each text; one that is nested too deeply goes to `skipped`."""
    reports = []
    for text in texts:
        try:
            reports.append(check(text.text, text.path, names, own))
        except RecursionError:
            if skipped is not None:
                skipped.append(Skipped(text.path, "nested too deeply", True))
    return reports


def to_dict(checked: Checked) -> dict[str, Any]:
    """As JSON values, schema 1."""
    return {
        "schema": SCHEMA,
        "revision": asdict(checked.revision),
        "findings": [_finding(finding) for finding in checked.findings],
        "not_checked": [
            asdict(entry) for report in checked.reports for entry in report.not_checked
        ],
        "skipped": [{"file": entry.path, "why": entry.why} for entry in checked.skipped],
        "checked": checked.checked,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    evidence = finding.evidence
    return asdict(finding) | {
        "suggestions": list(finding.suggestions),
        "evidence": {"path": evidence[0], "line": evidence[1]} if evidence else None,
    }


def to_json(checked: Checked) -> str:
    return json.dumps(to_dict(checked), allow_nan=False)


def to_sarif(checked: Checked, version: str) -> str:
    from zephyr_ask.sarif import sarif

    return json.dumps(sarif(checked.reports, version), allow_nan=False)


def lines(checked: Checked) -> list[str]:
    """One line a finding: file:line:column: message."""
    return [f"{_place(finding)}: {finding.message}" for finding in checked.findings]


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.line}:{finding.column}"


def colored(checked: Checked) -> list[Text]:
    """The same lines for a terminal with colour."""
    from rich.text import Text

    found = []
    for finding in checked.findings:
        line = Text(f"{_place(finding)}: ", "bold")
        status, _, rest = finding.message.partition(" ")
        line.append(status, _STYLES[finding.status]).append(f" {rest}")
        found.append(line)
    return found


def summary(checked: Checked) -> str:
    """How much was checked, in a line for stderr."""
    unknowable = sum(len(report.not_checked) for report in checked.reports)
    count = len(checked.findings)
    text = f"{_count(count, 'finding')}, {_count(checked.checked, 'name')} checked"
    text += f" in {_count(len(checked.reports), 'file')}"
    return text + (f", {unknowable} not checked (-v names them)" if unknowable else "")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def talk(checked: Checked, verbosity: int) -> list[str]:
    """What stderr is told: what could not be read, and with -v what could not be checked."""
    said = [f"{entry.path}: not read: {entry.why}" for entry in checked.skipped
            if entry.given or verbosity >= 1]  # fmt: skip
    if verbosity >= 1:
        said += [
            f"{entry.file}:{entry.line}:{entry.column}: not checked {entry.name}: {entry.why}"
            for report in checked.reports
            for entry in report.not_checked
        ]
    return said
