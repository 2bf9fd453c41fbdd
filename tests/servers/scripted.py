"""A real HTTP server on loopback whose answers are scripted, faults included.

`ScriptedServer` takes one `Reply` per request, in order, and keeps each request. What a reply looks
like on the wire is the business of a protocol: see `openai_server` and `anthropic_server`.

    async with openai_server(fail(503, retry_after="2"), say("Hello")) as server:
        ...  # a provider with base_url=server.base_url
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

type Fault = Literal["reset", "stall", "hang-up"]
"""After its pieces the server resets the connection, says nothing more, or closes in mid-body."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `arguments` may be any text, JSON or not. `None` for the id leaves it out."""

    name: str
    arguments: str | Mapping[str, Any] = "{}"
    id: str | None = "call_1"

    @property
    def text(self) -> str:
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the server."""

    pieces: Sequence[str] = ()
    """The text, as streamed."""
    thinking: str = ""
    calls: Sequence[Call] = ()
    tokens: tuple[int, int] | None = (100, 10)
    """Tokens received and sent, as the server counts; None: it does not say."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    """An error object: the body of a status, or an event in the stream of a 200."""
    fault: Fault | None = None
    raw: bytes | None = None
    """The body of an event stream, as it is."""


def say(*pieces: str, **more: Any) -> Reply:
    """An answer in pieces."""
    return Reply(pieces=pieces, **more)


def use(*calls: Call, text: str = "", **more: Any) -> Reply:
    """An answer that calls tools; ids are numbered."""
    numbered = [
        Call(call.name, call.arguments, f"call_{number}" if call.id == "call_1" else call.id)
        for number, call in enumerate(calls, 1)
    ]
    return Reply(pieces=[text] if text else [], calls=numbered, **more)


def fail(
    status: int, *, code: str = "", message: str = "scripted failure", **headers: str
) -> Reply:
    """A refusal; header names are written with `_` for `-`."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": code or "scripted", "code": code or None}
    return Reply(status=status, headers=fields, error=error)


EMPTY = Reply(tokens=(100, 0))
"""An answer without a word."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation of a chat request."""
        return self.body["messages"]

    @property
    def last_text(self) -> str:
        """The text of its last message."""
        return text_of(self.messages[-1])


def text_of(message: Mapping[str, Any]) -> str:
    """A message's text, whether it is a string or parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


type Encoder = Callable[[Reply, Request], Iterator[bytes]]
"""The event stream of a reply, one `bytes` per network write."""


class ScriptedServer:
    """Answers each request with the next reply; used with `async with`.

    A request beyond the script is refused with 400, so that a test fails instead of hanging.
    """

    def __init__(self, encode: Encoder, prefix: str, replies: Sequence[Reply] = ()) -> None:
        self._encode = encode
        self._prefix = prefix
        self.replies: list[Reply] = list(replies)
        self.requests: list[Request] = []
        self.quiet = asyncio.Event()
        """Set while a reply stalls."""
        self.dropped = asyncio.Event()
        """Set when a client went away from a reply that stalls."""
        self.models: list[Mapping[str, Any]] = []
        """What `GET …/models` lists."""
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def base_url(self) -> str:
        """The address for a provider."""
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}{self._prefix}"

    def script(self, *replies: Reply) -> None:
        """Add replies."""
        self.replies.extend(replies)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while request := await _read_request(reader):
                await self._answer(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _answer(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if request.method == "GET":
            await _send(writer, 200, {}, {"object": "list", "data": self.models})
            return
        self.requests.append(request)
        if not self.replies:
            await _send(writer, 400, {}, {"error": {"message": "the test's script is over"}})
            return
        reply = self.replies.pop(0)
        if reply.status != 200:
            await _send(writer, reply.status, reply.headers, {"error": reply.error})
            return
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for chunk in self._encode(reply, request):
            writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            await writer.drain()
        match reply.fault:
            case None:
                writer.write(b"0\r\n\r\n")
                await writer.drain()
            case "reset":
                writer.transport.abort()
                raise ConnectionResetError
            case "hang-up":
                writer.close()
                raise ConnectionResetError
            case "stall":
                self.quiet.set()
                # Until the client goes.
                await reader.read(1)
                self.dropped.set()
                raise ConnectionResetError


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, path, headers, json.loads(body) if body else None)


async def _send(
    writer: asyncio.StreamWriter, status: int, headers: Mapping[str, str], body: object
) -> None:
    data = json.dumps(body).encode()
    fields = {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"HTTP/1.1 {status} Scripted\r\n{lines}\r\n".encode() + data)
    await writer.drain()


@contextmanager
def in_thread(make: Callable[[], ScriptedServer]) -> Iterator[ScriptedServer]:
    """The same server in a thread of its own, for tests that start a process and wait for it."""
    ready = threading.Event()
    holder: list[ScriptedServer] = []
    ends: list[Callable[[], object]] = []

    async def live() -> None:
        leave = asyncio.Event()
        async with make() as server:
            holder.append(server)
            loop = asyncio.get_running_loop()
            ends.append(lambda: loop.call_soon_threadsafe(leave.set))
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield holder[0]
    finally:
        ends[0]()
        thread.join(10)
