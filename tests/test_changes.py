# SPDX-License-Identifier: Apache-2.0
"""What release pages say became of names: sentences, lists, tables; what they do not say; chains."""

from __future__ import annotations

import random
import time

import pytest
from conftest import Workspace
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyr_ask.sources.changes import mentions, read_changes
from zephyr_ask.sources.changes_follow import follow
from zephyr_ask.types import Became, Change

NOTES = "doc/releases/release-notes-7.3.rst"
GUIDE = "doc/releases/migration-guide-7.3.rst"

Said = dict[str, tuple[str, str, tuple[str, ...]]]


def said(text: str) -> Said:
    """name → (kind, became, replacements); names are distinct over the kinds here."""
    return {c.name: (c.kind, c.became, c.replacements) for c in read_changes(GUIDE, text)}


def one(text: str, name: str, became: str, *replacements: str, kind: str = "kconfig") -> None:
    """The text says this and nothing else."""
    assert said(text) == {name: (kind, became, replacements)}


# --- sentences


@pytest.mark.parametrize(
    "text",
    [
        "* Renamed ``CONFIG_OAK`` to :kconfig:option:`CONFIG_ELM`.",
        "* Rename the Kconfig option ``CONFIG_OAK`` to ``CONFIG_ELM`` for clarity.",
        "* :kconfig:option:`CONFIG_OAK` has been renamed to\n  :kconfig:option:`CONFIG_ELM`.",
        "* CONFIG_OAK was renamed CONFIG_ELM (:github:`1234`).",
        "* The ``CONFIG_OAK`` Kconfig option is now :kconfig:option:`CONFIG_ELM`",
        "* The config option ``CONFIG_OAK`` is now called ``CONFIG_ELM`` and takes milliseconds.",
        "* ``CONFIG_OAK`` was renamed (and inverted) to ``CONFIG_ELM``, which is off by default.",
        "* The main Kconfig option was renamed from ``CONFIG_OAK`` to ``CONFIG_ELM``.",
        "* ``-DCONFIG_OAK=y`` becomes ``CONFIG_ELM=y``",
        "* And, rename the Kconfig symbol ``OAK_TREE_LEFT``... no: ``CONFIG_OAK`` became ``CONFIG_ELM``.",
        "* ``CONFIG_ELM`` (previously ``CONFIG_OAK``) takes bytes.",
    ],
)
def test_renamed(text: str) -> None:
    found = {n: v for n, v in said(text).items() if n != "OAK_TREE_LEFT"}
    assert found == {"OAK": ("kconfig", "renamed", ("ELM",))}


@pytest.mark.parametrize(
    "text",
    [
        "* ``CONFIG_OAK`` has been replaced by ``CONFIG_ELM``.",
        "* ``CONFIG_OAK`` is superseded by the new ``CONFIG_ELM`` option.",
        "* Replaced Kconfig `CONFIG_OAK` with `CONFIG_ELM`.",
        "* ``CONFIG_ELM`` replaces ``CONFIG_OAK``.",
        "* :kconfig:option:`CONFIG_ELM` has replaced ``CONFIG_OAK``",
        "* ``CONFIG_OAK`` -> ``CONFIG_ELM``",
        "* Use ``CONFIG_ELM`` instead of ``CONFIG_OAK``.",
        "* ``CONFIG_ELM`` should be used instead of ``CONFIG_OAK``.",
        "* ``CONFIG_OAK`` was merged into ``CONFIG_ELM``.",
        "* Introduced ``CONFIG_ELM`` as a replacement for ``CONFIG_OAK``.",
        "* :kconfig:option:`CONFIG_OAK` replace with :kconfig:option:`CONFIG_ELM`",
        "* The ``CONFIG_OAK`` (replaced by ``CONFIG_ELM``) option has been removed.",
    ],
)
def test_replaced(text: str) -> None:
    one(text, "OAK", "replaced", "ELM")


