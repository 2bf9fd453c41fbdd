"""Choosing a branch: what a decision asks the model for, and how its answer is read.

The prompt, the tag and its pattern are those of KLIP-10. An answer is first taken literally; only
where that fails is it compared by `_fold`, and only where that leaves exactly one branch.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHOICE = re.compile(r"<choice>([^<]*)</choice>")
_INSTRUCTION = "Reply with a choice using <choice>...</choice>."

_QUOTES = frozenset("\"'`´‘’‚‛“”„‟‹›«»「」『』〈〉《》〝〞〟")
_EMPHASIS = "*_~"
_FULL_STOPS = (".", "。")
_SHOWN = 200
"""How many characters of a wrong answer are repeated to the model."""


def parse_choice(text: str) -> str | None:
    """The value of the last `<choice>...</choice>` in `text`, trimmed; None if there is none."""
    value: str | None = None
    for found in _CHOICE.finditer(text):
        value = found[1].strip()
    return value


def match_choice(answer: str | None, labels: Sequence[str]) -> str | None:
    """The branch label that `answer` means, as it is written in `labels`; None if it means none.

    The exact label wins. Failing that, case, space, quotes, Markdown emphasis around the answer, a
    final full stop and full-width forms are looked past, where that leaves exactly one label.
    """
    if answer is None:
        return None
    answer = answer.strip()
    if answer in labels:
        return answer
    alike = _find_alike(answer, labels)
    return alike[0] if len(alike) == 1 else None


def choice_prompt(label: str, branches: Sequence[str]) -> str:
    """The prompt of a decision: its label, the branches, and how to name one of them."""
    listed = "\n".join(f"- {branch}" for branch in branches)
    return f"{label}\n\nAvailable branches:\n{listed}\n\n{_INSTRUCTION}"


def retry_prompt(label: str, branches: Sequence[str], answer: str | None) -> str:
    """The prompt again after an answer that named no branch, with the reason and what is allowed.

    `answer` is what `parse_choice` gave: None where the reply held no tag at all.
    """
    allowed = "\n".join(f"<choice>{branch}</choice>" for branch in branches)
    return (
        f"{choice_prompt(label, branches)}\n\n{_explain(branches, answer)}\n"
        f"End your reply with exactly one of these lines:\n{allowed}"
    )


def _explain(branches: Sequence[str], answer: str | None) -> str:
    if answer is None:
        return "Your last reply held no <choice>...</choice>."
    answer = answer.strip()
    if not answer:
        return "The <choice>...</choice> in your last reply was empty."
    shown = answer if len(answer) <= _SHOWN else answer[:_SHOWN] + "…"
    alike = _find_alike(answer, branches)
    if len(alike) > 1:
        several = ", ".join(f'"{branch}"' for branch in alike)
        return f'Your last reply chose "{shown}", which could mean any of {several}.'
    return f'Your last reply chose "{shown}", which is not one of the branches.'


def _find_alike(answer: str, labels: Sequence[str]) -> list[str]:
    folded = _fold(answer)
    return [label for label in labels if _fold(label) == folded] if folded else []


def _fold(text: str) -> str:
    """`text` without the differences that models make when they repeat a label.

    NFKC turns full-width forms into plain ones. Quotes and space go wherever they stand, since
    Chinese is written with and without them; invisible characters (category Cf) go with them.
    """
    text = unicodedata.normalize("NFKC", text)
    text = unicodedata.normalize("NFKC", text.casefold())
    text = "".join(
        c for c in text if c not in _QUOTES and not c.isspace() and unicodedata.category(c) != "Cf"
    ).strip(_EMPHASIS)
    if text.endswith(_FULL_STOPS):
        text = text[:-1].strip(_EMPHASIS)
    return text
