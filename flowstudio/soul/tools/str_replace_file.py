"""The tool StrReplaceFile: exact replacements in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, override

from kosong.tooling import ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.changing import change_file
from flowstudio.soul.tools.files import read_text
from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.toolbox import ToolFailure

if TYPE_CHECKING:
    from flowstudio.soul.tools.toolbox import Toolbox


class Edit(BaseModel):
    """One replacement."""

    old: str = Field(min_length=1, description="The text as it stands in the file, exactly.")
    new: str = Field(description="The text that takes its place.")
    replace_all: bool = Field(default=False, description="Replace it wherever it stands.")


class StrReplaceFileParams(BaseModel):
    """Arguments of StrReplaceFile."""

    path: str = Field(min_length=1, description="The file; relative to the work folder.")
    edits: list[Edit] = Field(min_length=1, description="The replacements, made one by one.")


class StrReplaceFile(OwnTool[StrReplaceFileParams]):
    """Changes parts of a file, all edits or none; always asks, with the change shown."""

    name = "StrReplaceFile"
    description = (
        "Replace exact stretches of text in a file. Each `old` must stand in the file exactly "
        "once, unless replace_all is set. Either all edits are made or none."
    )
    params = StrReplaceFileParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: StrReplaceFileParams) -> ToolReturnValue:
        box = self._toolbox
        try:
            place = box.resolve(params.path)
            await box.ask_to_read(self.name, place)
            shown = box.show(place)
            before = read_text(place, shown)
            after, count = apply_edits(before, params.edits, shown)
            claimed = await change_file(box, self.name, place, before, after)
        except ToolFailure as failure:
            return failure.value
        if claimed is not None:
            return ToolOk(output="", message=claimed.said, brief=claimed.brief)
        return ToolOk(
            output="", message=f"{count} replacements in {shown}.", brief=f"changed {shown}"
        )


def apply_edits(text: str, edits: list[Edit], shown: str) -> tuple[str, int]:
    """The text after all edits, and how many replacements were made.

    Line ends are looked past: a model writes `\\n`, and a file with `\\r\\n` keeps them.

    Raises:
        ToolFailure: an edit's old text is not there, or there more than once.
    """
    made = 0
    windows = "\r\n" in text
    for number, edit in enumerate(edits, 1):
        old, new = edit.old, edit.new
        if windows and old not in text:
            old = old.replace("\r\n", "\n").replace("\n", "\r\n")
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        count = text.count(old)
        if count == 0:
            raise ToolFailure(
                f"Edit {number}: `old` does not stand in {shown}. Nothing was changed. "
                "Read the file and copy the text exactly, space included.",
                "text not found",
            )
        if count > 1 and not edit.replace_all:
            raise ToolFailure(
                f"Edit {number}: `old` stands in {shown} {count} times. Nothing was changed. "
                "Give more of the text around it, or set replace_all.",
                "text not unique",
            )
        text = text.replace(old, new)
        made += count
    return text, made
