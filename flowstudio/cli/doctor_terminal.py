"""What the doctor finds out about the terminal, without drawing on it."""

from __future__ import annotations

import locale
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

from flowstudio.cli.doctor_finding import Finding, fine, look
from flowstudio.cli.output import can_show

_COLUMNS, _ROWS = 80, 24
_SIGNS = "─│╭╮▶✓⇢●▲⏸◆中"
_SLOW = 50
"""Milliseconds for which tmux may hold the escape key back."""
_COPIERS = ("wl-copy", "xclip", "xsel", "pbcopy", "clip.exe")


def check_terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Size, colours, signs, locale and tmux."""
    size = _size()
    term = environ.get("TERM", "")
    if size is None:
        do = "the studio needs one; all else works without"
        yield look("terminal", "none here", do, minor=True)
    elif size[0] < _COLUMNS or size[1] < _ROWS:
        do = f"{_COLUMNS}x{_ROWS} shows a pane at a time, 120 columns show them side by side"
        yield look("terminal", f"{size[0]}x{size[1]}: small", do)
    else:
        yield fine("terminal", f"{size[0]}x{size[1]}, TERM={term or '(not set)'}")
    if term in ("", "dumb"):
        do = "set it, such as TERM=xterm-256color"
        yield look("terminal", f"TERM is {term or 'not set'}", do)
    yield _check_colours(environ, term)
    encoding = sys.stdout.encoding or "ascii"
    if can_show(_SIGNS):
        yield fine("terminal", f"Unicode ({encoding}), locale {_locale(environ)}")
    else:
        what = f"{encoding} has no signs for lines and marks, locale {_locale(environ)}"
        yield look("terminal", what, "set LANG to a UTF-8 locale, such as C.UTF-8")
    if environ.get("TMUX"):
        yield from _check_tmux(environ)
    elif environ.get("STY"):
        yield look("terminal", "inside screen", "tmux passes colours, titles and notices on better")


def _size() -> tuple[int, int] | None:
    for stream in (sys.stdout, sys.stderr, sys.stdin):
        try:
            size = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
        return size.columns, size.lines
    return None


def _locale(environ: Mapping[str, str]) -> str:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if value := environ.get(name):
            return value
    return locale.getlocale()[0] or "C"


def _check_colours(environ: Mapping[str, str], term: str) -> Finding:
    if environ.get("NO_COLOR"):
        return fine("terminal", "no colours: NO_COLOR is set; each state has a sign of its own")
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return fine("terminal", "16 million colours (COLORTERM)")
    if "256" in term or term.endswith("-direct"):
        do = "if it has more, export COLORTERM=truecolor; over SSH it is not passed on by itself"
        return look("terminal", "256 colours, as far as TERM says", do, minor=True)
    return look("terminal", "16 colours, as far as TERM says", "the high-contrast themes suit best")


def _check_tmux(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield fine("terminal", "inside tmux")
    term = environ.get("TERM", "")
    if not term.startswith(("tmux", "screen")):
        do = "in ~/.tmux.conf: set -g default-terminal tmux-256color"
        yield look("terminal", f"TERM={term} is not tmux's own", do)
    wait = _ask_tmux("show-options", "-sv", "escape-time")
    if wait.isdecimal() and int(wait) > _SLOW:
        what = f"tmux holds the escape key back for {wait} ms"
        yield look("terminal", what, "in ~/.tmux.conf: set -sg escape-time 10")
    if _ask_tmux("show-options", "-gv", "allow-passthrough") == "off":
        do = "for notices of the desktop, in ~/.tmux.conf: set -g allow-passthrough on"
        yield look("terminal", "tmux lets no notices through", do, minor=True)


def _ask_tmux(*words: str) -> str:
    try:
        done = subprocess.run(
            ["tmux", *words], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()


def check_clipboard(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Whether what is copied in the studio reaches the clipboard."""
    found = [name for name in _COPIERS if shutil.which(name)]
    has_screen = bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
    if found and (has_screen or found[0] in ("pbcopy", "clip.exe")):
        yield fine("clipboard", f"{found[0]}, and by the terminal (OSC 52)")
    elif environ.get("TERM_PROGRAM") == "Apple_Terminal":
        do = "iTerm2, kitty, WezTerm, Ghostty or Alacritty do"
        yield look("clipboard", "this terminal passes no text on to the clipboard", do)
    else:
        what = "by the terminal (OSC 52), where it allows that"
        yield look("clipboard", what, "if nothing arrives, allow it in its settings", minor=True)