@pytest.mark.parametrize(
    "text",
    [
        "* ``CONFIG_OAK`` was removed in favor of ``CONFIG_ELM``.",
        "* Removed ``CONFIG_OAK``. Use ``CONFIG_ELM`` instead.",
        "* Removed the deprecated ``CONFIG_OAK``, applications should be updated to use\n"
        "  :kconfig:option:`CONFIG_ELM` instead.",
        "* The ``CONFIG_OAK`` option has been removed. It leaked. Please use ``CONFIG_ELM``.",
        "* ``CONFIG_OAK`` was dropped, and ``CONFIG_ELM`` should be used instead.",
        "* ``CONFIG_OAK``, deprecated since 6.9, has been removed. ``CONFIG_ELM`` needs to be\n"
        "  used now.",
        "* ``CONFIG_OAK`` has been removed after being deprecated in favour of ``CONFIG_ELM``.",
        "* ``CONFIG_OAK`` has been deprecated since 6.9. It was removed. Use ``CONFIG_ELM``\n  instead.",
        "* Removed ``CONFIG_OAK`` and replaced with ``CONFIG_ELM``.",
        "* Removed ``CONFIG_OAK`` and replaced it with one option:\n\n  * ``CONFIG_ELM``\n",
    ],
)
def test_removed_with_replacement(text: str) -> None:
    one(text, "OAK", "removed", "ELM")


@pytest.mark.parametrize(
    "text",
    [
        "* Removed ``CONFIG_OAK``.",
        "* Dropped the :kconfig:option:`CONFIG_OAK` option.",
        "* Drop support for CONFIG_OAK",
        "* Removed no longer needed ``CONFIG_OAK``.",
        "* The driver selected by ``CONFIG_OAK`` has been removed.",
        "* Acorn SoCs no longer support CONFIG_OAK, as this is done in devicetree",
        "* ``CONFIG_OAK`` does not exist anymore.",
        "* CONFIG_OAK has been removed.  The ``tree-height`` property should be used instead.",
        "* Removed ``CONFIG_OAK`` in favor of the chosen node ``acorn,tree``.",
    ],
)
def test_removed(text: str) -> None:
    one(text, "OAK", "removed")


@pytest.mark.parametrize(
    "text",
    [
        "* ``CONFIG_OAK`` is deprecated in favor of ``CONFIG_ELM``.",
        "* Deprecated ``CONFIG_OAK`` in favour of the more general ``CONFIG_ELM``.",
        "* The Kconfig ``CONFIG_OAK`` has been deprecated and replaced with ``CONFIG_ELM``.",
        "* ``CONFIG_OAK`` was renamed and deprecated, use ``CONFIG_ELM`` instead.",
        "* ``CONFIG_OAK`` is deprecated. Use ``CONFIG_ELM``\n  instead. (:github:`12`)",
        "* The :kconfig:option:`CONFIG_OAK` modem driver is obsolete.\n"
        "  Instead the new :kconfig:option:`CONFIG_ELM` driver should be used.",
        "* Deprecated ``CONFIG_OAK``. Similar behavior can be achieved using ``CONFIG_ELM``.",
    ],
)
def test_deprecated(text: str) -> None:
    one(text, "OAK", "deprecated", "ELM")


def test_several_at_once() -> None:
    text = """\
* ``CONFIG_A1`` and ``CONFIG_B1`` have been renamed to ``CONFIG_A2``
  and ``CONFIG_B2``, respectively.

* These are renamed: ``CONFIG_C1`` -> `CONFIG_C2`, ``CONFIG_D1`` -> `CONFIG_D2`,
  ``CONFIG_E1`` -> `CONFIG_E2`.

* ``CONFIG_F1`` and ``CONFIG_F2`` were merged into :kconfig:option:`CONFIG_F3`.

* Kconfig ``CONFIG_G1`` has been replaced by ``CONFIG_G2`` and ``CONFIG_H1`` has been removed.

* ``CONFIG_K1`` has been split into ``CONFIG_K2`` and ``CONFIG_K3``.
"""
    assert said(text) == {
        "A1": ("kconfig", "renamed", ("A2",)),
        "B1": ("kconfig", "renamed", ("B2",)),
        "C1": ("kconfig", "renamed", ("C2",)),
        "D1": ("kconfig", "renamed", ("D2",)),
        "E1": ("kconfig", "renamed", ("E2",)),
        "F1": ("kconfig", "replaced", ("F3",)),
        "F2": ("kconfig", "replaced", ("F3",)),
        "G1": ("kconfig", "replaced", ("G2",)),
        "H1": ("kconfig", "removed", ()),
        "K1": ("kconfig", "replaced", ("K2", "K3")),
    }


