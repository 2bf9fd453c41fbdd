"""What the doctor finds, and how it says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flowstudio.cli.output import can_show, say

type State = Literal["fine", "look", "wrong"]

_SIGNS: dict[State, str] = {"fine": "✓", "look": "▲", "wrong": "✗"}
_PLAIN: dict[State, str] = {"fine": "ok", "look": "! ", "wrong": "X "}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    section: str
    state: State
    """`look`: it works, but less well or with less; `wrong`: something does not work."""
    what: str
    do: str = ""
    """What to do about it."""
    minor: bool = False
    """True where nothing need be done: something that most people never use."""

    def to_json(self) -> dict[str, Any]:
        """The finding for programs."""
        return {
            "section": self.section,
            "state": self.state,
            "what": self.what,
            "do": self.do or None,
            "minor": self.minor,
        }


def fine(section: str, what: str) -> Finding:
    """Nothing to do."""
    return Finding(section, "fine", what)


def look(section: str, what: str, do: str, *, minor: bool = False) -> Finding:
    """Something works less well than it could."""
    return Finding(section, "look", what, do, minor)


def bad(section: str, what: str, do: str) -> Finding:
    """Something does not work."""
    return Finding(section, "wrong", what, do)


def print_findings(findings: Sequence[Finding]) -> None:
    """All of them by section, then a sentence that sums them up."""
    signs = _SIGNS if can_show("✓▲✗") else _PLAIN
    section = ""
    for one in findings:
        if one.section != section:
            section = one.section
            say(f"\n{section}" if one is not findings[0] else section)
        say(f"  {signs[one.state]} {one.what}")
        if one.do:
            say(f"      {one.do}")
    wrong = sum(one.state == "wrong" for one in findings)
    worth = sum(one.state == "look" and not one.minor for one in findings)
    say()
    if wrong:
        say(f"{signs['wrong']} {_count(wrong, 'thing')} must be put right.")
    elif worth:
        say(f"{signs['look']} It works; {_count(worth, 'thing')} could be better.")
    else:
        say(f"{signs['fine']} All is well.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
