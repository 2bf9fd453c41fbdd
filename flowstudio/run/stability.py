"""How sure a decision is: the same question, asked many times from the same conversation."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.run.journal import read_journal
from flowstudio.run.prompts import fill
from flowstudio.run.visit import FAILURES, explain_failure
from flowstudio.soul import Agent, Context, KimiSoul, Runtime, default_agent
from flowstudio.wire import NodeEntered, NodeLeft, TalkHeld, Wire

if TYPE_CHECKING:
    from kosong.message import Message

    from flowstudio.config import Config
    from flowstudio.flow.model import Flow
    from flowstudio.models.llm import LLM
    from flowstudio.run.folder import RunFolder
    from flowstudio.skill import Skill
    from flowstudio.soul.tools.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer: the branch that it names, or what stood in its place, or why there was none."""

    branch: str | None
    got: str | None = None
    """What stood in the last choice tag; None without a tag."""
    text: str = ""
    failed: str | None = None
    """Why the model did not answer."""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Split:
    """The answers to one decision."""

    node: str
    branches: tuple[str, ...]
    """All that could be chosen, in source order."""
    answers: tuple[Asked, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How often each branch was chosen; branches that never were stand with 0."""
        found = Counter(one.branch for one in self.answers if one.branch is not None)
        return {branch: found[branch] for branch in self.branches}

    @property
    def invalid(self) -> list[Asked]:
        """The answers that name no branch."""
        return [one for one in self.answers if one.branch is None and one.failed is None]

    @property
    def failed(self) -> list[Asked]:
        """The calls that brought no answer."""
        return [one for one in self.answers if one.failed is not None]

    @property
    def agreement(self) -> float:
        """The share of the most frequent branch among all answers, 0…1; 0 without an answer."""
        answered = len(self.answers) - len(self.failed)
        return max(self.counts.values(), default=0) / answered if answered else 0.0

    def to_json(self) -> dict[str, Any]:
        """As one JSON object."""
        return {
            "node": self.node,
            "asked": len(self.answers),
            "branches": self.counts,
            "agreement": round(self.agreement, 4),
            "invalid": [{"got": one.got, "text": one.text} for one in self.invalid],
            "failed": [one.failed for one in self.failed],
            "tokens": sum(one.tokens for one in self.answers),
        }


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and from where."""

    node: str
    prompt: str
    """With its branches, as the model is sent it."""
    branches: tuple[str, ...]
    history: tuple[Message, ...] = ()
    """The conversation so far."""


def make_question(
    flow: Flow,
    node: str,
    text: str,
    variables: Mapping[str, str],
    history: Sequence[Message] = (),
) -> Question:
    """The question of a decision, with the flow's input filled in.

    Raises:
        ValueError: there is no such node, or it is no decision; the message names those that are.
    """
    branches = tuple(edge.label or "" for edge in flow.outgoing.get(node, ()))
    if len(branches) < 2:
        decisions = [one for one, exits in flow.outgoing.items() if len(exits) > 1]
        what = "has nothing to choose" if node in flow.nodes else "is no node of this flow"
        there = f"its decisions are: {', '.join(decisions)}" if decisions else "it has no decision"
        raise ValueError(f"“{node}” {what}; {there}")
    prompt = choice_prompt(fill(flow.nodes[node].text, text, variables), branches)
    return Question(node, prompt, branches, tuple(history))


def find_history(folder: RunFolder, node: str, move: int | None = None) -> tuple[Message, ...]:
    """The conversation of a run as it was when `node` was asked at `move` (None: the last time).

    The run's folder is only read.

    Raises:
        ValueError: the run entered another node then, or its journal is damaged or too old to tell.
        ContextError: the conversation cannot be read.
        OSError: the folder cannot be read.
    """
    position: int | None = None
    found: int | None = None
    entered = ""
    for event in read_journal(folder.journal).events:
        match event.body:
            case NodeEntered(move=number) if number == move or (
                move is None and event.node == node
            ):
                entered, found = event.node or "", position
                if move is not None:
                    break
            case NodeLeft(context=context) | TalkHeld(context=context):
                position = context
            case _:
                pass
    if entered != node:
        what = f"never entered “{node}”" + (f" at move {move}" if move is not None else "")
        if entered:
            what = f"entered “{entered}” at move {move}, not “{node}”"
        raise ValueError(f"run {folder.id} {what}")
    if found is None:
        raise ValueError(f"run {folder.id} does not tell how its conversation stood at “{node}”")
    with tempfile.TemporaryDirectory(prefix="flowstudio-") as scratch:
        # A conversation that is opened is mended where its end is torn: the copy's, not the run's.
        copy = Path(scratch) / "whole.jsonl"
        if folder.context.exists():
            shutil.copyfile(folder.context, copy)
        cut = Context(copy).copy_to(copy.with_name("cut.jsonl"), found)
        return tuple(cut.history)


async def ask_often(
    question: Question,
    times: int,
    *,
    llm: LLM,
    config: Config,
    work_dir: Path,
    skills: Sequence[Skill] = (),
    parallel: int = 4,
    yolo: bool = False,
    sandbox: Sandbox | None = None,
    show: Callable[[Asked], object] | None = None,
) -> Split:
    """Ask a question `times` times, `parallel` at a time, each from its own copy of the context.

    An answer that names no branch counts as what it is: nobody asks again. A rehearsal gives to the
    n-th question what it gives to the n-th visit of the node.
    """
    # An agent serves one question after another: its tools are dear to make.
    agents: asyncio.Queue[tuple[Agent, Runtime]] = asyncio.Queue()
    for _ in range(min(parallel, times)):
        runtime = Runtime.create(
            config,
            Wire(),
            work_dir=work_dir,
            llm=llm,
            skills=skills,
            policy="allow" if yolo or config.yolo else "reject",
            sandbox=sandbox,
        )
        agents.put_nowait((default_agent(runtime), runtime))

    async def ask(number: int) -> Asked:
        agent, runtime = await agents.get()
        try:
            asked = await _ask(question, number, agent, runtime)
        finally:
            agents.put_nowait((agent, runtime))
        if show is not None:
            show(asked)
        return asked

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ask(number)) for number in range(1, times + 1)]
    return Split(question.node, question.branches, tuple(task.result() for task in tasks))


async def _ask(question: Question, number: int, agent: Agent, runtime: Runtime) -> Asked:
    context = Context()
    context.append_message(question.history)
    soul = KimiSoul(agent, runtime, context=context)
    turn_hint.set(TurnHint(question.node, number, question.branches, 1))
    try:
        result = await soul.turn(question.prompt)
    except FAILURES as error:
        return Asked(None, failed=explain_failure(error))
    got = parse_choice(result.answer_text)
    branch = match_choice(got, question.branches)
    return Asked(branch, got, result.answer_text, tokens=result.tokens)
