"""Help and palette of a screen, made from the table of commands by the screen's scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.app import SystemCommand
from textual.screen import Screen

from flowstudio.studio.commands import Scope, commands_of
from flowstudio.studio.keymap import shown_keys

if TYPE_CHECKING:
    from flowstudio.studio.keymap import Keymap

type Do = Callable[[str], Any]
"""Carries out a command by its id."""


def keymap_of(screen: Screen[Any]) -> Keymap:
    """The keys in force."""
    return cast("Any", screen.app).keymap


def show_help(screen: Screen[Any], place: str, do: Do) -> None:
    """Show the keys of a place, a pane or a scope; a line that is clicked is carried out."""
    from flowstudio.studio.help_dialog import HelpDialog

    def give(command: str | None) -> None:
        if command is not None:
            screen.call_later(do, command)

    screen.app.push_screen(HelpDialog(place, keymap_of(screen)), give)


def palette_of(screen: Screen[Any], scope: Scope, do: Do) -> Iterable[SystemCommand]:
    """Every command of a scope by name, for the palette; the branches go by their numbers."""
    for command in commands_of(scope):
        if not command.id.startswith("run.branch"):
            keys = shown_keys(command, keymap_of(screen))
            yield SystemCommand(
                f"{command.label.capitalize()}: {command.help}",
                f"key {keys}" if keys else "no key",
                partial(do, command.id),
            )
