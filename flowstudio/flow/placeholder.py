"""The places in a prompt that the run fills in."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\{\{[ \t]*([^\W\d][\w.-]*)[ \t]*\}\}|\$(ARGUMENTS)\b")
"""`{{NAME}}` (group 1) or `$ARGUMENTS` (group 2)."""


def placeholders(text: str) -> list[str]:
    """The names in `{{NAME}}` and `$ARGUMENTS`, each once, in the order in which they first stand.

    Whether something fills them is known only to the run.
    """
    return list(dict.fromkeys(match[1] or match[2] for match in PLACEHOLDER.finditer(text)))
