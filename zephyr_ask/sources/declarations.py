# SPDX-License-Identifier: Apache-2.0
"""A C declaration without its body → what it declares. Pure; text may hold comments' MARKs."""

from __future__ import annotations

import re
from typing import NamedTuple

from zephyr_ask.sources.comments import MARK

# Longer statements are tables or not C; the longest prototype of Zephyr 4.1.99 has 323.
STATEMENT_CHARS = 20_000
SIGNATURE_CHARS = 400

_FLAT = r"[^()]*"
# Parentheses in parentheses, four deep; each character has one way to match, so that unbalanced
# text costs no backtracking.
_GROUP = rf"\({_FLAT}(?:\({_FLAT}(?:\({_FLAT}(?:\({_FLAT}\){_FLAT})*\){_FLAT})*\){_FLAT})*\)"
_CALL = re.compile(rf"([A-Za-z_]\w*)\s*({_GROUP})")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LEFT = re.compile(r"[\w*][\s\x01]*\Z")  # a type, or a pointer to one, before the name
_TAG = re.compile(r"\b(struct|union|enum)\b")
_TAG_TAIL = re.compile(rf"(?:[\s\x01]|{_GROUP}|[A-Za-z_]\w*\b)*(?::[\w\s]*)?\Z")
_POINTER = re.compile(
    r"\(\s*(?:[A-Za-z_]\w*\s+)*[*^]\s*(?:[A-Za-z_]\w*\s+)*([A-Za-z_]\w*)\s*[)\[(]"
)
_ARRAY = re.compile(r"\[[^\]]*\]")
_INITIAL = re.compile(r"=.*", re.DOTALL)
_CONTINUED = re.compile(r"\\\n|\x01")

_ATTRIBUTES = frozenset(
    re.findall(
        r"\S+",
        """__attribute__ __attribute __aligned __aligned__ __declspec __deprecated __printf_like
        __section
        __in_section __alignas _Alignas alignas __asm__ __asm asm __attribute_nonnull __typeof__
        typeof
        __nonnull __sentinel __scanf_like __format_arg ZRESTRICT __alloc_size __malloc __noreturn
        __in_section_unnamed ___in_section TYPE_SECTION_ITERABLE""",
    )
)
# Attributes without an argument, which stand where a name could.
_MODIFIERS = frozenset(
    re.findall(
        r"\S+",
        """__packed __packed__ __aligned __used __unused __weak __deprecated __must_check
        __may_alias
        __noinit __nocache __subsystem __net_socket __restrict __const volatile const Z_THREAD_LOCAL
        __pinned_bss __pinned_data __pinned_rodata __pinned_noinit __net_buf_align""",
    )
)
_KEYWORDS = frozenset(
    re.findall(
        r"\S+",
        """if for while switch return sizeof else do case goto defined static_assert _Static_assert
        BUILD_ASSERT __builtin_types_compatible_p void int char short long unsigned signed bool
        _Bool float double const volatile""",
    )
)
# What says how, not what: left out of a signature.
_STORAGE = re.compile(
    r"\b(?:static|extern|inline|__inline__|__inline|__syscall|__deprecated|__weak|__unused"
    r"|ALWAYS_INLINE|FUNC_NORETURN|FUNC_ALIAS|__extension__|__STATIC_INLINE|SYSINL|__noreturn"
    r"|_Noreturn|__isr|__ramfunc|__pinned_func|__boot_func|DSP_FUNC_SCOPE)\b[ \t]*"
)


class Declared(NamedTuple):
    """What a statement declares."""

    what: str  # function, typedef, variable, struct, union, enum
    name: str
    start: int  # offset in the statement of the declaration's first character
    signature: str  # one line
    words: str  # source of what stands around the name: attributes, storage


def one_line(text: str, size: int = SIGNATURE_CHARS) -> str:
    """Single spaces, none inside parentheses; bounded."""
    text = " ".join(_CONTINUED.sub(" ", text).split())
    if "( " in text or " )" in text or " ," in text or " (" in text or " ;" in text:
        text = text.replace("( ", "(").replace(" )", ")").replace(" ,", ",").replace(" ;", ";")
    return text if len(text) <= size else text[: size - 1].rstrip() + "…"


