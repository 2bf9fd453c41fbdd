"""Hot reload in any order of events: real saves, real keys, and a small model of the five rules.

Each sequence is drawn from a seed; what must be so after each event is what the model says.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kosong.message import TextPart
from textual.widgets import Input

from flowstudio.flow import parse_mermaid_flowchart
from flowstudio.models.hint import turn_hint
from flowstudio.studio.source_dialogs import NameDialog
from flowstudio.wire import FlowReloaded, NodeEntered, NodeLeft
from tests.studio.kit import PATIENCE, FakeModel, Studio, open_studio, write_skill
from tests.studio.reload_model import Chart, Fault, Model

SEED = 3
REASONS = {
    "before": {"step"},
    "answered": {"answered"},
    "unchosen": {"choice_failed"},
    "gone": {"node_gone"},
}


class Hand(FakeModel):
    """Answers one prompt at a time, when and what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self._said: asyncio.Future[str] | None = None

    async def generate(self, system_prompt: str, tools: Any, history: Sequence[Any]) -> Any:
        hint = turn_hint.get()
        prompt = [one.extract_text() for one in history if one.role == "user"][-1]
        self.asked.append((hint.node or "" if hint else "", prompt.split("\n")[0]))
        self._said = asyncio.get_running_loop().create_future()
        return _Coming(self._said)

    def answer(self, text: str) -> None:
        assert self._said is not None
        self._said.set_result(text)


class _Coming:
    id = None
    usage = None

    def __init__(self, said: asyncio.Future[str]) -> None:
        self._said = said

    async def __aiter__(self) -> AsyncIterator[Any]:
        yield TextPart(text="Well. ")
        yield TextPart(text=await self._said)


