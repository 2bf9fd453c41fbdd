"""One Mermaid link: every arrow, with its label in each of the ways in which it can be written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowstudio.flow import codes
from flowstudio.flow.mermaid_label import read_label
from flowstudio.flow.mermaid_scan import ID, Piece, Scanner
from flowstudio.flow.mermaid_shape import read_pipe, read_quoted, trim


@dataclass(frozen=True, slots=True)
class Link:
    """What stands between two nodes. An invisible link (`~~~`) is no edge."""

    label: Piece | None
    is_edge: bool = True
    is_both_ways: bool = False


_WHOLE = re.compile(r"[xo<]?(?:--+[-xo>]|==+[=xo>]|-?\.+-[xo>]?)|~~~+")
_START = re.compile(r"[xo<]?(--|==|-\.)")
_END = {
    "--": re.compile(r"<?--+[-xo>]"),
    "==": re.compile(r"<?==+[=xo>]"),
    "-.": re.compile(r"<?-?\.+-[xo>]?"),
}
# In the label of such a link, these signs can only begin its second half.
_FORBIDDEN = {"--": "--", "==": "=", "-.": "."}
_MORE_HEADS = re.compile(r">+")
_NEARLY = re.compile(r"<?(?:-+>+|=+>+|[—–−─]+>|-?[→⟶➔➜]|[⇒⟹])|<-|<=|[←⟵⇐]")
_NODE_ALONE = re.compile(rf"\s*{ID.pattern}(?:[\[({{>].*[\])}}])?\s*")
_DOTS = re.compile(r"(?<!\.)\.+-")
_ANY = re.compile(f"{_WHOLE.pattern}|{_START.pattern}|{_NEARLY.pattern}")
_EDGE_ID = re.compile(ID.pattern + r"@(?=\s*[xo<]?(?:--|==|-?\.|~~~))")
_NAME_SIGN = re.compile(r"\w")


def find_link(scan: Scanner, *, at_line_start: bool) -> bool:
    """True where a link begins at this place; nothing is taken.

    At the start of a line `x-->` and `o-->` begin with a node's name, not with the arrow's end.
    """
    if scan.has_edge_ids and scan.match(_EDGE_ID):
        return True
    if at_line_start and (scan.peek("x") or scan.peek("o")):
        return False
    return bool(scan.match(_ANY))


def read_link(scan: Scanner, edge_ids: set[str], *, at_line_start: bool) -> Link | None:
    """The link at this place, up to the node behind it.

    None, with a finding and the rest of the line skipped, where it cannot be read. The link's own
    id, if it has one (`e1@-->`), is added to `edge_ids`.
    """
    named = scan.take(_EDGE_ID) if scan.has_edge_ids else None
    if named:
        if at_line_start:
            message = "an arrow with an id begins on a line of its own"
            scan.loose(scan.at - len(named[0]), scan.at, message, "write it behind the node")
        edge_ids.add(named[0][:-1])
        scan.skip_gap()
    start = scan.at
    link = _read_arrow(scan)
    if not link:
        return None
    scan.skip_gap()
    if not scan.peek("|"):
        return link
    pipe = scan.at
    label = read_pipe(scan)
    if not label:
        return None
    if link.label:
        scan.fault(
            codes.SYNTAX,
            "this link has two labels",
            pipe,
            scan.at,
            f"keep one of them: {scan.text[start:pipe].strip()}",
        )
    behind = scan.at
    crossed = scan.skip_gap()
    if crossed or scan.at > behind + 1:
        place = "on another line" if crossed else "more than one blank away"
        message = f"the node behind a label stands {place}"
        scan.loose(label.start, label.end, message, "put one blank between them")
    return Link(label, link.is_edge, link.is_both_ways)


def _read_arrow(scan: Scanner) -> Link | None:
    start = scan.at
    whole = scan.take(_WHOLE)
    if not whole:
        return _read_labelled(scan) if scan.match(_START) else _read_nearly(scan)
    arrow = whole[0]
    if scan.take(_MORE_HEADS):
        _report_nearly(scan, start)
    elif arrow[-1] in "xo" and scan.match(_NAME_SIGN):
        scan.fault(
            codes.ARROW_LETTER,
            f'the "{arrow[-1]}" behind the arrow is read as the end of the arrow',
            start,
            scan.at,
            f'if it belongs to the name, write "{arrow[:-1]}- {arrow[-1]}..."',
        )
    return _judge(scan, start, arrow[0], arrow[-1], None)


def _read_labelled(scan: Scanner) -> Link | None:
    """A link around its label: `-- x -->`, `== x ==>`, `-. x .->`."""
    start = scan.at
    line_end = scan.find_line_end()
    opening = scan.take(_START)
    family = opening[1] if opening else "--"
    text = scan.at
    scan.skip_space()
    label = read_quoted(scan) if scan.peek('"') else None
    after = label.end if label else text
    end = _find_end(scan, family, after)
    if end < 0 or _is_forgotten(scan, after, end):
        return _give_up(scan, start, scan.shadow[start:text])
    scan.at = end
    closing = scan.take(_END[family])
    raw = scan.text[after:end]
    if label:
        # Words may follow the closing quote: Mermaid appends them to the label.
        words = raw.rstrip()
        label = Piece(label.text + read_label(f"|{words}")[1:], label.start, after + len(words))
    else:
        label = trim(scan, text, end)
        if not label.text or '"' in raw or _FORBIDDEN[family] in raw:
            fault = "holds quotes or signs of an arrow" if label.text else "is empty"
            safe = label.text.replace('"', "#quot;")
            hint = f'write: -->|"{safe}"|' if label.text else "write: -->"
            scan.loose(label.start, scan.at, f"the label of the link {fault}", hint)
    last = scan.text[end - 1]
    if last in "xo" and raw:
        scan.fault(
            codes.ARROW_LETTER,
            f'Mermaid takes the "{last}" of "{label.text}" for a part of the arrow',
            label.start,
            scan.at,
            "put a space between the label and the arrow",
        )
    if label.end > line_end:
        scan.fault(
            codes.LABEL_CROSSES_LINES,
            "the label of this link goes on over the end of the line",
            label.start,
            label.end,
            "write the label on one line, or finish the arrow",
        )
    return _judge(scan, start, scan.text[start], closing[0][-1] if closing else "-", label)


def _find_end(scan: Scanner, family: str, at: int) -> int:
    """Where the link's second half begins, or -1. No half of a link can stand in the label."""
    shadow = scan.shadow
    if family == "-.":
        found = _DOTS.search(shadow, at, scan.find_line_end(at))
        end = found.start() if found else shadow.find(".", at)
        if end > at and shadow[end - 1] == "-":
            end -= 1
        if end < 0 or not _END[family].match(shadow, end):
            return -1
    else:
        end = shadow.find(family, at)
        if end < 0 or not _END[family].match(shadow, end):
            return -1
    return end - 1 if end > at and shadow[end - 1] == "<" else end


