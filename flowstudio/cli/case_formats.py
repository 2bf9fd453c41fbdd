"""Results of test cases: for people, as JUnit's XML, and as TAP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from flowstudio.text import duration

if TYPE_CHECKING:
    from flowstudio.run.case_run import CaseResult, FlowResult

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_text(flows: Sequence[FlowResult]) -> str:
    """For people: a line a case, what failed below it, and the branches that no case takes."""
    lines: list[str] = []
    for flow in flows:
        lines.append(flow.name)
        for one in flow.results:
            lines.append(f"  {'✓' if one.passed else '✗'} {one.name}")
            if one.misses:
                lines.append(f"      {_place(one)}")
                lines += [f"      {miss}" for miss in one.misses]
                lines.append(f"      path: {' → '.join(one.path)}")
        lines += [f"  {line}" for line in _coverage(flow)]
    total = sum(len(flow.results) for flow in flows)
    failed = sum(not one.passed for flow in flows for one in flow.results)
    seconds = sum(one.seconds for flow in flows for one in flow.results)
    what = f"{failed} of {total} cases failed" if failed else f"{total} cases passed"
    lines.append(f"\n{what} in {duration(seconds)}")
    return "\n".join(lines) + "\n"


def _place(one: CaseResult) -> str:
    return f"{one.placed.path}:{one.placed.line}:{one.placed.column}"


def _coverage(flow: FlowResult) -> Iterator[str]:
    if not flow.branches:
        return
    taken = flow.branches - len(flow.never_taken)
    yield f"branches taken: {taken} of {flow.branches}"
    if flow.never_taken:
        never = "; ".join(f"{node} → {branch}" for node, branch in flow.never_taken)
        yield f"branches never taken: {never}"


def as_junit(flows: Sequence[FlowResult]) -> str:
    """JUnit's XML, as CI servers read it: a suite for each flow."""
    root = ElementTree.Element("testsuites", _counts([one for f in flows for one in f.results]))
    for flow in flows:
        about = {"name": _clean(flow.name), **_counts(flow.results)}
        suite = ElementTree.SubElement(root, "testsuite", about)
        for one in flow.results:
            place = {"file": _clean(str(one.placed.path)), "line": str(one.placed.line)}
            names = {"classname": _clean(flow.name), "name": _clean(one.name)}
            time = {"time": f"{one.seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", {**names, **place, **time})
            if one.misses:
                message = {"message": _clean(one.misses[0])}
                failure = ElementTree.SubElement(case, "failure", message)
                path = f"path: {' → '.join(one.path)}"
                failure.text = _clean("\n".join((_place(one), *one.misses, path)))
        if coverage := "\n".join(_coverage(flow)):
            ElementTree.SubElement(suite, "system-out").text = _clean(coverage)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counts(results: Sequence[CaseResult]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(not one.passed for one in results)),
        "errors": "0",
        "time": f"{sum(one.seconds for one in results):.3f}",
    }


def _clean(text: str) -> str:
    """The text without the characters that no XML may hold."""
    return _NOT_IN_XML.sub("�", text)


def as_tap(flows: Sequence[FlowResult]) -> str:
    """TAP version 13, with what failed as a YAML block."""
    total = sum(len(flow.results) for flow in flows)
    lines = ["TAP version 13", f"1..{total}"]
    number = 0
    for flow in flows:
        for one in flow.results:
            number += 1
            title = f"{flow.name}: {one.name}".replace("#", "\\#")
            lines.append(f"{'ok' if one.passed else 'not ok'} {number} - {_one_line(title)}")
            if one.misses:
                # JSON is YAML, whatever stands in the texts.
                fields = {"message": one.misses[0], "at": _place(one), "path": list(one.path)}
                lines.append("  ---")
                lines += [
                    f"  {key}: {json.dumps(value, ensure_ascii=False)}"
                    for key, value in fields.items()
                ]
                lines += [f"  # {_one_line(miss)}" for miss in one.misses[1:]]
                lines.append("  ...")
        lines += [f"# {flow.name}: {_one_line(line)}" for line in _coverage(flow)]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