class Play:
    """One studio that goes through sequences of events, and the model beside it."""

    def __init__(self, studio: Studio, hand: Hand, path: Path) -> None:
        self.studio, self.hand, self.path = studio, hand, path
        self.model = Model()
        self.log: list[str] = []
        """Each event, for whoever has to read a failure."""
        self.done: Counter[str] = Counter()
        self._random = random.Random()
        self._names = 0
        self._branches = ["yes", "no"]
        """Those that the decision in flight was asked with."""
        self._begun = 0
        """How much was on the wire when the run began."""

    # What may happen

    def name(self, node: str) -> str:
        """An id that no node ever had."""
        self._names += 1
        return f"{node[0]}{self._names}"

    @property
    def events(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """What can happen now."""
        model = self.model
        found: dict[str, Callable[[], Awaitable[object]]] = {
            "good save": self.save_in_place,
            "rename over": self.rename_over,
            "truncate, then write": self.truncate,
            "broken, then good": self.broken_then_good,
            "broken save": lambda: self.spoil("first"),
            "other broken save": lambda: self.spoil("second"),
            "other id in the editor": self.other_id,
            "other branch": self.other_branch,
        }
        if model.chart.a and model.at != model.chart.a:
            found["first task deleted"] = self.delete_first
        if model.at in (model.chart.a, model.chart.m):
            found["current node deleted"] = self.delete_current
        if None in (model.chart.a, model.chart.m):
            found["deleted node back"] = self.undelete
        if model.is_there:
            found["file deleted"] = self.delete_file
            found["folder made anew"] = self.remake_folder
        if model.is_there and model.fault is None:
            found["edit in the pane"] = self.edit_in_pane
            found["rename"] = self.rename
            found["rename, taken back"] = self.rename_and_back
        match model.stand:
            case "none" if model.is_there and model.fault is None:
                found["begin"] = self.begin
            case "none":
                pass
            case "asked":
                found["answer"] = self.answer
            case _:
                found["step"] = self.step
        if model.at == model.chart.q and model.stand not in ("none", "gone") and not model.by_hand:
            found["force"] = self.force
        if model.stand == "gone" and model.is_there:
            found["go on elsewhere"] = self.jump
        return found

    async def play(self, seed: int, most: int) -> None:
        """One sequence: until every kind of event came, or so many events."""
        self._random.seed(seed)
        self.log.append(f"seed {seed}")
        for _ in range(most):
            if set(self.done) >= EVENTS:
                return
            found = self.events
            # What has not come yet is preferred, and so is what moves the run.
            weights = [3 * (not self.done[name]) + 1 + (name in MOVES) for name in found]
            (name,) = self._random.choices(list(found), weights)
            self.log.append(name)
            self.done[name] += 1
            try:
                await found[name]()
                await self.check()
            except AssertionError as error:
                raise AssertionError(f"{', '.join(self.log)}\n{error}") from error

    # The file

    def _next(self) -> Chart:
        return replace(self.model.chart, words=self.model.chart.words + 1)

    def _write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(text, encoding="utf-8")

    def _write_over(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name("SKILL.md~new")
        beside.write_text(text, encoding="utf-8")
        beside.rename(self.path)

    async def _save(self, chart: Chart) -> None:
        self.model.save(chart)
        self._random.choice((self._write, self._write_over))(chart.text)

    async def save_in_place(self) -> None:
        self.model.save(self._next())
        self._write(self.model.chart.text)

    async def rename_over(self) -> None:
        self.model.save(self._next())
        self._write_over(self.model.chart.text)

    async def truncate(self) -> None:
        """As many editors write: first nothing, then all of it."""
        self._write("")
        for _ in range(self._random.randrange(4)):
            await self.studio.pilot.pause()
        await self.save_in_place()

    async def spoil(self, fault: Fault) -> None:
        text, line = self.model.chart.broken(fault)
        self.model.spoil(line)
        self._write_over(text)

    async def broken_then_good(self) -> None:
        self._write(self.model.chart.broken("first")[0])
        for _ in range(self._random.randrange(3)):
            await self.studio.pilot.pause()
        await self.save_in_place()

    async def other_id(self) -> None:
        """For the editor that is another node, whatever its label says."""
        chart, node = self.model.chart, self._random.choice([*self.model.chart.ids])
        match chart.ids[node]:
            case "a":
                chart = replace(chart, a=self.name("a"))
            case "q":
                chart = replace(chart, q=self.name("q"))
            case "m":
                chart = replace(chart, m=self.name("m"))
        await self._save(chart)

    async def other_branch(self) -> None:
        yes = {"yes": "done", "done": "yes"}[self.model.chart.yes]
        await self._save(replace(self.model.chart, yes=yes))

    async def delete_first(self) -> None:
        await self._save(replace(self.model.chart, a=None))

    async def delete_current(self) -> None:
        chart = self.model.chart
        is_first = self.model.at == chart.a
        await self._save(replace(chart, a=None) if is_first else replace(chart, m=None))

    async def undelete(self) -> None:
        """Somebody thinks better of it: where the run stands on it, under its old id."""
        chart, at = self.model.chart, self.model.at
        a, m = chart.a, chart.m
        if a is None:
            a = at if at and at.startswith("a") else self.name("a")
        if m is None:
            m = at if at and at.startswith("m") else self.name("m")
        await self._save(replace(chart, a=a, m=m))

    async def delete_file(self) -> None:
        self.model.delete()
        self.path.unlink()

    async def remake_folder(self) -> None:
        shutil.rmtree(self.path.parent)
        self.model.delete()
        if self._random.random() < 0.5:
            await self.check()
        await self.save_in_place()

    # In the studio

    async def edit_in_pane(self) -> None:
        studio, chart = self.studio, self.model.chart
        await studio.press("v")
        await studio.until(lambda: studio.main.source.is_furnished, "the source")
        area = studio.main.source.area
        await studio.until(lambda: area.has_focus and area.text == chart.text, "its text")
        words = chart.label(chart.q)
        row = next(at for at, line in enumerate(chart.text.splitlines()) if words in line)
        area.move_cursor((row, chart.text.splitlines()[row].index(words) + len(words)))
        await studio.press("x")
        edited = replace(chart, marks=chart.marks + "x")
        await studio.until(lambda: edited.label(chart.q) in self.drawn, "the edit in the picture")
        self.model.save(edited)
        await studio.press("ctrl+s")
        await studio.press("escape")
        await studio.until(lambda: studio.view.has_focus, "the flow")
        if not studio.main.has_class("-narrow"):
            await studio.press("v")  # beside the flow it stays until it is put away

    async def rename(self) -> None:
        old = self._random.choice([*self.model.chart.ids])
        new = self.name(old)
        await self.studio.select(old)
        await self.studio.press("R")
        dialog = self.studio.app
        await self.studio.until(lambda: isinstance(dialog.screen, NameDialog), "the dialog")
        dialog.screen.query_one(Input).value = new
        await self.studio.press("enter")
        await self.studio.until(lambda: dialog.screen is self.studio.main, "the studio again")
        self.model.rename(old, new)

    async def rename_and_back(self) -> None:
        before = self.model.chart.ids
        await self.rename()
        await self.check()
        ((new, key),) = [
            (one, key) for one, key in self.model.chart.ids.items() if one not in before
        ]
        await self.studio.press("ctrl+z")
        self.model.rename(new, next(one for one, other in before.items() if other == key))

    async def begin(self) -> None:
        self._begun = len(self.studio.events)
        await self.studio.press("n")
        self.model.begin()

    async def step(self) -> None:
        await self.studio.press("n")
        self.model.step()

    async def force(self) -> None:
        number = self._random.choice((1, 2))
        await self.studio.press(str(number))
        self.model.force(number)

    async def answer(self) -> None:
        _, words = self.model.asked[-1]
        branch = None
        if words.startswith("Good"):
            branches = self._branches
            branch = self._random.choice(branches)
        self.hand.answer(f"<choice>{branch}</choice>" if branch else "Done.")
        self.model.answer(branch)

    async def jump(self) -> None:
        node = self._random.choice([*self.model.chart.ids])
        await self.studio.select(node)
        await self.studio.press("J")
        self.model.jump(node)

    # What must be so

    @property
    def drawn(self) -> str:
        drawing = self.studio.view.drawing
        return drawing.text() if drawing else ""

    def differences(self) -> dict[str, tuple[object, object]]:
        """What is otherwise than the model says: found, and expected."""
        studio, model, chart = self.studio, self.model, self.model.chart
        state, run = studio.state, studio.events[self._begun :]
        said = studio.faults_shown
        pairs: dict[str, tuple[object, object]] = {
            "listed": (bool(studio.row_of("demo")), model.is_there),
            "shown": (studio.main.skill and studio.main.skill.path == self.path, model.is_there),
            "asked": (self.hand.asked, model.asked),
            "disk": (self.path.exists(), model.is_there),
        }
        if model.is_there:
            boxes = set(studio.view.drawing.boxes) if studio.view.drawing else set[str]()
            labels = [chart.label(node) for node in chart.ids]
            pairs |= {
                "dimmed": (studio.view.stale, model.fault is not None),
                "fault": (f":{model.fault}:" in said, True) if model.fault else (said, ""),
                "nodes": (boxes, {"BEGIN", "END", *chart.ids}),
                "labels": ([one for one in labels if one in self.drawn], labels),
                "branch": (chart.yes in self.drawn.split(), True),
            }
        if model.is_there and model.fault is None:
            pairs["text"] = (self.path.read_text(encoding="utf-8"), chart.text)
        if state is None or not model.entered:
            return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
        is_held = model.stand in REASONS
        phase = "ended" if model.stand == "none" else "paused" if is_held else "running"
        entered = [one.node for one in run if isinstance(one.body, NodeEntered)]
        left = [(one.node, one.body.revision) for one in run if isinstance(one.body, NodeLeft)]
        reloads = sum(isinstance(one.body, FlowReloaded) for one in run)
        pairs |= {
            "phase": (state.phase, phase),
            "reason": (not is_held or state.reason in REASONS[model.stand], True),
            "current": (state.current, model.at),
            "reloads": (reloads, model.reloads),
            "way": (entered, model.entered),
            "revisions": (left, model.left),
            "done": (state.done, model.done),
            "taken": (state.taken, model.taken),
            "by hand": (state.forced, model.forced),
            "waits": (dict(studio.main.driver.forced()), self._waiting),
        }
        if model.is_there and model.at in chart.ids:
            look = studio.view.marks.nodes.get(model.at or "")
            pairs["mark"] = (look, "fault" if model.stand == "unchosen" else "now")
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    @property
    def _waiting(self) -> dict[str, str]:
        model = self.model
        is_drawn = model.at in model.chart.ids
        return {model.at: model.by_hand} if model.at and model.by_hand and is_drawn else {}

    async def check(self) -> None:
        """Wait until all is as the model says."""
        end = asyncio.get_running_loop().time() + PATIENCE
        while found := self.differences():
            if asyncio.get_running_loop().time() > end:
                told = "\n".join(f"{name}: {a!r}, not {b!r}" for name, (a, b) in found.items())
                raise AssertionError(f"{told}\n{self.studio.text}")
            await asyncio.sleep(0.01)
        if self.model.stand != "asked":
            self._branches = [self.model.chart.yes, "no"]


MOVES = {"begin", "step", "answer", "force", "go on elsewhere"}
EVENTS = MOVES | {
    *("good save", "rename over", "truncate, then write", "broken, then good"),
    *("broken save", "other broken save", "other id in the editor", "other branch"),
    *("first task deleted", "current node deleted", "deleted node back"),
    *("file deleted", "folder made anew"),
    *("edit in the pane", "rename", "rename, taken back"),
}
SIZES = ((80, 24), (120, 40), (200, 60))


async def play(work: Path, seed: int, most: int, size: tuple[int, int] = (80, 24)) -> Play:
    """One sequence in a studio of its own."""
    path = write_skill(work, Chart().text)
    hand = Hand()
    async with open_studio(work, model=hand, size=size, patience=20 * PATIENCE) as studio:
        player = Play(studio, hand, path)
        await player.play(seed, most)
    return player


def test_the_charts_of_the_model_can_be_run() -> None:
    for chart in (Chart(), Chart(a=None), Chart(m=None), Chart(a=None, m=None, yes="done")):
        parse_mermaid_flowchart(chart.text.split("```")[1].removeprefix("mermaid\n"))


async def test_hot_reload_keeps_its_rules_in_an_order_with_every_event(work: Path) -> None:
    player = await play(work, seed=SEED, most=60)
    assert set(player.done) == EVENTS


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100))
async def test_hot_reload_keeps_its_rules_in_any_order_of_events(work: Path, seed: int) -> None:
    await play(work, 1000 + seed, 40, SIZES[seed % len(SIZES)])