def test_the_most_alike_is_offered_first() -> None:
    text = """\
* The following bindings are now removed: ``acorn,oak-uart``, ``acorn,oak-gpio``
  and ``acorn,oak-clock``. Instead, use the following replacements:

  - :dtcompatible:`acorn,elm-gpio`
  - :dtcompatible:`acorn,elm-uart`
"""
    found = said(text)
    assert found["acorn,oak-uart"][2] == ("acorn,elm-uart", "acorn,elm-gpio")
    assert found["acorn,oak-gpio"] == ("binding", "removed", ("acorn,elm-gpio", "acorn,elm-uart"))
    assert len(found) == 3


@pytest.mark.parametrize(
    "text",
    [
        "* Added ``CONFIG_OAK``.",
        "* ``CONFIG_OAK`` is now enabled by default.",
        "* Fixed a crash when ``CONFIG_OAK`` is used instead of ``CONFIG_ELM``.",
        "* The prompt of ``CONFIG_OAK`` has been removed.",
        "* The dependency on ``CONFIG_OAK`` was dropped.",
        "* Removed the ``ts`` parameter of :c:func:`oak_send`.",
        "* Renamed the :dtcompatible:`acorn,oak` devicetree property ``clk_div`` to ``clk-div``.",
        "* :dtcompatible:`acorn,oak`: removed ``one-shot`` property.",
        "* The binding file for :dtcompatible:`acorn,oak` has been renamed.",
        "* :dtcompatible:`acorn,oak` has a deprecated ``sck-pin`` property.",
        "* The ``acorn,leaf-count`` property has been removed.",
        "* The event type has changed from ``uint32_t`` to ``uint64_t``.",
        "* ``CONFIG_OAK`` has not been removed.",
        "* Set ``CONFIG_OAK`` to remove ``CONFIG_ELM``.",
        "* Removed all ``CONFIG_OAK_*`` options and ``CONFIG_ELM_<n>_SIZE``.",
        "* :c:func:`oak_set` split into :c:func:`oak_set` and :c:func:`oak_set_all`.",
        "* :github:`4711` - Remove CONFIG_OAK from the samples",
        "* ``ZEP-12`` - CONFIG_OAK is removed",
        ".. code-block:: none\n\n   ``CONFIG_OAK`` has been removed\n",
        ".. ``CONFIG_OAK`` has been removed\n",
        "As an example::\n\n   ``CONFIG_OAK`` has been removed\n",
    ],
)
def test_nothing_became(text: str) -> None:
    assert said(text) == {}


# --- kinds of names


