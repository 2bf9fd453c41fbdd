"""A test case carried out: the real runner and the real soul, with the case's answers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kosong.chat_provider import ChatProviderError

from flowstudio.config import Config, LoopControl
from flowstudio.flow.choice import match_choice
from flowstudio.models.llm import LLM
from flowstudio.models.registry import REHEARSAL
from flowstudio.models.rehearsal import (
    Answerer,
    AnswersAs,
    Question,
    RehearsalProvider,
    ScriptAnswers,
)
from flowstudio.run.control import RunControl
from flowstudio.run.session import RunRequest, Session
from flowstudio.run.state import RunState
from flowstudio.soul import Agent, MaxStepsReached, Runtime
from flowstudio.soul.tools import make_tools
from flowstudio.wire import Event, NodeEntered, Wire

if TYPE_CHECKING:
    from flowstudio.flow.model import Flow
    from flowstudio.models.script import Script
    from flowstudio.run.case_file import PlacedCase
    from flowstudio.run.cases import Case, Visits
    from flowstudio.run.state import EdgeKey
    from flowstudio.skill import Skill


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case."""

    placed: PlacedCase
    misses: tuple[str, ...]
    """Where the run is not what the case expects, a sentence each; empty where it passed."""
    path: tuple[str, ...]
    taken: frozenset[EdgeKey]
    seconds: float

    @property
    def name(self) -> str:
        """The case's name."""
        return self.placed.case.name

    @property
    def passed(self) -> bool:
        """True where all that is expected was shown."""
        return not self.misses


@dataclass(frozen=True, slots=True)
class FlowResult:
    """What came of all cases of a flow."""

    name: str
    path: Path
    results: tuple[CaseResult, ...]
    never_taken: tuple[tuple[str, str], ...] = field(default=())
    """Decision and branch, in source order."""
    branches: int = 0
    """How many branches the flow has."""


class NoAnswer(ChatProviderError):
    """The case does not say what this visit is to answer."""


