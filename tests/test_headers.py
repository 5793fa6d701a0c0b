# SPDX-License-Identifier: Apache-2.0
"""C headers: the names they define, and what their comments say of them."""

from __future__ import annotations

import re
import time
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources.api_names import API_PREFIXES, claims_to_be_api
from zephyr_ask.sources.comments import MARK, split_comments
from zephyr_ask.sources.doxygen import parse
from zephyr_ask.sources.headers import read_header
from zephyr_ask.types import Symbol

PATH = "include/zephyr/acorn.h"

ACORN = """\
/*
 * Copyright nobody
 */
/**
 * @file
 * @brief Acorns
 */
#ifndef ZEPHYR_INCLUDE_ACORN_H_
#define ZEPHYR_INCLUDE_ACORN_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @brief Gather acorns
 * @defgroup acorn_api Acorns
 * @since 1.2
 * @{
 */

/** Acorns in a basket. */
#define ACORN_BASKET 12
#define ACORN_CRATE (ACORN_BASKET * 4) /**< Acorns in a crate */

/**
 * @brief Put two acorns together.
 *
 * @param a First acorn
 * @param b Second acorn
 * @return Their sum
 */
#define ACORN_SUM(a, \\
\t\t  b) \\
\t((a) + (b)); /* no { end */

/** How an acorn falls. It may roll, too. */
enum acorn_fall {
\t/** Straight down */
\tACORN_DOWN = 0,
\tACORN_SIDE = BIT(1, 2), /**< To the side */
#ifdef CONFIG_WIND
\tACORN_FLY,
#endif
\tACORN_COUNT
};

typedef enum { ACORN_RED, ACORN_GREEN } acorn_colour_t;

/** @brief One acorn. */
struct acorn {
\tint size; /**< in mm */
\tunion acorn_side { int l; struct { int r; } x; } side;
} __packed;

/** Called for each acorn. */
typedef int (*acorn_cb_t)(struct acorn *acorn, void *data);
typedef struct acorn_bag { int n; } acorn_bag_t, *acorn_bag_p;
typedef uint32_t acorn_weight_t;

/**
 * @brief Drop an acorn.
 *
 * It falls on @p ground, see @ref acorn_fall "the ways". Needs @kconfig{CONFIG_ACORN}.
 * Uses <b>no</b> `heap`.
 *
 * @code{.c}
 * acorn_drop(&oak, 1);
 * @endcode
 *
 * @note Not from an ISR.
 *
 * @param[in] acorn  The acorn to drop,
 *                   not NULL
 * @param ground Where it lands
 *
 * @retval 0 It fell.
 * @retval -EINVAL It did not.
 * @since 3.4
 * @deprecated Use acorn_throw().
 */
__syscall int acorn_drop(const struct acorn *acorn,
\t\t\t int ground);

static inline int z_impl_acorn_drop(const struct acorn *acorn, int ground)
{
\tif (ground) { return 1; }
#define ACORN_INSIDE 1
\treturn '{';
}

/** @cond INTERNAL_HIDDEN */
/** Roll */
int acorn_roll(void);
/** @endcond */

/**
 * Weigh an acorn, i.e. put it on the scales. Then read them.
 */
#if defined(CONFIG_SCALES)
static inline acorn_weight_t *acorn_weigh(struct acorn *acorn, int (*read)(int x))
{
\treturn read("}");
}
#else
acorn_weight_t *acorn_weigh(struct acorn *acorn, int (*read)(int x));
#endif

extern struct acorn acorn_golden;
__printf_like(1, 2) __deprecated void acorn_shout(const char *what, ...);

/** @} */

/** Outside of the group. @ingroup acorn_other */
void acorn_rest(void);

#ifdef __cplusplus
}
#endif
#endif
"""


def read(text: str, path: str = PATH) -> dict[str, list[Symbol]]:
    listing = read_header(path, dedent(text))
    assert listing.note is None
    found: dict[str, list[Symbol]] = {}
    for symbol in listing.symbols:
        assert (symbol.kind, symbol.path) == ("api", path)
        found.setdefault(symbol.name, []).append(symbol)
    return found


@pytest.fixture(scope="module")
def acorn() -> dict[str, list[Symbol]]:
    return read(ACORN)


