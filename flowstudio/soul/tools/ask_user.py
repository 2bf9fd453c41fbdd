"""The tool AskUser: a question to the user in mid-turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.errors import NeedsUser
from flowstudio.soul.tools.own_tool import OwnTool

if TYPE_CHECKING:
    from flowstudio.soul.questions import Questions


class UnansweredError(ToolError):
    """What the tool returns where nobody is there to answer. It ends the turn with `needs`."""

    def __init__(self, needs: NeedsUser) -> None:
        super().__init__(message="Nobody is here to answer yet.", brief="nobody is here")
        self._needs = needs

    @property
    def needs(self) -> NeedsUser:
        """What the turn raises."""
        return self._needs


class AskUserParams(BaseModel):
    """Arguments of AskUser."""

    question: str = Field(min_length=1, description="The question, with what is needed to answer.")
    options: list[str] = Field(
        default_factory=list[str], max_length=10, description="Answers to suggest."
    )


class AskUser(OwnTool[AskUserParams]):
    """Asks and waits."""

    name = "AskUser"
    description = (
        "Ask the user a question and wait for the answer. Only for what you cannot find out "
        "yourself and must not decide alone."
    )
    params = AskUserParams

    def __init__(self, questions: Questions) -> None:
        super().__init__()
        self._questions = questions

    @override
    async def __call__(self, params: AskUserParams) -> ToolReturnValue:
        try:
            answer = await self._questions.ask(params.question, tuple(params.options))
        except NeedsUser as needs:
            return UnansweredError(needs)
        if not answer.strip():
            return ToolOk(output="", message="The user gave no answer.", brief="no answer")
        return ToolOk(output=answer, message="", brief=answer.strip().split("\n")[0][:60])
