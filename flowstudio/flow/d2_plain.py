"""The lines that most of a D2 text are made of, read at one glance.

`a -> b: label`, `a: text`: one word for each id, no quotes, no brackets, nothing escaped. What is
read here is what the parser of the whole language would read, only quicker; any other line is left
to it.
"""

from __future__ import annotations

import re

from flowstudio.flow.d2_syntax import Arrow, Part, Scalar, Statement

_LINE = re.compile(
    r"(\w++)(?:[ \t]*+->[ \t]*+(\w++)((?:[ \t]*+->[ \t]*+\w++)*+))?"
    # Behind the colon a value that is not a map, a list, an import, quoted or a block.
    r"(?:[ \t]*+:[ \t]*+([^\s;#{}\[\]\\$|\"'@][^\n;#{}\[\]\\$]*+))?"
    r"[^\S\n]*+(?:\n\s*+|\Z)"
)
_HOP = re.compile(r"[ \t]*+->[ \t]*+(\w++)")


def read_plain(text: str, at: int) -> tuple[Statement, int] | None:
    """The statement that begins at `at` and where the next one does; None where it is not plain."""
    found = _LINE.match(text, at)
    if not found:
        return None
    word, target, hops, value = found.groups()
    end = at + len(word)
    src = (Part(word, at, end, False),)
    arrows: list[Arrow] = []
    if target:
        start, end = found.span(2)
        dst = (Part(target, start, end, False),)
        arrows.append(Arrow(src, dst, False, True))
        if hops:
            for hop in _HOP.finditer(text, end, found.end(3)):
                start, end = hop.span(1)
                src, dst = dst, (Part(hop[1], start, end, False),)
                arrows.append(Arrow(src, dst, False, True))
    scalar: Scalar | None = None
    if value:
        start = found.start(4)
        value = value.rstrip()
        end = start + len(value)
        scalar = Scalar((value,), start, end, "bare")
    return Statement(at, end, () if arrows else src, arrows, value=scalar), found.end()
