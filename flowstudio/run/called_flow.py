"""A flow that a skill calls: its own walk, within a visit of the caller's run.

It is run as any other flow, node by node, with a soul of its own; nobody steps through it, and it
ends with the visit that called it: a command that cuts the visit cuts it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.models.errors import ModelError
from flowstudio.models.registry import find_model, list_models
from flowstudio.run.prompts import missing_values
from flowstudio.run.runner import FlowRunner
from flowstudio.run.watchdog import Watchdog
from flowstudio.skill import SkillError, load_skill
from flowstudio.skill.rules import read_rules
from flowstudio.soul import KimiSoul, MaxStepsReached, NeedsUser, TurnRules
from flowstudio.wire import Event, NodeLeft

if TYPE_CHECKING:
    from kosong.message import ContentPart

    from flowstudio.flow.model import Flow
    from flowstudio.run.visit import TurnLike
    from flowstudio.skill import Skill
    from flowstudio.skill.rules import FlowRules
    from flowstudio.soul import Context
    from flowstudio.wire import Wire

MOST_MOVES = 200
"""Moves that a called flow may make: whoever called it waits for it."""


@dataclass(frozen=True, slots=True)
class PlayedFlow:
    """How the run of a called flow ended."""

    reason: str
    """As `RunEnded` says it."""
    message: str
    answer: str = ""
    """What the last task answered; of a flow of decisions alone, the last decision."""
    steps: tuple[str, ...] = ()
    """The nodes that were done, in order, with the branches taken: `check (yes)`."""
    needs: NeedsUser | None = None
    """The question that nobody was there to answer, where that ended it."""


async def play_flow(
    soul: KimiSoul, skill: Skill, request: str, variables: Mapping[str, str]
) -> PlayedFlow:
    """Run the flow of a skill from BEGIN to its end, as its file is now.

    What is wrong with the call is an end, too: the caller's model can call again.

    Args:
        soul: a soul for this run alone; its wire hears all of it.
        request: the flow's input.
        variables: what fills `{{name}}` in its prompts.

    Raises:
        ModelError: the flow names a model that cannot be used.
    """
    try:
        read = load_skill(skill.path)
    except SkillError as error:
        return PlayedFlow("failed", str(error))
    if read.flow is None:
        found = read.errors[0].message if read.errors else "there is no chart in it"
        return PlayedFlow("failed", f"its flow cannot be run: {found}")
    if missing := missing_values(read.flow, variables, has_input=True):
        names = ", ".join(one.name for one in missing)
        return PlayedFlow("failed", f"it needs values for: {names}; give them in `variables`")
    rules = read_rules(skill.path, read.source)
    _check_models(soul, rules)
    soul.find_rules = lambda node: TurnRules(rules.of(node).tools, rules.of(node).model)
    llm = soul.llm
    runner = FlowRunner(
        read.flow,
        name=skill.name,
        max_moves=MOST_MOVES,
        max_choice_retries=soul.runtime.config.loop.max_choice_retries,
        path=str(skill.path),
        model=llm.name if llm else "",
        variables=variables,
        watchdog=Watchdog(soul.runtime.config.loop.max_idle_visits, soul.runtime.work_dir, ()),
    )
    player = _Player(soul, read.flow)
    runner.ask_user = player.ask
    leave = soul.wire.subscribe(player.take)
    try:
        outcome = await runner.run(player, request)
        reason, message = outcome.reason, outcome.message
    except MaxStepsReached:
        reason, message = "max_moves", f"it made {MOST_MOVES} moves without coming to its end"
    finally:
        leave()
    needs = player.needs if reason == "needs_user" else None
    return PlayedFlow(reason, message, player.answer, tuple(player.steps), needs)


def _check_models(soul: KimiSoul, rules: FlowRules) -> None:
    options = list_models(soul.runtime.config)
    for name in sorted(rules.models):
        option = find_model(options, name)
        if not option.usable:
            raise ModelError(f"The model {name} cannot be used. {option.why_not}")


class _Player:
    """The soul of a called flow, and what is remembered of its run."""

    def __init__(self, soul: KimiSoul, flow: Flow) -> None:
        self._soul = soul
        self._flow = flow
        self._decided = ""
        self._done = ""
        self.steps: list[str] = []
        self.needs: NeedsUser | None = None

    @property
    def answer(self) -> str:
        return self._done or self._decided

    @property
    def wire(self) -> Wire:
        return self._soul.wire

    @property
    def context(self) -> Context:
        return self._soul.context

    @property
    def partial_text(self) -> str:
        return self._soul.partial_text

    async def turn(self, user_input: str | list[ContentPart], /) -> TurnLike:
        try:
            return await self._soul.turn(user_input)
        except NeedsUser as needs:
            self.needs = needs
            raise

    async def ask(self, question: str, options: tuple[str, ...]) -> str:
        try:
            return await self._soul.runtime.questions.ask(question, options)
        except NeedsUser as needs:
            self.needs = needs
            raise

    def take(self, event: Event) -> None:
        if not isinstance(event.body, NodeLeft) or event.node not in self._flow.nodes:
            return
        left, kind = event.body, self._flow.nodes[event.node].kind
        if kind == "task":
            self._done = left.answer or self._done
        elif kind == "decision":
            self._decided = left.answer or self._decided
        else:
            return
        self.steps.append(f"{event.node} ({left.branch})" if left.branch else event.node)
