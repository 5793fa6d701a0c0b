# SPDX-License-Identifier: Apache-2.0
"""reStructuredText's inline markup → readable Markdown, line for line.

docutils' own inline parser takes a third of the parsing time and needs every role
to be registered. A page is shown and searched as text, so one pass of one regular
expression is enough. A replacement keeps the line breaks of what it replaces: the
n-th line of the result comes from the n-th line of the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_INLINE = re.compile(
    r"""
      (?P<escape> \\(?:\s|\S))
    | (?P<literal> (?<![\w`])``(?P<code>(?=\S)(?:[^`]|`(?!`))+?)``(?!\w))
    | (?P<role> :(?P<name>[A-Za-z][\w+.:-]*):`(?P<argument>(?:[^`\\]|\\.)*)`)
    | (?P<suffixed> (?<![\w`])`(?P<text>(?:[^`\\]|\\.)+)`:(?P<suffix>[a-z]\w*):)
    | (?P<inline_target> (?<![\w`])_`(?P<target>(?:[^`\\]|\\.)+)`)
    | (?P<phrase> (?<![\w`])`(?P<words>(?=\S)(?:[^`\\]|\\.)+)`(?P<link>__?)?)
    | (?P<footnote> \[(?P<number>\d+|\#\w*|\*)\]_(?!\w))
    | (?P<substitution> (?<![\w|])\|(?P<key>[^\s|](?:[^|\n]*[^\s|])?)\|(?:__?)?(?!\w))
    """,
    re.VERBOSE,
)
_TARGETED = re.compile(r"(?P<text>.*?)\s*<(?P<target>[^<>]*)>\s*", re.DOTALL)
_BARE = re.compile(r"<[^<>]*>")
_URL = re.compile(r"https?://|ftp://|mailto:")


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def _split(argument: str) -> tuple[str, str]:
    """`text <target>` → (text, target); without a target both are the text."""
    match = _TARGETED.fullmatch(argument)
    if match and match["text"]:
        return match["text"], match["target"]
    bare = argument[1:-1] if _BARE.fullmatch(argument) else argument
    return bare, bare


def _label(argument: str) -> str:
    """A reference's own text, or its label made readable."""
    text, target = _split(argument)
    if text != target:
        return text
    return re.sub(r"[_-]+", " ", target).strip()


def _symbol(argument: str) -> str:
    return _code(_split(argument.lstrip("!~"))[0])


def _function(argument: str) -> str:
    text, _ = _split(argument.lstrip("!~"))
    return _code(text if text.endswith(")") else text + "()")


def _option(argument: str) -> str:
    text, _ = _split(argument.lstrip("!"))
    return _code(text)


def _suffixed(word: str) -> Callable[[str], str]:
    def reduce(argument: str) -> str:
        text = _label(argument)
        return text if text.lower().endswith(word) else f"{text} {word}"

    return reduce


def _github(argument: str) -> str:
    text, _ = _split(argument)
    return f"#{text}" if text.isdigit() else text


def _plain(argument: str) -> str:
    return _split(argument)[0]


_CODE_ROLES = re.findall(
    r"\S+",
    """c:macro c:struct c:type c:enum c:enumerator c:member c:var c:union c:data c:expr c:texpr
    c:identifier cpp:type cpp:var cpp:member cpp:class cpp:any py:class py:data py:attr py:mod
    py:obj py:exc class attr mod data code literal command program makevar envvar option
    dtcompatible zephyr_file zephyr_raw module_file rst:dir rst:role kbd app build-dir""",
)
_TEXT_ROLES = ("file", "samp", "download")  # "~" and "!" at their start are text


# What a role leaves behind. A role that is not named here leaves its text.
ROLES: Mapping[str, Callable[[str], str]] = {
    **dict.fromkeys(("ref", "doc", "std:ref", "std:doc", "numref", "term", "any"), _label),
    **dict.fromkeys(("c:func", "c:function", "func", "py:func", "py:meth", "cpp:func"), _function),
    **dict.fromkeys(_CODE_ROLES, _symbol),
    **dict.fromkeys(_TEXT_ROLES, _code),
    **dict.fromkeys(("kconfig:option", "kconfig:option-regex"), _option),
    "zephyr:code-sample": _suffixed("sample"),
    "zephyr:code-sample-category": _suffixed("samples"),
    "zephyr:board": lambda argument: _code(_split(argument)[0]),
    "c:group": _label,
    "github": _github,
    "math": _code,
}


def markdown(text: str, substitutions: Mapping[str, str], targets: frozenset[str]) -> str:
    """Reduce the inline markup of `text` to Markdown with the same number of lines.

    `targets`: lower-case names of the page's explicit hyperlink targets; a word that
    ends in an underscore is a reference only if it names one of them.
    """
    if not _MARKED.search(text):
        return text

    def reduce(match: re.Match[str]) -> str:
        result = _reduce(match, substitutions)
        missing = match[0].count("\n") - result.count("\n")
        return result + "\n" * missing if missing > 0 else result

    text = _INLINE.sub(reduce, text)
    if targets and "_" in text:
        text = _WORD_REFERENCE.sub(
            lambda match: match[1] if match[1].lower() in targets else match[0], text
        )
    return text


_MARKED = re.compile(r"[`\\|_\[]")
_WORD_REFERENCE = re.compile(
    r"(?<![\w`_.:/-])([A-Za-z0-9]+(?:[-.+:_][A-Za-z0-9]+)*)__?(?![\w(*`/])"
)


def _reduce(match: re.Match[str], substitutions: Mapping[str, str]) -> str:
    if match["escape"] is not None:
        escaped = match["escape"][1:]
        return "" if escaped.isspace() and escaped != "\n" else escaped
    if match["literal"] is not None:
        return _code(match["code"])
    if match["role"] is not None:
        return _role(match["name"], match["argument"])
    if match["suffixed"] is not None:
        return _role(match["suffix"], match["text"])
    if match["inline_target"] is not None:
        return match["target"]
    if match["phrase"] is not None:
        return _phrase(match["words"], match["link"])
    if match["footnote"] is not None:
        return f"[{match['number'].lstrip('#') or '*'}]"
    return substitutions.get(match["key"], match[0])


def _role(name: str, argument: str) -> str:
    argument = re.sub(r"\\(.)", r"\1", argument)
    return ROLES.get(name.lower(), _plain)(argument)


def _phrase(words: str, link: str | None) -> str:
    words = re.sub(r"\\(.)", r"\1", words)
    text, target = _split(words)
    if text != target and _URL.match(target):
        return f"[{text}]({''.join(target.split())})"
    if text == target and _URL.match(target):
        return target
    # Single backquotes without a link are mostly meant as code.
    return text if link else _code(text)
