"""Conditions of breakpoints, as a person types them in one line.

    visit >= 3
    tokens > 20k and choice = No
    answer ~ (?i)error|failed

`visit` is how often the node was entered, `tokens` what the run has spent so far, `choice` the
branch that is about to be taken and `answer` the model's last words; the last two are known only
after the node. A value may stand in double quotes, a quote in it written twice; without quotes it
ends at the next ` and ` that begins another condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, cast

from flowstudio.text import first_line, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    import regex

type Field = Literal["visit", "tokens", "choice", "answer"]
type Operator = Literal["=", "!=", "<", "<=", ">", ">=", "~", "!~"]

MATCH_SECONDS = 0.2
"""How long a pattern may look at an answer. One that takes longer counts as met, and says so: the
user looks at the run, and it does not hang.
"""
LONGEST_ANSWER = 200_000
"""Characters at an answer's end that a pattern looks at."""
LONGEST_PATTERN = 1_000

_OPERATORS: dict[Field, tuple[Operator, ...]] = {
    "visit": ("=", "!=", "<", "<=", ">", ">="),
    "tokens": ("=", "!=", "<", "<=", ">", ">="),
    "choice": ("=", "!="),
    "answer": ("~", "!~"),
}
_ALSO: dict[str, Operator] = {"==": "=", "≥": ">=", "≤": "<=", "≠": "!=", "=~": "~"}
_SIGN = r"!=|!~|<=|>=|==|=~|=|~|<|>|≥|≤|≠"
_NAME = re.compile(r"\s*([^\W\d]\w*)\s*")
_OPERATOR = re.compile(rf"({_SIGN})\s*")
_NUMBER = re.compile(r"([0-9][0-9_,]{0,15})([kKmM]?)(?=\s|$)")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)')
_AND = re.compile(r"\s+and(?=\s|$)", re.IGNORECASE)
_NEXT = re.compile(rf"\s+and\s+(?:{'|'.join(_OPERATORS)})\s*(?:{_SIGN})", re.IGNORECASE)
_EXAMPLES = "such as: visit >= 3, tokens > 20k, choice = No, answer ~ (?i)error"


class ConditionError(ValueError):
    """A condition cannot be read: what is wrong, at which column (from 1), and what to write."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")
        self.column = column


@dataclass(frozen=True, slots=True)
class Facts:
    """What conditions are held against. `choice` and `answer` are None before the node."""

    visit: int
    tokens: int
    choice: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison. `value` is a number for `visit` and `tokens`, else text."""

    field: Field
    operator: Operator
    value: int | str

    def __str__(self) -> str:
        """As it is typed."""
        value = self.value if isinstance(self.value, int) else _write(self.value)
        return f"{self.field} {self.operator} {value}"

    @property
    def needs_answer(self) -> bool:
        """True where it can be held only after the node."""
        return self.field in ("choice", "answer")

    def why(self, facts: Facts) -> str | None:
        """A clause that says why it holds; None where it does not."""
        match self.field:
            case "visit":
                return self._count(facts.visit, f"this is visit {facts.visit}")
            case "tokens":
                return self._count(facts.tokens, f"{facts.tokens:,} tokens are spent")
            case "choice":
                return self._choice(facts.choice)
            case "answer":
                return self._answer(facts.answer)

    def _count(self, got: int, said: str) -> str | None:
        wanted = int(self.value)
        holds = {
            "=": got == wanted,
            "!=": got != wanted,
            "<": got < wanted,
            "<=": got <= wanted,
            ">": got > wanted,
            ">=": got >= wanted,
        }[self.operator]
        return said if holds else None

    def _choice(self, got: str | None) -> str | None:
        if got is None:
            return None
        same = _fold(got) == _fold(str(self.value))
        return f"the choice is “{got}”" if same == (self.operator == "=") else None

    def _answer(self, got: str | None) -> str | None:
        if got is None:
            return None
        try:
            found = _compile(str(self.value)).search(got[-LONGEST_ANSWER:], timeout=MATCH_SECONDS)
        except TimeoutError:
            return f"whether the answer matches {self.value} could not be told in time"
        if self.operator == "!~":
            return None if found else f"the answer does not match {self.value}"
        if not found:
            return None
        shown = shorten(first_line(found[0]), 40)
        return f"the answer holds “{shown}”" if shown else f"the answer matches {self.value}"


