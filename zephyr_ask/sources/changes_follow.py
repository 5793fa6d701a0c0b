# SPDX-License-Identifier: Apache-2.0
"""What became of a name, and of what it became.

Apart from the grammar of `changes`: a question about a name needs none of its patterns, which
take 40 ms to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from zephyr_ask.types import Change


def follow(
    name: str, changes: Mapping[str, list[Change]], defined: Callable[[str], bool]
) -> tuple[str, ...]:
    """Names that exist instead of `name`, of the newest statement first.

    A name that is itself gone leads on to what is said of it; none comes twice.
    """
    found: dict[str, None] = {}
    seen = {name}
    pending = [name]
    while pending:
        said = sorted(
            changes.get(pending.pop(), ()), key=lambda c: _number(c.version), reverse=True
        )
        ahead = []
        for other in dict.fromkeys(new for change in said for new in change.replacements):
            if other in seen:
                continue
            seen.add(other)
            if defined(other):
                found[other] = None
            else:
                ahead.append(other)
        pending += reversed(ahead)
    return tuple(found)


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
