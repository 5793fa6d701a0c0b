# SPDX-License-Identifier: Apache-2.0
"""Patterns over reduced sentences: who went (`o`), and who is offered instead (`w`).

A reduced sentence is lower-case, has one mark for each run of names, and neither articles nor
words for kinds of names: "The X and Y Kconfig options have been removed" is "R have been removed".
"""

from __future__ import annotations

import re

from zephyr_ask.sources.changes_names import NAME, OTHER, RUN
from zephyr_ask.types import Became

# Between the names of a run.
AND = r"[\s,&/]*(?:\b(?:and/or|and|or|nor|as well as|plus)\b)?[\s,]*(?:\b(?:also|both)\b\s*)?"
ANY = f"[^{RUN[1:-1]}]"  # anything but a name
NEAR = f"[^{RUN[1:-1]}{OTHER}]"  # nor what is marked up like one
_O, _W = f"(?P<o>{RUN})", f"(?P<w>{RUN})"
# "has been", "are now", "was finally": between a name and what happened to it.
_AUX = (
    r"(?:[\s,]*\b(?:have|has|had|is|are|was|were|been|being|be|also|both|all|now|finally|got|gets"
    r"|get|marked|as|considered|since|completely|officially|therefore|thus|subsequently|already"
    r"|which|that|set)\b)*[\s,]*"
)
_VERB = (
    r"(?:removed|deleted|dropped|eliminated|retired|gone|deprecated|obsoleted|obsolete|renamed"
    r"|replaced|superseded|unsupported|no longer (?:available|supported|exists?|defined|provided"
    r"|generated)|not (?:supported|available) any ?more|do(?:es)? not exist(?: any ?more)?)"
)
_VERBS = rf"(?P<verbs>{_VERB}(?:(?:,| and|,? but)?{_AUX}{_VERB})*)"
_OBJECT = (
    r"\b(?:remov(?:es?|ed|ing|al of)|drop(?:s|ped|ping)?|delet(?:es?|ed|ing)|eliminat(?:ed|ing)"
    r"|retir(?:ed|ing)|no longer supports?)"
)
_STALE = (
    r"(?:(?:no longer (?:needed|used|required|necessary)|deprecated|obsolete|redundant|unneeded"
    r"|unnecessary|outdated|experimental|previously|already) )*"
)
_DEPRECATES = r"\b(?:deprecat(?:es?|ed|ing|ion of)|obsoleted)"
_RENAMES = r"\brenam(?:es?|ed|ing)"
# What may follow a name that is itself the object: not "removed X support", "deprecated X field".
END = (
    r"(?=\s*(?:$|[,;:.()\-]|\b(?:and|or|from|in|as|which|that|since|because|due|for|to|with|after"
    r"|when|until|is|are|was|were|has|have|now|on|by|use|instead|it|this|these|via)\b))"
)
_INTO = r"(?:into|under|to|in|with|by)"
_FAVOR = rf"in favor of {ANY}{{0,80}}?"
_USE = (
    r"\b(?:use|using|utili[sz]e|call|enable|select|set|consider|include|migrate to"
    r"|switch(?:ing)? to|move to|converted to|swapped to|updated to)"
)
_OUGHT = r"(?:should|must|shall|can|may|has to|have to|needs? to|is to|are to)"
_MUST = r"(?:should|must|shall|can|may|has to|have to|needs? to|is to|are to|is|are|to)"
_PRONOUN = r"\b(?:it|they|this|these|those|both|all|which|that)\b"
_NOT_FROM = rf"(?! from (?!zephyr|tree|kconfig|api|code|public|{RUN}))"


def _gap(most: int) -> str:
    return rf"{NEAR}{{0,{most}}}?"


