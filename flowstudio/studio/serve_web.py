"""Serves the studio to browsers, a process of its own for each page (textual-serve)."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from flowstudio.studio.serve_guard import COOKIE, Answer, Guard
from flowstudio.studio.serve_page import page

_REFUSALS: dict[Answer, str] = {
    "no token": "This studio asks for a token: open the address that `flowstudio serve` printed.",
    "wrong host": "This studio answers to this machine only; open it as 127.0.0.1 or localhost.",
    "foreign page": "This studio is used from its own page only.",
}
_PATIENCE = 5.0
"""Seconds that a studio has to end when the server does."""
_SIZES = range(6, 73)
"""Font sizes that make sense, in pixels."""

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StudioServer(Server):
    """A server of studios."""

    def __init__(self, command: str, guard: Guard, *, title: str) -> None:
        """`command` opens a studio, for a shell."""
        super().__init__(command, host=guard.host, title=title)
        self._guard = guard
        self._open: set[web.WebSocketResponse] = set()
        self._processes: set[asyncio.subprocess.Process] = set()

    async def run(self, port: int, announce: Callable[[int], object]) -> None:
        """Serve until a signal ends it. `announce` is told the port, once it listens.

        Raises:
            OSError: it cannot listen there.
        """
        runner = web.AppRunner(await self._make_app(), access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self._guard.host, port, shutdown_timeout=5)
            await site.start()
            self.port = runner.addresses[0][1]
            over = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, over.set)
            announce(self.port)
            await over.wait()
        finally:
            await runner.cleanup()
            for process in self._processes:
                try:
                    await asyncio.wait_for(process.wait(), _PATIENCE)
                except TimeoutError:
                    process.kill()
                    await process.wait()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._check)
        return app

    async def on_shutdown(self, app: web.Application) -> None:
        """Tell the pages, and so end their studios."""
        await asyncio.gather(*(one.close(code=1001) for one in tuple(self._open)))

    async def _process_messages(
        self, websocket: web.WebSocketResponse, app_service: AppService
    ) -> None:
        process: asyncio.subprocess.Process | None = getattr(app_service, "_process", None)
        if process is not None:
            self._processes.add(process)
        self._open.add(websocket)
        try:
            await super()._process_messages(websocket, app_service)
        finally:
            self._open.discard(websocket)
            self._processes = {one for one in self._processes if one.returncode is None}

    async def on_startup(self, app: web.Application) -> None:
        """Nothing is printed here: `announce` says where it is."""

    async def handle_index(self, request: web.Request) -> web.Response:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The page, with addresses as the browser knows this machine."""
        asked = to_int(request.query.get("fontsize", "16"), 16)
        scheme = "wss" if request.secure else "ws"
        size = asked if asked in _SIZES else 16
        text = page(self.title, f"{scheme}://{request.host}/ws", size)
        return web.Response(text=text, content_type="text/html")

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = self._guard.judge(
            host=request.headers.get("Host", ""),
            origin=request.headers.get("Origin"),
            query=request.query,
            cookies=request.cookies,
            upgrade=request.path == "/ws",
        )
        match answer:
            case "pass":
                return await handler(request)
            case "take cookie":
                # The token goes out of the address, and so out of the browser's history.
                rest = request.rel_url.without_query_params("token")
                response = web.HTTPFound(str(rest))
                assert self._guard.token is not None
                response.set_cookie(COOKIE, self._guard.token, httponly=True, samesite="Strict")
                return response
            case _:
                return web.Response(status=403, text=_REFUSALS[answer] + "\n")
