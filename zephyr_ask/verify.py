# SPDX-License-Identifier: Apache-2.0
"""Any text → which of the names in it this tree does not have.

Pure: `Names` answers for the tree. Three verdicts: a name is there; it is not (a Finding); or
it cannot be known (NotChecked). In doubt it is the last: a false alarm costs more than a miss.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import cached_property

from zephyr_ask.elsewhere import ALWAYS, GENERATED, OLD_INCLUDE, may_define, module_of
from zephyr_ask.mentions import Mention, find
from zephyr_ask.nearest import suggest
from zephyr_ask.own import own_names
from zephyr_ask.report import Finding, Names, NotChecked, Own, Report, Target
from zephyr_ask.types import Symbol
from zephyr_ask.values import can_be_set, wrong_value
from zephyr_ask.verdicts import NEAR, Verdicts

__all__ = [
    "Finding", "Names", "NotChecked", "Own", "Report", "Target", "check", "may_define", "module_of",
    "own_names",
]  # fmt: skip

_TEMPLATE = re.compile(r"[<>]|\$[{(]|@\w+@|\.\.\.|\u2026")  # a value that stands for any
_SETTING = frozenset(("assignment", "fragment"))  # mentions that set an option


def check(text: str, filename: str, names: Names, own: Own | None = None) -> Report:
    """Judge every name in a text.

    `filename`: chooses the syntax and stands in the findings; "-" for a text without a name.
    `own`: what the application defines; what the text itself defines is known in any case.
    """
    mentions = find(text, filename)
    checker = _Checker(filename, names, own or Own(), mentions)
    for mention in mentions:
        checker.judge(mention)
    return checker.tally.report()


def _folder(symbol: Symbol) -> str:
    """Where an option is defined; not where the template is that it was made from."""
    path: str = symbol.details.get("via", [symbol.path])[0]
    return posixpath.dirname(path)


class _Checker(Verdicts):
    def __init__(self, file: str, names: Names, own: Own, mentions: Sequence[Mention]) -> None:
        super().__init__(file, names)
        self._own = own
        self._mentions = mentions
        self._judges: dict[str, Callable[[Mention], None]] = {
            "kconfig": self._kconfig,
            "binding": self._binding,
            "property": self._property,
            "board": self._board,
            "shield": self._hardware,
            "snippet": self._hardware,
            "sample": self._sample,
            "west": self._west,
            "option": self._option,
            "include": self._include,
            "api": self._api,
        }

    def judge(self, mention: Mention) -> None:
        self._judges[mention.kind](mention)

    # --- Kconfig

    def _kconfig(self, mention: Mention) -> None:
        name = mention.name
        if mention.form == "definition":
            return
        if name in self._own.options or name in self._defined_here:
            self.there()
            return
        symbols = self.names.defined("kconfig", name)
        if symbols:
            self._option_there(mention, symbols)
        elif mention.placeholder and not module_of(mention.name):
            self.unknowable(mention, mention.placeholder)
        elif not mention.name.isupper() and mention.form not in _SETTING:
            self.unknowable(mention, "lower-case letters, which mostly stand for others")
        elif why := self._absent(mention) or mention.placeholder:
            self.unknowable(mention, why)
        elif not self.names.has("kconfig"):
            self.unknowable(mention, "this tree has no Kconfig files")
        else:
            self.missing(mention)

    def _absent(self, mention: Mention) -> str | None:
        module = module_of(mention.name)
        if module and not self.names.has(f"module:{module}"):
            return f"may be of the module {module}, which is not checked out"
        return self.names.absent("kconfig", mention.name)

    @cached_property
    def _defined_here(self) -> frozenset[str]:
        return frozenset(
            m.name for m in self._mentions if m.kind == "kconfig" and m.form == "definition"
        )

    def _option_there(self, mention: Mention, symbols: Sequence[Symbol]) -> None:
        """An option that is defined: where it may be used, and what it is set to."""
        scopes = {symbol.details.get("scope", "app") for symbol in symbols}
        if mention.shown == mention.name:  # in a Kconfig file, of whatever build
            self.there()
            return
        wanted = "sysbuild" if mention.shown.startswith("SB_") else "app"
        if wanted == "sysbuild" and "sysbuild" not in scopes:
            right = f"CONFIG_{mention.name}"
            said = f"invalid {mention.shown}: no option of sysbuild: write {right} in prj.conf"
            self.wrong(mention, "invalid", said, [right], right)
            return
        if wanted == "app" and scopes == {"sysbuild"}:
            self._of_sysbuild(mention)
            return
        if not scopes & {"app", "sysbuild"} and not any(map(self._beside, symbols)):
            folder = _folder(symbols[0])
            self.unknowable(mention, f"defined by {folder} only")
            return
        fitting = [s for s in symbols if (s.details.get("scope") == "sysbuild") ==
                   (wanted == "sysbuild")]  # fmt: skip
        wrong = self._wrong_assignment(mention, fitting)
        if wrong is None:
            self.there()
            return
        value = mention.value or ""
        value = f" = {value.strip()}" if value[:1].isspace() else f"={value}"
        self.wrong(mention, "invalid", f"invalid {mention.shown}{value}: {wrong}")

    def _of_sysbuild(self, mention: Mention) -> None:
        why = self._absent(mention)
        if why or mention.form not in _SETTING:
            self.unknowable(mention, why or "an option of sysbuild: SB_" + mention.shown)
            return
        right = f"SB_CONFIG_{mention.name}"
        said = f"invalid {mention.shown}: belongs in sysbuild.conf as {right}"
        self.wrong(mention, "invalid", said, [right], right)

    def _beside(self, symbol: Symbol) -> bool:
        """Whether the checked file lies in the sample or test that defines the option."""
        return f"/{_folder(symbol)}/" in "/" + self.file.replace("\\", "/")

    def _wrong_assignment(self, mention: Mention, symbols: Sequence[Symbol]) -> str | None:
        if mention.value is None or mention.form not in _SETTING:
            return None
        if _TEMPLATE.search(mention.value):
            return None
        if all(symbol.details.get("is_choice") for symbol in symbols):
            return "a choice: set one of its options to y"
        symbols = [symbol for symbol in symbols if not symbol.details.get("is_choice")]
        if mention.form == "fragment":
            if not mention.value or re.search(r"[\\$<>{}\"'|*]", mention.value):
                return None  # of a shell, a template or a regular expression
            return wrong_value(symbols, mention.value.rstrip(".,)"), quoted=False)
        if not can_be_set(symbols) and self._absent(mention) is None:
            return "has no prompt, other options set it"
        return wrong_value(symbols, mention.value)

    # --- devicetree

    def _binding(self, mention: Mention) -> None:
        name, names = mention.name, self.names
        if name in self._own.compatibles or names.defined("binding", name):
            self.there()
            return
        if mention.form == "token":
            tokens = {re.sub(r"\W", "_", other).lower() for other in self._own.compatibles}
            if name in tokens or names.token(name):
                self.there()
                return
        if mention.placeholder:
            self.unknowable(mention, mention.placeholder)
        elif why := names.absent("binding", name):
            self.unknowable(mention, why)
        elif not names.has("binding"):
            self.unknowable(mention, "this tree has no bindings")
        elif any(names.defined("binding", other) or other in self._own.compatibles
                 for other in mention.context.split("\n") if other):  # fmt: skip
            self.unknowable(mention, "the node has another compatible, with a binding")
        elif self.file.endswith(".dtsi"):
            self.unknowable(mention, "describes hardware, which may have no binding")
        elif mention.form != "prose":
            self.missing(mention)
        elif names.has(f"property:{name}"):
            self.there()
        elif name.startswith("zephyr,"):
            self.unknowable(mention, "may be a property of /chosen")
        elif self._means_compatible(name):
            self.missing(mention)

    def _means_compatible(self, name: str) -> bool:
        """Whether `a,b` in code is a compatible and not a list: it has a known half."""
        vendor, _, part = name.partition(",")
        if self.names.has(f"vendor:{vendor}"):
            return True
        return len(part) > 3 and any(
            other.partition(",")[2] == part for other in self.suggest("binding", name)
        )

    def _property(self, mention: Mention) -> None:
        name = mention.name
        compatibles = [c for c in mention.context.split("\n") if c]
        known = [self.names.properties(c) for c in compatibles if c not in self._own.compatibles]
        if not compatibles or len(known) < len(compatibles):
            return  # no word of it: most nodes of an overlay are references
        allowed = {prop for props in known if props is not None for prop in props}
        # The node is as good as its best binding; without one, nothing is known of it.
        if all(props is None for props in known) or mention.placeholder:
            return
        if name in allowed or name.startswith("#") or ALWAYS.fullmatch(name):
            self.there()
            return
        near = suggest(name, sorted(allowed), NEAR)
        asked = f": did you mean {near[0]}?" if near else ""
        self.wrong(mention, "unknown", f"unknown property {name} of {compatibles[0]}{asked}", near)

    # --- hardware, samples, west

    def _board(self, mention: Mention) -> None:
        name = mention.name
        target = None if name.partition("/")[0] in self._own.boards else self.names.target(name)
        if target is None:
            if name.partition("/")[0] in self._own.boards or name == "unit_testing":
                self.there()
            else:
                self._hardware(mention)
        elif target.valid or (target.targets and mention.form in ("role", "list")):
            self.there()
        elif target.today:
            place = target.evidence
            where = f" ({place[0]}:{place[1]})" if place else ""
            self.wrong(mention, "gone", f"gone: renamed to {target.today}{where}",
                        [target.today], target.today, place)  # fmt: skip
        elif mention.placeholder:
            self.unknowable(mention, mention.placeholder)
        else:
            near = suggest(name, target.targets, NEAR) if "/" in name else []
            near = near or list(target.targets[:NEAR]) or [name.partition("/")[0]]
            self.wrong(mention, "invalid", f"invalid {name}: did you mean {near[0]}?", near)

    def _hardware(self, mention: Mention) -> None:
        own = {"board": self._own.boards, "shield": self._own.shields,
               "snippet": self._own.snippets}[mention.kind]  # fmt: skip
        if mention.name in own or self.names.defined(mention.kind, mention.name):
            self.there()
        elif mention.placeholder:
            self.unknowable(mention, mention.placeholder)
        elif why := self.names.absent(mention.kind, mention.name):
            self.unknowable(mention, why)
        elif not self.names.has(mention.kind):
            self.unknowable(mention, f"this tree has no {mention.kind}s")
        else:
            self.missing(mention, f"{mention.kind} ")

    def _sample(self, mention: Mention) -> None:
        path = mention.name.rstrip("/")
        while path.count("/"):
            if self.names.defined("sample", path):
                self.there()
                return
            path = posixpath.dirname(path)
        near = self.suggest("sample", mention.name)
        if mention.placeholder or not self.names.has("sample"):
            self.unknowable(mention, mention.placeholder or "this tree has no samples")
        elif self.names.has(f"path:{mention.name}") or any(
            other.startswith(mention.name.rstrip("/") + "/") for other in near
        ):
            self.there()
        else:
            self.missing(mention)

    def _west(self, mention: Mention) -> None:
        if self.names.defined("west", mention.name):
            self.there()
        elif mention.placeholder or not self.names.has("west"):
            self.unknowable(mention, mention.placeholder or "this tree has no west commands")
        elif why := self.names.absent("west", mention.name):
            self.unknowable(mention, why)
        else:
            self.missing(mention, "west ")

    def _option(self, mention: Mention) -> None:
        commands = self.names.defined("west", mention.context)
        known: set[str] = set()
        for command in commands:
            known |= set(command.details.get("options", ()))
        exact = any(command.details.get("exact") for command in commands)
        name = mention.name
        if name in known or name in ("-h", "--help"):
            self.there()
        elif not exact and name.startswith("--") and any(o.startswith(name) for o in known):
            self.there()  # an unambiguous beginning is an option to argparse; so is this
        elif not known or mention.placeholder:
            self.unknowable(mention, f"the options of west {mention.context} are not known")
        elif any(c.details.get("passes_rest") or c.details.get("open_options") for c in commands):
            self.unknowable(mention, f"west {mention.context} may pass it on")
        else:
            near = suggest(name, sorted(o for o in known if o.startswith("--")), NEAR)
            asked = f": did you mean {near[0]}?" if near else ""
            said = f"unknown option {name} of west {mention.context}{asked}"
            self.wrong(mention, "unknown", said, near)

    # --- C

    def _include(self, mention: Mention) -> None:
        name = mention.name
        if mention.form != "angle":
            return
        if not name.startswith("zephyr/"):
            self._old_include(mention)
            return
        there = self.names.header(name)
        if there or posixpath.basename(name) in self._own.headers:
            self.there()
        elif mention.placeholder or GENERATED.match(name):
            self.unknowable(mention, mention.placeholder or "made by the build")
        elif there is None:
            self.unknowable(mention, "this tree has no headers")
        else:
            self.missing(mention)

    def _old_include(self, mention: Mention) -> None:
        """<kernel.h>: before Zephyr 3.2 the headers had no folder of their own."""
        now = f"zephyr/{mention.name}"
        if OLD_INCLUDE.match(mention.name) and self.names.header(now):
            self.wrong(mention, "invalid", f"invalid <{mention.name}>: write <{now}>", [now], now)

    def _api(self, mention: Mention) -> None:
        name = mention.name
        if name in self._own.api:
            return
        if self.names.defined("api", name):
            self.there()
            return
        called = mention.form == "call"
        if mention.placeholder or not self.names.claims(name, called):
            return
        headers = {m.name for m in self._mentions if m.kind == "include" and m.form == "quoted"}
        unseen = sorted(h for h in headers if posixpath.basename(h) not in self._own.headers)
        if not self.names.has("api"):
            self.unknowable(mention, "this tree has no headers")
        elif unseen:
            self.unknowable(mention, f'may be declared in "{unseen[0]}"')
        elif why := self.names.absent("api", name):
            self.unknowable(mention, why)
        else:
            self.missing(mention)
