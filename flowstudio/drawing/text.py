"""Text in cells: makes any label harmless, measures it, wraps it and shortens it.

Widths agree with what Rich and Textual measure, since they show the drawing. A *cluster* is what a
reader sees as one character: a base with its combining marks, or an emoji sequence.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_TAB = 4
_MARKS_PER_BASE = 4
"""More combining marks than this on one character would run into the neighbouring rows."""

_OPENING = frozenset("（【《「『“‘([{")
_CLOSING = frozenset("，。、；：？！）】》」』”’…,.;:?!)]}")

REPLACEMENT = "�"
ELLIPSIS = "…"


def width_of(text: str) -> int:
    """Cells that `text` takes on one row of a terminal."""
    return len(text) if text.isascii() and text.isprintable() else cell_len(text)


@lru_cache(maxsize=4096)
def clean(text: str) -> tuple[str, ...]:
    """The lines of `text` with everything that could disturb a terminal shown as a visible sign.

    Control characters become their pictures (ESC is `␛`), invisible and direction marks `�`, a tab
    spaces to the next fourth column. Blank lines at both ends go, trailing spaces too.
    """
    lines = [_clean_line(line).rstrip() for line in _split_lines(text)]
    while lines and not lines[-1]:
        lines.pop()
    first = next((i for i, line in enumerate(lines) if line), 0)
    return tuple(lines[first:])


def _split_lines(text: str) -> list[str]:
    for newline in ("\r\n", "\r", "\u2028", "\u2029", "\x85"):
        text = text.replace(newline, "\n")
    return text.split("\n")


def _clean_line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    out: list[str] = []
    column = 0
    marks = 0
    for index, char in enumerate(line):
        if char == "\t":
            shown = " " * (_TAB - column % _TAB)
        elif char.isprintable():
            size = cell_len(char)
            if size == 0:
                shown, size, marks = _clean_mark(char, out, marks)
            else:
                shown, marks = char, 0
        elif char == _JOINER and _joins(line, index):
            shown = char
        else:
            shown = _picture(char)
        out.append(shown)
        column += cell_len(shown)
    return "".join(out)


def _clean_mark(char: str, out: list[str], marks: int) -> tuple[str, int, int]:
    """A character without a width of its own: it needs a base, and not too many may sit on one."""
    if char == _EMOJI_STYLE:
        return (char if out and out[-1] not in ("", " ", _EMOJI_STYLE) else ""), 0, marks
    if char == "\ufe0e" or marks >= _MARKS_PER_BASE:
        return "", 0, marks
    if not out or not out[-1].strip():
        return "◌" + char, 1, 1
    return char, 0, marks + 1


def _joins(line: str, index: int) -> bool:
    """Whether the joiner at `index` stands inside an emoji sequence."""
    if index == 0 or index + 1 >= len(line):
        return False
    before = line[index - 1]
    if before == _EMOJI_STYLE or unicodedata.category(before) == "Sk":
        before = line[index - 2] if index > 1 else before
    follows = line[index + 1]
    return unicodedata.category(before) in ("So", "Sk") and unicodedata.category(follows) == "So"


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(char) == "Zs":
        return " " * max(1, cell_len(char))
    if unicodedata.category(char) in ("Co", "Cn") and cell_len(char) > 0:
        return char
    return REPLACEMENT


def clusters(line: str) -> list[tuple[str, int]]:
    """The clusters of a cleaned line, each with its width in cells."""
    if line.isascii():
        return [(char, 1) for char in line]
    found: list[str] = []
    joined = False
    for char in line:
        attaches = joined or char in (_JOINER, _EMOJI_STYLE) or cell_len(char) == 0
        if attaches and found:
            found[-1] += char
        else:
            found.append(char)
        joined = char == _JOINER
    return [(cluster, cell_len(cluster)) for cluster in found]


def wrap(line: str, width: int) -> list[str]:
    """A cleaned line broken into rows of at most `width` cells (or one cluster, if that is wider).

    Breaks at spaces, behind hyphens and slashes, and beside wide characters except where that would
    part closing punctuation from what it closes; a word longer than a row breaks anywhere. A row
    that continues an indented line keeps the indentation where there is room for it.
    """
    if width_of(line) <= width:
        return [line]
    parts = clusters(line)
    indent = len(line) - len(line.lstrip(" "))
    lead = indent if indent * 2 <= width else 0
    rows: list[str] = []
    start = 0
    while start < len(parts):
        used = lead if rows else 0
        end = start
        while end < len(parts) and (used + parts[end][1] <= width or end == start):
            used += parts[end][1]
            end += 1
        least = max(start, indent) if not rows else start
        if end < len(parts):
            place = end
            while place > least and not _may_break(parts[place - 1], parts[place]):
                place -= 1
            end = place if place > least else end
        text = "".join(cluster for cluster, _ in parts[start:end]).rstrip()
        if text:
            rows.append(" " * lead + text if rows else text)
        start = end
        while start < len(parts) and parts[start][0] == " ":
            start += 1
    return rows or [""]


def _may_break(before: tuple[str, int], after: tuple[str, int]) -> bool:
    """Whether a row may end between two clusters."""
    if before[0] == " " or after[0] == " ":
        return True
    if before[0] in _OPENING or after[0] in _CLOSING:
        return False
    return before[1] == 2 or after[1] == 2 or before[0] in "-/_"


def fit(lines: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Lines wrapped to `width` cells."""
    rows: list[str] = []
    for line in lines:
        rows.extend(wrap(line, width))
    return tuple(rows)


def shorten(line: str, width: int) -> str:
    """The line cut to `width` cells, with `…` where something is missing."""
    if width_of(line) <= width:
        return line
    kept: list[str] = []
    used = 0
    for cluster, size in clusters(line):
        if used + size > width - 1:
            break
        kept.append(cluster)
        used += size
    text = "".join(kept)
    space = text.rfind(" ")
    if space >= len(text) * 2 // 3:
        text = text[:space]
    return text.rstrip(" ,;:.") + ELLIPSIS
