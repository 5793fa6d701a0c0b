# SPDX-License-Identifier: Apache-2.0
"""Where names are found in texts of every kind, and which of them are meant as names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.mentions import LANGUAGES, Mention, find


def names(text: str, filename: str, kind: str) -> list[str]:
    return [m.name for m in find(text, filename) if m.kind == kind and not m.placeholder]


def one(text: str, filename: str, name: str) -> Mention:
    (found,) = [m for m in find(text, filename) if m.name == name]
    return found


def test_conf_assignments_and_comments() -> None:
    text = (
        "# Enable CONFIG_ACORN_LOG for this\n"
        'CONFIG_ACORN=y\nCONFIG_ACORN_NAME="a b" # c\n'
        "#CONFIG_ACORN_OLD=y\n# CONFIG_ACORN_OFF is not set\n"
        "SB_CONFIG_ACORN_BOOT=y\nCONFIG_GAP = 3\nrubbish\n"
    )
    found = find(text, "app/prj.conf")
    assert [(m.shown, m.line, m.column, m.form, m.value) for m in found] == [
        ("CONFIG_ACORN_LOG", 1, 10, "comment", None),
        ("CONFIG_ACORN", 2, 1, "assignment", "y"),
        ("CONFIG_ACORN_NAME", 3, 1, "assignment", '"a b" # c'),
        ("CONFIG_ACORN_OLD", 4, 2, "comment", None),
        ("CONFIG_ACORN_OFF", 5, 3, "assignment", None),
        ("SB_CONFIG_ACORN_BOOT", 6, 1, "assignment", "y"),
        ("CONFIG_GAP", 7, 1, "assignment", "  3"),
    ]
    assert found[5].name == "ACORN_BOOT"


def test_kconfig_defines_and_refers() -> None:
    text = """\
menuconfig ACORN
\tbool "Acorn, not NUTS"
\tdefault y if OAK && !BIRCH
\tselect LEAF if $(dt_has,ROOT)
\tdepends on FOREST || \\
\t\tWOOD
\thelp
\t  Sets CONFIG_TWIG, and says SOMETHING ELSE.

\t  if NOT_A_SYMBOL
config SEEDS
\tint
\trange 1 SEED_MAX
\tdefault 0x10
if ACORN = "yes"
endif
"""
    found = find(text, "Kconfig.acorn")
    by_form = {
        form: [m.name for m in found if m.form == form]
        for form in ("definition", "reference", "comment")
    }
    assert by_form == {
        "definition": ["ACORN", "SEEDS"],
        "reference": ["OAK", "BIRCH", "LEAF", "FOREST", "WOOD", "SEED_MAX", "ACORN"],
        "comment": ["TWIG"],
    }


def test_devicetree_properties_know_their_node() -> None:
    text = """\
/* compatible = "no,comment"; */
#include <zephyr/dt-bindings/acorn.h>
#include <mem.h>
#define NODE compatible = "no,macro";
/ {
\tcompatible = "acme2,board";
\tleaf0: leaf@0 {
\t\tcompatible = "oak,leaf", "oak,old-leaf"; // trailing
\t\t#size-cells = <0>;
\t\tcolour = "green", "a;}{";
\t\twilting;
\t\tinner { size = <1 2>; /delete-property/ gone; };
\t};
};
&leaf0 { wind-speed = <(1 << 3)>; };
&other { unknown-of = <&leaf0 3>; };
"""
    found = find(text, "app.overlay")
    assert [(m.name, m.context) for m in found if m.kind == "binding"] == [
        ("oak,leaf", "oak,old-leaf"),
        ("oak,old-leaf", "oak,leaf"),
    ]
    both = "oak,leaf\noak,old-leaf"
    assert [(m.name, m.line, m.context) for m in found if m.kind == "property"] == [
        ("compatible", 6, ""),
        ("compatible", 8, both),
        ("#size-cells", 9, both),
        ("colour", 10, both),
        ("wilting", 11, both),
        ("size", 12, ""),
        ("wind-speed", 15, both),
        ("unknown-of", 16, ""),
    ]
    assert names(text, "a.dts", "include") == ["zephyr/dt-bindings/acorn.h"]


def test_c() -> None:
    text = """\
