"""The OpenAI chat protocol (`/v1/chat/completions`, streamed) for `ScriptedServer`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.scripted import Call, Reply, Request, ScriptedServer


def openai_server(*replies: Reply) -> ScriptedServer:
    """A server that speaks OpenAI's chat protocol."""
    return ScriptedServer(encode, "/v1", replies)


def encode(reply: Reply, request: Request) -> Iterator[bytes]:
    """The reply as OpenAI streams it."""
    if reply.raw is not None:
        yield reply.raw
        return
    yield _chunk({"role": "assistant", "content": ""})
    if reply.thinking:
        yield _chunk({"reasoning_content": reply.thinking})
    for piece in reply.pieces:
        yield _chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        yield from _stream_call(index, call)
    if reply.error is not None:
        yield _event({"error": reply.error})
        return
    if reply.fault is not None:
        return
    yield _chunk({}, finish="tool_calls" if reply.calls else "stop")
    if reply.tokens is not None and request.body.get("stream_options"):
        taken, given = reply.tokens
        usage = {"prompt_tokens": taken, "completion_tokens": given, "total_tokens": taken + given}
        yield _event({**_base(), "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _stream_call(index: int, call: Call) -> Iterator[bytes]:
    """A call as it comes: name and id first, then the arguments in pieces."""
    head: dict[str, Any] = {
        "index": index,
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    if call.id is not None:
        head["id"] = call.id
    yield _chunk({"tool_calls": [head]})
    text = call.text
    middle = len(text) // 2
    for part in (text[:middle], text[middle:]):
        yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})


def _base() -> dict[str, Any]:
    return {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _event({**_base(), "choices": [choice]})


def _event(value: object) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()
