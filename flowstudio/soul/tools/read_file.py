"""The tool ReadFile: a stretch of a text file, with line numbers."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, override

from kosong.tooling import ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.files import open_text
from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.toolbox import MOST_LINE, MOST_OUTPUT, ToolFailure

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.soul.tools.toolbox import Toolbox

MOST_LINES = 1000
_SNIFFED = 8192
_PIECE = 65_536


class ReadFileParams(BaseModel):
    """Arguments of ReadFile."""

    path: str = Field(min_length=1, description="The file; relative to the work folder.")
    line_offset: int = Field(default=1, ge=1, description="The first line to read, from 1.")
    n_lines: int = Field(
        default=MOST_LINES, ge=1, le=MOST_LINES, description="How many lines to read at most."
    )
    column_offset: int = Field(
        default=1, ge=1, description="The first character of each line, to read on in a long one."
    )


class ReadFile(OwnTool[ReadFileParams]):
    """Reads text; asks only outside the work folder."""

    name = "ReadFile"
    description = (
        "Read a text file, or a stretch of it, with line numbers. Long lines and long files are "
        "cut; read on with line_offset, and in a long line with column_offset."
    )
    params = ReadFileParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: ReadFileParams) -> ToolReturnValue:
        try:
            place = self._toolbox.resolve(params.path)
            await self._toolbox.ask_to_read(self.name, place)
            shown = self._toolbox.show(place)
            return await asyncio.to_thread(
                read_lines,
                place,
                shown,
                params.line_offset,
                params.n_lines,
                params.column_offset,
            )
        except ToolFailure as failure:
            return failure.value


def read_lines(place: Path, shown: str, first: int, count: int, column: int = 1) -> ToolReturnValue:
    """The numbered lines, as many as fit; never the whole file in memory.

    Args:
        column: the first character of each line that is wanted, from 1.

    Raises:
        ToolFailure: it is no text file or cannot be read.
    """
    rows: list[str] = []
    size = 0
    number = 0
    full = False
    try:
        with open_text(place, shown) as stream:
            if b"\0" in stream.read(_SNIFFED):
                raise ToolFailure(f"{shown} is no text file.", "no text")
            stream.seek(0)
            # Bytes that are no UTF-8 are shown as such; `newline` keeps a lone carriage return in
            # its line.
            lines = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="\n")
            while (line := _read_line(lines, column - 1)) is not None:
                number += 1
                if number < first:
                    continue
                text, dropped = line
                row = f"{number:6}\t{text}" + (f" [… {dropped} more]" if dropped else "")
                if len(rows) == count or size + len(row) > MOST_OUTPUT:
                    full = True
                    break
                rows.append(row)
                size += len(row) + 1
    except OSError as error:
        raise ToolFailure(f"{shown} cannot be read: {error.strerror}.") from error
    if not rows:
        why = "is empty" if number == 0 else f"has only {number} lines"
        return ToolOk(output="", message=f"{shown} {why}.", brief=why)
    last = first + len(rows) - 1
    more = f" The file goes on; read on with line_offset={last + 1}." if full else ""
    return ToolOk(
        output="\n".join(rows),
        message=f"Lines {first} to {last} of {shown}.{more}",
        brief=f"{len(rows)} lines of {shown}",
    )


def _read_line(lines: io.TextIOWrapper, skipped: int) -> tuple[str, int] | None:
    """The next line from a character on, at most so much of it, and how many were left out behind;
    None at the end. A line of any length takes little memory."""
    piece = lines.readline(_PIECE)
    if not piece:
        return None
    text = ""
    dropped = 0
    while True:
        ends = piece.endswith("\n")
        if ends:
            piece = piece[:-1].removesuffix("\r")
        wanted = piece[skipped:]
        skipped = max(0, skipped - len(piece))
        room = MOST_LINE - len(text)
        text += wanted[:room]
        dropped += max(0, len(wanted) - room)
        if ends or not (piece := lines.readline(_PIECE)):
            return text, dropped