def _is_forgotten(scan: Scanner, text: int, end: int) -> bool:
    """True where the arrow at `end` seems to belong to a statement on a later line.

    Mermaid takes all in between for the label; but what stands before the arrow could be a node,
    and then this line's own arrow was forgotten.
    """
    line_start = scan.shadow.rfind("\n", text, end) + 1
    return line_start > 0 and bool(_NODE_ALONE.fullmatch(scan.shadow, line_start, end))


def _read_nearly(scan: Scanner) -> Link | None:
    """An arrow that Mermaid does not know but that can mean only one thing."""
    start = scan.at
    found = scan.take(_NEARLY)
    if not found:
        return None
    arrow = found[0]
    if arrow in "<-<=←⟵⇐":
        return _judge(scan, start, "<", "-", None)
    _report_nearly(scan, start)
    return Link(None, is_both_ways=arrow.startswith("<"))


def _report_nearly(scan: Scanner, start: int) -> None:
    arrow = scan.text[start : scan.at]
    scan.loose(start, scan.at, f'"{arrow}" is read as an arrow', "write -->")


def _judge(scan: Scanner, start: int, head: str, tail: str, label: Piece | None) -> Link:
    """The link that these two ends make; an arrow that points only to the left is no link."""
    if head == "~":
        return Link(label, is_edge=False)
    if head == "<" and tail != ">":
        scan.fault(
            codes.SYNTAX,
            f'the arrow "{scan.text[start : scan.at]}" points to the left, and Mermaid has none '
            "that does",
            start,
            scan.at,
            "turn it round: write the node that comes first on the left of -->",
        )
        return Link(label, is_edge=False)
    return Link(label, is_both_ways=head == "<")


def _give_up(scan: Scanner, start: int, opening: str) -> None:
    arrow = {"--": "-->", "==": "==>", "-.": ".->"}[opening.lstrip("xo<")]
    message = f"the label that '{opening}' opens does not end in an arrow"
    if opening.startswith("<"):
        message = f"the arrow '{opening}' points to the left, and Mermaid has no such arrow"
        arrow = "-->"
    scan.fault(codes.SYNTAX, message, start, start + len(opening), f"write: {arrow}")
    scan.skip_line()
