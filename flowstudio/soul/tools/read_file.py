"""The tool ReadFile: a stretch of a text file, with line numbers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, override

from kosong.tooling import CallableTool2, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.files import require_file
from flowstudio.soul.tools.toolbox import MOST_LINE, MOST_OUTPUT, ToolFailure

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.soul.tools.toolbox import Toolbox

MOST_LINES = 1000
_SNIFFED = 8192


class ReadFileParams(BaseModel):
    """Arguments of ReadFile."""

    path: str = Field(min_length=1, description="The file; relative to the work folder.")
    line_offset: int = Field(default=1, ge=1, description="The first line to read, from 1.")
    n_lines: int = Field(
        default=MOST_LINES, ge=1, le=MOST_LINES, description="How many lines to read at most."
    )


class ReadFile(CallableTool2[ReadFileParams]):
    """Reads text; asks only outside the work folder."""

    name = "ReadFile"
    description = (
        "Read a text file, or a stretch of it, with line numbers. Long lines and long files are "
        "cut; read on with line_offset."
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
                read_lines, place, shown, params.line_offset, params.n_lines
            )
        except ToolFailure as failure:
            return failure.value


def read_lines(place: Path, shown: str, first: int, count: int) -> ToolReturnValue:
    """The numbered lines, as many as fit; never the whole file in memory.

    Raises:
        ToolFailure: it is no text file or cannot be read.
    """
    require_file(place, shown)
    rows: list[str] = []
    size = 0
    number = 0
    full = False
    try:
        with place.open("rb") as stream:
            if b"\0" in stream.read(_SNIFFED):
                raise ToolFailure(f"{shown} is no text file.", "no text")
        # Bytes that are no UTF-8 are shown as such; `newline` keeps a lone carriage return in its
        # line.
        with place.open(encoding="utf-8", errors="replace", newline="\n") as lines:
            while line := lines.readline(MOST_LINE):
                number += 1
                dropped = 0
                while not line.endswith("\n") and (more := lines.readline(MOST_LINE)):
                    dropped += len(more.rstrip("\n"))
                    line = line if not more.endswith("\n") else line + "\n"
                if number < first:
                    continue
                text = line.rstrip("\n").rstrip("\r")
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