def test_kinds() -> None:
    text = """\
* :dtcompatible:`acorn,oak` has changed its compatible to :dtcompatible:`acorn,elm`.

* Renamed the ``compatible`` from ``ash-tree`` to :dtcompatible:`acorn,ash`.

* Macro ``FIR_TREE``, deprecated since v7.0, has been removed. Use :c:macro:`FIR_SHRUB` instead.

* bt_beech_set() removed, use bt_beech_put() instead when the tree is low.

* The :c:struct:`yew_bush` type is now replaced with ``struct yew_hedge``.

* Board ``alder_dk`` is deprecated. Use ``alder/alder52/cpuapp`` instead.

* Shield ``birch_click`` has been replaced by ``birch_click_i2c``.

* ``west plant`` has been removed, use ``west sow`` instead.

* Removed Kconfig option ``LIME_TREE_SIZE`` (:github:`1`).

* The ``SB_CONFIG_PINE`` symbol was removed.

* The deprecated ``TEAK_LEAF`` option was dropped.
"""
    assert said(text) == {
        "acorn,oak": ("binding", "renamed", ("acorn,elm",)),
        "ash-tree": ("binding", "renamed", ("acorn,ash",)),
        "FIR_TREE": ("api", "removed", ("FIR_SHRUB",)),
        "bt_beech_set": ("api", "removed", ("bt_beech_put",)),
        "yew_bush": ("api", "replaced", ("yew_hedge",)),
        "alder_dk": ("board", "deprecated", ("alder/alder52/cpuapp",)),
        "birch_click": ("shield", "replaced", ("birch_click_i2c",)),
        "plant": ("west", "removed", ("sow",)),
        "LIME_TREE_SIZE": ("kconfig", "removed", ()),
        "PINE": ("kconfig", "removed", ()),
        "TEAK_LEAF": ("kconfig", "removed", ()),
    }


def test_a_replacement_has_the_kind_of_what_went() -> None:
    text = """\
* The :dtcompatible:`acorn,oak` driver was renamed to :dtcompatible:`acorn,elm`. The Kconfig option
  has been renamed from ``CONFIG_OAK`` to ``CONFIG_ELM``, and ``CONFIG_LEAF`` has been replaced with
  the devicetree property ``leaf-count``.
"""
    assert said(text) == {
        "acorn,oak": ("binding", "renamed", ("acorn,elm",)),
        "OAK": ("kconfig", "renamed", ("ELM",)),
        "LEAF": ("kconfig", "replaced", ()),
    }


def test_boards_below_a_label_or_a_heading() -> None:
    text = """\
Deprecated in this release
==========================

* Boards

  * oak51_pca123 has been renamed to oak51dk_oak51422

Boards
******

* ``native_oak`` has been deprecated in favour of
  :ref:`native_elm<native_elm>` (:github:`1`).
"""
    assert said(text) == {
        "oak51_pca123": ("board", "renamed", ("oak51dk_oak51422",)),
        "native_oak": ("board", "deprecated", ("native_elm",)),
    }


# --- lists, headings, tables


def test_lists_below_a_line() -> None:
    text = """\
* The following Kconfig options
  were removed:

  * ``CONFIG_A``
  * ``CONFIG_B``, which nobody used

  This is hardware. See :dtcompatible:`acorn,radio`.

* Following options have been deprecated (replaced by):

  * :kconfig:option:`CONFIG_C` (:kconfig:option:`CONFIG_D`)
  * :kconfig:option:`CONFIG_E` (:kconfig:option:`CONFIG_F` and
    :kconfig:option:`CONFIG_G`)

* The options have been renamed:

  * ``CONFIG_H`` to ``CONFIG_I``

* If you rely on any of the following, check them:

  * ``CONFIG_J``

* Removed the oak driver; the following options were added:

  * ``CONFIG_K``

* File APIs were deprecated:

  :c:func:`oak_mount` in favor of :c:func:`elm_mount`

  :c:func:`oak_open` in favor of :c:func:`elm_open`

The following deprecated macros were removed:

- ``OAK_LABEL``
"""
    assert said(text) == {
        "A": ("kconfig", "removed", ()),
        "B": ("kconfig", "removed", ()),
        "C": ("kconfig", "deprecated", ("D",)),
        "E": ("kconfig", "deprecated", ("F", "G")),
        "H": ("kconfig", "renamed", ("I",)),
        "oak_mount": ("api", "deprecated", ("elm_mount",)),
        "oak_open": ("api", "deprecated", ("elm_open",)),
        "OAK_LABEL": ("api", "removed", ()),
    }


