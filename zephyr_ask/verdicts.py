# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a mention, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zephyr_ask.mentions import Mention
from zephyr_ask.report import Finding, Names, NotChecked, Status, Tally
from zephyr_ask.types import Change

NEAR = 3  # suggestions for a name
SUGGESTED = 200  # names of one text that get any: 2 s; a .config of another system has thousands


class Verdicts:
    """What is said of one text's mentions."""

    def __init__(self, file: str, names: Names) -> None:
        self.tally = Tally()
        self.file = file
        self.names = names
        self._near: dict[tuple[str, str], tuple[str, ...]] = {}

    def there(self) -> None:
        self.tally.checked += 1

    def unknowable(self, mention: Mention, why: str) -> None:
        self.tally.not_checked.append(
            NotChecked(self.file, mention.line, mention.column, mention.kind, mention.shown, why)
        )

    def wrong(
        self,
        mention: Mention,
        status: Status,
        message: str,
        suggestions: Iterable[str] = (),
        replacement: str | None = None,
        evidence: tuple[str, int] | None = None,
    ) -> None:
        self.tally.checked += 1
        self.tally.findings.append(
            Finding(self.file, mention.line, mention.column, mention.kind, mention.shown, status,
                    message, tuple(suggestions), replacement, evidence)
        )  # fmt: skip

    def missing(self, mention: Mention, what: str = "") -> None:
        """A name that is not there: gone, or never was."""
        kind, name = mention.kind, mention.name
        prefix = mention.shown[: len(mention.shown) - len(name)] if kind == "kconfig" else ""
        near = tuple(prefix + other for other in self.suggest(kind, name))
        if kind == "binding" and mention.form == "token":
            near = tuple(re.sub(r"\W", "_", other) for other in near)
        change, instead = self.names.became(kind, name)
        if change is not None:
            place = (change.path, change.line)
            said, first = _said(change, instead, prefix)
            others = [other for other in near if other != first]
            self.wrong(mention, "gone", f"{said} ({place[0]}:{place[1]})",
                        ([first] if first else []) + others, first, place)  # fmt: skip
            return
        spoken = self.names.mentioned(kind, name)
        asked = f": did you mean {near[0]}?" if near else ""
        if spoken is not None:
            message = f"gone {mention.shown} ({spoken[0]}:{spoken[1]} speaks of it){asked}"
            self.wrong(mention, "gone", message, near, evidence=spoken)
            return
        self.wrong(mention, "unknown", f"unknown {what}{mention.shown}{asked}", near)

    def suggest(self, kind: str, name: str) -> tuple[str, ...]:
        key = (kind, name)
        if key not in self._near:  # 10 ms each, and a text repeats itself
            if len(self._near) >= SUGGESTED:
                return ()
            self._near[key] = tuple(self.names.near(kind, name, NEAR))
        return self._near[key]


def _said(change: Change, instead: str | None, prefix: str) -> tuple[str, str | None]:
    """What a release note says became of a name, and what to write instead, if it exists."""
    since = f"gone since v{change.version}" if change.version else "gone"
    named = change.replacements[0] if change.replacements else None
    first = prefix + instead if instead else None
    became = change.became
    if became in ("removed", "deprecated") or not (first or named):
        return f"{since}: {became}" + (f", now {first}" if first else ""), first
    joint = "to" if became == "renamed" else "by"
    if first:
        later = "" if instead in change.replacements or not named else f" {prefix}{named}, today"
        return f"{since}: {became} {joint}{later} {first}", first
    return f"{since}: {became} {joint} {prefix}{named}, which is gone too", None
