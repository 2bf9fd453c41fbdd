"""Variables: `vars` and what `${name}` stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowstudio.flow import codes, d2_codes
from flowstudio.flow.d2_words import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flowstudio.flow.d2_findings import Findings
    from flowstudio.flow.d2_syntax import Scalar, Substitution
    from flowstudio.flow.d2_tree import Field

_IN_BLOCK = re.compile(r"(`+)|\$\{([^{}\n]*)\}")
_SETTINGS = frozenset({"d2-config", "d2-legend"})
_MOST_TEXT = 1_000_000
"""How many characters variables may bring in all, since they can hold each other."""


class Variables:
    """The variables of one chart, by the container in which they are declared."""

    def __init__(self, text: str, fields: Iterable[Field], findings: Findings) -> None:
        self._text = text
        self._findings = findings
        self._values: dict[Field, str] = {}
        self._known: dict[Field, None] = {}
        self._left = _MOST_TEXT
        for scope in fields:
            if declared := scope.child("vars"):
                self._read(declared, scope)

    def text_of(self, scalar: Scalar, scope: Field) -> str:
        """The text of a value that stands in `scope`, variables put in."""
        if scalar.style == "block":
            return self._fill_block(str(scalar.pieces[0]), scope)
        if scalar.word in ("true", "false"):
            return scalar.word
        return "".join(
            piece if isinstance(piece, str) else self._fill(piece, scope) for piece in scalar.pieces
        )

    def _read(self, declared: Field, scope: Field) -> None:
        """Evaluate the variables of one block, in order, so that a later one may use an earlier."""
        waiting = [c for n, c in reversed(declared.children.items()) if n not in _SETTINGS]
        while waiting:
            variable = waiting.pop()
            self._known[variable] = None
            waiting.extend(reversed(variable.children.values()))
            if variable.primary is not None and variable.primary.word != "null":
                self._values[variable] = self.text_of(variable.primary, scope)

    def _find(self, path: Sequence[str], scope: Field) -> str | None:
        here: Field | None = scope
        while here is not None:
            found = here.child("vars")
            for name in path:
                found = found.children.get(fold(name)) if found is not None else None
            if found is not None and found in self._values:
                return self._values[found]
            if found is not None and found.primary and found.primary.word == "null":
                return None  # it hides the one further out
            here = here.parent
        return None

    def _fill(self, piece: Substitution, scope: Field) -> str:
        written = self._text[piece.start : piece.end]
        value = self._find(piece.path, scope)
        name = ".".join(piece.path)
        hint = rf"write \${{{name}}} if the sign is meant as it stands"
        if value is None and not self._known:
            message = f"the chart has no variables, so {written} is read as it stands"
            self._findings.add(codes.LOOSE_SYNTAX, message, piece.start, piece.end, hint)
            return written
        if value is None:
            message = f'no variable "{name}" with a text is known here'
            self._findings.add(d2_codes.VARIABLE_UNKNOWN, message, piece.start, piece.end, hint)
            return written
        self._left -= len(value)
        if self._left < 0:
            message = "the variables of this chart bring more text than any chart could need"
            self._findings.add(d2_codes.CONSTRUCT_UNREAD, message, piece.start, piece.end)
            return written
        return value

    def _fill_block(self, text: str, scope: Field) -> str:
        """Like D2, put known variables in outside of Markdown code, and leave others alone."""
        if not self._known or "${" not in text:
            return text
        ticks: dict[str, int] = {}
        for found in _IN_BLOCK.finditer(text):
            if found[1]:
                ticks[found[1]] = ticks.get(found[1], 0) + 1
        pieces: list[str] = []
        end = 0
        code = ""
        for found in _IN_BLOCK.finditer(text):
            if found[1]:
                ticks[found[1]] -= 1
                if code == found[1]:
                    code = ""
                elif not code and ticks[found[1]]:
                    code = found[1]
                continue
            value = None if code else self._find(found[2].split("."), scope)
            if value is None or self._left < len(value):
                continue
            self._left -= len(value)
            pieces += (text[end : found.start()], value)
            end = found.end()
        return "".join([*pieces, text[end:]])
