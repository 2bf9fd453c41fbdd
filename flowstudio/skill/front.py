"""The front matter of a Markdown file: the YAML between two lines `---` at its very top."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FIELD = re.compile(r"[\w-]+[ \t]*:|[ \t]+\S|#|-[ \t]")


@dataclass(frozen=True, slots=True)
class Front:
    """Where the front matter stands, in character offsets of the whole text."""

    open: int
    """The start of the opening `---`."""
    start: int
    """Where the YAML begins."""
    end: int
    """Where it ends: the start of the closing line."""
    body: int
    """Where the text below begins."""
    closed: bool


def find_front(text: str) -> Front | None:
    """The front matter of `text`; None where its first line that is not blank is not `---`.

    Where it is never closed, it ends before the first line that does not look like a field.
    """
    first = re.compile(r"\s*").match(text)
    open_at = first.end() if first else 0
    # Indented, it is no front matter but a line of text.
    if open_at and text[open_at - 1] not in "\r\n":
        return None
    opening = _LINE.match(text, open_at)
    if opening is None or opening[1].rstrip() != "---":
        return None
    start = at = opening.end()
    looks_like_fields = start
    counting = True
    while at < len(text):
        line = _LINE.match(text, at)
        if line is None:  # cannot be: the pattern matches everywhere
            break
        content = line[1].rstrip()
        if content in ("---", "..."):
            return Front(open_at, start, at, line.end(), closed=True)
        if content.startswith(("```", "~~~")):
            break  # No YAML begins a line so: this is the text, and a `---` below is a rule in it.
        at = line.end()
        counting = counting and _FIELD.match(content) is not None
        if counting:
            looks_like_fields = at
    return Front(open_at, start, looks_like_fields, looks_like_fields, closed=False)
