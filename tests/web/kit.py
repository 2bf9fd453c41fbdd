"""`flowstudio serve` as a process, and a real browser before it, driven by Chromium's protocol.

What is on the screen is what the browser was sent over its WebSocket, written on a pyte screen of
the terminal's size.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pyte

ROOT = Path(__file__).parents[2]
PATIENCE = 45.0
"""Seconds after which something that has not come counts as missing."""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


@contextlib.contextmanager
def serving(work: Path, *arguments: str) -> Iterator[str]:
    """A server; gives the address that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flowstudio", "serve", *arguments, "--port", "0"],
        cwd=work,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(work),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
            "FLOWSTUDIO_HOME": str(work / "flowstudio-home"),
            "LANG": "C.UTF-8",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        assert found, (line, process.stderr.read() if process.stderr else "")
        yield found[0]
    finally:
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE)
        assert b"Traceback" not in err, err.decode()


class Page:
    """One page of the browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._session = ""
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self.faults: list[str] = []
        """What the page's own scripts complained of."""
        self.requests: list[str] = []
        """Every address that the page asked for."""

    async def listen(self) -> None:
        """Take in what the browser says, until it closes."""
        async for message in self._socket:
            said = message.json()
            if "id" in said:
                self._answers.pop(said["id"]).set_result(said)
                continue
            told = said.get("params", {})
            match said["method"]:
                case "Network.webSocketFrameReceived" if told["response"]["opcode"] == 2:
                    data = base64.b64decode(told["response"]["payloadData"])
                    # pyte reads a private mode report (CSI … $p) as text.
                    self._stream.feed(data.replace(b"$p", b"h"))
                case "Network.requestWillBeSent":
                    self.requests.append(told["request"]["url"])
                case "Runtime.exceptionThrown":
                    self.faults.append(str(told["exceptionDetails"]))
                case _:
                    pass

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask the browser to do something."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        await self._socket.send_json(message)
        async with asyncio.timeout(PATIENCE):
            answer = await self._answers[number]
        assert "error" not in answer, (method, answer)
        return answer["result"]

    async def open(self, url: str, columns: int = 150, rows: int = 40) -> None:
        """Go to an address, with a window in which a terminal of about that size fits."""
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        await self.call("Network.enable")
        await self.call("Runtime.enable")
        await self.call("Page.enable")
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=columns * 10,
            height=rows * 20,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.screen.resize(rows * 2, columns * 2)
        await self.call("Page.navigate", url=url)

    async def until_focused(self) -> None:
        """Wait until keys go to the terminal."""
        end = time.monotonic() + PATIENCE
        focused = (
            "document.body.classList.contains('-first-byte') && "
            "document.activeElement.classList.contains('xterm-helper-textarea')"
        )
        while not await self.ask(focused):
            assert time.monotonic() < end, "the terminal never had the focus"
            await asyncio.sleep(0.05)

    async def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    async def press(self, *keys: str) -> None:
        """Press keys, as a person would in the terminal."""
        for key in keys:
            control, key = key.startswith("ctrl+"), key.removeprefix("ctrl+")
            code = {"Enter": 13, "Escape": 27, "ArrowDown": 40}.get(key, 0)
            text = "\r" if key == "Enter" else key if len(key) == 1 and not control else ""
            event: dict[str, Any] = {"key": key, "modifiers": 2 if control else 0}
            event["windowsVirtualKeyCode"] = code or ord(key.upper()[0])
            await self.call(
                "Input.dispatchKeyEvent",
                type="keyDown",
                **event,
                **({"text": text} if text else {}),
            )
            await self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    async def picture(self, path: Path) -> None:
        """What the browser shows, as PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(answer["data"]))

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    async def until(self, is_so: Callable[[], object], what: str) -> None:
        """Wait until something is so."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            shown = "\n".join(line.rstrip() for line in self.screen.display if line.strip())
            assert time.monotonic() < end, f"never came: {what}\n{shown}"
            await asyncio.sleep(0.02)

    async def shows(self, *texts: str) -> None:
        """Wait for texts on the screen."""
        for text in texts:
            await self.until(lambda text=text: text in self.text, text)


@contextlib.asynccontextmanager
async def browser() -> AsyncIterator[Page]:
    """A headless Chromium with a page of its own; skip the test where `CHROMIUM` is None."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(prefix="fs-web-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            CHROMIUM,
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"),
            *("--no-first-run", "--disable-dev-shm-usage", f"--user-data-dir={profile}"),
            *("--disable-background-networking", "--disable-component-update", "about:blank"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stderr is not None
            address = b""
            async with asyncio.timeout(PATIENCE):
                while b"DevTools listening on " not in address:
                    address = await process.stderr.readline()
                    assert address, "the browser did not start"
            drain = asyncio.create_task(process.stderr.read())
            url = address.decode().rpartition(" on ")[2].strip()
            async with aiohttp.ClientSession() as session:
                async with session.ws_connect(url, max_msg_size=0) as socket:
                    page = Page(socket)
                    task = asyncio.create_task(page.listen())
                    try:
                        yield page
                    finally:
                        task.cancel()
                        drain.cancel()
                        await asyncio.gather(task, drain, return_exceptions=True)
        finally:
            process.kill()
            await process.wait()
