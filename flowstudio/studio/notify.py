"""Calls the user when a run waits for them while they look elsewhere.

Terminals disagree: OSC 9 (iTerm2, WezTerm, Ghostty, kitty), OSC 777 (VTE's, foot, urxvt), or
nothing but the bell. tmux passes such a sequence on where `allow-passthrough` lets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.state import RunState

type Means = Literal["auto", "osc9", "osc777", "bell", "off"]

BELL = "\x07"
AWAY = 10.0
"""Seconds without a key or a click after which the user is taken to look elsewhere."""
_LONGEST = 120
_OSC9 = frozenset({"iTerm.app", "WezTerm", "ghostty", "WarpTerminal", "rio"})
_OSC777 = ("foot", "rxvt", "contour")


def find_means(environ: Mapping[str, str]) -> Means:
    """What this terminal understands, as far as its environment says."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if program in _OSC9 or term in ("xterm-kitty", "xterm-ghostty"):
        return "osc9"
    if "LC_TERMINAL" in environ and environ["LC_TERMINAL"] == "iTerm2":
        return "osc9"
    if environ.get("VTE_VERSION") or term.startswith(_OSC777):
        return "osc777"
    return "bell"


def call_user(text: str, means: Means, environ: Mapping[str, str]) -> str:
    """The sequence that calls the user; empty where they do not want to be called."""
    line = " ".join(shorten(harmless(text), _LONGEST).split())
    match find_means(environ) if means == "auto" else means:
        case "off":
            return ""
        case "osc9":
            said = f"\x1b]9;{line}\x1b\\"
        case "osc777":
            said = f"\x1b]777;notify;Flow Studio;{line.replace(';', ',')}\x1b\\"
        case _:
            return BELL
    if environ.get("TMUX"):
        said = "\x1bPtmux;" + said.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return said + BELL


def calls_for_user(before: str, state: RunState | None) -> tuple[str, str]:
    """Whether something new waits for the user.

    Gives what waits now, to be given as `before` next time, and a sentence where it is new.
    """
    if state is None:
        return "", ""
    if state.waits_for:
        now, text = f"asked {state.waits_for}", f"{state.flow} asks: {state.waits_for}"
    elif state.phase == "paused":
        now = f"paused {len(state.visits)} {state.reason}"
        text = f"{state.flow} waits: {state.why}"
    elif state.phase == "ended":
        now, text = "ended", f"{state.flow}: {state.why}"
    else:
        return "", ""
    return now, text if now != before else ""
