"""The user's keymap: which key gives which command, checked against the table of commands.

    keys:
      run.step: space
      run.stop: ctrl+x
      view.map: null        # no key; the palette still has it

A wrong line costs that line alone: it is named, and the default stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from flowstudio.studio.commands import COMMANDS, Command

NO_KEY = "no_key_"
"""How the key of a command begins that has none: no terminal sends such a key."""
_COMMAND = re.compile(r"\{([a-z_.]+)\}")
_WORDS = frozenset({"enter", "tab", "space", "up", "down", "left", "right"})
"""Keys that are written as words."""
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NAMES = frozenset(key.value.rpartition("+")[2] for key in Keys) | frozenset(
    KEY_NAME_REPLACEMENTS.values()
)


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that are not the table's, and what was wrong with those that were asked for."""

    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Keys by command, parted by commas as Textual wants them."""
    problems: tuple[str, ...] = ()
    """A sentence each."""

    def keys_of(self, command: Command) -> str:
        """The keys that give a command, as they are named; empty for none."""
        keys = self.changes.get(command.id, command.key)
        return "" if keys.startswith(NO_KEY) else keys


_in_force = Keymap()
_BY_ID = {command.id: command for command in COMMANDS}
_PALETTE = "ctrl+p"


def use_keymap(keymap: Keymap) -> None:
    """From now on sentences name the keys of this one; there is one studio in a process."""
    global _in_force
    _in_force = keymap


def key_of(command_id: str) -> str:
    """The key that gives a command now, as a sentence names it: `r`, `1-9`, `ctrl+s`.

    A command without a key is named as the palette has it: `ctrl+p “run”`.

    Raises:
        KeyError: there is no such command.
    """
    command = _BY_ID[command_id]
    shown = shown_keys(command, _in_force)
    return shown.split(" ")[0] if shown else f"{_PALETTE} “{command.label}”"


def with_keys(text: str) -> str:
    """A sentence of ours with the keys that give its commands: `{run.start} runs it`."""
    return _COMMAND.sub(lambda found: key_of(found[1]), text)


def shown_keys(command: Command, keymap: Keymap) -> str:
    """The keys of a command as people read them: `?`, `+`, `ctrl+k`; empty for none."""
    if command.id not in keymap.changes and command.key_display:
        return command.key_display
    keys = keymap.keys_of(command)
    return " ".join(show_key(key) for key in keys.split(",")) if keys else ""


def show_key(key: str) -> str:
    """One key as people read it: `?` for `question_mark`, `enter` for enter."""
    *modifiers, name = key.split("+")
    plain = len(name) == 1 or name in _WORDS
    return "+".join([*modifiers, name if plain else format_key(name)])


def read_keymap(wanted: Mapping[str, str | None], commands: Iterable[Command] = COMMANDS) -> Keymap:
    """The keymap that a configuration asks for.

    A key that another command has by default is taken from it, and that is said; of two lines that
    want the same key the first one has it.
    """
    known = {command.id: command for command in commands}
    changes: dict[str, str] = {}
    problems: list[str] = []
    for name, text in wanted.items():
        command = known.get(name)
        if command is None:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            problems.append(f"keys: {name}: there is no such command{hint}")
            continue
        keys = [one.strip() for one in text.split(",")] if text and text != "," else [text or ""]
        wrong = [key for key in keys if text and not is_key(key)]
        if wrong:
            problems.append(
                f"keys: {name}: “{wrong[0]}” is no key; write one such as x, ctrl+x, f5, space"
            )
            continue
        taken = _takers(known, changes, command, keys)
        if text and taken:
            problems.append(f"keys: {name}: {taken[0]} has this key already, in a line above")
            continue
        changes[name] = ",".join(_long(key) for key in keys) if text else f"{NO_KEY}{name}"
    problems += _dispossess(known, changes)
    return Keymap(changes, tuple(problems))


def is_key(text: str) -> bool:
    """Whether a terminal could send such a key: `x`, `?`, `ctrl+x`, `f5`, `question_mark`."""
    *modifiers, name = text.split("+") if text != "+" else ["+"]
    if text.endswith("++"):
        *modifiers, name = (*text[:-2].split("+"), "+")
    if any(one not in _MODIFIERS for one in modifiers) or not name:
        return False
    if len(name) == 1:
        return name.isprintable() and not name.isspace()
    if name in _NAMES:
        return True
    try:
        unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return False
    return True


def _long(key: str) -> str:
    """A key as Textual names it: `question_mark` for `?`."""
    if len(key) == 1 and not key.isalnum():
        name = unicodedata.name(key, key).lower().replace("-", "_").replace(" ", "_")
        return KEY_NAME_REPLACEMENTS.get(name, name)
    return key


def _takers(
    known: Mapping[str, Command], changes: Mapping[str, str], command: Command, keys: list[str]
) -> list[str]:
    """Which commands of the same screen the user has given one of these keys already."""
    wanted = {_long(key) for key in keys}
    return [
        name
        for name, given in changes.items()
        if known[name].scope == command.scope and wanted & set(given.split(","))
    ]


def _dispossess(known: Mapping[str, Command], changes: dict[str, str]) -> list[str]:
    """Take the user's keys from the commands that have them by default."""
    problems: list[str] = []
    owners = {
        (known[name].scope, key): name for name, keys in changes.items() for key in keys.split(",")
    }
    for command in known.values():
        if command.id in changes:
            continue
        keys = command.key.split(",")
        left = [key for key in keys if (command.scope, key) not in owners]
        if len(left) == len(keys):
            continue
        if left:
            changes[command.id] = ",".join(left)
            continue
        owner = owners[command.scope, keys[0]]
        changes[command.id] = f"{NO_KEY}{command.id}"
        problems.append(
            f"keys: {owner} takes the key of {command.id}, which has none now: give it another"
        )
    return problems
