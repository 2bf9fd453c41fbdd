"""OpenAI's responses protocol (`/v1/responses`, streamed) for `ScriptedServer`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.scripted import Call, Reply, Request, ScriptedServer


def responses_server(*replies: Reply) -> ScriptedServer:
    """A server that speaks OpenAI's responses protocol."""
    return ScriptedServer(encode, "/v1", replies)


def encode(reply: Reply, request: Request) -> Iterator[bytes]:
    """The reply as OpenAI streams it."""
    for number, event in enumerate(_events(reply, request)):
        data = json.dumps({**event, "sequence_number": number})
        yield f"event: {event['type']}\ndata: {data}\n\n".encode()


def _events(reply: Reply, request: Request) -> Iterator[dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if reply.thinking:
        yield {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "r",
            "output_index": 0,
            "summary_index": 0,
            "delta": reply.thinking,
        }
        summary = [{"type": "summary_text", "text": reply.thinking}]
        output.append({"type": "reasoning", "id": "r", "summary": summary})
        yield {"type": "response.output_item.done", "output_index": 0, "item": output[-1]}
    for piece in reply.pieces:
        yield {
            "type": "response.output_text.delta",
            "item_id": "m",
            "output_index": len(output),
            "content_index": 0,
            "delta": piece,
            "logprobs": [],
        }
    if reply.pieces:
        text = {"type": "output_text", "text": "".join(reply.pieces), "annotations": []}
        output.append(
            {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        )
    for call in reply.calls:
        yield from _call(len(output), call)
        output.append(_item(call, call.text))
    if reply.fault is None:
        yield {"type": "response.completed", "response": _whole(reply, request, output)}


def _call(index: int, call: Call) -> Iterator[dict[str, Any]]:
    yield {"type": "response.output_item.added", "output_index": index, "item": _item(call, "")}
    yield {
        "type": "response.function_call_arguments.delta",
        "item_id": f"item_{call.id}",
        "output_index": index,
        "delta": call.text,
    }


def _item(call: Call, arguments: str) -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": f"item_{call.id}",
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
    }


def _whole(reply: Reply, request: Request, output: list[dict[str, Any]]) -> dict[str, Any]:
    taken, given = reply.tokens or (0, 0)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": request.body["model"],
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": taken,
            "output_tokens": given,
            "total_tokens": taken + given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
