"""What the tools share: the work folder and its boundary, leave to act, the place for long
outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kosong.tooling import ToolError

from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.secrets import is_secret_name
from flowstudio.soul.tools.outputs import Outputs

if TYPE_CHECKING:
    from flowstudio.soul.approval import Approval
    from flowstudio.soul.tools.changing import ClaimsWrites
    from flowstudio.soul.tools.sandbox import Sandbox
    from flowstudio.soul.undo import UndoLog

MOST_OUTPUT = 30_000
"""How many characters of output the model is given at once."""
MOST_LINE = 2_000
"""How many characters of one line."""

_QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
"""What keeps commands from waiting for a terminal that is not there."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class Toolbox:
    """Given to each tool that touches the disk or runs something."""

    work_dir: Path
    approval: Approval
    undo: UndoLog
    """Where the file tools keep what they are about to replace."""
    outputs: Outputs = field(default_factory=Outputs)
    """Where what is too long for the model is kept."""
    secret_names: frozenset[str] = frozenset()
    """Variables that tools must not see, beside those whose name tells."""
    passed_names: frozenset[str] = frozenset()
    """Variables that commands see although they hold keys: the user says so."""
    sandbox: Sandbox | None = None
    """What Shell runs its commands in; None runs them as they are."""
    find_claims: Callable[[], ClaimsWrites | None] = lambda: None
    """Who answers for writes to some folders, if anybody does."""
    _root: Path = field(init=False)

    def __post_init__(self) -> None:
        # Once: a work folder that becomes a link later must not move the boundary.
        self._root = self.work_dir.resolve()

    def resolve(self, path: str) -> Path:
        """The real place of a path that the model wrote: links followed, `~` and `..` resolved.

        Raises:
            ToolFailure: it is no path.
        """
        try:
            return (self._root / Path(path).expanduser()).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise ToolFailure(f"{path!r} is no path: {error}") from error

    def is_inside(self, place: Path) -> bool:
        """True where a resolved path lies in the work folder."""
        return place.is_relative_to(self._root)

    def show(self, place: Path) -> str:
        """A path for people and the model: relative inside the work folder."""
        return str(place.relative_to(self._root)) if self.is_inside(place) else str(place)

    async def ask_to_read(self, tool: str, place: Path) -> None:
        """Reading is free in the work folder, and asked for elsewhere: for each place anew.

        Raises:
            ToolFailure: the user said no.
        """
        if self.is_inside(place) or self.outputs.holds(place):
            return
        await self.ask(tool, f"read {place}, outside the work folder", f"Read {place}")

    async def ask_to_write(self, tool: str, place: Path, what: str, diff: str = "") -> None:
        """Writing is always asked for. Leave for the session holds for the work folder's own files;
        what git runs, and each place outside, wants its own.

        Raises:
            ToolFailure: the user said no.
        """
        if not self.is_inside(place):
            action = f"change {place}, outside the work folder"
        elif ".git" in place.relative_to(self._root).parts:
            action = "change files of git itself"
        else:
            action = "change files"
        await self.ask(tool, action, what, diff)

    async def ask(self, tool: str, action: str, description: str, diff: str = "") -> None:
        """Ask for leave.

        Raises:
            ToolFailure: the user said no.
        """
        decision = await self.approval.request(tool, action, description, diff)
        if not decision.allowed:
            raise ToolFailure.of(ToolRejectedError(decision.reason))

    def wrap(self, command: Sequence[str]) -> Sequence[str]:
        """A command as it is run: in the sandbox, where there is one."""
        if self.sandbox is None:
            return command
        kept = self.outputs.folder
        return self.sandbox.wrap(command, self._root, [kept] if kept else [])

    def environment(self, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment for commands: without keys, and without a terminal."""
        env = os.environ if environ is None else environ
        kept = {
            name: value
            for name, value in env.items()
            if name in self.passed_names
            or (not is_secret_name(name) and name not in self.secret_names)
        }
        return {**kept, **_QUIET}


class ToolFailure(Exception):
    """Ends a tool with an error for the model; `value` is what the tool returns then."""

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.value: ToolError = ToolError(message=message, brief=brief or message[:80])

    @classmethod
    def of(cls, value: ToolError) -> ToolFailure:
        """The failure that carries `value`."""
        failure = cls(value.message, value.brief)
        failure.value = value
        return failure


def shorten_lines(lines: Iterable[str]) -> list[str]:
    """Lines, each cut at 2,000 characters with a mark."""
    return [
        line if len(line) <= MOST_LINE else f"{line[:MOST_LINE]} [… {len(line) - MOST_LINE} more]"
        for line in lines
    ]
