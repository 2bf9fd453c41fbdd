"""Anthropic's messages protocol (`/v1/messages`, streamed) for `ScriptedServer`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tests.servers.scripted import Reply, Request, ScriptedServer


def anthropic_server(*replies: Reply) -> ScriptedServer:
    """A server that speaks Anthropic's messages protocol."""
    return ScriptedServer(encode, "", replies)


def encode(reply: Reply, request: Request) -> Iterator[bytes]:
    """The reply as Anthropic streams it."""
    taken, given = reply.tokens or (0, 0)
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": request.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": taken, "output_tokens": 0},
    }
    yield _event("message_start", {"message": message})
    index = 0
    if reply.thinking:
        yield from _block(
            index,
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": reply.thinking},
                {"type": "signature_delta", "signature": "signed"},
            ],
        )
        index += 1
    if reply.pieces:
        # One by one: an answer may have no end.
        deltas = ({"type": "text_delta", "text": piece} for piece in reply.pieces)
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for call in reply.calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": call.text}
        yield from _block(index, start, [delta])
        index += 1
    if reply.error is not None:
        yield _event("error", {"error": reply.error})
        return
    if reply.fault is not None:
        return
    stop = "tool_use" if reply.calls else "end_turn"
    yield _event(
        "message_delta",
        {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": given}},
    )
    yield _event("message_stop", {})


def _block(index: int, start: dict[str, Any], deltas: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    yield _event("content_block_start", {"index": index, "content_block": start})
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta})
    yield _event("content_block_stop", {"index": index})


def _event(kind: str, value: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **value})}\n\n".encode()
