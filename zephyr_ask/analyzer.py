# SPDX-License-Identifier: Apache-2.0
"""Text → terms: the same rules for documents and for questions, and what questions add.

An identifier becomes one term as a whole and one for each of its parts, so that
CONFIG_LOG_MODE_DEFERRED, `log mode deferred` and LOG_MODE_DEFERRED meet. Words are
stemmed later, by the index (Porter).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

# One identifier, number, path, compatible or word: joints are allowed only inside.
_TOKEN = re.compile(r"[^\W_]+(?:[_.,/@+-]+[^\W_]+)*\+*|_+\w+")
_JOINT = re.compile(r"[_.,/@+-]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?:s\b)?")
_TERM_CHARS = 64  # longer ones are hashes, base64 or rulers

# Words that say nothing about what is asked: closed-class English and the frame of a
# question. "not", "without" and "off" stay: they turn a question round; "no" is mostly "no idea".
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a about after all also am an and any anyone anything are as at be because been before
    being
    both but by can cannot could did do does doing done each else ever every few for from get gets
    getting give given go goes got had has have having he her here hers him his how i if in into is
    it its itself just let like make makes may me might mine more most much must my of on once one
    only onto or other our ours own please put same say says see seem she should since so some
    somehow someone something still such than that the their theirs them then there these they
    thing things this those through till to too try trying under until up upon us use used uses
    using very via want wants was way we well were what whatever when where which while who whom
    whose why will with would yet you your yours ive im id ill
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont
    wouldnt no nothing now""",
    )
)
# What people write and what the documentation writes; a question is searched for both.
SYNONYMS = {
    "app": ("application",),
    "ble": ("bluetooth", "le"),
    "demo": ("sample",),
    "dt": ("devicetree",),
    "dts": ("devicetree",),
    "example": ("sample",),
    "vscode": ("visual", "studio", "code"),
    "child_image": ("sysbuild",),
    "usb_console": ("cdc", "acm"),
    "usb_serial": ("cdc", "acm"),
    "native_posix": ("native_sim",),  # renamed after 3.7
}


def terms(text: str, camel: bool = True) -> list[str]:
    """Terms of `text` in order, lower-case, with repetitions; stop words left out.

    `camel`: words inside CamelCase are terms of their own, too.
    """
    return [term for token in _tokens(text) for term in _terms_of(token, camel)]


@lru_cache(maxsize=100_000)  # a corpus has far fewer distinct tokens than tokens
def _terms_of(token: str, camel: bool) -> tuple[str, ...]:
    lower = token.lower()
    if not lower.isalpha():
        return tuple(_identifier(token, camel))
    if len(lower) > _TERM_CHARS or lower in STOP_WORDS:
        return ()
    if camel and not token.islower() and not token.isupper():
        return (lower, *_camel(token))
    return (lower,)


def _tokens(text: str) -> list[str]:
    if "'" in text or "\u2019" in text:
        text = _APOSTROPHE.sub("", text)
    return _TOKEN.findall(text)


def _camel(token: str) -> list[str]:
    parts = _CAMEL.split(token)
    return [part.lower() for part in parts if len(part) > 2] if len(parts) > 1 else []


def _parts(token: str) -> list[str]:
    return [part for part in _JOINT.split(token.strip("_-.,/@")) if part]


def _identifier(token: str, camel: bool) -> list[str]:
    parts = _parts(token)
    found = [form for form in _wholes(parts) if len(form) <= _TERM_CHARS] if len(parts) > 1 else []
    if len(parts) == 2 and "-" in token and token.replace("-", "").isalpha():
        found.append("".join(parts).lower())  # Wi-Fi, J-Link, pre-built
    for part in parts:
        lower = part.lower()
        if (
            len(lower) > _TERM_CHARS
            or lower in STOP_WORDS
            or (len(parts) > 1 and lower == "config")
        ):
            continue
        found.append(lower)
        if camel:
            found.extend(_camel(part))
    return found


def _wholes(parts: list[str]) -> list[str]:
    """An identifier as one term, and a Kconfig symbol without its prefix."""
    whole = "_".join(parts).lower()
    return [whole, whole[7:]] if whole.startswith("config_") else [whole]


def question_terms(text: str, known: Callable[[str], bool]) -> list[str]:
    """Distinct terms to search for: those of `text` but parts of CamelCase (macOS is no Mac
    of ours), compounds and synonyms.

    Two words that the documentation writes as one ("device tree") are searched for as one
    too; `known` says whether a term stands in it. Single letters and bare numbers go, since
    they match everywhere.
    """
    found = [t for t in terms(text, camel=False) if len(t) > 1 and not t.isdigit()]
    words: list[str | None] = [
        token.lower() if token.isalpha() and token.lower() not in STOP_WORDS else None
        for token in _tokens(text)
    ]
    for first, second in zip(words, words[1:], strict=False):
        if first and second:
            found.extend(c for c in (first + second, f"{first}_{second}") if known(c))
            found.extend(SYNONYMS.get(f"{first}_{second}", ()))
    for term in list(found):
        found.extend(SYNONYMS.get(term, ()))
    return list(dict.fromkeys(found))


def names(text: str) -> list[str]:
    """Identifiers in a question, as whole terms: symbols, compatibles, paths, part numbers."""
    found: list[str] = []
    for token in _tokens(text):
        parts = _parts(token)
        compound = len(parts) > 1 and re.search(r"[_,/]", token)
        if compound or (re.search(r"\d", token) and re.search(r"[A-Za-z]{2}", token)):
            found.append(_wholes(parts)[-1])
    return list(dict.fromkeys(found))
