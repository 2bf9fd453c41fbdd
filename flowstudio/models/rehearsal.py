"""Rehearsal: a chat provider that needs no model. A script, a seeded walk or the user answers.

It is a provider like any other, so a flow takes the same way through the soul as with a real model.
Which node asks, and which branches may be answered, comes from `turn_hint`.
"""

from __future__ import annotations

import asyncio
import copy
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, Self

from kosong.chat_provider import ChatProviderError, StreamedMessagePart, ThinkingEffort, TokenUsage
from kosong.message import Message, TextPart

from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice
from flowstudio.models.hint import TurnHint, turn_hint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from kosong.chat_provider import ChatProvider
    from kosong.tooling import Tool

    from flowstudio.models.script import Script

    def _is_provider(provider: RehearsalProvider) -> ChatProvider:  # pyright: ignore[reportUnusedFunction]
        return provider


type AnswersAs = Literal["script", "seed", "user"]

PIECE = 24
"""Characters in one streamed piece of an answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a rehearsal is asked: the prompt as a model would see it, and what it is about."""

    prompt: str
    node: str | None
    visit: int | None
    branches: tuple[str, ...]
    attempt: int = 1
    """Above 1 where an earlier answer of the same visit named no branch."""


class Answerer(Protocol):
    """Who answers in a rehearsal."""

    @property
    def answers_as(self) -> AnswersAs:
        """The author of the choices, as `choice_made.by` names it."""
        ...

    async def answer(self, question: Question) -> str:
        """The whole answer; raises `ChatProviderError` where there is none."""
        ...


class ScriptExhausted(ChatProviderError):
    """The script holds no reply for what is asked."""

    def __init__(self, node: str | None, visit: int | None, attempt: int, replies: int) -> None:
        at = f"visit {visit} of {node}" if node else "this prompt"
        super().__init__(
            f"The script has no reply for {at}. Add an entry under `decisions` for it."
            if replies == 0
            else f"The script's {replies} replies for {at} are used up at attempt {attempt}. "
            "Add one that names a branch."
        )
        self.node = node
        self.visit = visit
        self.attempt = attempt


class ScriptAnswers:
    """Answers from a script: each visit of a decision gets its replies in order."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._replies = {
            (one.node, one.visit): tuple(reply.text for reply in one.replies)
            for one in script.decisions
        }

    @property
    def answers_as(self) -> AnswersAs:
        """`script`."""
        return "script"

    async def answer(self, question: Question) -> str:
        """The scripted reply; a prompt without branches gets `default_task_reply`.

        Raises:
            ScriptExhausted: nothing is written for this visit, or all of it was said.
        """
        if not question.branches:
            return self.script.default_task_reply
        replies = self._replies.get((question.node or "", question.visit or 1), ())
        if question.attempt > len(replies):
            raise ScriptExhausted(question.node, question.visit, question.attempt, len(replies))
        return replies[question.attempt - 1]


class SeededWalk:
    """A walk through the flow that chance directs, the same one for the same seed.

    Each node goes through all its branches in a shuffled order before it repeats one. So every
    branch of a loop is taken in the end and the walk leaves it: no walk is endless where END can be
    reached. The order depends on seed, node and visit alone, so a resumed run walks on as it began.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    @property
    def answers_as(self) -> AnswersAs:
        """`seed`."""
        return "seed"

    async def answer(self, question: Question) -> str:
        """A short sentence, and a branch where one is asked for."""
        at = f"{question.node} (visit {question.visit or 1})" if question.node else "the request"
        if not question.branches:
            return f"Rehearsed {at}."
        branch = self.choose(question.node or "", question.visit or 1, question.branches)
        return f"Rehearsed {at}.\n\n<choice>{branch}</choice>"

    def choose(self, node: str, visit: int, branches: Sequence[str]) -> str:
        """The branch that this visit takes."""
        lap, place = divmod(visit - 1, len(branches))
        order = list(branches)
        random.Random(f"{self.seed}\0{node}\0{lap}").shuffle(order)
        return order[place]


class AskUser:
    """The user answers each prompt, through whatever front end gave `ask`."""

    def __init__(self, ask: Callable[[Question], Awaitable[str]]) -> None:
        self._ask = ask

    @property
    def answers_as(self) -> AnswersAs:
        """`user`."""
        return "user"

    async def answer(self, question: Question) -> str:
        """What the user typed. A bare branch gets its tag; a wrong choice is asked for again."""
        text = await self._ask(question)
        if not question.branches or parse_choice(text) is not None:
            return text
        branch = match_choice(text, question.branches)
        return f"<choice>{branch}</choice>" if branch else text


class RehearsalProvider:
    """A chat provider (kosong's protocol) behind which an `Answerer` stands."""

    name = "rehearsal"

    def __init__(self, answerer: Answerer, *, pace: float = 0.0) -> None:
        self.answerer = answerer
        self.pace = pace
        """Seconds between two streamed pieces."""

    @property
    def model_name(self) -> str:
        """`rehearsal`."""
        return "rehearsal"

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        """None: nobody thinks here."""
        return None

    @property
    def answers_as(self) -> AnswersAs:
        """Who answers, as `choice_made.by` names it."""
        return self.answerer.answers_as

    async def generate(
        self, system_prompt: str, tools: Sequence[Tool], history: Sequence[Message]
    ) -> RehearsedMessage:
        """Answer the last user message, streamed in pieces."""
        hint = turn_hint.get() or TurnHint(None, None)
        question = Question(
            prompt=_find_prompt(history),
            node=hint.node,
            visit=hint.visit,
            branches=hint.branches,
            attempt=hint.attempt or count_attempt(history),
        )
        return RehearsedMessage(await self.answerer.answer(question), self.pace)

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        """A copy; thinking changes nothing here."""
        return copy.copy(self)


class RehearsedMessage:
    """An answer as a stream (kosong's `StreamedMessage`)."""

    def __init__(self, text: str, pace: float) -> None:
        self._stream = _stream(text, pace)

    def __aiter__(self) -> AsyncIterator[StreamedMessagePart]:
        return self._stream

    @property
    def id(self) -> str | None:
        """None: nobody numbers these answers."""
        return None

    @property
    def usage(self) -> TokenUsage | None:
        """None: nothing was spent."""
        return None


async def _stream(text: str, pace: float) -> AsyncIterator[StreamedMessagePart]:
    for start in range(0, len(text), PIECE):
        # Also at pace 0 others get their turn, as with a real stream.
        await asyncio.sleep(pace if start else 0)
        yield TextPart(text=text[start : start + PIECE])


def count_attempt(history: Sequence[Message]) -> int:
    """Which prompt of its visit the last user message is: 1, or more where it asks again.

    A retry begins with the whole prompt before it. So the count needs no memory, and a visit that
    is run again (after a rewind, a resume, in a second run) begins at 1 again.
    """
    prompt = _find_prompt(history)
    instruction = choice_prompt("", ()).rsplit("\n", 1)[-1]
    end = prompt.find(instruction)
    if end < 0:
        return 1
    first = prompt[: end + len(instruction)]
    count = 0
    for message in reversed(history):
        if message.role != "user":
            continue
        text = message.extract_text()
        if text.startswith(first):
            count += 1
            if text == first:
                break
    return max(1, count)


def _find_prompt(history: Sequence[Message]) -> str:
    for message in reversed(history):
        if message.role == "user":
            return message.extract_text()
    return ""