# Pattern → what it says; None: as the words in it say.
_PAIRS: tuple[tuple[str, Became | None], ...] = (
    (rf"{_O}{_AUX}(?:(?:{_VERB}|moved|reworked|inverted|converted)[ ,]*(?:and )?)?{_AUX}"
     rf"(?:renamed|called|named|known as){_gap(30)}\s*{_W}", "renamed"),
    (rf"{_O} (?:is|are) now {_W}", "renamed"),
    (rf"{_O}{_AUX}(?:becomes?|became) {_W}", "renamed"),
    (rf"{_RENAMES} {_gap(30)}{_O} (?:to|as|into|in) {_gap(24)}{_W}", "renamed"),
    (rf"{_O}{_AUX}(?:(?:{_VERB})[ ,]*(?:and )?)?{_AUX}"
     rf"(?:replaced?|superseded|substituted|obsoleted)(?: with| by| in favor of)"
     rf" {_gap(60)}{_W}", "replaced"),
    (rf"\breplac(?:es?|ed|ing) {_gap(40)}{_O} (?:with|by) {_gap(40)}{_W}", "replaced"),
    (rf"{_O}{_AUX}(?:merged|unified|folded|combined|consolidated|integrated|absorbed|collapsed)"
     rf" {_gap(16)}{_INTO} {_gap(40)}{_W}", "replaced"),
    (rf"{_O}{_AUX}(?:split|divided){_gap(10)} (?:into|to) {_gap(24)}{_W}", "replaced"),
    (rf"{_O}{_gap(90)}{_FAVOR}{_W}", None),
    (rf"{_O} and related {_gap(16)}with {_W}", "replaced"),
    (rf"{_O} (?:-+>|=>|\u2192) {_W}", None),
    (rf"\binstead of {_gap(24)}{_O}{_gap(24)} use {_gap(24)}{_W}", "replaced"),
    (rf"{_W}(?: now)?(?: has| have)? (?:replaces?|replaced|supersedes?|superseded|obsoletes?"
     rf"|deprecates)(?! with\b| by\b) {_gap(24)}{_O}", "replaced"),
    (rf"{_W}{_gap(60)} (?:to|that|which)(?: will)? replaces? {_gap(24)}{_O}", "replaced"),
    (rf"{_W}{_gap(24)} as {_gap(12)}replacement (?:for|of) {_gap(24)}{_O}", "replaced"),
)  # fmt: skip
_PLAIN: tuple[tuple[str, Became | None], ...] = (
    (rf"{_O}{_AUX}{_VERBS}{_NOT_FROM}(?! {OTHER})", None),
    (rf"{_O}{_AUX}(?:will|shall|to) be (?:removed|deprecated)", "deprecated"),
    (rf"{_O} ?[:\u2013-]+ (?P<verbs>{_VERB})"
     r"(?=\s*(?:$|[,;(]|\b(?:in|as|since|and|because)\b))", None),
    (rf"\bsupport for {_gap(60)}\bvia {_O}{_AUX}{_VERBS}", None),
    (rf"{_PRONOUN}(?: [a-z]+)? replaces? {_gap(24)}{_O}", "replaced"),
    (rf"{_OBJECT}:? {_STALE}(?:support (?:for|of) {_STALE})?{_O}{END}", "removed"),
    (rf"{_OBJECT} support {_gap(60)}\bvia {_O}{END}", "removed"),
    (rf"{_DEPRECATES}:? {_gap(8)}{_O}{END}", "deprecated"),
    (rf"{_RENAMES} {_O}{END}", "renamed"),
    (rf"\breplac(?:ed|ing) {_O}{END}", "replaced"),
)  # fmt: skip
_BACK = (
    rf"{_USE} {_gap(40)}{_W}[^.]{{0,80}}\binstead\b(?! of)",
    rf"{_W}{ANY}{{0,24}}?\b{_MUST}\b{ANY}{{0,24}}?\b(?:used|called|enabled|set|selected|included)\b"
    rf"{ANY}{{0,40}}?\binstead\b(?! of)",
    rf"{_W}{ANY}{{0,16}}?\b(?:should|must|shall|has to|have to|needs? to)\b{ANY}{{0,16}}?\bused\b",
    rf"\binstead\b(?! of){ANY}{{0,60}}?{_W}",
    rf"(?:^|[,:(] |\band |\bthen |\bshould |\bmust )(?:please |now |instead |rather )?use "
    rf"{_gap(24)}{_W}",
    rf"(?:^|{_PRONOUN}){_AUX}(?:replaced|superseded|renamed) (?:by|with|to) {_gap(30)}{_W}",
    rf"\breplaced (?:(?:it|them) )?(?:with|by) {_gap(40)}{_W}",
    rf"\b(?:should|must|can|to) be (?:replaced|changed|updated|swapped|converted|migrated)"
    rf" (?:by|with|to|to use) {_gap(30)}{_W}",
    r"\b(?:migrate|switch|moved?|migrating|migration|switching|convert) (?:over )?to (?:using )?"
    rf"{_gap(24)}{_W}",
    rf"\b(?:replacement|replacements|equivalent|alternative)\b{_gap(30)}{_W}",
    rf"\b(?:updated|need) to use {_gap(24)}{_W}",
    rf"\b(?:behaviou?r|functionality|effect) {_gap(16)}achieved (?:using|with|by|through)"
    rf" {_gap(20)}{_W}",
    rf"{_W} (?:replaces|supersedes) (?:it|them|this|these)\b",
    rf"\bin favor of {ANY}{{0,60}}?{_W}",
)

