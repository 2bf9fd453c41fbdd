"""From a goal in words to a flow of skills: drawn and explained; then run, saved or opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.containers import Grid, Vertical
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.drawing.marks import Marks
from flowstudio.flow.chart import Chart
from flowstudio.studio.commands import bindings_of
from flowstudio.studio.drawn_screen import DrawnScreen, Handler
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.studio.plan_story import PlanStory
from flowstudio.studio.planner import Planned, Planner, Wish, plan_name
from flowstudio.studio.state_field import StateField
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.studio.commands import Scope
    from flowstudio.studio.flow_view import FlowView

_INTRO = """\
Say above what you want: in English, in Chinese,
or by the names of states.

turn this CSV into a chart
处理CSV并生成图表
has_chart

The plan is a flow of skills. It is drawn here."""
_STORY = """\
Here it will say which skill is there for what, how good it is, what you must have at hand, \
and what cannot be had."""


@dataclass(frozen=True, slots=True)
class PlanAct:
    """What the user wants to be done with a plan, once its screen is closed."""

    what: Literal["run", "open"]
    planned: Planned
    saved: Path | None = None
    """The file that it was saved in."""


class PlanScreen(DrawnScreen["PlanAct | None"]):
    """Makes plans; gives one to run or to open."""

    SCOPE: ClassVar[Scope] = "plan"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("plan")]

    DEFAULT_CSS = """
    PlanScreen {
        & #wish {
            layout: grid; grid-size: 2; grid-columns: 9 1fr; grid-rows: auto; height: auto;
            padding: 0 1; grid-gutter: 0;
        }
        & #wish .name { color: $role-muted; height: 1; }
        & #wish Input { height: 1; border: none; padding: 0 1; background: $background; }
        & #wish Input:focus { background: $panel; }
        & PlanStory { height: 1fr; scrollbar-size: 1 1; }
        & #picks {
            display: none; height: auto; max-height: 60%; border: none; padding: 0;
            background: $background; scrollbar-size: 1 1;
            text-wrap: nowrap; text-overflow: ellipsis;
            & > .option-list--option { padding: 0 1; }
            & > .option-list--option-highlighted { background: $panel; color: $role-text; }
            &:focus > .option-list--option-highlighted {
                background: $panel; color: $role-text; text-style: bold;
            }
        }
    }
    """

    def __init__(
        self,
        planner: Planner,
        wish: Wish | None = None,
        *,
        last: Planned | None = None,
        why_not_run: Callable[[], str] = str,
    ) -> None:
        """A `wish` is planned at once; without one, `last` is shown, a plan that was made before.

        Args:
            why_not_run: why nothing can be run now; empty where it can.
        """
        super().__init__(classes="-beside")
        self._planner = planner
        self._wish = wish
        self._why_not_run = why_not_run
        self._saved: Path | None = None
        self.planned = last
        """The plan that is shown."""

    # Composition

    def compose_head(self) -> Iterable[Widget]:
        """The goal, and what holds already."""
        goal = Input(placeholder="what you want, in a sentence", compact=True, id="goal")
        rows = (
            Static("goal", classes="name", markup=False),
            goal,
            Static("at hand", classes="name", markup=False),
            StateField(id="have"),
        )
        return (Grid(*rows, id="wish"),)

    def compose_said(self) -> Iterable[Widget]:
        """The plan in words, and what to pick from where there is none."""
        picks = OptionList(id="picks", compact=True, markup=False)
        story = PlanStory(id="story", can_focus=True)
        return (Vertical(story, picks, id="said", classes="said"),)

    def begin(self) -> None:
        """Take up what was wanted last, or ask."""
        self.pane.border_title = "Plan"
        self.query_one("#said").border_title = "Why"
        wish = self._wish or (self.planned.wish if self.planned else Wish())
        self._goal.value = wish.text
        self._have.value = wish.have
        self._say_nothing()
        self._read()
        if self._wish is not None:
            self._plan(self._wish)
        elif self.planned is not None:
            self._take_up(self.planned)
        else:
            self._goal.focus()

    @property
    def _goal(self) -> Input:
        return self.query_one("#goal", Input)

    @property
    def _have(self) -> StateField:
        return self.query_one(StateField)

    @property
    def _story(self) -> PlanStory:
        return self.query_one(PlanStory)

    @property
    def _picks(self) -> OptionList:
        return self.query_one("#picks", OptionList)

    @property
    def place_in_use(self) -> str:
        """The lines to type in have keys of their own; elsewhere it is the screen."""
        place = super().place_in_use
        return "plan" if place == self.SCOPE else place

    def _say_nothing(self) -> None:
        self.pane.show_chart(None, _INTRO)
        llm = self._planner.llm
        who = f"{llm.name} reads the goal" if llm else "no model is set up: words are matched"
        self.say_title(self._title(f"a goal becomes a flow of skills · {who}"))
        self.run_worker(self._story.say(Text(_STORY, style_of(self, "dim"))), exit_on_error=False)

    def _title(self, about: str) -> Text:
        text = Text("Plan", style_of(self, "bold"), no_wrap=True, overflow="ellipsis")
        text.append(f" · {harmless(about)}", style_of(self, "muted"))
        return text

    # Planning

    @work(group="states", exclusive=True, exit_on_error=False)
    async def _read(self) -> None:
        """The states that can be completed."""
        await self._planner.read()
        self._have.states = self._planner.states

    @work(group="plan", exclusive=True, exit_on_error=False)
    async def _plan(self, wish: Wish, pick: str | None = None) -> None:
        """Plan for a wish; `pick` is a skill that the user chose for it."""
        if not self._planner.catalogue.skills:
            new = key_of("edit.new")
            self.warn(f"there is no skill to plan with: in the studio {new} makes one")
            return
        self.show_work(f"reading the library · {key_of('plan.close')} stops")
        try:
            await self._planner.read()
            if self._planner.asks_model(wish) and pick is None and self._planner.llm is not None:
                asked = self._planner.llm.name
                stop = key_of("plan.close")
                self.show_work(f"asking {asked} what the goal means · {stop} stops")
            else:
                self.show_work("planning")
            before = self.planned
            if pick is not None and before is not None:
                planned = await self._planner.plan_for(wish, pick, before.served)
            else:
                planned = await self._planner.plan(wish)
        finally:
            self.end_work()
        self._saved = None
        await self._show(planned)

    @work(group="plan", exclusive=True, exit_on_error=False)
    async def _take_up(self, planned: Planned) -> None:
        await self._planner.read()
        await self._show(planned)

    async def _show(self, planned: Planned) -> None:
        self.planned = planned
        plan = planned.served.plan
        steps = len(plan.steps) if plan else 0
        about = "not understood" if plan is None else "nothing to do"
        if plan and (steps or plan.gaps):
            about = "1 step" if steps == 1 else f"{steps} steps"
            about += f", {len(plan.gaps)} cannot be had" if plan.gaps else ""
        self.say_title(self._title(about))
        await self._story.tell(planned, self._planner.states)
        self._offer_picks(planned)
        if planned.skill is None:
            what = "there is no plan" if plan is None or plan.gaps else "nothing is to be done"
            self.pane.show_chart(None, f"{what}\n\n“Why” says the reason, and what can be done")
            if not self._picks.display:
                self._goal.focus()
            return
        self.pane.show_chart(chart_of_plan(planned))
        self.view.focus()

    def _offer_picks(self, planned: Planned) -> None:
        picks = self._picks
        picks.clear_options()
        if planned.served.plan is None:
            for skill in planned.served.options:
                glyph = GLYPHS["standard"]
                row = Text(f"{glyph} {harmless(skill.name)}", style_of(self, "text"), no_wrap=True)
                said = f"  {shorten(harmless(skill.description), 90)}"
                row.append(said, style_of(self, "muted"))
                picks.add_option(Option(row, id=f"skill:{skill.name}"))
            for state in planned.served.goal.near:
                row = Text(f"→ {harmless(state)}", style_of(self, "text"), no_wrap=True)
                said = f"  {shorten(harmless(self._planner.states.get(state, '')), 90)}"
                row.append(said, style_of(self, "muted"))
                picks.add_option(Option(row, id=f"state:{state}"))
        picks.display = picks.option_count > 0
        if picks.display:
            picks.highlighted = 0
            picks.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Something near was picked: plan for that."""
        kind, _, name = (event.option.id or "").partition(":")
        if event.option_list is not self._picks or self.planned is None:
            return
        if kind == "skill":
            self._plan(self.planned.wish, name)
        else:
            self._goal.value = name
            self._submit()

    def drawn(self) -> None:
        """Each skill's score on its box."""
        plan = self.planned.served.plan if self.planned else None
        if plan is not None and self.view.drawing is not None:
            tags = {f"step{at}": f"{step.score:.2f}" for at, step in enumerate(plan.steps, 1)}
            self.view.show_marks(Marks(tags=tags))

    def on_flow_view_selected(self, message: FlowView.Selected) -> None:
        """Tell of the selected step."""
        self._story.choose(message.node)

    # The wish

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter in the goal's line."""
        if event.input is self._goal:
            self._submit()

    def on_state_field_submitted(self) -> None:
        """Enter in the line of what is at hand."""
        self._submit()

    def _submit(self) -> None:
        text = " ".join(self._goal.value.split())
        if not text:
            self.warn("say what you want, in a sentence")
            self._goal.focus()
            return
        self._plan(Wish(text, self._have.value))

    # Commands

    def commands(self) -> dict[str, Handler]:
        """Those of all drawings, and what can be done with a plan."""
        return {
            **super().commands(),
            "run": self._run,
            "open": lambda: self._give("open"),
            "save": self._save,
            "goal": lambda: self.set_focus(self._goal),
            "have": lambda: self.set_focus(self._have.line),
        }

    def close(self) -> None:
        """Stop what is being done; leave a line; else back to the studio."""
        if self.is_at_work:
            self.workers.cancel_group(self, "plan")
            self.end_work()
            self.say_title(self._title("stopped"))
            self._goal.focus()
        elif self._have.hide():
            return
        elif isinstance(self.focused, Input) and self.view.drawing is not None:
            self.view.focus()
        else:
            self.dismiss(None)

    def _run(self) -> None:
        if why := self._why_not_run():
            self.warn(why)
            return
        self._give("run")

    def _give(self, what: Literal["run", "open"]) -> None:
        if self.is_at_work or self.planned is None or self.planned.skill is None:
            self.warn(self._no_plan())
            return
        self.dismiss(PlanAct(what, self.planned, self._saved))

    def _no_plan(self) -> str:
        if self.is_at_work:
            return "the plan is still being made"
        return f"there is no plan yet: {key_of('plan.goal')} says what you want"

    def _save(self) -> None:
        planned = self.planned
        if self.is_at_work or planned is None or planned.skill is None:
            self.warn(self._no_plan())
            return
        from flowstudio.skill.starting import usual_folder
        from flowstudio.studio.plan_save import SaveDialog

        work_dir = self._planner.work_dir
        folder = usual_folder(work_dir)

        def use(name: str | None) -> None:
            if name is not None:
                self._write(planned, folder, name)

        self.app.push_screen(SaveDialog(plan_name(planned), folder, work_dir), use)

    def _write(self, planned: Planned, folder: Path, name: str) -> None:
        from flowstudio.paths import show_path
        from flowstudio.skill import SkillError
        from flowstudio.skill.starting import place_skill

        skill = self._planner.named(planned, name)
        if skill is None:
            return
        try:
            self._saved = place_skill(folder, name, skill.text)
        except SkillError as error:
            self.warn(str(error))
            return
        where = show_path(self._saved, self._planner.work_dir)
        self.say(f"saved as {where}: it is in the list of skills", seconds=8)
        self.say_title(self._title(f"saved as {where}"))


def chart_of_plan(planned: Planned) -> Chart | None:
    """The flow of a plan, as it is drawn: each box begins with the name of its skill."""
    plan = planned.served.plan
    if plan is None or planned.skill is None:
        return None
    flow = planned.skill.flow
    nodes = dict(flow.nodes)
    for at, step in enumerate(plan.steps, 1):
        node = nodes[f"step{at}"]
        rest = node.text.partition("\n")[2]
        nodes[node.id] = replace(node, label=f"{harmless(step.skill.name)}\n{rest}")
    edges = tuple(edge for out in flow.outgoing.values() for edge in out)
    return Chart("mermaid", nodes, edges, ())
