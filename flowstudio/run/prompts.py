"""The flow's input and variables: where they go in the prompts, and which ones are missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow.placeholder import PLACEHOLDER

if TYPE_CHECKING:
    from flowstudio.flow.model import Flow, FlowNode

ARGUMENTS = "$ARGUMENTS"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Missing:
    """A place in a prompt for which no value was given: the first of its name."""

    name: str
    """The variable's name; `$ARGUMENTS` for the flow's input."""
    node: str
    line: int | None
    """In the flow's file, from 1; None where that is not known."""
    column: int | None

    @property
    def is_input(self) -> bool:
        """True for the flow's input."""
        return self.name == ARGUMENTS

    @property
    def written(self) -> str:
        """As it stands in the prompt."""
        return self.name if self.is_input else f"{{{{{self.name}}}}}"


def takes_input(labels: Iterable[str]) -> bool:
    """Whether any label has a place for the flow's input."""
    return any(match[2] for label in labels for match in PLACEHOLDER.finditer(label))


def fill(label: str, text: str, variables: Mapping[str, str]) -> str:
    """The label with `$ARGUMENTS` and each known `{{name}}` filled in; unknown names stay.

    What is filled in is data: a place for input in it is not filled again.
    """

    def find(match: re.Match[str]) -> str:
        return text if match[2] else variables.get(match[1], match[0])

    return PLACEHOLDER.sub(find, label)


def with_request(prompt: str, text: str) -> str:
    """The first prompt of a flow whose labels take no input: the user's request goes before it."""
    return f"{text}\n\n{prompt}"


def variable_names(flow: Flow) -> tuple[str, ...]:
    """The names of all `{{name}}` in a flow's prompts, in source order."""
    return tuple(dict.fromkeys(name for name, _, _ in _places(flow) if name != ARGUMENTS))


def missing_values(
    flow: Flow, variables: Mapping[str, str], *, has_input: bool, source: str = ""
) -> tuple[Missing, ...]:
    """The places in a flow's prompts that nothing fills, each name once, in source order.

    Args:
        flow: the flow that is to be run.
        variables: what was given for `{{name}}`.
        has_input: whether an input was given for `$ARGUMENTS`; an empty one is one.
        source: the flow's file, to find lines and columns in.
    """
    lines = _LINE_END.split(source) if source else []
    found: dict[str, Missing] = {}
    for name, written, node in _places(flow):
        given = has_input if name == ARGUMENTS else name in variables
        if not given and name not in found:
            found[name] = Missing(name, node.id, *_find_place(node, written, lines))
    return tuple(found.values())


def _places(flow: Flow) -> Iterator[tuple[str, str, FlowNode]]:
    """Name, text as written, and node of each place."""
    for node in flow.nodes.values():
        if isinstance(node.label, str) and node.kind not in ("begin", "end"):
            for match in PLACEHOLDER.finditer(node.label):
                yield match[1] or ARGUMENTS, match[0], node


def _find_place(node: FlowNode, written: str, lines: list[str]) -> tuple[int | None, int | None]:
    span = node.label_span or node.span
    if span is None:
        return None, None
    for line in range(span.line, min(span.end_line, len(lines)) + 1):
        start = span.column - 1 if line == span.line else 0
        if (at := lines[line - 1].find(written, start)) >= 0:
            return line, at + 1
    return span.line, span.column