class CaseAnswers:
    """Answers as a case says."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._used: set[tuple[str, int]] = set()

    @property
    def answers_as(self) -> AnswersAs:
        """`script`."""
        return "script"

    async def answer(self, question: Question) -> str:
        """The words for this visit.

        Raises:
            NoAnswer: the case has none for it.
        """
        node, visit = question.node or "", question.visit or 1
        given = self._case.answers.get(node)
        if given is None:
            if not question.branches:
                return self._case.otherwise
            raise NoAnswer(f"the case does not say what “{node}” answers")
        if visit > len(given.visits) and not given.repeats:
            raise NoAnswer(
                f"the case has {len(given.visits)} answers for “{node}”, and this is visit {visit}"
            )
        self._used.add((node, visit))
        one = given.visits[0 if given.repeats else visit - 1]
        if one.text is not None:
            branch = match_choice(one.text, question.branches)
            return one.text if branch is None else f"<choice>{branch}</choice>"
        if question.attempt > len(one.say):
            raise NoAnswer(
                f"“{node}” is asked again at visit {visit}, for which the case has "
                f"{len(one.say)} answers"
            )
        return one.say[question.attempt - 1]

    def unused(self) -> Iterator[str]:
        """The answers that nobody asked for, a sentence each."""
        for node, given in self._case.answers.items():
            visits = range(1, len(given.visits) + 1)
            left = [visit for visit in visits if (node, visit) not in self._used]
            if left and not _never_meant(given):
                yield f"the answer for visit {left[0]} of “{node}” was never asked for"


def _never_meant(given: Visits) -> bool:
    """One answer for all visits may also be for none."""
    return given.repeats


async def run_case(skill: Skill, placed: PlacedCase) -> CaseResult:
    """Carry a case out. Nothing is kept on disk, and the agent has no tools."""
    assert skill.flow is not None
    case, script = placed.case, placed.script
    state = RunState()
    control = RunControl()
    wire = Wire()
    wire.subscribe(state.apply)
    wire.subscribe(_Chooser(case, control).take)
    own = CaseAnswers(case)
    answerer: Answerer = ScriptAnswers(script) if script is not None else own
    llm = LLM(RehearsalProvider(answerer), REHEARSAL, REHEARSAL, None)
    runtime = Runtime.create(_config(), wire, work_dir=skill.root, llm=llm, policy="reject")
    session = Session(runtime, Agent("test", "", make_tools(runtime, ())))
    text = case.input or (script.args if script is not None else "")
    request = RunRequest(
        skill.flow,
        skill.name,
        skill.path,
        skill.source,
        text,
        max_moves=case.max_moves,
        variables=case.vars,
    )
    began = time.monotonic()
    with contextlib.suppress(MaxStepsReached):  # said as `run_ended` with its own reason
        await session.run_flow(request, control)
    misses = [*_compare(case, script, state)]
    if not misses:
        misses += own.unused()
    return CaseResult(
        placed,
        tuple(misses),
        tuple(visit.node for visit in state.visits),
        frozenset(state.taken),
        time.monotonic() - began,
    )


def _config() -> Config:
    """Settings of no user: a case gives the same everywhere. Its answers may well be alike."""
    return Config(loop=LoopControl(max_retries_per_step=0, max_idle_visits=0))


class _Chooser:
    """Takes the branches that the case takes by hand, as the run comes to each node."""

    def __init__(self, case: Case, control: RunControl) -> None:
        self._choose = case.choose
        self._control = control

    def take(self, event: Event) -> None:
        if not isinstance(event.body, NodeEntered) or event.node is None:
            return
        chosen = self._choose.get(event.node, ())
        visit = event.visit or 1
        if visit <= len(chosen):
            self._control.choose(event.node, chosen[visit - 1])


# What was expected


def _compare(case: Case, script: Script | None, state: RunState) -> Iterator[str]:
    expect = case.expect
    end = expect.end
    path, calls, retries = expect.path, expect.calls, expect.retries
    if script is not None:
        if "end" not in expect.model_fields_set and script.expected_end is not None:
            end = script.expected_end
        path = script.expected_path if path is None else path
        calls = script.expected_model_calls if calls is None else calls
        retries = script.expected_retries if retries is None else retries
    walked = [visit.node for visit in state.visits]
    if state.reason != end:
        at = f" at “{state.current}”" if state.reason != "reached_end" else ""
        yield f"it ended with {state.reason}{at} and not with {end}: {state.why}"
    if path is not None and (said := _compare_paths(path, walked)):
        yield said
    if said := _find_gap(expect.through, walked):
        yield said
    for node in expect.never:
        if node in walked:
            yield f"“{node}” was entered, at move {walked.index(node)}"
    made = sum(visit.retries for visit in state.visits)
    if calls is not None and state.model_calls != calls:
        yield f"there were {state.model_calls} calls to the model and not {calls}"
    if expect.max_calls is not None and state.model_calls > expect.max_calls:
        yield f"there were {state.model_calls} calls to the model, more than {expect.max_calls}"
    if retries is not None and made != retries:
        yield f"a choice was asked for again {made} times and not {retries}"


def _compare_paths(expected: Sequence[str], walked: Sequence[str]) -> str | None:
    if list(expected) == list(walked):
        return None
    pairs = zip(expected, walked, strict=False)
    same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(expected), len(walked)))
    want = f"“{expected[same]}”" if same < len(expected) else "the end"
    have = f"“{walked[same]}”" if same < len(walked) else "the end"
    return f"the path differs at move {same}: {have} came, and not {want}"


def _find_gap(through: Sequence[str], walked: Sequence[str]) -> str | None:
    at = 0
    before = "the start"
    for node in through:
        try:
            at = walked.index(node, at) + 1
        except ValueError:
            return f"“{node}” was not entered after {before}"
        before = f"“{node}”"
    return None


def sum_up(skill: Skill, results: Sequence[CaseResult]) -> FlowResult:
    """All results of a flow, with the branches that no case took."""
    assert skill.flow is not None
    taken = {key for result in results for key in result.taken}
    branches = [*_find_branches(skill.flow)]
    never = [(src, label) for src, dst, label in branches if (src, dst, label) not in taken]
    return FlowResult(skill.name, skill.path, tuple(results), tuple(never), branches=len(branches))


def _find_branches(flow: Flow) -> Iterator[tuple[str, str, str]]:
    for node, edges in flow.outgoing.items():
        if len(edges) > 1:
            for edge in edges:
                yield node, edge.dst, cast("str", edge.label)