def skip_macros(statement: str) -> int:
    """Offset behind blanks, comments and macro calls that stand alone before a declaration."""
    start = 0
    while True:
        while start < len(statement) and (statement[start].isspace() or statement[start] == MARK):
            start += 1
        call = _CALL.match(statement, start)
        if call is None or call[1] in _ATTRIBUTES:
            return start
        rest = statement[call.end() :].lstrip(MARK + " \t\n")
        if not rest or not (rest[0].isalpha() or rest[0] == "_"):
            return start
        start = call.end()


def function(statement: str) -> Declared | None:
    """The function of a prototype or of a definition's head."""
    if "(" not in statement or len(statement) > STATEMENT_CHARS:
        return None
    start = skip_macros(statement)
    if statement.startswith("typedef", start):
        return None
    for call in _CALL.finditer(statement, start):
        name = call[1]
        if name in _ATTRIBUTES:
            continue
        before = statement[start : call.start()]
        if name in _KEYWORDS or "=" in before or not _LEFT.search(before):
            return None
        if name.isupper() and before.startswith("extern"):  # a macro that makes a variable's name
            return None
        tail = statement[call.end() :].lstrip(MARK + " \t\n")
        if tail and not (tail[0].isalpha() or tail[0] in "_:"):
            return None
        kind = _STORAGE.sub("", one_line(_without_attributes(before)))
        if not kind.strip() or kind.split()[0] in ("return", "else", "goto", "case"):
            return None
        gap = "" if kind.endswith("*") else " "
        signature = one_line(f"{kind.strip()}{gap}{name}{call[2]}")
        return Declared("function", name, start, signature, before + tail)
    return None


def _without_attributes(text: str) -> str:
    if "(" not in text:
        return text
    return _CALL.sub(lambda call: "" if call[1] in _ATTRIBUTES else call[0], text)


def typedefs(statement: str) -> list[Declared]:
    """The names that `typedef …` gives; the signature is the whole, without a body."""
    start = skip_macros(statement)
    if not statement.startswith("typedef", start) or len(statement) > STATEMENT_CHARS:
        return []
    names = declarators(statement[start + 7 :])
    signature = one_line(_without_attributes(statement[start:]))
    return [Declared("typedef", name, start, signature, "") for name in names]


def declarators(text: str) -> list[str]:
    """Names declared by `type a, *b, (*c)(int)`, in order."""
    text = _INITIAL.sub("", _ARRAY.sub("", _without_attributes(text)))
    pointer = _POINTER.search(text)
    if pointer:
        return [pointer[1]]
    call = _CALL.search(text)
    if call and _LEFT.search(text[: call.start()]):
        return [call[1]]
    return [
        words[-1]
        for part in text.split(",")
        if (words := [word for word in _WORD.findall(part) if word not in _MODIFIERS])
    ]


def variables(statement: str) -> list[Declared]:
    """The names of `extern …`."""
    start = skip_macros(statement)
    if not statement.startswith("extern", start) or len(statement) > STATEMENT_CHARS:
        return []
    body = statement[start + 6 :]
    if '"' in body:
        return []
    signature = _STORAGE.sub("", one_line(_without_attributes(statement[start:])))
    return [
        Declared("variable", name, start, signature, "")
        for name in declarators(body)
        if not (name.isupper() and f"{name}(" in body)  # a macro that makes the name
    ]


def tag(head: str) -> Declared | None:
    """The struct, union or enum whose body follows; its name is "" where it has none."""
    if len(head) > STATEMENT_CHARS:
        return None
    found = None
    for found in _TAG.finditer(head):  # noqa: B007  (the last one counts)
        pass
    if found is None or not _TAG_TAIL.match(head, found.end()):
        return None
    words = [
        word
        for word in _WORD.findall(_without_attributes(head[found.end() :]).split(":")[0])
        if word not in _ATTRIBUTES and word not in _MODIFIERS
    ]
    start = skip_macros(head)
    name = words[0] if words else ""
    return Declared(found[1], name, start, f"{found[1]} {name}".strip(), head[start:])