#include <zephyr/kernel.h>
#include "own.h"
#define DT_DRV_COMPAT oak_leaf
#define LOCAL_MACRO(x) (x)
/* CONFIG_IN_COMMENT k_not_called() */
static int helper(struct k_timer *t, int n)
{
\tprintk("CONFIG_IN_TEXT k_in_text()");
\treturn k_sem_take(&sem, K_MSEC(CONFIG_WAIT * 2)) + LOCAL_MACRO(1) + helper(t, 1);
}
#if DT_HAS_COMPAT_STATUS_OKAY(oak_root) && IS_ENABLED(CONFIG_OAK)
DT_FOREACH_STATUS_OKAY(oak_twig, DEFINE)
#endif
int x = DT_NODE_HAS_COMPAT(DT_NODELABEL(a), oak_bark) + DT_PROP(DT_INST(0, oak_sap), p);
#define GLUE(name) CONFIG_OAK_##name
"""
    assert names(text, "main.c", "kconfig") == ["IN_COMMENT", "IN_TEXT", "WAIT", "OAK"]
    assert names(text, "main.c", "binding") == [
        "oak_leaf",
        "oak_root",
        "oak_twig",
        "oak_bark",
        "oak_sap",
    ]
    calls = names(text, "main.c", "api")
    assert {"k_sem_take", "K_MSEC", "printk", "k_timer"} <= set(calls)
    assert not {"helper", "LOCAL_MACRO", "k_not_called", "k_in_text"} & set(calls)
    assert [(m.name, m.form) for m in find(text, "main.c") if m.kind == "include"] == [
        ("zephyr/kernel.h", "angle"),
        ("own.h", "quoted"),
    ]


def test_west_command_lines() -> None:
    text = """\
$ west build -p auto -b oak_dk/oak1/cpuapp \\
    -S console-leaf --shield leaf_shield samples/basic/leaf -- -DCONFIG_LEAF=y -DSHIELD="a_1 b_2"
ZEPHYR_BASE=x west -v flash --runner jlink && west build --board=birch -DBOARD=elm_dk
west build -b <your-board> app
west: error: nothing
"""
    found = find(text, "notes.sh")
    assert [m.name for m in found if m.kind == "west"] == ["build", "flash", "build", "build"]
    assert names(text, "notes.sh", "board") == ["oak_dk/oak1/cpuapp", "birch", "elm_dk"]
    assert names(text, "notes.sh", "snippet") == ["console-leaf"]
    assert names(text, "notes.sh", "shield") == ["leaf_shield", "a_1", "b_2"]
    assert names(text, "notes.sh", "sample") == ["samples/basic/leaf"]
    assert [(m.name, m.context) for m in found if m.kind == "option"][:4] == [
        ("-p", "build"),
        ("-b", "build"),
        ("-S", "build"),
        ("--shield", "build"),
    ]
    leaf = one(text, "notes.sh", "LEAF")
    assert (leaf.form, leaf.value, leaf.line) == ("fragment", "y", 2)


def test_options_of_an_image_and_of_sysbuild_on_a_command_line() -> None:
    text = "west build -- -Dmcuboot_CONFIG_LEAF=y -DSB_CONFIG_OAK=y -DCONFIG_NET_CONFIG_A=y\n"
    found = [m for m in find(text, "x.sh") if m.kind == "kconfig"]
    assert [(m.shown, m.context) for m in found] == [
        ("CONFIG_LEAF", "mcuboot"),
        ("SB_CONFIG_OAK", ""),
        ("CONFIG_NET_CONFIG_A", ""),
    ]


MARKDOWN = """\
Set `CONFIG_OAK` or **CONFIG_ELM** in prj.conf; `oak,leaf` and "oak,root" are compatibles, a,b not.

```conf
CONFIG_LEAF=yes
```

1. Build it:
   ```console
   $ west build -b oak_dk app
   ```

```c
#include <zephyr/leaf.h>
k_leaf_fall(CONFIG_LEAF_COUNT);
```

~~~
&leaf0 { compatible = "oak,twig"; };
~~~

Run `west build -t menuconfig`, then call `k_leaf_grow()`. West of here, west build is no command.
"""


def test_markdown_reads_fences_by_their_language() -> None:
    assert names(MARKDOWN, "answer.md", "kconfig") == ["OAK", "ELM", "LEAF", "LEAF_COUNT"]
    assert one(MARKDOWN, "answer.md", "LEAF").value == "yes"
    assert one(MARKDOWN, "answer.md", "LEAF").line == 4
    assert names(MARKDOWN, "answer.md", "binding") == ["oak,leaf", "oak,root", "oak,twig"]
    assert names(MARKDOWN, "answer.md", "board") == ["oak_dk"]
    assert names(MARKDOWN, "answer.md", "api") == ["k_leaf_fall", "k_leaf_grow"]
    assert names(MARKDOWN, "answer.md", "west") == ["build", "build"]
    assert names(MARKDOWN, "-", "kconfig") == names(MARKDOWN, "answer.md", "kconfig")


def test_rst_reads_roles_and_directives() -> None:
    text = """\
Leaf
####

:kconfig:option:`CONFIG_OAK` and :dtcompatible:`oak,leaf`, :zephyr:board:`oak_dk`,
:c:func:`k_leaf_fall`, :c:func:`text <k_leaf_grow>`, ``CONFIG_ELM_*``.

.. zephyr-app-commands::
   :zephyr-app: samples/basic/leaf
   :board: [oak_dk | elm_dk/e1]
   :gen-args: -DCONFIG_GEN=y
   :shield: leaf_shield

.. code-block:: devicetree

   &leaf0 {
           compatible = "oak,twig";
   };

