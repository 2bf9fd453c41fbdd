"""Labels where Mermaid lets them stand: in brackets, between pipes, in quotes, in `@{ ... }`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from flowstudio.flow import codes
from flowstudio.flow.mermaid_label import read_label, read_markdown_label
from flowstudio.flow.mermaid_scan import Piece, Scanner


@dataclass(frozen=True, slots=True)
class _Shape:
    """A pair of brackets. `text` matches a label without quotes that Mermaid reads in it."""

    opener: str
    closers: tuple[str, ...]
    text: re.Pattern[str]


_PLAIN = re.compile(r'[^\[\](){}|"]*')
_SLANTED = re.compile(r'(?:[^\[\](){}|"/\\]|[/\\](?!\]))*')
_DASHED = re.compile(r'(?:[^\[\](){}|"-]|-(?!\)))*')

# The longest opener first: the first whose closer is there is meant.
_SHAPES = (
    _Shape("(((", (")))",), _PLAIN),
    _Shape("((", ("))",), _PLAIN),
    _Shape("([", ("])",), _PLAIN),
    _Shape("(-", ("-)",), _DASHED),
    _Shape("(", (")",), _PLAIN),
    _Shape("[[", ("]]",), _PLAIN),
    _Shape("[(", (")]",), _PLAIN),
    _Shape("[/", ("/]", "\\]"), _SLANTED),
    _Shape("[\\", ("\\]", "/]"), _SLANTED),
    _Shape("[", ("]",), _PLAIN),
    _Shape("{{", ("}}",), _PLAIN),
    _Shape("{", ("}",), _PLAIN),
    _Shape(">", ("]",), _PLAIN),
)
_PIPE = _Shape("|", ("|",), _PLAIN)
_ANY_OPENER = re.compile(r"[\[({>]")
_PROPERTY = re.compile(r"\[\|[^\[\](){}|\"\n]*\|")
_MARKDOWN = re.compile(r'"`[^`"]*`"')
_AT_SIGN = re.compile(r"[^\s@]*@(?!\{)")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_OPENING = {"]": "[", ")": "(", "}": "{"}
ARROW = re.compile(r"--+[->xo]|==+[=>xo]|-\.+-")
"""What looks like an arrow; a label without quotes that crosses a line to one was never closed."""


def read_shape(scan: Scanner, owner: str) -> Piece | None:
    """The label in brackets at this place, or None where no bracket opens one.

    `owner` names the node in a finding. A label that is never closed is reported at its bracket and
    taken to be the rest of the line.
    """
    if not scan.match(_ANY_OPENER):
        return None
    start = scan.at
    property_ = scan.match(_PROPERTY)
    if property_:
        scan.at = property_.end() - 1
        label = _read_between(scan, _Shape("|", ("]",), _PLAIN))
        if label:
            return label
        scan.at = start
    fitting = [shape for shape in _SHAPES if scan.peek(shape.opener)]
    for shape in fitting:
        label = _read_between(scan, shape)
        if label:
            if shape is not fitting[0]:
                _report_signs(scan, start)
            return label
    for shape in fitting:
        label = _read_loosely(scan, shape)
        if label:
            return label
    return _give_up(scan, fitting[0], f'label of "{owner}"')


def read_pipe(scan: Scanner) -> Piece | None:
    """The label between two pipes; None, and a finding, where the second one is missing."""
    label = _read_between(scan, _PIPE) or _read_loosely(scan, _PIPE)
    if not label:
        _give_up(scan, _PIPE, "label of the link")
    return label


def read_quoted(scan: Scanner) -> Piece | None:
    """The string in double quotes at this place; None, with nothing taken, where it never ends."""
    start = scan.at
    if scan.take(_MARKDOWN) or _take_loose_markdown(scan):
        return Piece(read_markdown_label(scan.text[start + 2 : scan.at - 2]), start, scan.at)
    close = scan.shadow.find('"', start + 1)
    if close < 0:
        return None
    scan.at = close + 1
    return Piece(read_label(scan.text[start + 1 : close]), start, scan.at)


def _take_loose_markdown(scan: Scanner) -> bool:
    """A Markdown string on one line with backticks inside."""
    start = scan.at
    if not scan.peek('"`'):
        return False
    line_end = scan.find_line_end()
    close = scan.shadow.find('`"', start + 2, line_end)
    if close < 0 or scan.shadow.find('"', start + 2, close) >= 0:
        return False
    scan.at = close + 2
    scan.loose(
        start, scan.at, "the Markdown string holds backticks", 'drop the outer backticks: "text"'
    )
    return True


def trim(scan: Scanner, start: int, end: int) -> Piece:
    """The label at `text[start:end]` without the blanks, and any quotes, around it."""
    raw = scan.text[start:end]
    left = start + len(raw) - len(raw.lstrip())
    right = max(left, start + len(raw.rstrip()))
    raw = scan.text[left:right]
    if len(raw) > 1 and raw[0] == raw[-1] == '"':
        raw = raw[1:-1]
    return Piece(read_label(raw), left, right)


def _read_between(scan: Scanner, shape: _Shape) -> Piece | None:
    """The label as Mermaid reads it; None, with nothing taken, where it is not of this shape."""
    start = scan.at
    scan.at += len(shape.opener)
    inner = scan.at
    scan.skip_space()
    if scan.peek('"'):
        label = _read_quoted_between(scan, shape, inner)
        if not label:
            scan.at = start
        return label
    scan.at = inner
    scan.take(shape.text)
    end = scan.at
    crosses = scan.shadow.find("\n", inner, end) >= 0
    if (crosses and ARROW.search(scan.shadow, inner, end)) or not _take_closer(scan, shape):
        scan.at = start
        return None
    if end == inner:
        _report_empty(scan, start)
    elif _AT_SIGN.match(scan.shadow, inner, end):
        message = "an @ in the first word of a label without quotes is taken for an edge's id"
        scan.loose(inner, end, message, "put the label in double quotes")
    return trim(scan, inner, end)


def _read_quoted_between(scan: Scanner, shape: _Shape, inner: int) -> Piece | None:
    quote = scan.at
    label = read_quoted(scan)
    if not label:
        return None
    # Words may follow the closing quote: Mermaid appends them to the label.
    scan.take(shape.text)
    end = scan.at
    if not _take_closer(scan, shape):
        return None
    if quote > inner:
        message = "blanks stand between the label's quotes and its brackets"
        scan.loose(inner, quote + 1, message, "take the blanks out")
    if label.end == quote + 2:
        _report_empty(scan, inner)
    words = scan.text[label.end : end].rstrip()
    if not words:
        return label
    return Piece(label.text + read_label(f"|{words}")[1:], quote, label.end + len(words))


def _report_empty(scan: Scanner, start: int) -> None:
    scan.loose(start, scan.at, "the label is empty", "drop the brackets, or write a label")


def _report_signs(scan: Scanner, start: int) -> None:
    scan.loose(
        start,
        scan.at,
        "the label holds quotes or brackets",
        "put it in double quotes, and write #quot; for a quote inside it",
    )


def _take_closer(scan: Scanner, shape: _Shape) -> bool:
    for closer in shape.closers:
        if scan.peek(closer):
            scan.at += len(closer)
            return True
    return False


def _read_loosely(scan: Scanner, shape: _Shape) -> Piece | None:
    """A label on one line that Mermaid refuses, with brackets or quotes inside."""
    start = scan.at
    inner = start + len(shape.opener)
    end = _find_closer(scan, shape, inner)
    # An arrow inside may as well be one that the author drew: then it is not clear what is meant.
    if end < 0 or ARROW.search(scan.shadow, inner, end) or _is_torn(scan, inner, end):
        return None
    scan.at = end
    _take_closer(scan, shape)
    _report_signs(scan, start)
    return trim(scan, inner, end)


def _is_torn(scan: Scanner, inner: int, end: int) -> bool:
    """True where the label begins with a quote or a bracket that it does not close."""
    first = scan.shadow[inner : inner + 1]
    if first == '"':
        return not scan.shadow[inner + 1 : end].rstrip().endswith('"')
    return first in _CLOSING and scan.shadow.find(_CLOSING[first], inner, end) < 0


def _find_closer(scan: Scanner, shape: _Shape, inner: int) -> int:
    """Where the closer stands on this line that does not belong to brackets inside; else -1."""
    line_end = scan.find_line_end(inner)
    if scan.shadow.startswith('"', inner):
        quote = inner + 1
        while (quote := scan.shadow.find('"', quote, line_end)) >= 0:
            quote += 1
            if scan.shadow.startswith(shape.closers, quote):
                return quote
    closing = next(sign for sign in shape.closers[0] if sign in "])}|")
    opening = _OPENING.get(closing)
    depth = 0
    for at in range(inner, line_end):
        if depth == 0 and scan.shadow.startswith(shape.closers, at):
            return at
        sign = scan.shadow[at]
        if sign == opening:
            depth += 1
        elif sign == closing:
            depth -= 1
            if depth < 0:
                return -1
    return -1


def _give_up(scan: Scanner, shape: _Shape, what: str) -> Piece:
    """Report a label that is never closed; what is left of the line is taken for it."""
    start = scan.at
    scan.at += len(shape.opener)
    scan.skip_blank()
    line_end = scan.find_line_end()
    sign, place, missing = shape.opener, start, shape.closers[0]
    where = "at the end of the line"
    label = None
    if scan.peek('"'):
        quote = scan.at
        label = read_quoted(scan)
        if label and label.end <= line_end and not ARROW.search(scan.shadow, quote, label.end):
            where = "behind the closing quote"
        else:
            label = None
            scan.at = quote
            sign, place, missing = '"', quote, '"' + missing
    scan.fault(
        codes.LABEL_UNCLOSED,
        f"the '{sign}' that opens the {what} is not closed",
        place,
        place + len(sign),
        f"add '{missing}' {where}",
    )
    if not label:
        label = trim(scan, scan.at, line_end)
        scan.at = line_end
    return label
