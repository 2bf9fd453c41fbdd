"""The tool Glob: files whose path fits a pattern."""

from __future__ import annotations

import asyncio
import os
import re
from threading import Event
from typing import TYPE_CHECKING, override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.globbing import SKIPPED, compile_glob, open_folder, walk
from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.toolbox import ToolFailure

if TYPE_CHECKING:
    from flowstudio.soul.tools.toolbox import Toolbox

MOST_FOUND = 500


class GlobParams(BaseModel):
    """Arguments of Glob."""

    pattern: str = Field(min_length=1, description="Such as `src/**/*.py`; `**` spans folders.")
    directory: str = Field(default=".", description="Where to look; relative to the work folder.")
    include_dirs: bool = Field(default=False, description="Name folders, too.")


class Glob(OwnTool[GlobParams]):
    """Lists paths; asks only outside the work folder."""

    name = "Glob"
    description = (
        f"List the files whose path fits a pattern, at most {MOST_FOUND}. Folders such as .git and "
        "node_modules are left out unless the pattern names them."
    )
    params = GlobParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: GlobParams) -> ToolReturnValue:
        try:
            fits = compile_glob(params.pattern)
        except (ValueError, re.error) as error:
            return ToolError(message=f"The pattern is not valid: {error}.", brief="wrong pattern")
        try:
            place = self._toolbox.resolve(params.directory)
            await self._toolbox.ask_to_read(self.name, place)
        except ToolFailure as failure:
            return failure.value
        shown = self._toolbox.show(place)
        if not place.is_dir():
            return ToolError(message=f"There is no folder {shown}.", brief="no such folder")
        skip = SKIPPED - frozenset(params.pattern.split("/"))
        stop = Event()

        def search() -> list[str]:
            found: list[str] = []
            root = open_folder(str(place))
            try:
                for path, is_folder in walk(root, stop, skip=skip):
                    if (params.include_dirs or not is_folder) and fits.fullmatch(path):
                        found.append(f"{path}/" if is_folder else path)
                        if len(found) > MOST_FOUND:
                            break
            finally:
                os.close(root)
            return found

        try:
            found = await asyncio.to_thread(search)
        except OSError as error:
            message = f"{shown} cannot be listed: {error.strerror}."
            return ToolError(message=message, brief="cannot be listed")
        finally:
            # A thread cannot be cancelled, but this one looks here.
            stop.set()
        cut = len(found) > MOST_FOUND
        found = found[:MOST_FOUND]
        note = f"Only the first {MOST_FOUND}; narrow the pattern." if cut else ""
        if not found:
            note = f"Nothing in {shown} fits {params.pattern}."
        return ToolOk(
            output="\n".join(found), message=note, brief=f"{len(found)}{'+' if cut else ''} found"
        )
