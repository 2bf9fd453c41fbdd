"""The tool SendDMail: a message to an earlier checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.dmail import DenwaRenji, DenwaRenjiError, DMail
from flowstudio.soul.tools.own_tool import OwnTool

if TYPE_CHECKING:
    from flowstudio.soul.agent import Runtime


class SendDMailParams(BaseModel):
    """Arguments of SendDMail."""

    message: str = Field(
        min_length=1,
        description="All that your past self must know: what was done, what came out, what to do.",
    )
    checkpoint_id: int = Field(ge=0, description="The checkpoint to go back to.")


class SendDMail(OwnTool[SendDMailParams]):
    """Hands a D-Mail to DenwaRenji; the soul goes back when the step is over."""

    name = "SendDMail"
    description = (
        "Send a message to yourself at an earlier checkpoint (`CHECKPOINT n` in the conversation). "
        "The conversation goes back to it and you read the message there; what came after is "
        "forgotten, but files stay as they are. Use it to drop a long text that turned out not to "
        "matter, or a way that led nowhere."
    )
    params = SendDMailParams

    def __init__(self, runtime: Runtime) -> None:
        super().__init__()
        self._renji: DenwaRenji = runtime.denwa_renji

    @override
    async def __call__(self, params: SendDMailParams) -> ToolReturnValue:
        try:
            self._renji.send_dmail(DMail(params.message, params.checkpoint_id))
        except DenwaRenjiError as error:
            return ToolError(message=str(error), brief="not sent")
        # The model reads this only if the D-Mail does not go after all.
        return ToolOk(output="", message="Not sent after all.", brief="sent")
