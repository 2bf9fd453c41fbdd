"""Calls of tools in the chat: the gist and the outcome, which open to show them whole."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import cast

from flowstudio.studio.chat_entries import Fold, cap
from flowstudio.studio.marks import GLYPHS
from flowstudio.text import duration, harmless, shorten
from flowstudio.wire import ToolReturned

_GIST = 200
"""Characters of the arguments that the line may show; it is cut to the pane's width anyhow."""


class Call(Fold):
    """A call; `name` is the tool's."""

    def __init__(self, name: str, arguments: str) -> None:
        self.name = name
        values = _read(arguments)
        title = [(f"{GLYPHS['tool']} {name} ", "muted"), (_gist(arguments, values), "text")]
        super().__init__(title, body=_spell(arguments, values), copied=arguments)
        self.diff = cap("\n".join(_changes(values)))
        """The change that it makes, as lines of a diff."""


def finish_call(call: Call, body: ToolReturned) -> None:
    """The call is over: say how, and keep what it gave."""
    sign, role = (GLYPHS["done"], "done") if body.ok else (GLYPHS["failed"], "fault")
    outcome = [(f"{sign} ", role), (duration(body.seconds), "dim")]
    if body.brief:
        outcome.append((f"  {shorten(body.brief, 200)}", "dim" if body.ok else "fault"))
    call.head.append([(harmless(text), role) for text, role in [("  ", "text"), *outcome]])
    call.body = cap(f"{call.body}\n\n{body.output}".strip())


def _read(arguments: str) -> Mapping[str, object]:
    try:
        values: object = json.loads(arguments)
    except ValueError:
        return {}
    return cast("Mapping[str, object]", values) if isinstance(values, dict) else {}


def _gist(arguments: str, values: Mapping[str, object]) -> str:
    """The values, in order; of what is long or deep only how much there is of it."""
    words: list[str] = []
    for name, value in values.items():
        if isinstance(value, list):
            count = len(cast("list[object]", value))
            words.append(f"{count} {name.removesuffix('s') if count == 1 else name}")
        elif isinstance(value, str) and value.count("\n") > 1:
            words.append(f"{name} of {len(value.splitlines())} lines")
        else:
            words.append(str(value))
    return shorten(" ".join(words) or arguments, _GIST)


def _spell(arguments: str, values: Mapping[str, object]) -> str:
    """Each argument on a line of its own."""
    if not values:
        return arguments
    return "\n".join(f"{name}: {value}" for name, value in values.items())


def _changes(values: Mapping[str, object]) -> Iterator[str]:
    """The replacements that a call asks for, as lines of a diff; none where it asks for none."""
    edits = values.get("edits")
    if not isinstance(edits, list):
        return
    for edit in cast("list[object]", edits):
        if not isinstance(edit, dict):
            continue
        texts = cast("Mapping[str, object]", edit)
        old, new = (str(texts.get(name, "")).splitlines() for name in ("old", "new"))
        for line in difflib.ndiff(old, new):
            if not line.startswith("?"):
                yield line[:1] + line[2:]
