# SPDX-License-Identifier: Apache-2.0
"""The existing names that a wrong one was most likely meant to be.

A name is a row of words (`words`). People and models keep the rare words and get the others
wrong: they drop, add, swap or paraphrase them. Two names are compared word by word, each word
worth its rarity, and the best few also letter by letter.

A process that checks one file lives 200 ms, so nothing is prepared ahead of the question: the
names lie in one string, one a line, and are found with `str.find`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from os.path import commonprefix

_JOINTS = re.compile(r"[^A-Za-z0-9]+")
_HITS = 1_000  # of one word in the names; more say nothing, and finding them costs 1 ms a thousand
_ALL = 250  # names that are all compared, found or not
_FOUND = 3_000  # for all words together, the rarest first
_ALIGNED = 120  # candidates compared word by word: 20 µs each
_SPELLED = 12  # candidates compared letter by letter: 100 µs each
_LETTERS = 0.2  # the letters' share of a score; 0.1 to 0.3 suggest the same

_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_EVERY, _PIECE = 4, 4096

# What stands for the same thing in one name and another. A group is one meaning.
_SAME = """
    UART SERIAL USART|MEM MEMORY RAM|BUF BUFFER|SIZE LEN LENGTH|COUNT NUM NUMBER CNT|MAX MAXIMUM
    MIN MINIMUM|PRIO PRIORITY|IRQ INTERRUPT INTR INT|MS MSEC MILLISECONDS|CONN CONNECTION
    CTLR CONTROLLER CTRL CTL|BT BLUETOOTH BLE|NET NETWORK NETWORKING|CFG CONFIG CONFIGURATION
    LOG LOGGING|DBG DEBUG|PM POWER PWR|WDT WATCHDOG|SYS SYSTEM|ADV ADVERTISING|RNG ENTROPY RANDOM
    FS FILESYSTEM|TEMP TEMPERATURE|INIT INITIALIZATION INITIALIZE|DEV DEVICE|HW HARDWARE
    SW SOFTWARE|MSG MESSAGE|QUEUE Q|ADDR ADDRESS|MGMT MANAGEMENT MGR MANAGER|CLK CLOCK
    FREQ FREQUENCY|REG REGULATOR REGISTER|DISP DISPLAY|THREAD TASK|RX RECEIVE RECV
    TX TRANSMIT SEND|SEM SEMAPHORE|IMG IMAGE|OPT OPTIMIZATION OPTIMIZATIONS OPTIMIZE
    ETH ETHERNET|INST INSTANCE|ATTR ATTRIBUTE|SVC SERVICE|CB CALLBACK|SYNC SYNCHRONOUS
    ASYNC ASYNCHRONOUS|CRYPTO CRYPT|SEC SECURITY SECURE|STATS STATISTICS STATISTIC
    LVL LEVEL|DEF DEFAULT|PERIOD INTERVAL|IDX INDEX|VAL VALUE|FUNC FUNCTION|PKT PACKET
    CHAN CHANNEL CH|DISK STORAGE|SHELL CLI|SLAVE TARGET|MASTER CONTROLLER|ERR ERROR|WRN WARNING