Rule = tuple[re.Pattern[str], "Became | None"]
PAIRS: tuple[Rule, ...] = tuple((re.compile(pattern), became) for pattern, became in _PAIRS)
# "B instead of A" is advice or a description of what happens; the words around it tell.
INSTEAD_OF = re.compile(rf"{_W}{_gap(60)} instead (?:of|to) {_gap(24)}{_O}")
ADVISED = re.compile(rf"\b(?:used?|using|uses|utili[sz]e|call|migrate)\b{NEAR}{{0,30}}$")
OUGHT_TO_BE_USED = re.compile(rf"\b{_OUGHT}\b{NEAR}*\bused\b")
PLAIN: tuple[Rule, ...] = tuple((re.compile(pattern), became) for pattern, became in _PLAIN)
# "These were removed.": of the names of the statement before.
PRONOUN = re.compile(rf"^{_PRONOUN}(?: [a-z]+)?{_AUX}{_VERBS}")
# What is offered instead of the names of the statement before.
BACK = tuple(re.compile(pattern) for pattern in _BACK)
# Below a line or heading that says what became of them: names that a text begins with.
BEGINS = re.compile(
    rf"(?:[\w /+-]{{1,30}}: ?)?{_O}(?=\s*(?:$|[,;:.()\-]|\b(?:and|or|in|as|which|that|since|because"
    rf"|due|for|to|with|by|use|instead|it|this|these)\b))(?: (?:to|with|by) {_gap(24)}{_W})?"
)
# "renamed … from A to B and … from C to D"
FROM_TO = re.compile(rf"\bfrom {_O},? to {_gap(24)}{_W}")
CHANGED_TO = re.compile(rf"{_O}(?: (?!propert)[a-z]+)?{_AUX}changed {_gap(24)}to {_W}")
# Of these "changed from A to B" says that a name changed; of much else, a type or a value.
NAMED = re.compile(r"\b(?:compatibles?|bindings?|kconfigs?|options?|boards?)\b")

# Reduction.
MARKS = re.compile(rf"{NAME}(?:{AND}{NAME})*")
_TO = r"(?:to|with|by|is now|are now|-+>|=>|\u2192)"
PAIR = re.compile(rf"({NAME}) {_TO} ({NAME})")
# "A to B, C to D and E to F"
ALTERNATING = re.compile(rf"({NAME}) ({_TO}) ({NAME})(?:[,;]? ?(?:and )?{NAME} \2 {NAME})+")
BRACKET = re.compile(
    rf"({NAME})\s*\(\s*((?:now )?(?:replaced (?:by|with)|renamed to|use|now|see|previously|was"
    rf"|formerly)?)[\s:]*({NAME}(?:{AND}{NAME})*)[^()]*\)"
)
NAMELESS = re.compile(rf"\([^(){NAME[1:-1]}]*\)")
ONLY_NAMES = re.compile(rf"\(({AND}{NAME}(?:{AND}{NAME})*[\s,]*)\)")
ASIDE = re.compile(r"\((?!\s*(?:replaced|use|now|renamed))[^()]*\)")
STATES = re.compile(r"\b(?:has|have|had|is|are|was|were|remov\w+|renam\w+|replac\w+|deprecat\w+)\b")
# Where another statement begins; a plural verb after one name has more names before it.
CLAUSE = re.compile(
    rf"(?:,? (?:and|but|while|whereas)|(?<=instead),) (?=(?:new |old )?{NAME}"
    rf"(?:\s*(?:has|is|was)|(?:{AND}{NAME})+\s*(?:have|are|were))\b)"
)
SENTENCE = re.compile(r"(?<![.;!?])[.;!?]+(?:\s+|$)")
ABBREVIATED = (
    (re.compile(r"\be\. ?g\.,?|\bfor example,?"), "such as"),
    (re.compile(r"\bi\. ?e\.,?|\betc\.\)?|\.\.\."), " "),
    (re.compile(r"\bvs\."), "vs"),
    (re.compile("favour"), "favor"),
    (re.compile(r'[*"]'), " "),
    (re.compile(r"[,&/]{2,}"), ","),
)
# ", deprecated since 3.4, has": what stands between commas.
SINCE = re.compile(
    rf", (?:which |that )?[^,{NAME[1:-1]}]{{1,60}}, ?(?=(?:has|have|is|are|was|were)\b)"
)
PLACE = re.compile(rf"\bin {OTHER} (?=(?:has|have|is|are|was|were)\b)")
NOISE = re.compile(
    r"""\b(?:the|an?|its|their|our|new|newly|added|existing|more|generic|just|kconfigs?|config
    |configs|configuration|options?|symbols?|settings?|functions?|macros?|structs?|structures?
    |enums?|enumerations?|enumerators?|types?|typedefs?|apis?|calls?|bindings?|compatibles?
    |strings?|dt|devicetree|device\ tree|nodes?|drivers?|sensors?|boards?|targets?|shields?|socs?
    |choices?|flags?|defines?|callbacks?|helpers?|variants?|hidden|bool|boolean|integer|int
    |preprocessor|following|old|unused|legacy|common|corresponding|standard|public|respectively|respective
    |instances?|family|one|two|three|four|dedicated|modem|backend|shim)\b[ ]*""",
    re.VERBOSE,
)  # fmt: skip
# Before a name: it is only where or whereby something went.
BEFORE = re.compile(
    r"of|for|from|on|in|with|by|using|via|to|when|under|than|into|through|if|unless|without|against"
    r"|between|inside|within|at|like|enabling|disabling|requires?"
)
MEANS = re.compile(
    r"\b(?:support for|(?:selected|enabled|controlled|configured) (?:by|with|via)) $"
)
# Before a verb: nothing has happened.
HINDERS = re.compile(r"not|to|will|can|could|would|might|cannot|t")
