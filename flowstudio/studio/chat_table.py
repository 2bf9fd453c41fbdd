"""Tables in the chat: columns as wide as they need, or as the pane allows; else one line a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from flowstudio.studio.chat_lines import Line, Piece, pad, unmarked, width_of_line, wrap

type Cell = Sequence[Piece]
type Side = Literal["left", "center", "right"]
"""Where the cells of a column stand in it."""
_GAP = 3
"""Cells between two columns: a line with a blank on each side."""
_LEAST = 6
"""A column narrower than this is not worth having."""


def table_lines(
    head: Sequence[Cell],
    rows: Sequence[Sequence[Cell]],
    width: int,
    sides: Sequence[Side] = (),
) -> list[Line]:
    """A table, the head over a line; where the pane is too narrow, each row as a list.

    Columns for which `sides` says nothing stand at the left.
    """
    columns = max(len(head), *(len(row) for row in rows)) if rows else len(head)
    needs = [
        max(3, *(width_of_line(row[at]) for row in (head, *rows) if at < len(row)))
        for at in range(columns)
    ]
    widths = _share(needs, width - _GAP * (columns - 1))
    if widths is None:
        return _as_list(head, rows, width)
    of_columns: list[Side] = [sides[at] if at < len(sides) else "left" for at in range(columns)]
    lines = _row_lines(head, widths, of_columns)
    lines.append([("─┼─".join("─" * one for one in widths), "line")])
    for row in rows:
        lines += _row_lines(row, widths, of_columns)
    return lines


def _share(needs: Sequence[int], room: int) -> list[int] | None:
    """How wide each column may be; None where there is no room for all of them."""
    if sum(needs) <= room:
        return list(needs)
    if room < _LEAST * len(needs):
        return None
    widths = list(needs)
    while (over := sum(widths) - room) > 0:
        # The widest gives up to the next widest at most.
        most = max(widths)
        wide = [at for at, one in enumerate(widths) if one == most]
        below = max((one for one in widths if one < most), default=_LEAST)
        step = max(min(most - below, -(-over // len(wide))), 1)
        for at in wide:
            give = min(step, max(sum(widths) - room, 0))
            widths[at] -= give
    return widths


def _row_lines(row: Sequence[Cell], widths: Sequence[int], sides: Sequence[Side]) -> list[Line]:
    cells: list[list[Line]] = [
        wrap(row[at], one) if at < len(row) and row[at] else [[]] for at, one in enumerate(widths)
    ]
    lines: list[Line] = []
    for number in range(max(len(cell) for cell in cells)):
        line: Line = []
        for at, (cell, one, side) in enumerate(zip(cells, widths, sides, strict=True)):
            if at:
                line.append((" │ ", "line"))
            part = _move(unmarked(cell[number]), one, side) if number < len(cell) else []
            line += pad(part, one, "text") if at < len(widths) - 1 else part
        lines.append(line)
    return lines


def _move(part: Line, width: int, side: Side) -> Line:
    room = width - width_of_line(part)
    blanks = 0 if side == "left" else room if side == "right" else room // 2
    return [(" " * blanks, "text"), *part] if blanks > 0 else part


def _as_list(head: Sequence[Cell], rows: Sequence[Sequence[Cell]], width: int) -> list[Line]:
    lines: list[Line] = []
    for number, row in enumerate(rows):
        if number:
            lines.append([])
        for at, cell in enumerate(row):
            name = [(text, "muted") for text, _ in head[at]] if at < len(head) else []
            lines += wrap([*name, (": ", "muted"), *cell], width)
    return lines
