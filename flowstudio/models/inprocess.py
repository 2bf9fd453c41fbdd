"""Runs a GGUF file in this process: llama.cpp's server on loopback, through `xllamacpp`.

The extra `local` brings the package. The server starts when the first prompt is sent, answers at a
port of its own to whoever knows its key, which is made up at each start, and ends with the program.
"""

from __future__ import annotations

import asyncio
import atexit
import copy
import importlib.util
import os
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kosong.chat_provider import ChatProviderError, ThinkingEffort

from flowstudio.models.errors import ModelError

if TYPE_CHECKING:
    from kosong.chat_provider import ChatProvider, StreamedMessage
    from kosong.contrib.chat_provider.openai_legacy import OpenAILegacy
    from kosong.message import Message
    from kosong.tooling import Tool

    def _is_provider(provider: InProcess) -> ChatProvider:  # pyright: ignore[reportUnusedFunction]
        return provider


PACKAGE = "xllamacpp"
DEFAULT_SIZE = 8192
"""Tokens of the window where the configuration names none."""
_MAGIC = b"GGUF"


def explain_missing(path: Path | None) -> str:
    """What keeps the file from being run here, as a sentence; empty where nothing does."""
    if importlib.util.find_spec(PACKAGE) is None:
        return "Install it with pip install 'flowstudio[local]'."
    if path is None:
        return "Give its GGUF file as `path`."
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        return f"Its file cannot be read: {path}: {error.strerror}."
    return "" if magic == _MAGIC else f"{path} is no GGUF file."


@dataclass(frozen=True, slots=True)
class _Running:
    """A server that runs in this process."""

    server: Any
    base_url: str
    key: str


_running: dict[tuple[Path, int], _Running] = {}
_lock = threading.Lock()


def start_server(path: Path, context_size: int) -> tuple[str, str]:
    """The address and the key of the server for this file; starts it if it does not run yet.

    Blocks while the model is loaded: call it in a thread.

    Raises:
        ModelError: the package is not installed, or the file cannot be loaded.
    """
    if missing := explain_missing(path):
        raise ModelError(f"The model {path.name} cannot be run here. {missing}")
    with _lock:
        at = (path.resolve(), context_size)
        if (running := _running.get(at)) is None:
            running = _start(path, context_size)
            if not _running:
                atexit.register(stop_servers)
            _running[at] = running
    return running.base_url, running.key


def stop_servers() -> None:
    """End all servers of this process and free their memory."""
    with _lock:
        _running.clear()


def _start(path: Path, context_size: int) -> _Running:
    import xllamacpp  # pyright: ignore[reportMissingImports]

    key = secrets.token_urlsafe(24)
    params: Any = xllamacpp.CommonParams()  # pyright: ignore[reportUnknownVariableType]
    params.model.path = str(path)
    params.model_alias = {path.stem}
    params.n_ctx = context_size
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.ui = False
    # One core stays for the rest of the program; its threads wait busily for each other.
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) - 1)
    params.cpuparams_batch.n_threads = params.cpuparams.n_threads
    params.use_jinja = True
    params.verbosity = -1
    try:
        server: Any = xllamacpp.Server(params)  # pyright: ignore[reportUnknownVariableType]
    except (RuntimeError, ValueError, OSError) as error:
        raise ModelError(f"{path} could not be loaded: {error}") from error
    return _Running(server, f"{server.listening_address}/v1", key)


class InProcess:
    """A chat provider whose server starts with the first prompt."""

    name = "openai"

    def __init__(self, path: Path, context_size: int, **client: Any) -> None:
        """`client` goes to the HTTP client, such as `timeout`."""
        self._path = path
        self._size = context_size
        self._client = client
        self._effort: ThinkingEffort | None = None
        self._fields: dict[str, Any] = {}
        self._inner: OpenAILegacy | None = None

    @property
    def model_name(self) -> str:
        """The file's name without its ending."""
        return self._path.stem

    @property
    def thinking_effort(self) -> ThinkingEffort | None:
        """What `with_thinking` asked for."""
        return self._effort

    async def generate(
        self, system_prompt: str, tools: Sequence[Tool], history: Sequence[Message]
    ) -> StreamedMessage:
        """Start the server if it does not run yet, and ask it.

        Raises:
            ChatProviderError: it cannot be started, or the call failed.
        """
        if self._inner is None:
            try:
                self._inner = await asyncio.to_thread(self._connect)
            except ModelError as error:
                raise ChatProviderError(str(error)) from error
        provider = self._inner.with_generation_kwargs(**self._fields)
        return await provider.generate(system_prompt, tools, history)

    def with_thinking(self, effort: ThinkingEffort) -> Self:
        """A copy; whether a model thinks is up to its chat template."""
        other = copy.copy(self)
        other._effort = effort
        return other

    def with_generation_kwargs(self, **kwargs: Any) -> Self:
        """A copy whose requests have these fields."""
        other = copy.copy(self)
        other._fields = {**self._fields, **kwargs}
        return other

    def _connect(self) -> OpenAILegacy:
        from kosong.contrib.chat_provider.openai_legacy import OpenAILegacy

        url, key = start_server(self._path, self._size)
        return OpenAILegacy(
            model=self.model_name,
            api_key=key,
            base_url=url,
            reasoning_key="reasoning_content",
            **self._client,
        )