def line_of(text: str, source: str = ACORN) -> int:
    return source[: source.index(text)].count("\n") + 1


def test_every_name_is_listed_and_no_other(acorn: dict[str, list[Symbol]]) -> None:
    what = {name: [s.details["what"] for s in symbols] for name, symbols in acorn.items()}
    assert what == {
        "ACORN_BASKET": ["macro"],
        "ACORN_CRATE": ["macro"],
        "ACORN_SUM": ["macro"],
        "ACORN_INSIDE": ["macro"],
        "acorn_fall": ["enum"],
        "ACORN_DOWN": ["enumerator"],
        "ACORN_SIDE": ["enumerator"],
        "ACORN_FLY": ["enumerator"],
        "ACORN_COUNT": ["enumerator"],
        "acorn_colour_t": ["typedef"],
        "ACORN_RED": ["enumerator"],
        "ACORN_GREEN": ["enumerator"],
        "acorn": ["struct"],
        "acorn_side": ["union"],
        "acorn_cb_t": ["typedef"],
        "acorn_bag": ["struct"],
        "acorn_bag_t": ["typedef"],
        "acorn_bag_p": ["typedef"],
        "acorn_weight_t": ["typedef"],
        "acorn_drop": ["function"],
        "z_impl_acorn_drop": ["function"],
        "acorn_roll": ["function"],
        "acorn_weigh": ["function", "function"],
        "acorn_golden": ["variable"],
        "acorn_shout": ["function"],
        "acorn_rest": ["function"],
    }


def test_a_function_with_all_that_can_be_said(acorn: dict[str, list[Symbol]]) -> None:
    (drop,) = acorn["acorn_drop"]
    assert drop.line == line_of("__syscall int acorn_drop")
    assert drop.end_line == drop.line + 1
    assert drop.summary == "Drop an acorn."
    assert drop.text == (
        "Drop an acorn.\n"
        "It falls on ground, see the ways. Needs CONFIG_ACORN. Uses no heap.\n"
        "Not from an ISR."
    )
    assert drop.details == {
        "what": "function",
        "signature": "int acorn_drop(const struct acorn *acorn, int ground)",
        "params": [
            {"name": "acorn", "text": "The acorn to drop, not NULL"},
            {"name": "ground", "text": "Where it lands"},
        ],
        "returns": [
            {"retval": "0", "text": "It fell."},
            {"retval": "-EINVAL", "text": "It did not."},
        ],
        "since": "3.4",
        "group": "acorn_api",
        "syscall": True,
        "deprecated": "Use acorn_throw().",
    }


def test_macros(acorn: dict[str, list[Symbol]]) -> None:
    (basket,), (crate,), (total,) = (acorn[f"ACORN_{n}"] for n in ("BASKET", "CRATE", "SUM"))
    assert (basket.summary, basket.details["signature"]) == (
        "Acorns in a basket.",
        "#define ACORN_BASKET 12",
    )
    assert crate.summary == "Acorns in a crate"
    assert total.details["signature"] == "#define ACORN_SUM(a, b)"
    assert total.details["returns"] == "Their sum"
    assert (total.line, total.end_line) == (line_of("#define ACORN_SUM"), line_of("((a) + (b))"))


def test_enums(acorn: dict[str, list[Symbol]]) -> None:
    (fall,) = acorn["acorn_fall"]
    assert (fall.summary, fall.text) == (
        "How an acorn falls.",
        "How an acorn falls.\nIt may roll, too.",
    )
    assert (fall.line, fall.end_line) == (line_of("enum acorn_fall {"), line_of("ACORN_COUNT") + 1)
    says = {name: acorn[name][0].summary for name in ("ACORN_DOWN", "ACORN_SIDE", "ACORN_FLY")}
    assert says == {"ACORN_DOWN": "Straight down", "ACORN_SIDE": "To the side", "ACORN_FLY": ""}
    assert acorn["ACORN_SIDE"][0].line == line_of("ACORN_SIDE")
    assert acorn["ACORN_COUNT"][0].details["enum"] == "acorn_fall"
    assert acorn["ACORN_GREEN"][0].details["enum"] == "acorn_colour_t"


