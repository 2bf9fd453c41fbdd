"""The test cases of a flow: the form in which authors write them.

A case says what each node answers, and what the run must show. It stands under `tests:` in the
front matter or in a `flow-tests.yaml`; `run.case_file` reads it, `run.case_run` carries it out.
"""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from flowstudio.run.runner import DEFAULT_MAX_MOVES
from flowstudio.wire import EndReason


def _as_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _as_answer(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


def _as_visits(value: object) -> object:
    if isinstance(value, list):
        return {"visits": cast("list[Any]", value), "repeats": False}
    return {"visits": [value], "repeats": True}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(_Strict):
    """What one visit of a node answers: `text`, or what `say` says word for word."""

    text: str | None = None
    """A branch of a decision, or the whole answer of a task."""
    say: Annotated[tuple[str, ...], BeforeValidator(_as_many)] = ()
    """The words of the answer; of a decision, those of each further attempt as well."""


class Visits(_Strict):
    """What a node answers, visit after visit."""

    visits: tuple[Annotated[Answer, BeforeValidator(_as_answer)], ...]
    repeats: bool = False
    """True where one answer is meant for all visits."""


class Expect(_Strict):
    """What the run must show. What is left out is not looked at, but for `end`."""

    end: EndReason = "reached_end"
    path: tuple[str, ...] | None = None
    """The nodes entered, BEGIN and END among them."""
    through: tuple[str, ...] = ()
    """Nodes that are entered in this order, whatever lies between."""
    never: tuple[str, ...] = ()
    """Nodes that are not entered."""
    calls: int | None = Field(default=None, ge=0)
    """Calls to the model."""
    max_calls: int | None = Field(default=None, ge=0)
    retries: int | None = Field(default=None, ge=0)
    """How often a choice was asked for again."""


class Case(_Strict):
    """One test case."""

    name: str = Field(min_length=1)
    input: str = ""
    """The flow's input: `$ARGUMENTS`."""
    vars: dict[str, str] = Field(default_factory=dict[str, str])
    """What fills `{{name}}`."""
    answers: dict[str, Annotated[Visits, BeforeValidator(_as_visits)]] = Field(
        default_factory=dict[str, Visits]
    )
    """What is answered, by node."""
    otherwise: str = "Done."
    """The answer of each task that `answers` leaves out."""
    script: str | None = None
    """A script file (as for `run --script`) in place of `answers`; what it expects must hold."""
    choose: dict[str, Annotated[tuple[str, ...], BeforeValidator(_as_many)]] = Field(
        default_factory=dict[str, tuple[str, ...]]
    )
    """Branches that a person takes by hand, by decision: one for each visit; after the last one
    the node is asked again."""
    max_moves: int = Field(default=DEFAULT_MAX_MOVES, gt=0)
    expect: Expect = Field(default_factory=Expect)


class CaseFile(_Strict):
    """A `flow-tests.yaml`."""

    tests: tuple[Case, ...]
