"""Errors of models as sentences that a user can act on.

What a server says is repeated only in part, on one line, with everything that looks like a key
taken out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from kosong.chat_provider import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
)

_SHOWN = 300
"""How many characters of a server's own words are shown."""

_SECRETS = re.compile(
    r"""(?ix)
    \b(?:sk|rk|pk|gsk|xai)-[\w\-.*]{6,}              # the usual forms of keys, masked ones too
    | \bAIza[\w\-]{10,}                              # Google
    | \b(?:bearer|basic)\s+[\w\-.~+/=]{8,}
    | (?<=key=)[^\s&"']+                             # in an address
    | (?<=key:\s)["']?(?=[\w\-.*]*[\d*])[\w\-.*]{6,}["']?
    """
)
_SECRET_NAME = re.compile(r"(?i).*(?:KEY|TOKEN|SECRET|PASSWORD)")
_SHORTEST = 8
"""Shorter values of such variables are words like `none`, not keys."""
_WORDS = {
    "insufficient_quota": "The account has no credit left. Top it up, or choose another model.",
    "context_length_exceeded": "The conversation no longer fits the model's window. "
    "Shorten it with /compact, or choose a model with a larger one.",
}


class ModelError(Exception):
    """A model cannot be used as asked. The message is a sentence that says what to do about it."""


def explain_error(error: BaseException) -> str:
    """What went wrong with a call to a model, and what to do, as a sentence without any key."""
    said = redact(" ".join(str(error).split()))[:_SHOWN]
    match error:
        case ModelError():
            return redact(str(error))
        case APIStatusError():
            return _explain_status(error, said)
        case APITimeoutError():
            return (
                "The model's server did not answer in time. Try again; if its answers take long, "
                "raise loop.request_timeout in the configuration."
            )
        case APIConnectionError():
            return (
                "The model's server cannot be reached, or hung up in mid-answer. Check the network "
                "and the provider's base_url, then try again."
            )
        case APIEmptyResponseError():
            return "The model gave an empty answer. Try again, or choose another model."
        case ChatProviderError():
            return said or "The model failed without saying why. Try again."
        case _:
            name = type(error).__name__
            return f"{name}: {said}" if said else name


def _explain_status(error: APIStatusError, said: str) -> str:
    for code in _error_codes(error):
        if code in _WORDS:
            return _WORDS[code]
    tail = f" It said: {said}" if said else ""
    match error.status_code:
        case 401:
            return (
                "The model's server refused the key (401). Check that the right key stands in the "
                f"environment variable and is still valid.{tail}"
            )
        case 403:
            return (
                "The key may not use this model (403). Choose a model that the account may use."
                f"{tail}"
            )
        case 404:
            return (
                "The server does not know this model or address (404). Check the model's name and "
                f"the provider's base_url.{tail}"
            )
        case 413:
            return f"The request is too large for the server (413). Shorten it with /compact.{tail}"
        case 429:
            wait = find_retry_after(error)
            when = "a while" if wait is None else _duration(wait)
            return f"Too many requests (429). Wait {when} and try again.{tail}"
        case status if status >= 500:
            return f"The model's server failed ({status}). Try again in a while.{tail}"
        case status:
            return f"The model's server refused the request ({status}).{tail}"


def redact(text: str) -> str:
    """`text` with the keys of the environment, and what looks like a key, replaced by `***`."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST and value in text and _SECRET_NAME.fullmatch(name):
            text = text.replace(value, "***")
    return _SECRETS.sub("***", text)


def find_retry_after(error: BaseException, *, now: float | None = None) -> float | None:
    """The seconds that the server asks to wait: `Retry-After`, a number or a date; None if not.

    kosong drops the headers, but chains the SDK's error, which holds the response.
    """
    for cause in _causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None)
        if not isinstance(headers, Mapping):
            continue
        fields = cast("Mapping[str, str]", headers)
        try:
            if (millis := fields.get("retry-after-ms")) is not None:
                return max(0.0, float(millis) / 1000)
        except ValueError:
            pass
        value = fields.get("retry-after")
        if value is None:
            continue
        try:
            return max(0.0, float(value))
        except ValueError:
            pass
        try:
            moment = parsedate_to_datetime(value).timestamp()
        except ValueError:
            return None
        if now is None:
            import time

            now = time.time()
        return max(0.0, moment - now)
    return None


def find_overload(error: BaseException) -> bool:
    """True where a server reported in mid-stream that it is overloaded or broken.

    Such an error comes after a status of 200: Anthropic's `overloaded_error`, or an `error` object
    in the stream of an OpenAI-compatible server.
    """
    known = {"overloaded_error", "api_error", "server_error", "rate_limit_error", "overloaded"}
    return any(code in known for code in _error_codes(error))


def _error_codes(error: BaseException) -> Iterator[str]:
    """The codes and types in the body of the SDK's error."""
    for cause in _causes(error):
        body: object = getattr(cause, "body", None)
        if not isinstance(body, dict):
            continue
        record = cast("dict[str, Any]", body)
        inner: object = record.get("error")
        for level in (record, cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}):
            for key in ("code", "type"):
                value: object = level.get(key)
                if isinstance(value, str):
                    yield value


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