def test_structures_and_types(acorn: dict[str, list[Symbol]]) -> None:
    signatures = {
        name: acorn[name][0].details["signature"]
        for name in ("acorn", "acorn_cb_t", "acorn_bag_t", "acorn_colour_t", "acorn_weight_t")
    }
    assert signatures == {
        "acorn": "struct acorn",
        "acorn_cb_t": "typedef int (*acorn_cb_t)(struct acorn *acorn, void *data)",
        "acorn_bag_t": "typedef struct acorn_bag acorn_bag_t",
        "acorn_colour_t": "typedef enum {…} acorn_colour_t",
        "acorn_weight_t": "typedef uint32_t acorn_weight_t",
    }
    assert acorn["acorn"][0].summary == "One acorn."  # not what its member says
    assert acorn["acorn_cb_t"][0].summary == "Called for each acorn."


def test_internal_names_are_light(acorn: dict[str, list[Symbol]]) -> None:
    (roll,), (implementation,) = acorn["acorn_roll"], acorn["z_impl_acorn_drop"]
    for symbol in (roll, implementation):
        assert symbol.details == {"what": "function", "internal": True}
        assert not symbol.text
    assert implementation.end_line == line_of("/** @cond") - 2


def test_both_branches_are_listed_and_the_first_has_the_comment(
    acorn: dict[str, list[Symbol]],
) -> None:
    first, second = acorn["acorn_weigh"]
    assert first.summary == "Weigh an acorn, i.e. put it on the scales."
    assert second.summary == ""
    signature = "acorn_weight_t *acorn_weigh(struct acorn *acorn, int (*read)(int x))"
    assert first.details["signature"] == second.details["signature"] == signature


def test_groups_end_and_attributes_are_seen(acorn: dict[str, list[Symbol]]) -> None:
    (shout,), (rest,) = acorn["acorn_shout"], acorn["acorn_rest"]
    assert shout.details["deprecated"] is True
    assert shout.details["signature"] == "void acorn_shout(const char *what, ...)"
    assert shout.details["group"] == "acorn_api"
    assert rest.details["group"] == "acorn_other"
    assert acorn["acorn_golden"][0].details["signature"] == "struct acorn acorn_golden"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(void) __attribute__((pure));", {"f": "int f(void)"}),
        ("static ALWAYS_INLINE void f(void)\n{\n}\n", {"f": "void f(void)"}),
        ("MAKE_LIST(acorn)\n\nstruct a *f(int x);", {"f": "struct a *f(int x)"}),
        ("FUNC_NORETURN void f( int  a,\n\tint b );", {"f": "void f(int a, int b)"}),
        ("__deprecated(\"so\") unsigned int f(void);", {"f": "unsigned int f(void)"}),
        ("int f(int a\n#ifdef B\n, int b\n#endif\n);", {"f": "int f(int a, int b)"}),
        ("#ifdef B\nint f(int a)\n#else\nint f(void)\n#endif\n{\n return 0;\n}\nint g(void);",
         {"f": "int f(int a)", "g": "int g(void)"}),
        ("#ifdef B\nint f(int a) {\n#else\nint f(void) {\n#endif\n return 0;\n}\nint g(void);",
         {"f": "int f(int a)", "g": "int g(void)"}),
        ("int (*pointer)(void);\nBUILD_ASSERT(1 == 1);\nint array[3] = {1, 2};", {}),
        ("extern const struct entry ENTRY_NAME(x);\nreturn f(1);", {}),
        (".macro save a, b\n push a\n.endm\n#else\nint f(void);", {"f": "int f(void)"}),
        ("#define A don't\nint f(void); // it's /* fine\nint g(void);",
         {"A": "#define A don't", "f": "int f(void)", "g": "int g(void)"}),
        ("#define S \"/* no comment */ // \\\" \"\nint f(void);",
         {"S": '#define S "/* no comment */ // \\" "', "f": "int f(void)"}),
        ("#define A 1 /* long\n comment */\nint f(void);",
         {"A": "#define A 1", "f": "int f(void)"}),
        ("#  define  A\t2\n#define CONFIG_X 1\n#undef A\n", {"A": "#define A 2"}),
        ("#define AT \\\n\tTHE_END \\\n", {"AT": "#define AT THE_END"}),
    ],
)  # fmt: skip
def test_forms_of_declarations(text: str, expected: dict[str, str]) -> None:
    found = read(text)
    assert {
        name: symbols[0].details.get("signature") for name, symbols in found.items()
    } == expected


