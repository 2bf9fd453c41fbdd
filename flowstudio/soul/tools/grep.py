"""The tool Grep: lines that fit a regular expression."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.process import run_process
from flowstudio.soul.tools.toolbox import MOST_OUTPUT, ToolFailure

if TYPE_CHECKING:
    from flowstudio.soul.tools.toolbox import Toolbox

_WORKER = Path(__file__).with_name("grep_worker.py")
_SECONDS = 30.0
_MORE = "\x1f"


class GrepParams(BaseModel):
    """Arguments of Grep."""

    pattern: str = Field(min_length=1, description="A Python regular expression.")
    path: str = Field(default=".", description="A file or folder; relative to the work folder.")
    glob: str | None = Field(default=None, description="Only files whose path fits: `*.py`.")
    ignore_case: bool = False
    mode: Literal["content", "files", "count"] = Field(
        default="content", description="Lines, only the files' names, or the number per file."
    )
    context: int = Field(default=0, ge=0, le=20, description="Lines shown around each one.")
    most: int = Field(default=200, ge=1, le=1000, description="Lines of output at most.")


class Grep(OwnTool[GrepParams]):
    """Searches text; asks only outside the work folder."""

    name = "Grep"
    description = (
        "Find lines that fit a regular expression, in all text files of a folder. Folders such as "
        ".git and node_modules are left out."
    )
    params = GrepParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: GrepParams) -> ToolReturnValue:
        box = self._toolbox
        try:
            place = box.resolve(params.path)
            await box.ask_to_read(self.name, place)
        except ToolFailure as failure:
            return failure.value
        if not place.exists():
            return ToolError(message=f"There is no {box.show(place)}.", brief="no such file")
        spec = {
            "pattern": params.pattern,
            "root": str(place),
            "paths": params.glob,
            "ignore_case": params.ignore_case,
            "mode": params.mode,
            "context": params.context,
            "most": params.most,
        }
        try:
            done = await run_process(
                [sys.executable, "-I", str(_WORKER), json.dumps(spec)],
                cwd=box.work_dir,
                env=box.environment(),
                seconds=_SECONDS,
            )
        except (OSError, ValueError) as error:
            return ToolError(message=f"The search cannot be started: {error}.", brief="not started")
        text = done.output.decode(errors="replace").rstrip("\n")
        if done.code is None:
            return ToolError(
                output=text[:MOST_OUTPUT],
                message=f"The search took longer than {_SECONDS:g} s. Simplify the pattern or "
                "narrow the path.",
                brief="took too long",
            )
        if done.code:
            return ToolError(message=f"The search failed: {text[-500:]}", brief="failed")
        notes: list[str] = []
        if text.endswith(_MORE):
            text = text.removesuffix(_MORE).rstrip("\n")
            notes.append(f"Only the first {params.most} lines; narrow the pattern or the path.")
        if len(text) > MOST_OUTPUT:
            text = text[:MOST_OUTPUT]
            notes.append(f"Cut at {MOST_OUTPUT} characters.")
        count = text.count("\n") + 1 if text else 0
        if not count:
            notes.append("Nothing fits.")
        return ToolOk(output=text, message=" ".join(notes), brief=f"{count} lines")