"""
_MEANING: dict[str, frozenset[str]] = {}
for _group in _SAME.replace("\n", "|").split("|"):
    for _word in _group.split():
        _MEANING[_word] = _MEANING.get(_word, frozenset()) | frozenset(_group.split())
_FILLER = frozenset(
    re.findall(r"\S+", "ENABLE ENABLED SUPPORT USE DRIVER DRIVERS CONFIG CONFIGS OPTION")
)


def words(name: str) -> list[str]:
    """Upper-case words of a name, in order: `nordic,nrf-uarte` → NORDIC, NRF, UARTE."""
    return [word for word in _JOINTS.split(name.upper()) if word]


class Lexicon:
    """Names to suggest from, with the rarity of their words.

    `names`: the names, or one string of them with line breaks between (what SQLite's
    group_concat gives: no list of 20,000 is needed then).
    """

    def __init__(self, names: Iterable[str] | str) -> None:
        text = names if isinstance(names, str) else "\n".join(names)
        self._text = f"\n{text}\n"
        folded = self._text.upper()  # ß and the like grow; such names are found by exact case
        self._folded = folded if len(folded) == len(self._text) else self._text
        self.size = self._text.count("\n") - 1
        # Every fourth piece of the text is enough to tell a rare word from a common one: 4 ms
        # instead of 16 for 20,000 names. Words that a piece's edge cuts do no harm.
        pieces = [folded[at : at + _PIECE] for at in range(0, len(folded), _EVERY * _PIECE)]
        self._count = Counter(" ".join(pieces).translate(_SPACES).split())
        self._weights: dict[str, float] = dict.fromkeys(_FILLER, 0.3)

    def weight(self, word: str) -> float:
        """How much a word of a name says: about 1 (in half of the names) to 10 (once)."""
        weight = self._weights.get(word)
        if weight is None:
            count = _EVERY * self._count[word] or 2  # not in the part that was counted: rare
            weight = 0.5 + math.log(max(self.size / count, 1))
            self._weights[word] = weight
        return weight

    def known(self, word: str) -> bool:
        """Whether some name has this, as a word or as a part of one."""
        if word in self._count or word in self._folded:
            return True
        self._weights.setdefault(word, 3.0)  # misspelt or invented: says as much as a common one
        return False

    def counted(self, word: str) -> bool:
        """Whether it is a whole word of some name; a word of one or two names may be missed."""
        return word in self._count

    def containing(self, part: str, most: int) -> list[str]:
        """At most `most` names with `part` (upper case) anywhere in them."""
        folded, text = self._folded, self._text
        if not part:
            return [name for name in text.split("\n") if name][:most]
        found: list[str] = []
        at = folded.find(part)
        while at >= 0 and len(found) < most:
            start = folded.rfind("\n", 0, at + 1) + 1
            end = folded.find("\n", at + 1)
            found.append(text[start:end])
            at = folded.find(part, end)
        return found


def suggest(name: str, names: Sequence[str] | Lexicon, limit: int = 3) -> list[str]:
    """Up to `limit` of `names` that `name` may have been meant to be, best first.

    Names that have nothing of a rare word in common with it are not suggested.
    """
    lexicon = names if isinstance(names, Lexicon) else Lexicon(names)
    asked = words(name[:200])  # longer ones are no names
    if not asked or limit < 1:
        return []
    candidates = _candidates(asked, lexicon)
    scored = [(score(name, other, lexicon.weight), other) for other in candidates]
    best = nlargest(max(_SPELLED, limit), scored)
    compact = "".join(asked)
    spelled = sorted(
        ((1 - _LETTERS) * value + _LETTERS * _alike(compact, other), other)
        for value, other in best
        if other != name
    )
    spelled.reverse()
    return [other for value, other in spelled[:limit] if value >= _LEAST]


_LEAST = 0.4  # under it, 19 of 20 suggestions for a wholly invented name are a nuisance


def _candidates(asked: list[str], lexicon: Lexicon) -> list[str]:
    """The names that share the most, by the rarity of what they share."""
    if lexicon.size <= _ALL:
        return lexicon.containing("", _ALL)
    shared: dict[str, float] = {}
    left = _FOUND
    for part, worth in sorted(_parts(asked, lexicon), key=lambda pair: -pair[1]):
        most = min(_HITS, left)
        found = lexicon.containing(part, most)
        if len(found) == most:
            # There are more; those that share a rarer word are not to lose by that.
            hit = set(found)
            found += [other for other in shared if other not in hit and part in other.upper()]
        for other in found:
            shared[other] = shared.get(other, 0.0) + worth
        left = max(left - len(found), 0)
    if len(shared) <= _ALIGNED:
        return list(shared)
    # The shorter first among equals: what is not shared counts against a name.
    return nlargest(_ALIGNED, shared, key=lambda other: (shared[other] - 0.02 * len(other), other))


def _parts(asked: list[str], lexicon: Lexicon) -> list[tuple[str, float]]:
    """Pieces of text to look for, each with what it is worth to have it."""
    parts: dict[str, float] = {}
    for word in dict.fromkeys(asked):
        if word in _FILLER:
            continue
        weight = lexicon.weight(word)
        if lexicon.known(word) and len(word) > 1:
            parts[word] = weight
        for other in _MEANING.get(word, ()):
            # CHAN is found with CHANNEL, and must not count twice.
            if len(other) > 2 and other not in word and lexicon.counted(other):
                parts.setdefault(other, 0.7 * lexicon.weight(other))
        if not lexicon.known(word) and len(word) > 3:
            # One slip of the pen leaves one half of a word as it was; a plural, all but the s.
            half = max(len(word) // 2, 3)
            whole = lexicon.known(word[:-1])
            for piece in (word[:-1],) if whole else (word[:half], word[-half:]):
                parts.setdefault(piece, weight if whole else 0.4 * weight)
    return list(parts.items())


def score(name: str, other: str, weight_of_word: Callable[[str], float]) -> float:
    """How much `other` is like `name`, word by word: [0, 1], 1 for the same words in order."""
    mine, theirs = words(name), words(other)
    left = list(range(len(theirs)))
    total = matched = 0.0
    last = -1
    for word in mine:
        best, place = 0.0, -1
        for index in left:
            like = 1.0 if word == theirs[index] else _like(word, theirs[index])
            if index != last + 1:
                like *= 0.97  # out of place
            if like > best:
                best, place = like, index
        weight = weight_of_word(word)
        total += weight
        if place >= 0:
            left.remove(place)
            last = place
            # A word stands for as much as the rarer of the two says.
            both = max(weight, weight_of_word(theirs[place]))
            matched += 2 * both * best
            total += 2 * both - weight
    total += sum(map(weight_of_word, (theirs[index] for index in left)))
    return matched / total if total else 0.0


@lru_cache(maxsize=20_000)
def _like(word: str, other: str) -> float:
    """Whether two unequal words mean the same or are spelt nearly the same: [0, 1)."""
    if other in _MEANING.get(word, ()):
        return 0.85
    short, long = sorted((word, other), key=len)
    if short.isdigit() or long.isdigit():
        return 0.0  # UART 0 is not UART 1
    if len(short) >= 3 and long.startswith(short):
        return 0.85 if len(long) - len(short) <= 2 else 0.7
    if len(short) < 4:
        return 0.0
    common = len(commonprefix((short, long))) if short[:5] == long[:5] else 0
    if common >= 5 and common >= 0.7 * len(short):
        return 0.75  # OPTIMIZED, OPTIMIZATIONS
    distance = _distance(short, long)
    if distance == 1:
        return 0.8 if not _digits_differ(short, long) else 0.4
    if distance == 2 and len(short) >= 7 and not _digits_differ(short, long):
        return 0.6
    return 0.6 if len(short) >= 5 and short in long else 0.0


def _digits_differ(word: str, other: str) -> bool:
    return re.sub(r"\D", "", word) != re.sub(r"\D", "", other)


def _distance(word: str, other: str) -> int:
    """Edits between two words, a swap of neighbours being one; 3 for three or more."""
    if abs(len(word) - len(other)) > 2 or not set(word) & set(other):
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        before, above, row = row, before, [i]
        for j, theirs in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == theirs:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return min(row[-1], 3)


def _alike(compact: str, other: str) -> float:
    """How alike two names are spelt, joints left out: [0, 1]."""
    return SequenceMatcher(None, compact, "".join(words(other)), autojunk=False).ratio()