After it, not devicetree: compatible = "no,thing";
"""
    assert names(text, "a.rst", "kconfig") == ["OAK", "GEN"]
    assert names(text, "a.rst", "binding") == ["oak,leaf", "oak,twig", "no,thing"]
    assert names(text, "a.rst", "board") == ["oak_dk", "oak_dk", "elm_dk/e1"]
    assert names(text, "a.rst", "api") == ["k_leaf_fall", "k_leaf_grow"]
    assert names(text, "a.rst", "sample") == ["samples/basic/leaf"]
    assert names(text, "a.rst", "shield") == ["leaf_shield"]
    assert one(text, "a.rst", "ELM_").placeholder


def test_yaml() -> None:
    text = """\
tests:
  sample.leaf:
    filter: CONFIG_OAK and dt_compat_enabled("oak,leaf")
    extra_configs:
      - CONFIG_LEAF=y
      - arch:arm:CONFIG_ROOT=n
    extra_args: SHIELD=leaf_shield
    platform_allow:
      - oak_dk
      # not this
      - elm_dk/e1
    integration_platforms: [oak_dk, "birch"]
    tags: leaf
"""
    assert names(text, "sample.yaml", "kconfig") == ["OAK", "LEAF", "ROOT"]
    assert one(text, "sample.yaml", "ROOT").value == "n"
    assert names(text, "sample.yaml", "board") == ["oak_dk", "elm_dk/e1", "oak_dk", "birch"]
    assert names(text, "sample.yaml", "binding") == ["oak,leaf"]
    assert names(text, "sample.yaml", "shield") == ["leaf_shield"]


@pytest.mark.parametrize(
    "text",
    [
        "CONFIG_FOO",
        "CONFIG_FOO_BAR",
        "CONFIG_<NAME>",
        "CONFIG_OAK_<NAME>",
        "CONFIG_XXX",
        "CONFIG_MY_OPTION",
        "CONFIG_*",
        "CONFIG_OAK_*",
        "CONFIG_OAK*",
        "CONFIG_BOARD_",
        "CONFIG_${NAME}",
        "CONFIG_OAK_{A,B}",
        "CONFIG_OAK_LEAF...",
        "CONFIG_SOME_OPTION",
    ],
)
def test_placeholders(text: str) -> None:
    (mention,) = find(f"Set {text} first.", "a.txt")
    assert mention.placeholder


@pytest.mark.parametrize(
    "text", ["*CONFIG_OAK*", "**CONFIG_OAK**", "CONFIG_OAK.", "CONFIG_OAK...", "(CONFIG_OAK)"]
)
def test_no_placeholders(text: str) -> None:
    (mention,) = find(f"Set {text} first.", "a.txt")
    assert (mention.name, mention.placeholder) == ("OAK", "")


def test_multiplication_is_no_wildcard() -> None:
    assert names("int a = CONFIG_OAK*2;", "a.c", "kconfig") == ["OAK"]


def test_placeholders_of_other_kinds() -> None:
    text = '```dts\nn { compatible = "vendor,device"; };\n```\n`west build -b your_board`\n'
    assert all(m.placeholder for m in find(text, "a.md") if m.kind in ("binding", "board"))


def test_line_ends_and_marks_do_not_move_names() -> None:
    plain = find("CONFIG_OAK=y\nCONFIG_ELM=n\n", "prj.conf")
    assert find("\ufeffCONFIG_OAK=y\r\nCONFIG_ELM=n\r\n", "prj.conf") == plain
    assert find("CONFIG_OAK=y\rCONFIG_ELM=n\r", "prj.conf") == plain


FILENAMES = ["-", "prj.conf", "Kconfig", "a.overlay", "a.c", "CMakeLists.txt", "a.md", "a.rst",
             "sample.yaml", "a.sh", "a.txt"]  # fmt: skip
PIECES = st.sampled_from(
    ["CONFIG_", "OAK", "=", "\n", " ", "\t", "{", "}", '"', "```", "``", "`", ";", "(", ")", "/*",
     "*/", "<", ">", "&", "west build -b ", "\\\n", ".. code-block:: c\n\n  ", "config A\n",
     "help\n", ":kconfig:option:`", "#include <", "compatible = ", "\0", "\ufffd", "é", "-D", ","]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(FILENAMES))
def test_anything_can_be_read(text: str, filename: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for mention in find(text, filename):
        line = lines[mention.line - 1]
        assert line[mention.column - 1 :].startswith(mention.shown.split("\n")[0])


@pytest.mark.parametrize("filename", FILENAMES)
@pytest.mark.parametrize(
    "piece",
    ["(", "{", '"', "`", "CONFIG_", "a,", "west build ", "int f(int a, ", "/*", "<", " x\n", "[",
     "- a\n", "\\\n", "#define A \\\n"],
)  # fmt: skip
def test_time_grows_with_the_text(filename: str, piece: str) -> None:
    text = piece * (40_000 // len(piece))
    start = time.process_time()
    find(text, filename)
    assert time.process_time() - start < 2


def test_languages_are_lower_case() -> None:
    assert all(language == language.lower() for language in LANGUAGES)
