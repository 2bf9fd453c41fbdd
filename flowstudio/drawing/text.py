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

    Breaks at spaces and beside wide characters; a word longer than a row breaks anywhere. A row
    that continues an indented line keeps the indentation where there is room for it.
    """
    if width_of(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    lead = " " * indent if indent * 2 <= width else ""
    rows: list[str] = []
    row: list[str] = []
    used = 0
    break_at = 0
    """How many clusters of the row stay when it is broken (0: no place to break yet)."""
    for cluster, size in clusters(line):
        if used + size > width and row:
            if cluster == " ":
                rows.append("".join(row).rstrip())
                row, used, break_at = [*lead], len(lead), 0
                continue
            if 0 < break_at <= len(row):
                rows.append("".join(row[:break_at]).rstrip())
                rest = row[break_at:]
                while rest and rest[0] == " ":
                    rest.pop(0)
            else:
                rows.append("".join(row).rstrip())
                rest = []
            row = [*lead, *rest]
            used = sum(cell_len(c) for c in row)
            break_at = 0
            if used + size > width and len(row) > len(lead):
                rows.append("".join(row).rstrip())
                row, used = [*lead], len(lead)
        if size == 2 and row and len(row) > len(lead) and not _hangs(cluster):
            break_at = len(row)
        at_row_start = len(rows) > 0 and len(row) == len(lead)
        if cluster == " " and at_row_start:
            continue
        row.append(cluster)
        used += size
        after_word = (cluster == " " and len(row) > indent) or (
            cluster in "-/_" and used > width // 2
        )
        if after_word or (size == 2 and not _opens(cluster)):
            break_at = len(row)
    if row and "".join(row).strip():
        rows.append("".join(row).rstrip())
    return rows or [""]


def _hangs(cluster: str) -> bool:
    """Closing punctuation does not begin a row."""
    return cluster in "，。、；：？！）】》」』”’…"


def _opens(cluster: str) -> bool:
    return cluster in "（【《「『“‘"


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
