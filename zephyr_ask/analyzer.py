# SPDX-License-Identifier: Apache-2.0
"""Text → terms, by the same rules for documents and for questions.

An identifier becomes one term as a whole and one for each of its parts, so that
CONFIG_LOG_MODE_DEFERRED, `log mode deferred` and LOG_MODE_DEFERRED meet. Words are
stemmed later, by the index (Porter).
"""

from __future__ import annotations

import re

# One identifier, number, path, compatible or word: joints are allowed only inside.
_TOKEN = re.compile(r"[^\W_]+(?:[_.,/@+-]+[^\W_]+)*\+*|_+\w+")
_JOINT = re.compile(r"[_.,/@+-]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TERM_CHARS = 64  # longer ones are hashes, base64 or rulers

# Words that say nothing about what is asked: closed-class English and the frame of a
# question. "not", "no", "without" and "off" stay: they turn a question round.
STOP_WORDS = frozenset(
    """a about after all also am an and any anyone anything are as at be because been before being
    both but by can cannot could did do does doing done each else ever every few for from get gets
    getting give given go goes got had has have having he her here hers him his how i if in into is
    it its itself just let like make makes may me might mine more most much must my of on once one
    only onto or other our ours own please put same say says see seem she should since so some
    somehow someone something still such than that the their theirs them then there these they
    thing things this those through till to too try trying under until up upon us use used uses
    using very via want wants was way we well were what whatever when where which while who whom
    whose why will with would yet you your yours dont doesnt cant wont isnt im ive id
    s t d ll m re ve""".split()
)


def terms(text: str) -> list[str]:
    """Terms of `text` in order, lower-case, with repetitions; stop words left out."""
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        lower = token.lower()
        if lower.isalpha():
            if len(lower) <= _TERM_CHARS and lower not in STOP_WORDS:
                found.append(lower)
                if not token.islower() and not token.isupper():
                    found.extend(_camel(token))
            continue
        found.extend(_identifier(token))
    return found


def _camel(token: str) -> list[str]:
    parts = _CAMEL.split(token)
    return [part.lower() for part in parts if len(part) > 2] if len(parts) > 1 else []


def _identifier(token: str) -> list[str]:
    parts = [part for part in _JOINT.split(token.strip("_-.,/@")) if part]
    found: list[str] = []
    if len(parts) > 1:
        whole = "_".join(parts).lower()
        if len(whole) <= _TERM_CHARS:
            found.append(whole)
            if whole.startswith("config_"):
                found.append(whole[7:])
    for part in parts:
        lower = part.lower()
        if len(lower) > _TERM_CHARS or lower in STOP_WORDS or (len(parts) > 1 and lower == "config"):
            continue
        found.append(lower)
        found.extend(_camel(part))
    return found