@pytest.mark.parametrize(
    ("text", "name", "summary"),
    [
        ("/// One line\n/// and another.\nint f(void);", "f", "One line and another."),
        ("/*! Qt style */\nint f(void);", "f", "Qt style"),
        ("/* plain */\nint f(void);", "f", ""),
        ("/*** ruler ***/\nint f(void);", "f", ""),
        ("/** A */\n#define A 1\nint f(void);", "f", ""),
        ("/** @name Some things\n * @{ */\nint f(void);", "f", ""),
        ("/** @def B\n * @brief About B */\n\n/** About f */\nint f(void);\n#define B 1", "B",
         "About B"),
        ("/** @fn int f(int a)\n * Far away. */\n#include <x.h>\nint f(int a);", "f", "Far away."),
        ("/** Over it */\n#ifdef X\n#define A 1\n#endif", "A", "Over it"),
        ("/** Attribute */\n__printf_like(1, 2) int f(void);", "f", "Attribute"),
        ("int f(void); /**< behind it */", "f", "behind it"),
        ("/**\n * Lead text.\n * @brief The brief.\n */\nint f(void);", "f", "The brief."),
        ("/** E.g. this, e.g. that. More. */\nint f(void);", "f", "E.g. this, e.g. that."),
        ("/** \\brief Old \\a style of \\ref f. */\nint f(void);", "f", "Old style of f."),
        ("/** Mail a@b.org about #f and %g or ::h */\nint f(void);", "f",
         "Mail a@b.org about f and g or h"),
    ],
)  # fmt: skip
def test_which_comment_speaks_of_what(text: str, name: str, summary: str) -> None:
    assert read(text)[name][0].summary == summary


def test_return_values_after_a_sentence() -> None:
    found = parse("/**\n * @brief B\n * @returns Something\n * @retval -EIO: broken\n */")
    assert found.returns == [{"text": "Something"}, {"retval": "-EIO", "text": "broken"}]


def test_long_descriptions_are_cut_between_words() -> None:
    words = "many words " * 200
    symbol = read(f"/** @brief {words}\n *\n * {words} */\nint f(void);")["f"][0]
    assert len(symbol.summary) <= 240 and symbol.summary.endswith(("many…", "words…"))
    assert len(symbol.text) <= 800


def test_constants_of_devicetree_are_names_only() -> None:
    text = """\
        #ifndef A_H
        #define A_H
        /* #define NOT_THIS 1 */
        /** Key one */
        #define KEY_ONE 1
        #define KEY_TWO 2 /**< Key two */
        #define KEY(n) \\
            (n)
        #endif
        """
    found = read(text, "include/zephyr/dt-bindings/keys.h")
    assert {name: s[0].summary for name, s in found.items()} == {
        "KEY_ONE": "Key one",
        "KEY_TWO": "Key two",
        "KEY": "",
    }
    assert all(s[0].details == {"what": "macro"} for s in found.values())
    assert found["KEY_TWO"][0].line == 6


@pytest.mark.parametrize(
    ("text", "problem", "names"),
    [
        ("int f(void);\n/** never ends\nint g(void);", "comment of line 2 has no end", ["f"]),
        ("int f(void)\n{\n  if (x) {\n}\nint g(void);\n", "brace of line 2 is not closed",
         ["f?", "g"]),
        ("struct s {\n int a;\nint g(void);\n", "brace of line 1 is not closed", ["g"]),
        ("{" * 5000 + "int f(void);", "the rest is left out", []),
    ],
)  # fmt: skip
def test_what_is_broken_is_named_and_the_rest_is_read(
    text: str, problem: str, names: list[str]
) -> None:
    listing = read_header(PATH, text)
    assert listing.note is not None
    assert listing.note.startswith(f"{PATH}: ") and problem in listing.note
    assert "\n" not in listing.note
    found = {symbol.name for symbol in listing.symbols}
    assert {name for name in names if not name.endswith("?")} <= found


