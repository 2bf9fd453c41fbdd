"""Writing a text as a D2 value, such that reading it gives the same text back."""

from __future__ import annotations

import re

from flowstudio.flow.d2_syntax import Style

_UNSAFE_BARE = re.compile(r"[\n\r;#{}\[\]\\$]|^[\"'|@]|^\.\.\.@")
_KEYWORDS = frozenset({"null", "suspend", "unsuspend", "true", "false"})
_ESCAPES = {"\\": r"\\", '"': r"\"", "$": r"\$", "\n": r"\n", "\r": r"\r"}
_ESCAPED = re.compile(r'[\\"$\n\r]')
_BARS = re.compile(r"\|+")
_BLOCK = re.compile(r"\|([^\s\w]*)(\S*)[^\S\n]*(\n?)")
_INDENT = re.compile(r"[^\S\n]*")


def find_style(literal: str) -> Style:
    """How a value is written."""
    match literal[:1]:
        case "|":
            return "block"
        case '"':
            return "double"
        case "'":
            return "single"
        case _:
            return "bare"


def write_bare(text: str) -> str | None:
    """`text` without quotes; None where it needs them."""
    if _UNSAFE_BARE.search(text) or text != text.strip() or text.lower() in _KEYWORDS:
        return None
    return text or None


def write_double(text: str) -> str:
    """`text` in double quotes."""
    return '"' + _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text) + '"'


def write_single(text: str) -> str | None:
    """`text` in single quotes; None where it has several lines, which these cannot hold."""
    if "\n" in text or "\r" in text:
        return None
    return "'" + text.replace("'", "''") + "'"


def write_block(text: str, indent: str, newline: str) -> str:
    """`text` as a Markdown block whose first line stands behind a key that `indent` precedes."""
    return _write_lines(text, "", "md", indent + "  ", indent, newline)


def rewrite_block(literal: str, text: str, indent: str, newline: str) -> str:
    """`text` in the block `literal`, whose fence, tag and indentation stay.

    The fence grows where `text` holds it. `indent` precedes the line on which the block opens.
    """
    opening = _BLOCK.match(literal)
    assert opening is not None
    signs, tag = opening[1], opening[2]
    if not opening[3] and "\n" not in literal and "\n" not in text:
        fence = _find_fence(signs, text)
        return f"|{fence[:-1]}{tag} {text} {fence}"
    lines = literal[opening.end() :].split("\n")
    if not opening[3]:
        lines = lines[1:]
    closing = lines[-1] if lines else ""
    inside = [line for line in lines[:-1] if line.strip()] or [f"{indent}  x"]
    kept = min((_take_indent(line) for line in inside), key=len)
    outdent = _take_indent(closing) if closing.strip(" \t").endswith("|") else indent
    if closing[len(outdent) :] != _make_fence(signs):
        outdent = indent  # the block was closed behind its text
    return _write_lines(text, signs, tag, kept, outdent, newline)


def _write_lines(text: str, signs: str, tag: str, indent: str, outdent: str, newline: str) -> str:
    fence = _find_fence(signs, text)
    lines = [indent + line if line else line for line in text.split("\n")]
    return newline.join([f"|{fence[:-1]}{tag}", *lines, outdent + fence])


def _find_fence(signs: str, text: str) -> str:
    fence = _make_fence(signs)
    if fence not in text:
        return fence
    return "|" * (max(len(run) for run in _BARS.findall(text)) + 1)


def _make_fence(signs: str) -> str:
    """What closes a block; for the usual fences of equal signs it is the opening, turned round."""
    return signs[-1:] + signs[1:] + "|"


def _take_indent(line: str) -> str:
    found = _INDENT.match(line)
    return found[0] if found else ""
