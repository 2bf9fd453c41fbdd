"""What stands above a Mermaid flowchart's statements: front matter, the header, the direction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow import codes
from flowstudio.flow.mermaid_shape import ARROW

if TYPE_CHECKING:
    from flowstudio.flow.mermaid_scan import Scanner
    from flowstudio.flow.model import Direction

_FENCE = re.compile(r"\s*---[^\S\n]*\n")
_FENCE_END = re.compile(r"^[^\S\n]*---[^\S\n]*$", re.MULTILINE)
_TITLE = re.compile(r"^[^\S\n]*title[^\S\n]*:[^\S\n]*(\S[^\n]*)", re.MULTILINE)
_HEADER = re.compile(r"(?:flowchart-elk|swimlane-beta|flowchart|graph)(?![\w-])", re.IGNORECASE)
_HEADER_LINE = re.compile(r"^[^\S\n]*(?=(?:flowchart|graph)(?![\w-]))", re.MULTILINE)
_DIRECTION = re.compile(r"(TB|TD|BT|LR|RL|BR)\b|([<>^])|(v)\b", re.ASCII)
_LONE_WORD = re.compile(r"[A-Za-z]+(?=[^\S\n]*(?:[;\n]|$))")
_WORD = re.compile(r"[A-Za-z][\w-]*")
_OTHER_DIAGRAMS = frozenset(
    {
        "architecture",
        "architecture-beta",
        "block",
        "block-beta",
        "c4component",
        "c4container",
        "c4context",
        "c4deployment",
        "c4dynamic",
        "classdiagram",
        "classdiagram-v2",
        "erdiagram",
        "gantt",
        "gitgraph",
        "info",
        "journey",
        "kanban",
        "mindmap",
        "packet",
        "packet-beta",
        "pie",
        "quadrantchart",
        "radar-beta",
        "requirement",
        "requirementdiagram",
        "sankey",
        "sankey-beta",
        "sequencediagram",
        "statediagram",
        "statediagram-v2",
        "timeline",
        "treemap",
        "treemap-beta",
        "treeview-beta",
        "venn-beta",
        "wardley-beta",
        "xychart",
        "xychart-beta",
        "zenuml",
    }
)
_DIRECTIONS: dict[str, Direction] = {
    "TB": "TD",
    "TD": "TD",
    "BR": "TD",
    "BT": "BT",
    "LR": "LR",
    "RL": "RL",
    "<": "RL",
    ">": "LR",
    "^": "BT",
    "V": "TD",
}


def read_head(scan: Scanner) -> bool:
    """Read up to the first statement; False, and a finding, where no statement can follow."""
    _read_front_matter(scan)
    scan.skip_gap()
    if scan.is_done():
        # An empty chart has no place of its own.
        message = "there is no flowchart in this text"
        hint = "begin with a line `flowchart TD`, then write `BEGIN --> task --> END`"
        scan.fault(codes.CHART_MISSING, message, 0, 0, hint)
        return False
    start = scan.at
    header = scan.take(_HEADER)
    if not header:
        return _read_without_header(scan)
    if not header[0].islower():
        scan.loose(start, scan.at, f'"{header[0]}" is not in lower case', "write it in lower case")
    _read_direction(scan)
    return True


def _read_front_matter(scan: Scanner) -> None:
    fence = scan.take(_FENCE)
    if not fence:
        return
    end = _FENCE_END.search(scan.shadow, scan.at)
    if not end:
        start = scan.at - len(fence[0].lstrip())
        message = "the front matter that begins with --- is not closed"
        scan.fault(codes.SYNTAX, message, start, start + 3, "add a line --- below it")
        header = _HEADER_LINE.search(scan.shadow, scan.at)
        scan.at = header.end() if header else len(scan.shadow)
        return
    title = _TITLE.search(scan.text, scan.at, end.start())
    if title:
        scan.builder.title = _unquote(title[1].strip())
    scan.at = end.end()


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _read_without_header(scan: Scanner) -> bool:
    start, line_end = scan.at, scan.find_line_end()
    word = scan.match(_WORD)
    if word and word[0].casefold() in _OTHER_DIAGRAMS:
        scan.fault(
            codes.CHART_TYPE,
            f'this is a "{word[0]}" diagram, not a flowchart',
            start,
            word.end(),
            "only a flowchart can be run: begin with `flowchart TD`",
        )
        return False
    header = _HEADER_LINE.search(scan.shadow, scan.at)
    if header:
        message = "this text stands above the line that begins the flowchart"
        scan.fault(codes.SYNTAX, message, start, line_end, "put %% in front of it, or delete it")
        scan.at = header.end()
        return read_head(scan)
    scan.fault(
        codes.CHART_MISSING,
        "the text does not begin with `flowchart`",
        start,
        line_end,
        "put a line `flowchart TD` above it",
    )
    return bool(ARROW.search(scan.shadow, start))


def _read_direction(scan: Scanner) -> None:
    scan.skip_blank()
    start = scan.at
    found = scan.take(_DIRECTION)
    if found:
        scan.builder.direction = _DIRECTIONS[found[0].upper()]
    elif word := scan.take(_LONE_WORD):
        meant = _DIRECTIONS.get(word[0].upper())
        if meant:
            scan.builder.direction = meant
            message = f'the direction "{word[0]}" is not in upper case'
            scan.loose(start, scan.at, message, f"write {word[0].upper()}")
        else:
            message = f'"{word[0]}" is not a direction, so the chart is drawn from the top down'
            scan.loose(start, scan.at, message, "write TD, LR, BT or RL")
    scan.skip_blank()
    if scan.peek(";"):
        scan.at += 1
    elif not scan.is_done() and not scan.peek("\n") and not scan.peek("%%"):
        scan.loose(
            scan.at,
            scan.find_line_end(),
            "a statement stands on the header line without a semicolon in between",
            "put it on a line of its own",
        )
