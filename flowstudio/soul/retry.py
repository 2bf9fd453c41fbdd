"""A call to the model that fails is made again, where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kosong.chat_provider import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProvider,
    ChatProviderError,
    RetryableChatProvider,
)
from tenacity import (
    AsyncRetrying,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential_jitter,
)

from flowstudio.models.errors import explain_error, find_overload, find_retry_after
from flowstudio.wire import Retried

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from flowstudio.wire import Wire

type Sleep = Callable[[float], Awaitable[None]]

RETRYABLE_STATUS = frozenset({404, 408, 429, 500, 502, 503, 504, *range(520, 528)})
"""Statuses after which the same call may succeed (KimiSoul's design). 404 is in it since gateways
give it while a model is being loaded."""
FIRST_WAIT = 0.3
LONGEST_WAIT = 10.0
LONGEST_RETRY_AFTER = 300.0
"""A server that asks for a longer pause (in seconds) is not waited for: the user is told
instead."""


def is_retryable(error: BaseException) -> bool:
    """True where the call may succeed when it is made again."""
    match error:
        case APIConnectionError() | APITimeoutError() | APIEmptyResponseError():
            return True
        case APIStatusError():
            if error.status_code not in RETRYABLE_STATUS and not find_overload(error):
                return False
            wait = find_retry_after(error)
            return wait is None or wait <= LONGEST_RETRY_AFTER
        case ChatProviderError():
            return find_overload(error)
        case _:
            return False


async def call_with_retries[T](
    call: Callable[[], Awaitable[T]],
    *,
    provider: ChatProvider,
    retries: int,
    wire: Wire,
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Await `call()`; after an error that may pass, say `Retried`, wait, and call again.

    Waits grow exponentially from 0.3 s to 10 s, with jitter; a server's `Retry-After` is kept to.

    Raises:
        ChatProviderError: it failed for good, or once more than `retries` times.
    """
    backoff = wait_exponential_jitter(initial=FIRST_WAIT, max=LONGEST_WAIT, jitter=FIRST_WAIT)

    def find_wait(state: RetryCallState) -> float:
        asked = find_retry_after(_error_of(state))
        wait = min(LONGEST_WAIT, backoff(state))
        return wait if asked is None else max(wait, asked)

    def announce(state: RetryCallState) -> None:
        error = _error_of(state)
        if isinstance(error, APIConnectionError | APITimeoutError) and isinstance(
            provider, RetryableChatProvider
        ):
            provider.on_retryable_error(error)
        wait = state.next_action.sleep if state.next_action else 0.0
        wire.emit(Retried(explain_error(error), round(wait, 2), state.attempt_number, retries + 1))

    policy = AsyncRetrying(
        retry=retry_if_exception(is_retryable),
        stop=stop_after_attempt(retries + 1),
        wait=find_wait,
        before_sleep=announce,
        sleep=sleep,
        reraise=True,
    )

    async def attempt() -> T:
        # tenacity awaits only what it can see to be a coroutine function.
        return await call()

    return await policy(attempt)


def _error_of(state: RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    return error or ChatProviderError("")