def test_headings_govern_what_begins_with_a_name() -> None:
    text = """\
API Changes
***********

Removed APIs and options
========================

* :kconfig:option:`CONFIG_A`

* Kernel

  * ``oak_put()``, use ``elm_put()`` instead

* A note that ``CONFIG_B`` makes builds slow.

* The leaf API takes another parameter. These functions changed:

  * ``oak_leaf()``

Stable API changes in this release
==================================

* :kconfig:option:`CONFIG_C`
"""
    assert said(text) == {
        "A": ("kconfig", "removed", ()),
        "oak_put": ("api", "removed", ("elm_put",)),
    }


GRID = """\
* Names have been standardised. Below table has them:

  .. table::
     :align: center

     +-----------------------+-----------------------+
     | Old Kconfig name      | New Kconfig name      |
     +=======================+=======================+
     | OAK_SIZE              | ELM_SIZE              |
     +-----------------------+-----------------------+
     | ``CONFIG_OAK_LEAVES`` | ``CONFIG_ELM_LEAVES`` |
     |                       | (inverted)            |
     +-----------------------+-----------------------+

* ``CONFIG_OAK`` was removed.
"""
LIST_TABLE = """\
.. list-table::
   :header-rows: 1

   * - Removed macro
     - Replacement
   * - ``OAK_LABEL(node)``
     - ``ELM_PROP(node, label)``
   * - ``OAK_BARK(node)``, ``OAK_ROOT(node)``
     - **Removed**

"""
SIMPLE = """\
=============  =============
Deprecated     Use
=============  =============
``oak_cut()``  ``elm_cut()``
=============  =============
"""
NO_CHANGE = """\
+-----------+----------+
| Function  | Area     |
+===========+==========+
| oak_cut() | Forestry |
+-----------+----------+
"""


def test_tables() -> None:
    assert said(GRID) == {
        "OAK_SIZE": ("kconfig", "renamed", ("ELM_SIZE",)),
        "OAK_LEAVES": ("kconfig", "renamed", ("ELM_LEAVES",)),
        "OAK": ("kconfig", "removed", ()),
    }
    assert said(LIST_TABLE) == {
        "OAK_LABEL": ("api", "replaced", ("ELM_PROP",)),
        "OAK_BARK": ("api", "removed", ()),
        "OAK_ROOT": ("api", "removed", ()),
    }
    assert said(LIST_TABLE.replace("* -", "- *").replace("  - ", "  * ")) == said(LIST_TABLE)
    assert said(SIMPLE) == {"oak_cut": ("api", "deprecated", ("elm_cut",))}
    assert said(NO_CHANGE) == {}


def test_previously_and_now() -> None:
    text = """\
* Most functions were changed. The list:

  * Starting:

    * Previously: ``oak_start``
    * Now use: :c:func:`oak_run`

  * Locks:

    * Previously:

      * ``oak_lock``
      * ``oak_unlock``

    * Now use:

      * :c:func:`oak_mutex_lock`
      * :c:func:`oak_mutex_unlock`
"""
    assert said(text) == {
        "oak_start": ("api", "replaced", ("oak_run",)),
        "oak_lock": ("api", "replaced", ("oak_mutex_lock",)),
        "oak_unlock": ("api", "replaced", ("oak_mutex_unlock",)),
    }


# --- lines and versions


def test_the_line_is_that_of_the_name() -> None:
    text = "Page\n####\n\n* Removed ``CONFIG_A``,\n  ``CONFIG_B`` and\n  ``CONFIG_C``.\n"
    assert [(c.name, c.line) for c in read_changes(NOTES, text)] == [("A", 4), ("B", 5), ("C", 6)]
    rows = {c.name: c.line for c in read_changes(NOTES, GRID)}
    assert rows == {"OAK_SIZE": 9, "OAK_LEAVES": 11, "OAK": 15}


@pytest.mark.parametrize(
    ("path", "title", "version"),
    [
        ("doc/releases/migration-guide-3.2.rst", "", "3.2"),
        ("doc/releases/release-notes-1.14.rst", "", "1.14"),
        ("doc/releases/next.rst", "Migration guide to Zephyr v4.2.0 (Draft)", "4.2"),
        ("doc/releases/next.rst", "Zephyr 1.14.2", "1.14.2"),
        ("doc/releases/next.rst", "News", ""),
    ],
)
def test_version(path: str, title: str, version: str) -> None:
    text = f".. _x:\n\n{title}\n{'#' * 60}\n\n* Removed ``CONFIG_A``.\n"
    (change,) = read_changes(path, text)
    assert (change.version, change.path) == (version, path)


