"""Google's generative protocol (`:streamGenerateContent`) for `ScriptedServer`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.scripted import Reply, Request, ScriptedServer


def gemini_server(*replies: Reply) -> ScriptedServer:
    """A server that speaks Google's protocol."""
    return ScriptedServer(encode, "", replies)


def encode(reply: Reply, request: Request) -> Iterator[bytes]:
    """The reply as Google streams it."""
    if reply.thinking:
        yield _event(reply, {"text": reply.thinking, "thought": True})
    for piece in reply.pieces:
        yield _event(reply, {"text": piece})
    for call in reply.calls:
        part = {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.text)}}
        yield _event(reply, part)


def _event(reply: Reply, part: dict[str, Any]) -> bytes:
    taken, given = reply.tokens or (0, 0)
    event = {
        "responseId": "r1",
        "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}],
        "usageMetadata": {"promptTokenCount": taken, "candidatesTokenCount": given},
    }
    return f"data: {json.dumps(event)}\r\n\r\n".encode()
