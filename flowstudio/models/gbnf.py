"""Grammars (GBNF, as llama.cpp reads it) that hold an answer to a flow's branches."""

from __future__ import annotations

from collections.abc import Sequence

MOST_WORDS = 150
"""Words that an answer may hold before its choice."""

_NAMED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def branch_grammar(branches: Sequence[str], *, words: int = MOST_WORDS) -> str:
    """A grammar for free text of at most `words` words, then `<choice>label</choice>`.

    The text may hold anything but the beginning of the tag itself, so it ends where the choice
    begins. Words are told apart by white space: read in one way only, a long text costs no more.
    """
    opening = "<choice>"
    # What may stand in a word: no white space, and `<` only where no tag comes of it.
    pieces = [r"[^< \t\r\n]"]
    for length in range(1, len(opening)):
        pieces.append(rf"{quote(opening[:length])} [^{opening[length]}< \t\r\n]")
    rules = [
        f'root ::= text word "{opening}" branch "</choice>"',
        rf"text ::= (word [ \t\r\n]){{0,{words}}}",
        "word ::= piece*",
        f"piece ::= {' | '.join(pieces)}",
        f"branch ::= {_alternatives(branches)}",
    ]
    return "\n".join(rules)


def label_grammar(branches: Sequence[str]) -> str:
    """A grammar for one of the labels, and nothing else."""
    return f"root ::= {_alternatives(branches)}"


def quote(text: str) -> str:
    """`text` as a literal of the grammar."""
    return f'"{"".join(map(_escape, text))}"'


def _alternatives(branches: Sequence[str]) -> str:
    return " | ".join(quote(branch) for branch in branches)


def _escape(sign: str) -> str:
    if sign in _NAMED:
        return _NAMED[sign]
    code = ord(sign)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02X}"
    if 0xD800 <= code < 0xE000:
        return "\\uFFFD"
    return sign
