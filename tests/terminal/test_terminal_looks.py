"""Terminals with few signs, few colours or little room: all that is told can still be read."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.terminal.conftest import Open
from tests.terminal.kit import Terminal

_HUE = re.compile(rb"[34]8;2;(\d+);(\d+);(\d+)")


def has_true_colours(raw: bytearray) -> bool:
    return bool(_HUE.search(raw))


def has_hues(raw: bytearray) -> bool:
    return any(len({*found.groups()}) > 1 for found in _HUE.finditer(raw))


_CONSOLE = {*bytes(range(32, 256)).decode("cp437"), *"►◄↕▲▼↑↓→←♦\n"}
"""What the usual fonts of the Linux console have."""


LOOKS: dict[str, tuple[dict[str, str], dict[str, str], Callable[[Terminal], bool]]] = {
    "the Linux console": (
        {"TERM": "linux", "COLORTERM": ""},
        {"paused": "║ Write a first draft", "done": "√"},
        lambda terminal: set(terminal.text) <= _CONSOLE,
    ),
    "sixteen colours": (
        {"TERM": "xterm-16color", "COLORTERM": ""},
        {"paused": "⏸ Write a first draft", "done": "✓"},
        lambda terminal: not has_true_colours(terminal.raw),
    ),
    "no colours": (
        {"NO_COLOR": "1"},
        {"paused": "⏸ Write a first draft", "done": "✓"},
        lambda terminal: not has_hues(terminal.raw),
    ),
    "no signs but those of ASCII": (
        {"LANG": "C", "LC_ALL": "C"},
        {"paused": "= Write a first draft", "done": "+"},
        lambda terminal: terminal.text.isascii(),
    ),
    "a dumb terminal": (
        {"TERM": "dumb", "COLORTERM": ""},
        {"paused": "= Write a first draft", "done": "+"},
        lambda terminal: terminal.text.isascii(),
    ),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_poor_terminal_tells_every_state_by_a_sign(open_terminal: Open, look: str) -> None:
    environ, signs, is_kept = LOOKS[look]
    with open_terminal(".", "--script", "script.yaml", size=(100, 40), **environ) as terminal:
        terminal.shows("Write a first draft")
        terminal.shows("rehearsal")
        terminal.press("n")
        terminal.shows("paused")
        terminal.shows(signs["paused"])
        terminal.press("n")
        terminal.shows("before “good”" if signs["done"] == "✓" else "good")
        terminal.until(
            lambda: re.search(rf"{re.escape(signs['done'])}.?[┐+┒]", terminal.text),
            "the sign of a visited node in its frame",
        )
        assert is_kept(terminal), terminal.text
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        assert b"Traceback" not in terminal.raw


@pytest.mark.parametrize("size", [(20, 5), (1, 1)])
def test_a_tiny_terminal_neither_breaks_nor_hides_the_state(
    open_terminal: Open, size: tuple[int, int]
) -> None:
    with open_terminal(".", "--script", "script.yaml", size=(80, 24)) as terminal:
        terminal.shows("Write a first draft")
        terminal.shows("rehearsal")
        terminal.press("n")
        terminal.shows("⏸ paused")
        terminal.resize(*size)
        if size == (20, 5):
            terminal.until(lambda: "⏸" in terminal.text, "the state")
        terminal.press("n")
        terminal.resize(80, 24)
        terminal.shows("paused before “good”")
        terminal.press("ctrl+q")
        assert terminal.wait() == 0
        assert b"Traceback" not in terminal.raw
