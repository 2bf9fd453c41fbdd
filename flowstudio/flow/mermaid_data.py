"""The properties of a node or an edge: `A@{ shape: diamond, label: "Is it green?" }`."""

from __future__ import annotations

import re

from flowstudio.flow import codes
from flowstudio.flow.mermaid_label import read_label
from flowstudio.flow.mermaid_scan import Piece, Scanner

_OPENER = "@{"
_NEITHER = re.compile(r'[^}"]*')
_NEITHER_ON_LINE = re.compile(r'[^}"\n]*')
_KEY = re.compile(r"""([\s,]*)(["']?)([A-Za-z_][\w-]*)\2[^\S\n]*(:)[^\S\n]*""")
_REST = re.compile(r"[\s,]*")
_DOUBLE = re.compile(r'"[^"]*"')
_SINGLE = re.compile(r"'(?:[^'\n]|'')*'")
_BLOCK = re.compile(r"([|>])[-+]?[^\S\n]*\n")
_FLOW_PLAIN = re.compile(r"[^,\n]*")
_LINE_PLAIN = re.compile(r"[^\n]*")
# A plain value with signs that mean something to YAML.
_NOT_PLAIN = re.compile(r"""(?![\"'|>])[^\n]*(?:[\[\]{}"]|:\s)""")
_COMMENT = re.compile(r"\s#.*", re.DOTALL)
_ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[ntr"\\/ ])')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\n", '"': '"', "\\": "\\", "/": "/", " ": " "}


def read_data(scan: Scanner, owner: str) -> Piece | None:
    """Read `@{ ... }`; the label in it, if there is one. Every other property is looks."""
    start = scan.at
    scan.at += len(_OPENER)
    inner = scan.at
    if not _find_end(scan):
        scan.at = start
        scan.fault(
            codes.LABEL_UNCLOSED,
            f"the '@{{' that opens the properties of \"{owner}\" is not closed",
            start,
            start + len(_OPENER),
            "add '}' at their end",
        )
        scan.skip_line()
        return None
    end = scan.at - 1
    label = _find_label(scan, inner, end)
    scan.at = end + 1
    return label


def _find_end(scan: Scanner) -> bool:
    """Move behind the `}` that stands outside of double quotes."""
    rest = _NEITHER_ON_LINE if scan.has_lost_braces else _NEITHER
    while True:
        scan.take(rest)
        if not scan.peek("}") and not scan.match(_DOUBLE):
            scan.has_lost_braces = True
            return False
        if scan.peek("}"):
            scan.at += 1
            return True
        scan.take(_DOUBLE)


def _find_label(scan: Scanner, inner: int, end: int) -> Piece | None:
    is_block = scan.shadow.find("\n", inner, end) >= 0
    label = None
    keys = 0
    is_mixed = False
    scan.at = inner
    while key := _KEY.match(scan.shadow, scan.at, end):
        keys += 1
        # A block has one property per line and no commas; Mermaid's YAML reader insists on it.
        is_inline = keys == 1 and "\n" not in key[1]
        is_mixed = is_mixed or is_inline or "," in key[1]
        scan.at = key.end()
        value = _read_value(scan, end, is_block)
        is_mixed = is_mixed or scan.shadow.startswith(",", value.end)
        if key[3] == "label" and key.end(4) == value.start < value.end:
            message = 'there is no blank behind the colon of "label", so Mermaid does not see it'
            scan.fault(codes.LOOSE_SYNTAX, message, key.start(3), value.end, "write: label: ...")
        elif _NOT_PLAIN.match(scan.shadow, value.start, value.end):
            message = f'the value of "{key[3]}" holds signs that must stand in quotes'
            scan.loose(value.start, value.end, message, "put it in double quotes")
        if key[3] == "label" and _says_something(scan, value):
            label = value
    rest = _REST.match(scan.shadow, scan.at, end)
    if rest and rest.end() < end:
        scan.fault(
            codes.SYNTAX,
            "this is not a property",
            rest.end(),
            end,
            'write for example: @{ shape: diamond, label: "text" }',
        )
    elif is_block and is_mixed and keys > 1:
        message = "properties over several lines must stand one on each line, without commas"
        scan.loose(inner, end, message, "write all of them on one line, separated by commas")
    return label


def _says_something(scan: Scanner, value: Piece) -> bool:
    """False for an empty or a null label, which leaves the node the label that it has."""
    return scan.text[value.start : value.end] not in ("", "null", "~", '""', "''")


def _read_value(scan: Scanner, end: int, is_block: bool) -> Piece:
    start = scan.at
    if quoted := _DOUBLE.match(scan.shadow, start, end):
        scan.at = quoted.end()
        raw = _ESCAPE.sub(_unescape, scan.text[start + 1 : scan.at - 1])
        return Piece(read_label(raw), start, scan.at)
    if quoted := _SINGLE.match(scan.shadow, start, end):
        scan.at = quoted.end()
        raw = scan.text[start + 1 : scan.at - 1].replace("''", "'")
        return Piece(read_label(raw), start, scan.at)
    if block := _BLOCK.match(scan.shadow, start, end):
        return _read_block(scan, block, end)
    plain = (_LINE_PLAIN if is_block else _FLOW_PLAIN).match(scan.shadow, start, end)
    scan.at = plain.end() if plain else end
    raw = _COMMENT.sub("", scan.text[start : scan.at]).rstrip().rstrip(",").rstrip()
    return Piece(read_label(raw), start, start + len(raw))


def _unescape(match: re.Match[str]) -> str:
    sign = match[1]
    return _ESCAPES[sign] if sign in _ESCAPES else chr(int(sign[1:], 16))


def _read_block(scan: Scanner, head: re.Match[str], end: int) -> Piece:
    """A YAML block: the lines indented as far as the first one."""
    lines: list[str] = []
    scan.at = last = head.end()
    indent: int | None = None
    while scan.at < end:
        line_end = min(scan.find_line_end(), end)
        line = scan.text[scan.at : line_end].rstrip()
        depth = len(line) - len(line.lstrip())
        if line and indent is None:
            indent = depth
        if line and (depth < (indent or 0) or depth == 0):
            break
        lines.append(line[indent or 0 :])
        if line:
            last = scan.at + len(line)
        scan.at = min(line_end + 1, end)
    text = ("\n" if head[1] == "|" else " ").join(lines)
    return Piece(read_label(text), head.start(), last)
