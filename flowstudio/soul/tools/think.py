"""The tool Think: room for a thought between two acts."""

from __future__ import annotations

from typing import override

from kosong.tooling import ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.own_tool import OwnTool


class ThinkParams(BaseModel):
    """Arguments of Think."""

    thought: str = Field(min_length=1, description="The thought.")


class Think(OwnTool[ThinkParams]):
    """Does nothing; the thought stays in the conversation."""

    name = "Think"
    description = "Write a thought down, to weigh it before you act. Nothing is read or changed."
    params = ThinkParams

    @override
    async def __call__(self, params: ThinkParams) -> ToolReturnValue:
        return ToolOk(output="", message="Noted.", brief="thought")
