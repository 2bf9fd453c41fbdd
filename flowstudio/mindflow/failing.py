"""What happens when something does not work: try again, do it in a simpler way, and say so.

The three layers are those of the Mindflow design ("错误处理和容错机制"). This file holds the first,
calls to a model (`ask_model`), and what all layers share: ways that are tried in turn
(`first_way`), and the sentences that a user is told (`Troubles`). The words for the user name no
part of the program and no error class: what happened, and what it means for what was asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flowstudio.models.errors import explain_error, find_overload, find_retry_after

if TYPE_CHECKING:
    from flowstudio.models.llm import LLM

type Sleep = Callable[[float], Awaitable[None]]

MOST_RETRIES = 3
"""How often a call to a model is made again."""
FIRST_WAIT = 1.0
"""Seconds before the first repetition; each further one waits twice as long."""
RATE_WAIT = 60.0
"""Seconds that a server's limit is waited for where it does not say how long."""
LONGEST_WAIT = 120.0
"""A server that wants a longer pause is not waited for: the work is done in a simpler way."""
SHORTER = 0.5
"""What is left of a prompt that took too long to be answered, each time."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Troubles:
    """What did not work, as sentences for the user; each is kept once."""

    said: list[str] = field(default_factory=list[str])

    def add(self, sentence: str, error: BaseException | None = None) -> None:
        """Keep a sentence; what the program knows of the error goes to the log."""
        if error is not None:
            # Below what Python prints by itself where nobody set up a log.
            _log.info("%s: %s", sentence, error, exc_info=error)
        if sentence not in self.said:
            self.said.append(sentence)


def first_way[T](ways: Sequence[tuple[Callable[[], T], str]], default: T, troubles: Troubles) -> T:
    """The result of the first way that works; `default` where none does.

    Args:
        ways: each with what the user is told where it does not work. What it raises is logged,
            whatever it is: a store may fail in ways that only its own library knows.
    """
    for call, said in ways:
        try:
            return call()
        except Exception as error:
            troubles.add(said, error)
    return default


async def ask_model(
    llm: LLM,
    system_prompt: str,
    prompt: str,
    troubles: Troubles,
    *,
    sleep: Sleep = asyncio.sleep,
    retries: int = MOST_RETRIES,
) -> str | None:
    """A model's answer; None where there is none after all retries, with the reason in `troubles`.

    A network error and a server that fails are tried again after growing waits. A limit is waited
    for, once: a second one means that the work is done without the model. Where no answer came in
    time, the next prompt is shorter: its middle is left out.
    """
    import kosong
    from kosong.chat_provider import APIStatusError, APITimeoutError, ChatProviderError
    from kosong.message import Message

    from flowstudio.models.hint import turn_hint
    from flowstudio.soul.retry import is_retryable

    was_limited = False
    # What is asked here is not a node's question: no branch may be forced upon the answer.
    hint = turn_hint.set(None)
    try:
        for attempt in range(retries + 1):
            try:
                message = Message(role="user", content=prompt)
                result = await kosong.generate(llm.provider, system_prompt, [], [message])
                return result.message.extract_text()
            except ChatProviderError as error:
                limited = isinstance(error, APIStatusError) and error.status_code == 429
                wait = FIRST_WAIT * 2**attempt
                if limited:
                    asked = find_retry_after(error)
                    wait = RATE_WAIT if asked is None else asked
                may_pass = is_retryable(error) or find_overload(error)
                if (
                    attempt == retries
                    or not may_pass
                    or wait > LONGEST_WAIT
                    or (limited and was_limited)
                ):
                    troubles.add(
                        f"The model could not be asked. {_plainly(error)} "
                        "It goes on without the model.",
                        error,
                    )
                    return None
                was_limited = was_limited or limited
                if isinstance(error, APITimeoutError):
                    prompt = shorten_prompt(prompt)
                await sleep(wait)
    finally:
        turn_hint.reset(hint)
    return None


def _plainly(error: BaseException) -> str:
    """What went wrong, without the server's own words: those are for the log."""
    return explain_error(error).partition(" It said: ")[0]


def shorten_prompt(prompt: str, share: float = SHORTER) -> str:
    """A prompt with lines of its middle left out: what it asks stands at its two ends."""
    lines = prompt.split("\n")
    keep = max(int(len(lines) * share), 2)
    if keep >= len(lines):
        return prompt
    head = (keep + 1) // 2
    return "\n".join([*lines[:head], "[…]", *lines[len(lines) - (keep - head) :]])


def sum_up(done: Sequence[str], failed: Sequence[tuple[str, str]], left: Sequence[str] = ()) -> str:
    """The end of a task in a few lines: what is done, what failed and why, what was not begun.

    One failed skill does not fail the task: the rest is done, and this says what is missing.
    """
    lines: list[str] = []
    if done:
        lines.append(f"Done: {', '.join(done)}.")
    lines.extend(f"Not done: {name}. {why.strip().rstrip('.')}." for name, why in failed)
    if left:
        lines.append(f"Not begun, since it needs what is missing: {', '.join(left)}.")
    return "\n".join(lines) or "There was nothing to do."
