"""How a replay ends before its run does, and what a strict one finds different."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from flowstudio.soul import LLMNotSet
from flowstudio.soul.errors import NeedsUser
from flowstudio.wire import (
    Body,
    PromptSent,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place where a strict replay says something else than was recorded."""

    node: str | None
    visit: int | None
    said: Body
    recorded: Body | None
    """What was recorded in its place; None where the recording was over."""
    nearest: str | None = None
    """For a prompt, the recorded one that comes nearest."""

    @property
    def message(self) -> str:
        """What differs, as a sentence."""
        where = f"visit {self.visit} of “{self.node}”" if self.node else "the run"
        if isinstance(self.said, PromptSent):
            return f"{where}: the prompt is not the recorded one"
        if self.recorded is None:
            return f"{where}: {self.said.type} comes after all that was recorded"
        return f"{where}: {self.said.type} comes where {self.recorded.type} was recorded"

    @property
    def diff(self) -> list[str]:
        """The recorded text and the one of now, as a unified diff."""
        if isinstance(self.said, PromptSent):
            old, new = self.nearest or "", self.said.prompt
        else:
            old, new = str(self.recorded or ""), str(self.said)
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "recorded", "now", lineterm=""
        )
        return list(lines)


class Over(BaseException):
    """The recording is over; unwinds the runner, which must not take it for a failure."""


class Differs(BaseException):
    """A strict replay says something that was not recorded."""

    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.message)
        self.mismatch = mismatch


class RecordedFailure(LLMNotSet):
    """What the model's failure was told as."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)


class RecordedQuestion(NeedsUser):
    """What was asked while nobody was there."""

    def __init__(self, message: str) -> None:
        Exception.__init__(self, message)
        self.question = message


class BrokeOff(Exception):
    """What ended the recorded run was no fault of flow or model."""
