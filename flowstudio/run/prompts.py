"""The flow's input: where it goes in the prompts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

ARGUMENTS = "$ARGUMENTS"
_PLACES = re.compile(r"\$ARGUMENTS|\{\{\s*([^\W\d]\w*)\s*\}\}")


def takes_input(labels: Iterable[str]) -> bool:
    """Whether any label has a place for the flow's input."""
    return any(ARGUMENTS in label for label in labels)


def fill(label: str, text: str, variables: Mapping[str, str]) -> str:
    """The label with `$ARGUMENTS` and each known `{{name}}` filled in; unknown names stay.

    What is filled in is data: a place for input in it is not filled again.
    """

    def find(match: re.Match[str]) -> str:
        return text if match[0] == ARGUMENTS else variables.get(match[1], match[0])

    return _PLACES.sub(find, label)


def with_request(prompt: str, text: str) -> str:
    """The first prompt of a flow whose labels take no input: the user's request goes before it."""
    return f"{text}\n\n{prompt}"
