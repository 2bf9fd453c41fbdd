"""One visit of a node: what is asked, and which way the run goes from there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kosong.chat_provider import ChatProviderError

from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice, retry_prompt
from flowstudio.models.errors import ModelError, explain_error
from flowstudio.run.control import RunControl
from flowstudio.soul import Context, LLMNotSet, LLMNotSupported, MaxStepsReached
from flowstudio.wire import Author, ChoiceRejected, PromptSent, Wire

if TYPE_CHECKING:
    from kosong.message import ContentPart


FAILURES = (ChatProviderError, ModelError, LLMNotSet, LLMNotSupported, MaxStepsReached)
"""What can go wrong with a turn by no fault of the flow: the run pauses and can try again."""


def explain_failure(error: BaseException) -> str:
    """One of `FAILURES` as a sentence: what went wrong and what to do."""
    match error:
        case LLMNotSet() | LLMNotSupported() | MaxStepsReached():
            return str(error)
        case _:
            return explain_error(error)


class TurnLike(Protocol):
    """What the runner looks at in the result of a turn."""

    @property
    def answer_text(self) -> str: ...
    @property
    def rejected(self) -> bool: ...
    @property
    def tokens(self) -> int: ...


class RunnableSoul(Protocol):
    """What the runner needs of a soul."""

    @property
    def wire(self) -> Wire: ...
    @property
    def context(self) -> Context: ...
    @property
    def partial_text(self) -> str:
        """The answer that is coming, or that was cut, as far as it came."""
        ...

    async def turn(self, user_input: str | list[ContentPart], /) -> TurnLike: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a visit brought: the model's last words, and the branch if there was one to take."""

    text: str = ""
    tokens: int = 0
    branch: str | None = None
    by: Author = "only-exit"
    over: str | None = None
    """What the model had answered where the user chose otherwise."""
    forced: bool = False
    """The user took the branch by hand."""
    rejected: bool = False
    """The user refused a tool, which ended the turn."""
    failed: str | None = None
    """Why no branch could be chosen; None where one was, or none was needed."""


async def cut_on_command[T](control: RunControl, turn: Coroutine[Any, Any, T]) -> T | None:
    """Await `turn` so that `stop` and `go_to` can cut it; None where they did."""
    task = asyncio.ensure_future(turn)
    control.watch_turn(task)
    try:
        return await task
    except asyncio.CancelledError:
        if task.cancelled() and (control.stop_asked or control.goto_asked):
            return None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        raise
    finally:
        control.watch_turn(None)


async def do_task(soul: RunnableSoul, prompt: str | list[ContentPart]) -> Answer:
    """One turn, no question."""
    soul.wire.emit(PromptSent(as_text(prompt)))
    result = await soul.turn(prompt)
    return Answer(result.answer_text, result.tokens, rejected=result.rejected)


async def ask_choice(
    soul: RunnableSoul,
    label: str,
    branches: Sequence[str],
    *,
    retries: int,
    control: RunControl,
    node: str,
    author: Author,
) -> Answer:
    """Ask for a branch until the answer names one, at most `retries` times more.

    A branch that the user forces meanwhile ends the asking after the answer that is coming.
    """
    prompt = choice_prompt(label, branches)
    tokens = 0
    text = ""
    got: str | None = None
    for attempt in range(1, retries + 2):
        soul.wire.emit(PromptSent(prompt, attempt))
        result = await soul.turn(prompt)
        tokens += result.tokens
        text = result.answer_text
        if result.rejected:
            return Answer(text, tokens, rejected=True)
        got = parse_choice(text)
        branch = match_choice(got, branches)
        # The node may have been renamed since it was asked.
        if forced := control.take_forced(control.current or node):
            if forced.branch == branch:
                return Answer(text, tokens, branch, author)
            return Answer(text, tokens, forced.branch, forced.by, over=branch or got, forced=True)
        if branch is not None:
            return Answer(text, tokens, branch, author)
        soul.wire.emit(ChoiceRejected(got, attempt, retries + 1, tuple(branches)))
        prompt = retry_prompt(label, branches, got)
    said = "gave no <choice> tag" if got is None else f"answered “{got}”"
    return Answer(
        text,
        tokens,
        failed=f"the model {said} {retries + 1} times; the branches are: {', '.join(branches)}",
    )


def as_text(prompt: str | list[ContentPart]) -> str:
    """A prompt for the eye: parts that are not text are named in brackets."""
    if isinstance(prompt, str):
        return prompt
    return "".join(getattr(part, "text", f"[{part.type}]") for part in prompt)
