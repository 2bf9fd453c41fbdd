"""The statements that most lines of a Mermaid chart are, read at one glance.

`a["text"] -->|label| b{text}`: plain ids, the usual brackets, whole arrows, one line. What is read
here is what the reader of the whole language would read, only quicker; whatever else stands on the
line, or could go on with it on the next one, is left to that reader.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow.mermaid_label import read_label

if TYPE_CHECKING:
    from flowstudio.flow.mermaid_scan import Scanner

# Words that Mermaid could take for its own are left to the whole reader, with all that follows.
_ID = (
    r"(?!(?:style|linkStyle|interpolate|classDef|class|flowchart|swimlane|graph|subgraph|end|href"
    r"|click|call|default|direction|acc)(?![a-z]))[A-Za-z]\w*+"
)
# A label without quotes whose text is what stands there: no entities, breaks, slants or blanks at
# its ends.
_BARE = r"[^\s\[\](){}|\"#&<\\@%`/-](?:[^\[\](){}|\"#&<\\@%`\n]*+(?<!\s))"
_QUOTED = r"\"(?!`)[^\"\n]++\""
_TEXT = rf"({_QUOTED}|{_BARE})"
_NODE = rf"({_ID})(?:\[{_TEXT}\]|\{{{_TEXT}\}}|\(\[{_TEXT}\]\)|\({_TEXT}\))?"
_FIRST = re.compile(_NODE, re.ASCII)
_HOP = re.compile(rf"[ \t]+-->(?:\|{_TEXT}\| ?|[ \t]+){_NODE}", re.ASCII)
# Links may cross lines, so what follows the line's end must be no arrow, nor the id of one
# (`e1@-->`).
_END = re.compile(r"[ \t]*+(?:\Z|\n\s*+(?=\Z|(?![^\s@]*+@)[A-Za-z0-9]))", re.ASCII)

# Bare tuples, as a big chart has tens of thousands of them for a moment.
type PlainNode = tuple[str, int, int, int, str | None, int, int]
"""A mention of a node: its id, the offsets of its start, its id's end and its end; its label's
text, start and end, the text None where it has none."""

type PlainLabel = tuple[str, int, int]
"""The label of a link, and the offsets where it stands."""

type Hop = tuple[PlainLabel | None, PlainNode]
"""An arrow's label, and the node behind it."""


def read_plain(scan: Scanner) -> tuple[PlainNode, list[Hop]] | None:
    """The statement at this place, up to the next one; None, with nothing taken, if not plain."""
    if scan.has_soft_quotes:
        return None
    shadow = scan.shadow
    found = _FIRST.match(shadow, scan.at)
    if not found:
        return None
    first = _read_node(found, 1)
    hops: list[Hop] = []
    at = found.end()
    while not (end := _END.match(shadow, at)):
        found = _HOP.match(shadow, at)
        if not found:
            return None
        label = (_text_of(found[1]), *found.span(1)) if found[1] else None
        hops.append((label, _read_node(found, 2)))
        at = found.end()
    scan.at = end.end()
    return first, hops


def _read_node(found: re.Match[str], group: int) -> PlainNode:
    """The node whose id is the group of this number, and whose label is one of those behind it."""
    start, id_end = found.span(group)
    last = found.lastindex
    if last is None or last == group:
        return found[group], start, id_end, id_end, None, 0, 0
    label_start, label_end = found.span(last)
    text = _text_of(found[last])
    return found[group], start, id_end, found.end(), text, label_start, label_end


def _text_of(written: str) -> str:
    return read_label(written[1:-1]) if written[0] == '"' else written