def test_line_ends_and_marks_do_not_matter() -> None:
    plain = [(s.name, s.line, s.summary) for s in read_header(PATH, ACORN).symbols]
    windows = "\ufeff" + ACORN.replace("\n", "\r\n")
    assert [(s.name, s.line, s.summary) for s in read_header(PATH, windows).symbols] == plain
    binary = bytes(range(256)).decode("latin-1") * 50
    assert isinstance(read_header(PATH, binary + ACORN).symbols, tuple)


HOSTILE = {
    "one long line": "int a; " * 100_000,
    "one long word": "/** @fn " + "a" * 300_000 + " */ int f(void);",
    "open strings": '"\\"' * 200_000,
    "open parentheses": "int f(" * 100_000 + ";",
    "open structures": "struct a {" * 50_000,
    "nested structures": "struct a {" * 5_000 + "}" * 5_000 + ";",
    "structures without end": "struct x { " + "struct " * 100_000 + "};",
    "openers of comments": "/*" * 300_000,
    "stars": "/**" + "* " * 300_000 + "*/ int f(void);",
    "conditionals": "/** a */\n" + "#if X  \n" * 50_000 + "x int f(void);",
    "conditionals in a statement": "int f(int a,\n" + "#if X\n" * 50_000 + ");",
    "continued lines": "#define A \\\n" * 50_000,
    "words in a tag": "struct " + "a " * 9_000 + "# {",
    "commands": "/** " + "@param a b\n" * 50_000 + "*/ int f(void);",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_linear_time(text: str) -> None:
    start = time.process_time()
    read_header(PATH, text)
    assert time.process_time() - start < 5  # an ordinary header of this size: 0.2 s


PIECES = st.sampled_from(
    re.findall(r"\w+|\s|[^\w\s]", ACORN)
    + ["/*", "*/", "/**", "//", '"', "'", "\\\n", "#if\n", "#else\n", "#endif\n", "#define ", MARK]
    + ["@cond", "@endcond", "@{", "@}", "struct x {", "enum {", "typedef ", "\0", "\r", "é"]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=120).map("".join))
def test_any_text_gives_a_listing(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for path in (PATH, "include/zephyr/dt-bindings/a.h"):
        listing = read_header(path, text)
        for symbol in listing.symbols:
            assert re.fullmatch(r"[A-Za-z_]\w*", symbol.name)
            assert 1 <= symbol.line <= symbol.end_line <= lines
            assert "\n" not in symbol.summary
    code = split_comments(text)
    assert code.text.count("\n") == lines - 1
    assert all(code.text[place] == MARK for place in code.places)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_comment_can_be_parsed(text: str) -> None:
    found = parse("/**" + text)
    assert len(found.text) <= 800


@pytest.mark.parametrize(
    ("name", "called", "claims"),
    [
        ("k_timer_begin", True, True),
        ("k_timer_begin", False, False),  # may be a variable
        ("k_timer_handle_t", False, True),
        ("gpio_pin_flip_dt", True, True),
        ("sensor_sample_read", True, True),
        ("LOG_INFO", True, True),
        ("DT_ALIASES", True, True),
        ("K_ALWAYS", False, True),
        ("SENSOR_CHAN_TEMPERATURE", False, True),
        ("bt_ready", True, False),
        ("net_event_handler", True, False),
        ("sensor_get", True, False),
        ("gpio_thread", True, False),
        ("app_main", True, False),
        ("main", True, False),
        ("printf", True, False),
        ("HAL_GPIO_WritePin", True, False),
        ("SPI_BUF_SIZE", False, False),
        ("DT_DRV_COMPAT", False, False),
        ("DT_N_S_soc_P_reg", False, False),
        ("K_SYSCALL_MY_DRIVER", False, False),
        ("k_foo", True, False),
        ("k_your_function", True, False),
        ("bt_", True, False),
        ("", True, False),
    ],
)
def test_which_unknown_names_claim_to_be_zephyrs(name: str, called: bool, claims: bool) -> None:
    assert claims_to_be_api(name, called) is claims


def test_prefixes_end_at_a_word() -> None:
    assert all(prefix.endswith("_") for prefix in API_PREFIXES)
    assert len(set(API_PREFIXES)) >= 100
