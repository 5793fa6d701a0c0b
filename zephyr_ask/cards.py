# SPDX-License-Identifier: Apache-2.0
"""Card → lines on a terminal; Card → the dict of JSON, MCP and the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zephyr_ask.types import Card, SymbolKind, shown_name

if TYPE_CHECKING:
    from rich.text import Text

    from zephyr_ask.layout import Layout

KIND_NAMES: dict[SymbolKind, str] = {
    "kconfig": "Kconfig option",
    "binding": "devicetree binding",
    "board": "board",
    "soc": "SoC",
    "shield": "shield",
    "snippet": "snippet",
    "sample": "sample",
    "west": "west command",
    "api": "C API",
}
PLACES = 4  # further definitions that are listed
LIST = 12  # items of a list: properties, targets
DEFAULTS = 4  # boards and SoCs give hundreds of defaults to one option
HELP_CHARS = 700
MIN_TEXT = 20  # columns, however long a fact's label is

Fact = tuple[str, str]  # a word for what it is, and its text


def card_to_dict(card: Card) -> dict[str, Any]:
    """A card as JSON values; paths are relative to zephyr."""
    first = card.definitions[0] if card.definitions else None
    evidence = card.evidence
    details = dict(card.details)
    if len(card.definitions) > 1:
        details["definitions"] = [{"path": s.path, "line": s.line} for s in card.definitions]
    if card.near:
        details["near"] = [_prefixed(card, name) for name in card.near]
    if card.change is not None:
        details["became"], details["version"] = card.change.became, card.change.version
    return {
        "name": shown_name(card),
        "kind": card.kind,
        "path": first.path if first else None,
        "line": first.line if first else None,
        "summary": card.summary,
        "status": card.status,
        "replacement": _prefixed(card, card.replacement) if card.replacement else None,
        "evidence": {"path": evidence[0], "line": evidence[1]} if evidence else None,
        "details": details,
    }


def _prefixed(card: Card, name: str) -> str:
    return f"CONFIG_{name}" if card.kind == "kconfig" else name


def said(card: Card) -> str:
    """What became of a name that is gone or unknown, in one sentence."""
    name = shown_name(card)
    if card.status == "unknown":
        module = card.details.get("module")
        where = f", unless the module {module} defines it, which may not be checked out"
        return f"{name} does not exist in this tree{where if module else ''}."
    change = card.change
    if change is None and card.replacement:
        return f"{name} is a name from before hardware model v2: today {card.replacement}."
    if change is None:
        return f"{name} does not exist in this tree any more; release notes speak of it."
    offered = " or ".join(_prefixed(card, r) for r in change.replacements)
    text = f"{name} is gone since v{change.version}: {change.became}"
    if card.replacement and (not change.replacements or card.replacement in change.replacements):
        text += (" to " if change.became == "renamed" else " by ") + _prefixed(
            card, card.replacement
        )
    elif card.replacement:
        text += f" ({offered}, today {_prefixed(card, card.replacement)})"
    return text + "."


def facts(card: Card) -> list[Fact]:
    """What a card says besides its help, in the order in which a person looks for it."""
    return [(name, text) for name, text in _FACTS[card.kind](card.details) if text]


def _kconfig(details: Mapping[str, Any]) -> Iterable[Fact]:
    yield "type", str(details.get("type") or "")
    if "type" in details and "prompt" not in details:
        yield "prompt", "none: it is set by other options, not in prj.conf"
    yield "default", _listed(details.get("defaults", ()), _valued)
    yield (
        "range",
        "; ".join(
            f"{r.get('low')} to {r.get('high')}" + _if(r) for r in details.get("ranges", ())[:LIST]
        ),
    )
    yield "choice", str(details.get("choice") or "")
    conditions = [*details.get("inherited", ()), *details.get("depends", ())]
    yield "depends on", " && ".join(_grouped(c) for c in dict.fromkeys(conditions))
    yield "selects", ", ".join(s["name"] + _if(s) for s in details.get("selects", ())[:LIST])
    yield "implies", ", ".join(s["name"] + _if(s) for s in details.get("implies", ())[:LIST])
    scope = details.get("scope", "app")
    yield "belongs to", {"app": "", "sysbuild": "sysbuild", "sample": "a sample only",
                         "test": "a test only"}.get(scope, "")  # fmt: skip


def _listed(values: Sequence[Any], shown: Callable[[Any], str]) -> str:
    """The first few, one after the other, and how many more there are."""
    more = f"; and {len(values) - DEFAULTS} more" if len(values) > DEFAULTS else ""
    return "; ".join(map(shown, values[:DEFAULTS])) + more


def _grouped(condition: str) -> str:
    return f"({condition})" if "||" in condition else condition


def _valued(entry: Mapping[str, Any]) -> str:
    return str(entry.get("value", "")) + _if(entry)


def _if(entry: Mapping[str, Any]) -> str:
    at = f" ({entry['at']})" if entry.get("at") else ""
    return (f" if {entry['if']}" if entry.get("if") else "") + at


def _binding(details: Mapping[str, Any]) -> Iterable[Fact]:
    bus = details.get("on_bus") or ""
    yield "on bus", bus if isinstance(bus, str) else ", ".join(map(str, bus))
    bus = details.get("bus") or ""
    yield "bus", bus if isinstance(bus, str) else ", ".join(map(str, bus))
    properties = details.get("properties", {})
    needed = [name for name, p in properties.items() if p.get("required")]
    yield "required", ", ".join(needed[:LIST]) + (", …" if len(needed) > LIST else "")
    others = [name for name in properties if name not in needed]
    yield "optional", ", ".join(others[:LIST]) + (", …" if len(others) > LIST else "")
    for name, cells in details.get("cells", {}).items():
        yield name, ", ".join(map(str, cells))


def _api(details: Mapping[str, Any]) -> Iterable[Fact]:
    yield "declared", str(details.get("signature") or details.get("what") or "")
    for parameter in details.get("params", ())[:LIST]:
        yield str(parameter.get("name", "")), str(parameter.get("text", ""))
    returns = details.get("returns", "")
    yield "returns", returns if isinstance(returns, str) else "; ".join(map(_returned, returns))
    deprecated = details.get("deprecated")
    yield "deprecated", deprecated if isinstance(deprecated, str) else "yes" if deprecated else ""
    yield "group", str(details.get("group") or "")
    yield "since", str(details.get("since") or "")


def _returned(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return f"{entry.get('retval', '')} {entry.get('text', '')}".strip()


def _hardware(details: Mapping[str, Any]) -> Iterable[Fact]:
    for key in ("full_name", "vendor", "series", "family", "supported_by"):
        yield key.replace("_", " "), str(details.get(key) or "")
    for key in ("targets", "revisions", "socs", "cpuclusters"):
        values = details.get(key) or ()
        shown = [v.get("name", "") if isinstance(v, dict) else str(v) for v in values[:LIST]]
        yield key, ", ".join(shown) + (", …" if len(values) > LIST else "")


def _sample(details: Mapping[str, Any]) -> Iterable[Fact]:
    yield "tests", ", ".join(map(str, list(details.get("tests", ()))[:LIST]))
    yield "tags", ", ".join(map(str, list(details.get("tags", ()))[:LIST]))


def _west(details: Mapping[str, Any]) -> Iterable[Fact]:
    for option, text in list(details.get("options", {}).items())[: 2 * LIST]:
        yield option, str(text)


_FACTS: dict[SymbolKind, Callable[[Mapping[str, Any]], Iterable[Fact]]] = {
    "kconfig": _kconfig,
    "binding": _binding,
    "api": _api,
    "board": _hardware,
    "soc": _hardware,
    "shield": _hardware,
    "snippet": _hardware,
    "sample": _sample,
    "west": _west,
}


def explanation(card: Card) -> str:
    """The help text of a card, cut at HELP_CHARS."""
    details, first = card.details, card.definitions[0] if card.definitions else None
    said_by_name = card.kind in ("kconfig", "binding", "api")
    text = details.get("help") or details.get("description")
    text = text or (first.text if first and said_by_name else "")
    text = str(text).strip()
    if text == card.summary:
        return ""
    return text if len(text) <= HELP_CHARS else text[:HELP_CHARS].rsplit(" ", 1)[0] + " …"


def card_lines(
    layout: Layout, card: Card, width: int, place: Callable[[str, int], Text]
) -> list[Text]:
    """A card in lines of at most `width` columns; `place` makes the link to a file's line."""
    from rich.text import Text

    head = Text(layout.clean(shown_name(card)), "bold")
    head.append(layout.clean(f"  {KIND_NAMES[card.kind]}"), "dim")
    if card.summary:
        head.append(layout.clean(f"  {card.summary}"))
    lines = layout.wrap(head, width)
    if card.status != "defined":
        lines += layout.wrap(Text(layout.clean(said(card)), "yellow"), width)
    for symbol in card.definitions[: PLACES + 1]:
        lines.append(place(symbol.path, symbol.line))
    if len(card.definitions) > PLACES + 1:
        lines.append(Text(f"and {len(card.definitions) - PLACES - 1} more definitions", "dim"))
    if card.evidence:
        lines.append(Text("said in ", "dim").append_text(place(*card.evidence)))
    if card.near:
        names = ", ".join(_prefixed(card, name) for name in card.near)
        lines += layout.wrap(Text(layout.clean(f"nearest: {names}")), width)
    for name, text in facts(card):
        label = layout.clean(f"{name:<10}  ")
        body = Text(layout.clean(" ".join(text.split())))
        for at, line in enumerate(layout.wrap(body, max(MIN_TEXT, width - len(label)))):
            start = Text(label if not at else " " * len(label), "dim")
            lines.append(start.append_text(line))
    if help_text := explanation(card):
        lines += [Text(), *layout.wrap(Text(layout.clean(" ".join(help_text.split()))), width)]
    return lines
