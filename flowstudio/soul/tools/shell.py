"""The tool Shell: runs a command in the work folder, after asking."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, override

from kosong.tooling import ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field

from flowstudio.soul.tools.own_tool import OwnTool
from flowstudio.soul.tools.process import MOST_KEPT, run_process
from flowstudio.soul.tools.sandbox import SandboxError
from flowstudio.soul.tools.toolbox import MOST_OUTPUT, ToolFailure

if TYPE_CHECKING:
    from flowstudio.soul.tools.toolbox import Toolbox

LONGEST = 1800

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[@-Z\\-_]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)


class ShellParams(BaseModel):
    """Arguments of Shell."""

    command: str = Field(min_length=1, description="The command, for bash.")
    timeout: int = Field(
        default=120, ge=1, le=LONGEST, description="Seconds after which it is ended."
    )


class Shell(OwnTool[ShellParams]):
    """Runs a command; always asks."""

    name = "Shell"
    description = (
        "Run a bash command in the work folder and get its output, standard error included. Each "
        "call is a new shell: `cd` and variables do not last. There is no terminal and no input. "
        "Processes in the background end with the command. Long output is cut; all of it is in a "
        "file then."
    )
    params = ShellParams

    def __init__(self, toolbox: Toolbox) -> None:
        super().__init__()
        self._toolbox = toolbox

    @override
    async def __call__(self, params: ShellParams) -> ToolReturnValue:
        box = self._toolbox
        try:
            await box.ask(self.name, "run commands", params.command)
        except ToolFailure as failure:
            return failure.value
        try:
            done = await run_process(
                box.wrap(["bash", "-c", params.command]),
                cwd=box.work_dir,
                env=box.environment(),
                seconds=params.timeout,
            )
        except (OSError, ValueError, SandboxError) as error:
            return ToolError(message=f"The command cannot be started: {error}", brief="not started")
        text = clean(done.output)
        note = ""
        if done.dropped:
            note = f"The output was longer than {MOST_KEPT} bytes; {done.dropped} more are lost. "
        if len(text) > MOST_OUTPUT:
            kept = box.outputs.keep("shell", text.encode())
            half = MOST_OUTPUT // 2
            left_out = len(text) - 2 * half
            text = f"{text[:half]}\n[… {left_out} characters left out …]\n{text[-half:]}"
            note += f"The output is cut; all of it is in {kept}. "
        if done.code is None:
            return ToolError(
                output=text,
                message=f"{note}The command took longer than {params.timeout} s and was ended.",
                brief=f"ended after {params.timeout} s",
            )
        if done.code:
            return ToolError(
                output=text,
                message=f"{note}The command failed with exit code {done.code}.",
                brief=f"exit code {done.code}",
            )
        return ToolOk(output=text, message=note.strip(), brief="done")


def clean(data: bytes) -> str:
    """Output as text: without terminal escapes, with the last state of each progress line only."""
    text = _ESCAPES.sub("", data.decode(errors="replace").replace("\r\n", "\n"))
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n"))
