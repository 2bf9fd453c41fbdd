"""What a Mermaid label says: from the characters as written to the text that is meant."""

from __future__ import annotations

import re
from html import unescape

_BREAK = re.compile(r"<br[ \t]*/?>|\\n", re.IGNORECASE)
_HASH_ENTITY = re.compile(r"#(\w+);", re.ASCII)
_NEWLINE = re.compile(r"\r\n?")


def read_label(raw: str) -> str:
    """The text of a label given without its quotes.

    `<br>` and `\\n` become newlines, entities in both spellings (`&lt;`, `#lt;`, `#35;`) become
    characters. Other tags stay as they are: `<choice>` in a prompt is text.
    """
    text = _NEWLINE.sub("\n", raw) if "\r" in raw else raw
    if "<" in text or "\\" in text:
        text = _BREAK.sub("\n", text)
    if "#" in text:
        text = _HASH_ENTITY.sub(_as_html_entity, text)
    if "&" in text:
        text = unescape(text)
    return text.strip()


def read_markdown_label(raw: str) -> str:
    """The text of a Markdown string given without its quotes and backticks.

    The indentation that all its lines share is taken away, as Mermaid does; the Markdown stays.
    """
    lines = _NEWLINE.sub("\n", raw).strip("\n").split("\n")
    # The first line stands behind the opening sign, so its indentation says nothing.
    rest = [line for line in lines[1:] if line.strip()]
    shared = min((len(line) - len(line.lstrip()) for line in rest), default=0)
    kept = [lines[0].strip(), *(line[shared:].rstrip() for line in lines[1:])]
    return read_label("\n".join(kept))


def _as_html_entity(match: re.Match[str]) -> str:
    """The entity as HTML writes it; what is no entity stays as its author wrote it."""
    name = match[1]
    entity = f"&#{name};" if name.isdecimal() else f"&{name};"
    return match[0] if unescape(entity) == entity else entity
