# SPDX-License-Identifier: Apache-2.0
"""A Doxygen comment → what it says of a declaration, in plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

BRIEF_CHARS = 240  # 99 % of the briefs of Zephyr 4.1.99 have at most 139
TEXT_CHARS = 800
_FIELD_CHARS = 300  # of a parameter's or return value's description

_STARS = re.compile(r"^[ \t]*(?:\*(?!\*)|//[/!]<?)[ \t]?", re.MULTILINE)
_COMMAND = re.compile(
    r"""(?<![\w`"'(./<\\])[@\\](
      brief|short|details|param|tparam|returns?|result|retval|deprecated|since|version
    | ingroup|addtogroup|defgroup|name|file|def|fn|struct|union|enum|typedef|var|property
    | note|warning|attention|important|remarks?|par|pre|post|details|rst|endrst|li|arg
    | see|sa|funcprops|kconfig_dep|isr_ok|copydoc|copybrief|copydetails|todo|author|date
    | code|endcode|verbatim|endverbatim|dot|enddot|startuml|enduml|msc|endmsc
    | internal|endinternal|cond|endcond|private|public|[{}]
    )(?![a-z])(?:\[[^\]\n]*\]|\{[^}\n]*\})?[ \t]*""",
    re.VERBOSE,
)
_BLANK = re.compile(r"\n[ \t]*\n")
_SENTENCE = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bE\.g)(?<!\bI\.e)[.!?](?=\s|$)"
)
_LABEL = re.compile(r'[@\\](?:ref|link)[ \t]+\S+?[ \t]+"([^"\n]*)"')
_BRACED = re.compile(r"[@\\]\w+\{([^{}\n]*)\}")
_INLINE = re.compile(
    r"(?<![\w\\])[@\\](?:(?:anchor|image|section|subsection|page)[ \t]+\S+|(?:[a-z]+\b)[ \t]*)"
)
_TAG = re.compile(r"</?[a-zA-Z]+\d?(?:\s[^<>]*)?/?>")
_MARKED = re.compile(r"(?<![\w&])(?:[#%]|::)(?=[A-Za-z_])")
_WORDS = re.compile(r"\S+")

_TEXT = frozenset(
    re.findall(
        r"\S+",
        """details note warning attention important remark remarks par pre post rst endrst li
        arg todo
        endcode endverbatim enddot enduml endmsc endinternal internal private public""",
    )
)
_DRAWN = frozenset(("code", "verbatim", "dot", "startuml", "msc"))  # not words: left out
_WHAT = frozenset(("def", "fn", "struct", "union", "enum", "typedef", "var", "property"))
# A comment with one of these is not about the declaration that follows.
_ELSEWHERE = frozenset(("file", "addtogroup", "defgroup", "name", "{", "}"))


@dataclass(slots=True)
class Doxygen:
    """What a comment says. Texts are plain, with single spaces, and bounded."""

    brief: str = ""
    details: list[str] = field(default_factory=list)  # paragraphs
    params: list[dict[str, str]] = field(default_factory=list)  # {"name", "text"}
    returns: list[dict[str, str]] = field(default_factory=list)  # {"text"} or {"retval", "text"}
    deprecated: str | None = None  # "" where no reason is given
    since: str = ""
    group: str = ""
    internal: bool = False
    about: str = ""  # the name that @def, @fn, @struct, … gives
    elsewhere: bool = False  # a group's, a file's or a section's

    @property
    def text(self) -> str:
        """Brief and description, at most TEXT_CHARS characters."""
        return shorten("\n".join(part for part in (self.brief, *self.details) if part), TEXT_CHARS)


def parse(comment: str) -> Doxygen:
    """Read a comment with its delimiters; any text gives something."""
    found = Doxygen()
    body = _body(comment)
    if "@" not in body and "\\" not in body:
        _lead(found, body)
        return found
    command, start = "", 0
    for match in _COMMAND.finditer(body):
        if match.start() < start:
            continue
        _take(found, command, body[start : match.start()])
        command, start = match[1], match.end()
    _take(found, command, body[start:])
    return found


def shorten(text: str, size: int) -> str:
    """At most `size` characters, cut between words."""
    if len(text) <= size:
        return text
    cut = text[: size - 1]
    return cut[: cut.rfind(" ") if " " in cut[size // 2 :] else len(cut)].rstrip() + "…"


def plain(text: str) -> str:
    """Running text without commands, HTML tags and Markdown's backquotes; single spaces."""
    if "@" in text or "\\" in text:
        text = _LABEL.sub(r"\1", text)
        text = _BRACED.sub(r"\1", text)
        text = _INLINE.sub("", text)
    if "<" in text:
        text = _TAG.sub("", text)
    if "`" in text:
        text = text.replace("`", "")
    if "#" in text or "%" in text or "::" in text:
        text = _MARKED.sub("", text)
    return " ".join(text.split())


def _body(comment: str) -> str:
    if comment.startswith("//"):
        return _STARS.sub("", comment)
    body = comment[3:].removesuffix("*/").lstrip("<")
    return _STARS.sub("", body) if "\n" in body else body


def _take(found: Doxygen, command: str, content: str) -> None:
    """Add a command's argument; what follows its paragraph is description."""
    if not command:
        _lead(found, content)
    elif command in ("brief", "short"):
        _brief(found, content)
    elif command in _TEXT:
        found.internal = found.internal or command == "internal"
        _describe(found, content)
    elif command in ("param", "tparam", "retval"):
        _pair(found, command, content)
    elif command in _DRAWN:
        pass
    elif command in ("ingroup", *_WHAT):
        _line(found, command, content)
    elif command in _ELSEWHERE:
        found.elsewhere = True
    else:
        paragraph, rest = _paragraph(content)
        if command in ("return", "returns", "result"):
            found.returns.append({"text": shorten(paragraph, _FIELD_CHARS)})
        elif command == "deprecated":
            found.deprecated = shorten(paragraph, _FIELD_CHARS)
        elif command == "since":
            found.since = shorten(paragraph, 40)
        _describe(found, rest)


def _paragraph(content: str) -> tuple[str, str]:
    """The first paragraph in plain words, and the source of the rest."""
    content = content.lstrip()
    end = _BLANK.search(content)
    return (plain(content[: end.start()]), content[end.end() :]) if end else (plain(content), "")


def _brief(found: Doxygen, content: str) -> None:
    paragraph, rest = _paragraph(content)
    if found.brief:
        found.details.insert(0, found.brief)  # the lead, which was no brief after all
    found.brief = shorten(paragraph, BRIEF_CHARS)
    if len(found.brief) < len(paragraph):
        found.details.append(paragraph)
    _describe(found, rest)


def _lead(found: Doxygen, content: str) -> None:
    """Text before any command: the first sentence is the brief."""
    if found.brief:
        _describe(found, content)
        return
    paragraph, rest = _paragraph(content)
    end = _SENTENCE.search(paragraph)
    brief = paragraph[: end.end()] if end else paragraph
    found.brief = shorten(brief, BRIEF_CHARS)
    remaining = paragraph[len(brief) :].strip() if found.brief == brief else paragraph
    if remaining:
        found.details.append(remaining)
    _describe(found, rest)


def _describe(found: Doxygen, content: str) -> None:
    if content and not content.isspace():
        found.details += filter(None, map(plain, _BLANK.split(content)))


def _pair(found: Doxygen, command: str, content: str) -> None:
    name = _WORDS.search(content)
    if name is None:
        return
    paragraph, rest = _paragraph(content[name.end() :])
    text = shorten(paragraph.lstrip("-: "), _FIELD_CHARS)
    if command == "retval":
        found.returns.append({"retval": name[0].rstrip(":,"), "text": text})
    else:
        found.params.append({"name": name[0].rstrip(":,"), "text": text})
    _describe(found, rest)


def _line(found: Doxygen, command: str, content: str) -> None:
    first, _, rest = content.partition("\n")
    words = first.split("(")[0].split()
    if command == "ingroup":
        found.group = found.group or (words[0] if words else "")
    elif words:
        found.about = words[-1].strip("*&;")
    _take(found, "", rest)
