"""Changes one label in a Mermaid text."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from flowstudio.flow.source import Source

if TYPE_CHECKING:
    from flowstudio.flow.chart import Chart
    from flowstudio.flow.model import Span

# What can stand in every kind of brackets without quotes.
_BARE = re.compile(r"\w[\w ,.!?'，。！？：；、’…]*")
_ENTITY = re.compile(r"#(?=\w+;)", re.ASCII)
_BREAK = re.compile(r"<(?=br[ \t]*/?>)", re.IGNORECASE)
_NEWLINE = re.compile(r"\r\n?|\n")
_STYLE = re.compile(r"\bstyle\s+$", re.ASCII)
_BRACKETS = "[({>/\\|-"


def replace_label_mermaid(text: str, chart: Chart, node_id: str, new_label: str) -> str:
    """See `replace_label`. The node is in the chart, and the label is not blank."""
    source = Source(text)
    label = _NEWLINE.sub("\n", new_label.strip())
    node = chart.nodes[node_id]
    if node.span is None:
        return text
    node_start, node_end = _offsets(source, node.span)
    if node.label_span is None:
        return _give_label(text, node_id, node_start, node_end, label)
    start, end = _offsets(source, node.label_span)
    before = text[node_start:start].rstrip()
    if before.endswith(":"):
        # Between properties' quotes, a backslash is YAML's sign for something else.
        return text[:start] + write_quoted(label).replace("\\", "#92;") + text[end:]
    if not before.endswith(tuple(_BRACKETS)):
        # A subgraph without a title of its own: its name must stay, since edges use it.
        return f"{text[:start]}{node_id} [{write_quoted(label)}]{text[end:]}"
    if text[start] != '"' and _BARE.fullmatch(label):
        return text[:start] + label + text[end:]
    # Mermaid allows no blanks between a bracket and a quote.
    left, right = text[:start].rstrip(), text[end:]
    if text[start] != '"':
        right = right.lstrip()
    return left + write_quoted(label) + right


def write_quoted(label: str) -> str:
    """A label as Mermaid's string in double quotes, from which reading gives it back."""
    label = _ENTITY.sub("#35;", label)
    if unescape(label) != label:
        label = label.replace("&", "#amp;")
    label = _BREAK.sub("#lt;", label).replace("\\n", "#92;n").replace('"', "#quot;")
    if label.startswith("`"):
        label = f"#96;{label[1:]}"
    if label.endswith("="):
        # Within an HTML tag, ="..." is an attribute and no end of a string.
        label = f"{label[:-1]}#61;"
    return f'"{label.replace("\n", "<br>")}"'


def _give_label(text: str, node_id: str, start: int, end: int, label: str) -> str:
    """Write the label behind a node that has had none."""
    node = f"{node_id}[{write_quoted(label)}]"
    line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if not (style := _STYLE.search(text, line_start, start)):
        return text[:start] + node + text[end:]
    # Only a style line names the node: there, a label cannot stand.
    line_end = "\r\n" if "\r\n" in text else "\n"
    indent = text[line_start : style.start()]
    gap = line_end + indent if not indent.strip() else line_end
    return text[: style.start()] + node + gap + text[style.start() :]


def _offsets(source: Source, span: Span) -> tuple[int, int]:
    return source.offset(span.line, span.column), source.offset(span.end_line, span.end_column)
