# SPDX-License-Identifier: Apache-2.0
"""Findings → SARIF 2.1.0 (OASIS), as code-scanning services read it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from zephyr_ask.report import Finding, Report, Status

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# Status → rule and level: the build stops at an unknown option or a wrong value in a .conf.
RULES: dict[Status, tuple[str, str, str]] = {
    "unknown": ("unknown-symbol", "A name that this Zephyr tree does not have", "error"),
    "gone": ("gone-symbol", "A name that this Zephyr tree has no more", "error"),
    "invalid": ("invalid-value", "A value or a form that this Zephyr tree does not take", "error"),
}
_ORDER: tuple[Status, ...] = ("unknown", "gone", "invalid")


def sarif(reports: Iterable[Report], version: str) -> dict[str, Any]:
    """One run of one tool. `version`: of west ask."""
    rules = [
        {
            "id": RULES[status][0],
            "shortDescription": {"text": RULES[status][1]},
            "defaultConfiguration": {"level": RULES[status][2]},
        }
        for status in _ORDER
    ]
    driver = {"name": "west ask", "version": version, "rules": rules}
    results = [_result(finding) for report in reports for finding in report.findings]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",  # as Python counts
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding) -> dict[str, Any]:
    rule, _, level = RULES[finding.status]
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endColumn": finding.column + len(finding.name),
    }
    location = {
        "physicalLocation": {"artifactLocation": {"uri": uri(finding.file)}, "region": region}
    }
    properties: dict[str, Any] = {"kind": finding.kind, "name": finding.name}
    if finding.suggestions:
        properties["suggestions"] = list(finding.suggestions)
    if finding.replacement:
        properties["replacement"] = finding.replacement
    if finding.evidence:
        properties["evidence"] = {"path": finding.evidence[0], "line": finding.evidence[1]}
    return {
        "ruleId": rule,
        "ruleIndex": _ORDER.index(finding.status),
        "level": level,
        "message": {"text": finding.message},
        "locations": [location],
        "properties": properties,
    }


def uri(path: str) -> str:
    """A path as a URI: relative to where the check ran if it lies below, else absolute."""
    if path == "-":
        return "stdin"
    posix = path.replace("\\", "/") if os.sep == "\\" else path
    relative = os.path.relpath(posix).replace(os.sep, "/") if os.path.isabs(posix) else posix
    if relative.startswith("../") and os.path.isabs(posix):
        return "file://" + quote(os.fsencode(posix if posix.startswith("/") else "/" + posix))
    while relative.startswith("./"):
        relative = relative[2:]
    return quote(os.fsencode(relative), safe="/@+,=~")
