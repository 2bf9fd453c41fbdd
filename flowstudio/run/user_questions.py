"""Nodes that ask the user instead of the model: their label begins with `Ask the user:`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kosong.message import Message

from flowstudio.flow.choice import match_choice, parse_choice
from flowstudio.soul.messages import mend

if TYPE_CHECKING:
    from kosong.message import ContentPart

    from flowstudio.run.visit import RunnableSoul
    from flowstudio.soul import Context
    from flowstudio.wire import Wire

type AskUser = Callable[[str, tuple[str, ...]], Awaitable[str]]
"""Puts a question, with answers to suggest, to the user."""

_ASKS = re.compile(
    r"\s*(?:ask\s+the\s+user|询问用户|问用户)\s*[:：]\s*(?P<question>\S.*)", re.I | re.S
)


def find_question(prompt: str | list[ContentPart]) -> str | None:
    """What a node's prompt asks the user; None where it is a prompt for the model."""
    if not isinstance(prompt, str):
        return None
    found = _ASKS.fullmatch(prompt)
    return found["question"].strip() if found else None


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user answered, in the form of a turn's result."""

    answer_text: str
    rejected: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class UserInTheSoulsPlace:
    """Answers a node's turns by asking the user; the conversation keeps question and answer."""

    soul: RunnableSoul
    prompt: str
    """The whole prompt, for the conversation: the run's input may stand before it."""
    question: str
    branches: Sequence[str]
    ask: AskUser

    @property
    def wire(self) -> Wire:
        """The soul's."""
        return self.soul.wire

    @property
    def context(self) -> Context:
        """The soul's."""
        return self.soul.context

    @property
    def partial_text(self) -> str:
        """Nothing: a user's answer comes whole."""
        return ""

    async def turn(self, _user_input: str | list[ContentPart], /) -> UserTurn:
        """Ask, and wait for the answer.

        Raises:
            NeedsUser: nobody is there, and no answer was given beforehand.
        """
        answer = mend(await self.ask(self.question, tuple(self.branches)))
        branch = match_choice(parse_choice(answer) or answer.strip(), list(self.branches))
        said = branch if branch is not None else answer
        text = f"{self.prompt}\n\nThe user answers: {said.strip() or '(nothing)'}"
        self.context.append_message(Message(role="user", content=text))
        return UserTurn(f"<choice>{branch}</choice>" if branch is not None else answer)
