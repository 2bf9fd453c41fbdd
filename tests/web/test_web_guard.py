"""Who may use a served studio: over real sockets, and the rules as a table."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from flowstudio.studio.serve_guard import COOKIE, Guard, is_loopback
from flowstudio.studio.serve_page import page
from tests.cli.shell import Shell
from tests.web.kit import serving

LOCAL = Guard("127.0.0.1")
SECRET = Guard("0.0.0.0", "secret-token")
OURS = "studio.example:8000"


@pytest.mark.parametrize(
    ("guard", "request_", "answer"),
    [
        (LOCAL, {"host": "127.0.0.1:8000"}, "pass"),
        (LOCAL, {"host": "localhost:8000"}, "pass"),
        (LOCAL, {"host": "[::1]:8000"}, "pass"),
        (LOCAL, {"host": "evil.example:8000"}, "wrong host"),
        (LOCAL, {"host": ""}, "wrong host"),
        (LOCAL, {"host": "[::1:8000"}, "wrong host"),
        (LOCAL, {"host": "127.0.0.1:80", "upgrade": True}, "foreign page"),
        (
            LOCAL,
            {"host": "127.0.0.1:80", "upgrade": True, "origin": "http://127.0.0.1:80"},
            "pass",
        ),
        (
            LOCAL,
            {"host": "127.0.0.1:80", "upgrade": True, "origin": "http://evil.example"},
            "foreign page",
        ),
        (
            LOCAL,
            {"host": "127.0.0.1:80", "upgrade": True, "origin": "http://127.0.0.1:81"},
            "foreign page",
        ),
        (LOCAL, {"host": "127.0.0.1:80", "upgrade": True, "origin": "null"}, "foreign page"),
        (SECRET, {"host": OURS}, "no token"),
        (SECRET, {"host": OURS, "query": {"token": "secret-toke"}}, "no token"),
        (SECRET, {"host": OURS, "query": {"token": "ß\udcff"}}, "no token"),
        (SECRET, {"host": OURS, "query": {"token": "secret-token"}}, "take cookie"),
        (SECRET, {"host": OURS, "cookies": {COOKIE: "secret-token"}}, "pass"),
        (SECRET, {"host": OURS, "upgrade": True, "origin": f"http://{OURS}"}, "no token"),
        (
            SECRET,
            {
                "host": OURS,
                "upgrade": True,
                "origin": f"http://{OURS}",
                "query": {"token": "secret-token"},
            },
            "no token",
        ),
        (
            SECRET,
            {
                "host": OURS,
                "upgrade": True,
                "origin": f"http://{OURS}",
                "cookies": {COOKIE: "secret-token"},
            },
            "pass",
        ),
        (
            SECRET,
            {
                "host": OURS,
                "upgrade": True,
                "origin": "http://evil.example",
                "cookies": {COOKIE: "secret-token"},
            },
            "foreign page",
        ),
    ],
)
def test_a_request_is_judged_by_what_it_shows(
    guard: Guard, request_: dict[str, object], answer: str
) -> None:
    rest = {"origin": None, "query": {}, "cookies": {}, "upgrade": False}
    assert guard.judge(**{**rest, **request_}) == answer  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("host", "is_so"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("", False),
        ("localhost.evil.example", False),
    ],
)
def test_loopback_is_what_only_this_machine_reaches(host: str, is_so: bool) -> None:
    assert is_loopback(host) is is_so


def test_the_page_loads_nothing_from_elsewhere_and_escapes_what_it_is_given() -> None:
    text = page("<b>", 'ws://x/"><script>', 16)
    assert "<b>" not in text
    assert '"><script>' not in text
    assert "http://" not in text
    assert "https://" not in text


async def test_without_the_token_nothing_of_a_served_studio_is_given_away(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as printed:
        parts = urlsplit(printed)
        assert parts.query.startswith("token=")
        base = f"http://127.0.0.1:{parts.port}"
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            for path in ("/", "/ws", "/static/js/textual.js", "/download/x", "/nothing"):
                async with session.get(base + path) as answer:
                    assert answer.status == 403, path
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(f"{base}/ws?{parts.query}", origin=base)
            async with session.get(f"{base}/?{parts.query}") as answer:
                assert answer.status == 200
                assert "token" not in str(answer.url)
                assert "HttpOnly" in answer.history[0].headers["Set-Cookie"]
            async with session.ws_connect(f"{base}/ws", origin=base) as socket:
                async with asyncio.timeout(30):
                    assert (await socket.receive()).type is aiohttp.WSMsgType.BINARY
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(f"{base}/ws", origin="http://evil.example")


def test_without_the_extra_it_says_what_to_install(shell: Shell) -> None:
    fake = shell.cwd / "fake" / "textual_serve"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ModuleNotFoundError('no', name='textual_serve')")
    path = f"{fake.parent}:{shell.env['PYTHONPATH']}"
    done = shell("serve", env={"PYTHONPATH": path})
    assert done.status == 2
    assert "pip install 'flowstudio[web]'" in done.err


def test_a_port_that_is_taken_is_told(shell: Shell) -> None:
    with serving(shell.cwd) as url:
        done = shell("serve", "--port", str(urlsplit(url).port))
    assert done.status == 2
    assert "--port 0" in done.err


@pytest.mark.parametrize(
    "words", [["--port", "70000"], ["--token", "short"], ["no-such-folder"]], ids=" ".join
)
def test_a_wrong_call_is_told(shell: Shell, words: list[str]) -> None:
    assert shell.inside("serve", *words).status == 2