def test_mentions() -> None:
    text = """\
* Added :kconfig:option:`CONFIG_A` and ``CONFIG_B=y``; see CONFIG_C, ``CONFIG_D_*`` and x/CONFIG_E.
* New: :dtcompatible:`acorn,oak`, ``acorn,elm``, the ``acorn,leaf`` property
* :c:func:`oak_cut`, ``elm_cut()``, :c:macro:`ASH`, SB_CONFIG_F, :kconfig:option:`CONFIG_A`
* :zephyr:board:`alder` and ``CONFIG_G`` on
  :kconfig:option:`H`
"""
    assert mentions(NOTES, text) == (
        ("kconfig", "A", 1), ("kconfig", "B", 1), ("kconfig", "C", 1), ("binding", "acorn,oak", 2),
        ("api", "oak_cut", 3), ("api", "elm_cut", 3), ("api", "ASH", 3), ("kconfig", "F", 3),
        ("kconfig", "G", 4), ("kconfig", "H", 5),
    )  # fmt: skip
    text = "* ``acorn,elm``" + " and much more text that stands between" * 3
    assert mentions(NOTES, text) == (("binding", "acorn,elm", 1),)


# --- chains


def change(name: str, version: str, *replacements: str, became: Became = "renamed") -> Change:
    return Change(name, "kconfig", became, version, replacements, NOTES, 1)


def test_follow() -> None:
    def exists(*names: str) -> set[str]:
        return set(names)

    changes = {
        "A": [change("A", "3.2", "B")],
        "B": [change("B", "3.5", "C")],
        "P": [change("P", "3.2", "OLD"), change("P", "3.10", "NEW", "GONE")],
        "X": [change("X", "1.0", "Y"), change("X", "2.0", "Z")],
        "Y": [change("Y", "1.0", "X")],
    }
    assert follow("A", changes, exists("C").__contains__) == ("C",)
    assert follow("A", changes, exists("B", "C").__contains__) == ("B",)
    assert follow("A", changes, exists().__contains__) == ()
    assert follow("P", changes, exists("OLD", "NEW").__contains__) == ("NEW", "OLD")
    assert follow("X", changes, exists("X").__contains__) == ()  # a circle, cut
    assert follow("X", changes, exists("Z").__contains__) == ("Z",)
    assert follow("NOBODY", changes, exists("C").__contains__) == ()


def test_a_long_chain_is_no_recursion() -> None:
    changes = {f"A{i}": [change(f"A{i}", "1.0", f"A{i + 1}")] for i in range(5000)}
    assert follow("A0", changes, "A5000".__eq__) == ("A5000",)


# --- bad input

PAGE = GRID + "\n" + LIST_TABLE + SIMPLE + "\nRemoved APIs\n============\n\n* ``CONFIG_Z``\n"


def test_line_ends_and_encodings() -> None:
    plain = read_changes(GUIDE, PAGE)
    assert read_changes(GUIDE, PAGE.replace("\n", "\r\n")) == plain
    assert read_changes(GUIDE, "\ufeff" + PAGE) == plain
    latin = "* L\xe4rche: removed ``CONFIG_A``.\n".encode("latin-1").decode(errors="replace")
    assert [c.name for c in read_changes(GUIDE, latin)] == ["A"]
    marks = "* \ue000 and \uf8ff: removed ``CONFIG_A``. \U000f0000\n"
    assert [c.name for c in read_changes(GUIDE, marks)] == ["A"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["``CONFIG_A``", ":c:func:`b_c`", "``d,e``", "removed", "renamed", "to", "from", "with",
             "instead", "use", "in favor of", "deprecated", "is now", "(", ")", ",", ".", ":", "* ",
             "\n", "\n\n", "  ", "+--+--+", "=== ===", "|", "`", "``", ".. table::", "::", "====",
             "replaced by", "\ue000", "\U000f0001", "\0", "Old:", "Now:", "The following"]
        ) | st.text(max_size=3),
        max_size=60,
    )
)  # fmt: skip
def test_any_text_is_read(parts: list[str]) -> None:
    text = " ".join(parts)
    lines = text.count("\n") + 1
    for found in read_changes(NOTES, text):
        assert 1 <= found.line <= lines
        assert found.name and found.name not in found.replacements
        assert all(ord(letter) < 0xE000 or ord(letter) == 0xFFFD for letter in found.name)
    assert all(1 <= line <= lines for _, _, line in mentions(NOTES, text))


