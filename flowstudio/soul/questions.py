"""The agent's own questions to the user, and their answers."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.soul.emit import emit_from_tool
from flowstudio.soul.errors import NeedsUser
from flowstudio.wire import UserAnswered, UserAsked, Wire

if TYPE_CHECKING:
    from flowstudio.soul.answers import Answers


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question that waits for its answer."""

    id: str
    question: str
    options: tuple[str, ...]


class Questions:
    """Asks the user on the wire and waits until `answer` is called with the question's id."""

    def __init__(
        self, wire: Wire, *, somebody: bool = True, answers: Answers | None = None
    ) -> None:
        self._wire = wire
        self.somebody = somebody
        """False where nobody is there to answer."""
        self.answers = answers
        """Answers that were given beforehand; they go before the user's."""
        self._open: dict[str, tuple[OpenQuestion, asyncio.Future[str]]] = {}
        self._numbers = itertools.count(1)

    @property
    def pending(self) -> tuple[OpenQuestion, ...]:
        """The questions that wait, oldest first."""
        return tuple(question for question, _ in self._open.values())

    async def ask(self, question: str, options: tuple[str, ...] = ()) -> str:
        """The user's answer.

        Raises:
            NeedsUser: nobody is there, and no answer was given beforehand.
        """
        asked = OpenQuestion(f"question-{next(self._numbers)}", question, options)
        known = self.answers.find(question) if self.answers else None
        if known is None and not self.somebody:
            emit_from_tool(self._wire, UserAsked(asked.id, question, options))
            raise NeedsUser(question)
        if known is not None:
            emit_from_tool(self._wire, UserAsked(asked.id, question, options))
            emit_from_tool(self._wire, UserAnswered(asked.id, known))
            return known
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[asked.id] = (asked, future)
        try:
            emit_from_tool(self._wire, UserAsked(asked.id, question, options))
            answer = await future
        finally:
            del self._open[asked.id]
        emit_from_tool(self._wire, UserAnswered(asked.id, answer))
        return answer

    def answer(self, question_id: str, text: str) -> bool:
        """Answer an open question. False where it is not open (any more)."""
        entry = self._open.get(question_id)
        if entry is None or entry[1].done():
            return False
        entry[1].set_result(text)
        return True

    def give_up(self) -> None:
        """Whoever was to answer has gone: the questions that are open need a user from now on."""
        for asked, future in tuple(self._open.values()):
            if not future.done():
                future.set_exception(NeedsUser(asked.question))
