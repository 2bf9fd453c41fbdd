"""A plan in words: what each skill is for, what must be at hand, what cannot be had and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowstudio.mindflow.plan import Gap, Plan, Step
    from flowstudio.studio.planner import Planned


_CHINESE = re.compile(r"[\u3400-\u9fff]")


def _in_one(meaning: str, is_chinese: bool) -> str:
    """Of a meaning in several languages, ` / ` between them, the part in the goal's."""
    parts = meaning.split(" / ")
    return next((one for one in parts if bool(_CHINESE.search(one)) == is_chinese), meaning)


class PlanStory(VerticalScroll):
    """Tells a plan, one block for each step, so that the selected one can be shown."""

    DEFAULT_CSS = """
    PlanStory {
        & > Static { width: 1fr; height: auto; margin-bottom: 1; padding-left: 1; }
        & > .-chosen { background: $panel; }
    }
    """

    async def tell(self, planned: Planned, states: Mapping[str, str]) -> None:
        """Tell a plan anew."""
        await self.remove_children()
        is_chinese = bool(_CHINESE.search(planned.wish.text))
        plan = planned.served.plan
        blocks = _Blocks(self, {one: _in_one(states[one], is_chinese) for one in states})
        parts = [Static(blocks.head(planned), markup=False)]
        if plan is not None:
            parts += (
                Static(blocks.step(number, step), markup=False, id=f"step{number}")
                for number, step in enumerate(plan.steps, 1)
            )
            if tail := blocks.tail(plan):
                parts.append(Static(tail, markup=False))
        await self.mount_all(parts)
        self.scroll_home(animate=False)

    async def say(self, text: Text) -> None:
        """Only this."""
        await self.remove_children()
        await self.mount(Static(text, markup=False))

    def choose(self, node: str | None) -> None:
        """Show the block of a node of the plan's flow."""
        for block in self.query("Static"):
            is_it = node is not None and block.id == node
            block.set_class(is_it, "-chosen")
            if is_it:
                block.scroll_visible(animate=False)


class _Blocks:
    """The texts, in the theme's colours."""

    def __init__(self, story: PlanStory, states: Mapping[str, str]) -> None:
        self._story = story
        self._states = states

    def _join(self, parts: Iterable[tuple[str, str]]) -> Text:
        text = Text()
        for words, role in parts:
            text.append(harmless(words), style_of(self._story, role))
        text.rstrip()
        return text

    def _mean(self, state: str, role: str = "text") -> Iterator[tuple[str, str]]:
        """A state and what it means."""
        yield state, role
        if meaning := self._states.get(state):
            yield f"  {shorten(meaning, 100)}", "muted"
        yield "\n", "dim"

    def head(self, planned: Planned) -> Text:
        """The goal, who read it, and what must be at hand."""
        return self._join(self._head(planned))

    def _head(self, planned: Planned) -> Iterator[tuple[str, str]]:
        served, plan = planned.served, planned.served.plan
        if served.way == "reduced" and plan is not None:
            yield "One skill that fits", "bold"
            yield f" · {planned.reader}\n", "muted"
        elif served.goal.states:
            yield "Goal", "bold"
            yield f" · {planned.reader}\n", "muted"
            for state in served.goal.states:
                yield from self._mean(state)
        if plan is None:
            yield from self._options(planned)
        for sentence in planned.said:
            yield (f"{GLYPHS['fault']} {sentence}\n", "now") if plan else (f"\n{sentence}", "muted")
        if plan is None:
            return
        if plan.have:
            yield "\nat hand, as you say\n", "muted"
            for state in sorted(plan.have):
                yield f"{GLYPHS['done']} ", "done"
                yield from self._mean(state, "muted")
        if plan.needs:
            yield "\nhave this at hand: no skill here brings it about\n", "muted"
            for state in plan.needs:
                yield f"{GLYPHS['paused']} ", "now"
                yield from self._mean(state)
            yield f"{key_of('plan.have')} says that you have it\n", "dim"
        if not plan.steps and not plan.gaps:
            yield "\nNothing is to be done: all of it holds already.\n", "done"

    def step(self, number: int, step: Step) -> Text:
        """A skill: what it is, what it gives, how good it is, and who else could."""
        return self._join(self._step(number, step))

    def _step(self, number: int, step: Step) -> Iterator[tuple[str, str]]:
        yield f"{number} ", "accent"
        yield step.skill.name, "bold"
        yield f"  score {step.score:.2f}\n", "muted"
        for state in step.provides:
            yield f"  {GLYPHS['chosen']} ", "muted"
            yield from self._mean(state)
        if step.others:
            yield f"  or {', '.join(step.others)}\n", "muted"

    def tail(self, plan: Plan) -> Text:
        """What cannot be had, and which ways were passed over."""
        return self._join(self._tail(plan))

    def _tail(self, plan: Plan) -> Iterator[tuple[str, str]]:
        for gap in plan.gaps:
            yield from self._gap(gap)
        for circle in plan.left:
            yield "passed over, since it leads in a circle\n", "muted"
            yield f"  {circle}\n", "dim"

    def _gap(self, gap: Gap) -> Iterator[tuple[str, str]]:
        have, new = key_of("plan.have"), key_of("edit.new")
        yield f"{GLYPHS['failed']} cannot be had: ", "fault"
        yield from self._mean(gap.state)
        for state in gap.missing:
            yield "  no skill brings about ", "muted"
            yield from self._mean(state)
            yield (
                (
                    f"    {have} says that you have it; in the studio {new} makes a skill, with "
                    f"effects: [{state}]\n"
                ),
                "dim",
            )
        for circle in gap.circles:
            yield "  circle: ", "muted"
            yield f"{circle}\n", "text"
            yield f"    {have} {circle.states[-1]} would open it\n", "dim"

    def _options(self, planned: Planned) -> Iterator[tuple[str, str]]:
        """What to do where no plan was found."""
        if planned.served.options or planned.served.goal.near:
            yield "What you want was not understood well enough to plan it.\n", "text"
            yield "Say it in other words, or pick below what comes near it.\n", "text"
        else:
            yield "No skill here says what it brings about.\n", "text"
            yield "effects: in the front matter of a SKILL.md does.\n", "text"
