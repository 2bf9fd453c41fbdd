"""The tool submit_answer: hands in the answer and ends the turn, if it is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.own_tool import OwnTool

type Check = Callable[[str], str | None]
"""Says what is wrong with an answer; None accepts it."""


class SubmitAnswerParams(BaseModel):
    """Arguments of submit_answer."""

    answer: str = Field(description="The final answer, complete.")


class SubmitAnswer(OwnTool[SubmitAnswerParams]):
    """Takes the answer; its output is the answer itself."""

    name = "submit_answer"
    description = "Hand in the final answer. If it is accepted your turn is over."
    params = SubmitAnswerParams

    def __init__(self, check: Check | None = None) -> None:
        super().__init__()
        self.check = check
        """What an answer must pass, beside not being empty."""

    @override
    async def __call__(self, params: SubmitAnswerParams) -> ToolReturnValue:
        wrong = "It is empty." if not params.answer.strip() else None
        if wrong is None and self.check is not None:
            wrong = self.check(params.answer)
        if wrong is not None:
            return ToolError(message=f"Not accepted: {wrong}", brief="not accepted")
        return ToolOk(output=params.answer, message="Accepted.", brief="accepted")