def test_random_bytes_and_pieces() -> None:
    shuffle = random.Random(7)
    for _ in range(40):
        read_changes(NOTES, shuffle.randbytes(2000).decode(errors="replace"))
        start = shuffle.randrange(len(PAGE))
        read_changes(NOTES, PAGE[start : start + shuffle.randrange(400)])


@pytest.mark.parametrize(
    "text",
    [
        "* ``CONFIG_A`` removed" + "." * 200_000,
        "* removed " + "a_" * 2_900 + "*",
        "* removed :c:func:`" + "<" * 5_000 + "`",
        "* ``CONFIG_A`` " + "is " * 1_900,
        "* removed ``CONFIG_A`` " + "(``CONFIG_B``" * 400,
        "* removed ``CONFIG_A`` " + "," * 5_000 + "``CONFIG_B``",
        "\n".join(" " * i + f"* removed ``CONFIG_A{i}``:\n" for i in range(600)),
        "* removed:\n\n" + "  * Old: ``CONFIG_A``\n" * 10_000,
        "..\n" * 50_000,
        "`" * 100_000,
    ],
    ids=range(10),
)
def test_hostile_text_takes_no_time(text: str) -> None:
    start = time.process_time()
    read_changes(NOTES, text)
    mentions(NOTES, text)
    assert time.process_time() - start < 3


# --- the real pages


def test_release_pages_of_zephyr(zephyr_workspace: Workspace) -> None:
    folder = zephyr_workspace.zephyr / "doc/releases"
    pages = {f"doc/releases/{p.name}": p.read_text("utf-8") for p in folder.glob("*.rst")}
    start = time.process_time()
    found = [c for path, text in pages.items() for c in read_changes(path, text)]
    seconds = time.process_time() - start
    kconfig: dict[str, list[Change]] = {}
    for entry in found:
        if entry.kind == "kconfig":
            kconfig.setdefault(entry.name, []).append(entry)
    assert len(kconfig) > 350 and len(found) > 900
    assert seconds < 4  # 0.8 on an idle core
    # Each is a sentence, a list or a table of its own style, read by eye.
    expected = {
        "BT_RPMSG": ("renamed", ("BT_HCI_IPC",)),
        "CLOCK_CONTROL_RA": ("renamed", ("CLOCK_CONTROL_RENESAS_RA",)),
        "FNMATCH": ("deprecated", ("POSIX_C_LIB_EXT",)),
        "LOG_MINIMAL": ("removed", ("LOG_MODE_MINIMAL",)),
        "CLOCK_STM32_HPRE": ("removed", ()),
        "MCUMGR_BUF_SIZE": ("renamed", ("MCUMGR_TRANSPORT_NETBUF_SIZE",)),
        "DISK_ACCESS_SDHC": ("renamed", ("DISK_DRIVER_SDMMC",)),
        "TRACING_CPU_STATS": ("removed", ("THREAD_RUNTIME_STATS",)),
    }
    for name, wanted in expected.items():
        assert (kconfig[name][0].became, kconfig[name][0].replacements) == wanted, name
    assert "BT_HCI_IPC" not in kconfig and "POSIX_C_LIB_EXT" not in kconfig
