"""Slash commands: what a prompt that begins with `/` may mean."""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.soul.kimisoul import KimiSoul

_COMMAND = re.compile(r"/(?P<name>[^\s/][^\s/]*)(?:\s+(?P<args>.*))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A command, as the soul finds it and a front end lists it."""

    name: str
    """Without the slash: `compact`, `skill:csv-profile`."""
    description: str
    func: Callable[[KimiSoul, str], Awaitable[None]]
    """Called with the soul and what followed the name, trimmed."""
    aliases: tuple[str, ...] = ()
    arguments: str = ""
    """What may follow the name, for people: `[on|off]`."""


def parse_command(text: str) -> tuple[str, str] | None:
    """The name and the arguments of a slash command; None where `text` is a plain prompt.

    A path is no command: `/etc/hosts is wrong` has a second slash in its first word.
    """
    found = _COMMAND.fullmatch(text.strip())
    return (found["name"], (found["args"] or "").strip()) if found else None


class CommandTable:
    """Commands by name and alias; a later one of the same name does not displace an earlier one."""

    def __init__(self, commands: Iterable[SlashCommand]) -> None:
        self._by_name: dict[str, SlashCommand] = {}
        self.commands: list[SlashCommand] = []
        for command in commands:
            if command.name not in self._by_name:
                self.commands.append(command)
            for name in (command.name, *command.aliases):
                self._by_name.setdefault(name, command)

    def find(self, name: str) -> SlashCommand | None:
        """The command of this name."""
        return self._by_name.get(name)

    def explain_unknown(self, name: str) -> str:
        """A sentence for a name that is no command."""
        near = difflib.get_close_matches(name, self._by_name, n=1, cutoff=0.5)
        hint = f" Did you mean /{near[0]}?" if near else ""
        return f"There is no command /{name}.{hint} /help lists them."