def why_all(conditions: Sequence[Condition], facts: Facts) -> str | None:
    """A clause that says why all of them hold (empty for none of them); None where one does not."""
    clauses: list[str] = []
    for condition in conditions:
        clause = condition.why(facts)
        if clause is None:
            return None
        clauses.append(clause)
    return " and ".join(clauses)


def parse_conditions(text: str, *, offset: int = 0) -> tuple[Condition, ...]:
    """Conditions joined by `and`; a blank text has none.

    Args:
        text: what was typed.
        offset: characters that stand before it, for the columns of errors.

    Raises:
        ConditionError: it cannot be read.
    """
    found: list[Condition] = []
    at = 0
    while text[at:].strip():
        condition, at = _parse_one(text, at, offset)
        found.append(condition)
        if not text[at:].strip():
            break
        joint = _AND.match(text, at)
        if joint is None or not text[joint.end() :].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            raise ConditionError(
                "conditions are joined by “and”, with one behind it", offset + at + 1
            )
        at = joint.end()
    return tuple(found)


def format_conditions(conditions: Sequence[Condition]) -> str:
    """The conditions as they are typed: what `parse_conditions` reads as the same."""
    return " and ".join(str(condition) for condition in conditions)


def _parse_one(text: str, at: int, offset: int) -> tuple[Condition, int]:
    """The condition at `at`, and where it ends."""
    name = _NAME.match(text, at)
    if name is None:
        at += len(text[at:]) - len(text[at:].lstrip())
        raise ConditionError(f"a condition begins with a word, {_EXAMPLES}", offset + at + 1)
    if name[1].lower() not in _OPERATORS:
        what = f"“{shorten(name[1], 30)}” is nothing that can be compared"
        raise ConditionError(f"{what}; write a condition {_EXAMPLES}", offset + name.start(1) + 1)
    field = cast("Field", name[1].lower())
    fitting = _OPERATORS[field]
    sign = _OPERATOR.match(text, name.end())
    operator = cast("Operator", _ALSO.get(sign[1], sign[1])) if sign else None
    if sign is None or operator is None or operator not in fitting:
        raise ConditionError(
            f"“{field}” is compared by {', '.join(fitting)}", offset + name.end() + 1
        )
    if fitting[0] == "=" and len(fitting) > 2:
        number = _NUMBER.match(text, sign.end())
        if number is None:
            raise ConditionError(
                f"“{field} {operator}” takes a whole number, such as 3 or 20k",
                offset + sign.end() + 1,
            )
        times = {"": 1, "k": 1_000, "m": 1_000_000}[number[2].lower()]
        count = int(re.sub(r"[_,]", "", number[1])) * times
        return Condition(field, operator, count), number.end()
    value, end = _parse_text(text, sign.end(), offset)
    if field == "answer":
        _check_pattern(value, offset + sign.end() + 1)
    return Condition(field, operator, value), end


def _parse_text(text: str, at: int, offset: int) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        quoted = _QUOTED.match(text, at)
        if quoted is None:
            raise ConditionError(
                'the quote is not closed; a quote inside one is written twice: ""', offset + at + 1
            )
        return quoted[1].replace('""', '"'), quoted.end()
    following = _NEXT.search(text, at)
    end = following.start() if following else len(text.rstrip())
    value = text[at:end].strip()
    if not value:
        raise ConditionError("a value is missing here", offset + at + 1)
    return value, end


def _check_pattern(pattern: str, column: int) -> None:
    if len(pattern) > LONGEST_PATTERN:
        raise ConditionError(f"a pattern has at most {LONGEST_PATTERN} characters", column)
    import regex

    try:
        _compile(pattern)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise ConditionError(f"this is no regular expression: {error}", column) from error


@lru_cache(maxsize=64)
def _compile(pattern: str) -> regex.Pattern[str]:
    # Python's own `re` cannot be told to give up: one unlucky pattern would hang the run.
    import regex

    return regex.compile(pattern)


def _fold(label: str) -> str:
    return " ".join(label.split()).casefold()


def _write(value: str) -> str:
    plain = value == value.strip() and not value.startswith('"') and value != ""
    if plain and "\n" not in value and not _NEXT.search(f"{value} "):
        return value
    return '"' + value.replace('"', '""') + '"'
