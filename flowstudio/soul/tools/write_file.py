"""The tool WriteFile: a whole file, or more at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, override

from kosong.tooling import ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.changing import change_file, read_before
from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.toolbox import ToolFailure

if TYPE_CHECKING:
    from flowstudio.soul.tools.toolbox import Toolbox


class WriteFileParams(BaseModel):
    """Arguments of WriteFile."""

    path: str = Field(min_length=1, description="The file; relative to the work folder.")
    content: str = Field(description="The text.")
    mode: Literal["overwrite", "append"] = Field(
        default="overwrite", description="Replace the file's text, or add to its end."
    )


class WriteFile(OwnTool[WriteFileParams]):
    """Writes a file; always asks, with the change shown."""

    name = "WriteFile"
    description = (
        "Create a text file, replace its text, or add to its end. Folders are made as needed. "
        "To change a part of a file use StrReplaceFile."
    )
    params = WriteFileParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: WriteFileParams) -> ToolReturnValue:
        box = self._toolbox
        try:
            place = box.resolve(params.path)
            shown = box.show(place)
            before = await read_before(box, self.name, place, shown)
            after = params.content
            if params.mode == "append":
                after = (before or "") + after
            claimed = await change_file(box, self.name, place, before, after)
        except ToolFailure as failure:
            return failure.value
        if claimed is not None:
            return ToolOk(output="", message=claimed.said, brief=claimed.brief)
        done = "created" if before is None else "written"
        return ToolOk(output="", message=f"{shown} is {done}.", brief=f"{done} {shown}")
