"""The tools of the studio's agents, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from flowstudio.soul.tools.ask_user import AskUser
from flowstudio.soul.tools.glob import Glob
from flowstudio.soul.tools.grep import Grep
from flowstudio.soul.tools.read_file import ReadFile
from flowstudio.soul.tools.send_dmail import SendDMail
from flowstudio.soul.tools.shell import Shell
from flowstudio.soul.tools.str_replace_file import StrReplaceFile
from flowstudio.soul.tools.submit_answer import SubmitAnswer
from flowstudio.soul.tools.think import Think
from flowstudio.soul.tools.todo import SetTodoList
from flowstudio.soul.tools.toolbox import Toolbox
from flowstudio.soul.tools.write_file import WriteFile
from flowstudio.soul.toolset import AgentTool, StudioToolset

if TYPE_CHECKING:
    from flowstudio.soul.agent import Runtime

_MAKERS: Mapping[str, Callable[[Toolbox, Runtime], AgentTool]] = {
    "Shell": lambda box, _: Shell(box),
    "ReadFile": lambda box, _: ReadFile(box),
    "WriteFile": lambda box, _: WriteFile(box),
    "StrReplaceFile": lambda box, _: StrReplaceFile(box),
    "Glob": lambda box, _: Glob(box),
    "Grep": lambda box, _: Grep(box),
    "SetTodoList": lambda _, __: SetTodoList(),
    "Think": lambda _, __: Think(),
    "AskUser": lambda _, runtime: AskUser(runtime.questions),
    "SendDMail": lambda _, runtime: SendDMail(runtime),
    "submit_answer": lambda _, __: SubmitAnswer(),
}

TOOL_NAMES = tuple(_MAKERS)
"""All tools."""
DEFAULT_TOOLS = tuple(name for name in TOOL_NAMES if name not in ("SendDMail", "submit_answer"))
"""The default agent's. `SendDMail` costs a message per checkpoint, `submit_answer` suits agents
that
must hand something in: an agent file may name them."""


def make_tools(runtime: Runtime, names: Iterable[str] = DEFAULT_TOOLS) -> StudioToolset:
    """A toolset with the named tools.

    Raises:
        KeyError: there is no tool of that name.
    """
    secrets = frozenset(
        provider.key_env for provider in runtime.config.providers.values() if provider.key_env
    )
    box = Toolbox(
        runtime.work_dir,
        runtime.approval,
        runtime.undo,
        runtime.outputs,
        secrets,
        frozenset(runtime.config.pass_env),
        runtime.sandbox,
        lambda: runtime.claims,
    )
    return StudioToolset(_MAKERS[name](box, runtime) for name in names)
