"""Notices that the agent runs nearly the same command again and again, and tells it so."""

from __future__ import annotations

from collections import deque
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from flowstudio.soul.arguments import parse_arguments
from flowstudio.soul.messages import with_note

if TYPE_CHECKING:
    from kosong.message import Message, ToolCall
    from kosong.tooling import ToolResult

SIMILAR = 0.85
"""The ratio of `SequenceMatcher` from which two commands count as the same."""
SHORTEST = 10
"""Shorter commands (`ls`, `git diff`) are not looked at: they are repeated with good reason."""
IN_A_ROW = 18
"""So many similar commands in a row bring the warning; as many are remembered."""
_COMPARED = 2000
"""How many characters of a command are compared: the ratio takes quadratic time."""

WARNING = (
    f"You have run nearly the same command {IN_A_ROW} times in a row, so you may be in a loop. "
    "Look at what the results have in common, and do something else, or ask the user."
)


class LoopDetector:
    """A tool hook that counts similar Shell commands in a row."""

    def __init__(self) -> None:
        self.commands: deque[str] = deque(maxlen=IN_A_ROW)
        self.count = 0
        """How many commands up to now were each similar to the one before."""

    def __call__(self, call: ToolCall, result: ToolResult, message: Message) -> Message:
        """`message`, with a warning where the agent goes in circles."""
        command = find_command(call)
        if command is None or len(command) < SHORTEST:
            return message
        similar = bool(self.commands) and is_similar(self.commands[-1], command)
        self.commands.append(command)
        # The first of a row is one too: the 18th command in a row warns.
        self.count = self.count + 1 if similar else 1
        if self.count < IN_A_ROW:
            return message
        self.count = 0
        return with_note(message, WARNING)


def is_similar(one: str, other: str) -> bool:
    """True where two commands are the same up to small differences."""
    one, other = one[:_COMPARED], other[:_COMPARED]
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    # The two upper bounds are cheap and settle most pairs.
    return (
        matcher.real_quick_ratio() >= SIMILAR
        and matcher.quick_ratio() >= SIMILAR
        and matcher.ratio() >= SIMILAR
    )


def find_command(call: ToolCall) -> str | None:
    """The command of a Shell call; None for any other call."""
    if call.function.name != "Shell":
        return None
    try:
        command: object = parse_arguments(call.function.arguments).get("command")
    except ValueError:
        return None
    return command if isinstance(command, str) else None
