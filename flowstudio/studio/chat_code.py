"""Code in the chat: lines in the theme's colours, by what Pygments takes the words for."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from flowstudio.studio.chat_lines import BEGIN, Line, pad, wrap

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType as TokenType  # pyright: ignore[reportPrivateUsage]

GROUND = " @panel"
"""Added to each role in a block of code: it stands on a ground of its own."""
_MOST = 20_000
"""Characters of one block that are told apart; the rest is plain."""


def code_lines(source: str, language: str, width: int) -> list[Line]:
    """A block of code, each line folded and filled to `width`."""
    rows = _inked(source, language) if len(source) <= _MOST else None
    if rows is None:
        rows = [[(line, "text")] for line in source.split("\n")]
    shown: list[Line] = []
    for row in rows:
        on_ground = [(text, role + GROUND) for text, role in row]
        ground = f"text{GROUND}"
        first, *more = wrap(on_ground, max(width - 2, 1))
        for line in ([BEGIN, *first], *more):
            shown.append(pad([(" ", ground), *line], width, ground))
    return shown


def diff_lines(diff: str, width: int) -> list[Line]:
    """A change to a file, what came and what went in their colours and with their signs."""
    roles = {"+": "done", "-": "fault", "@": "dim"}
    shown: list[Line] = []
    for row in diff.rstrip("\n").split("\n"):
        shown += wrap([(row.expandtabs(4), roles.get(row[:1], "muted"))], width)
    return shown


def _inked(source: str, language: str) -> list[Line] | None:
    lexer = _lexer(language)
    if lexer is None:
        return None
    rows: list[Line] = [[]]
    for kind, text in lexer.get_tokens(source):
        role = _role(kind)
        first, *more = text.split("\n")
        if first:
            rows[-1].append((first, role))
        for one in more:
            rows.append([(one, role)] if one else [])
    while rows and not rows[-1]:
        rows.pop()
    return rows or [[]]


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    import pygments.lexers
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        find = cast("Callable[..., Lexer]", pygments.lexers.get_lexer_by_name)
        return find(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _role(kind: TokenType) -> str:
    from pygments.token import Comment, Generic, Keyword, Literal, Name, Number, Operator, String

    if kind in Comment:
        return "dim italic"
    if kind in Keyword or kind in Name.Tag:
        return "accent"
    if kind in Number:
        return "now"
    if kind in String or kind in Literal or kind in Generic.Inserted:
        return "done"
    if kind in Generic.Deleted or kind in Generic.Error:
        return "fault"
    if kind in Name.Function or kind in Name.Class or kind in Generic.Heading:
        return "text bold"
    if kind in Name.Builtin or kind in Name.Decorator or kind in Name.Attribute:
        return "forced"
    if kind in Operator or kind in Generic.Prompt:
        return "muted"
    return "text"
