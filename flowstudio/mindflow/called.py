"""Running a skill with the skills that it may call: a tool for each of them, and for no other.

A called skill has a conversation of its own: it is given its instructions and what the caller
passes, and its answer is the tool's result. What it does (tools, leave, tokens, the nodes of a
flow) is seen in the same stream as all else. The states that hold are kept for the session: what a
skill needs is asked for before it runs, what it brings about holds afterwards.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.mindflow.called_run import Caller, offer_tools
from flowstudio.mindflow.called_state import PlaysFlows, SkillSession, SkillUse
from flowstudio.mindflow.called_words import explain_begin
from flowstudio.mindflow.database import Database, DatabaseError
from flowstudio.mindflow.failing import sum_up
from flowstudio.mindflow.learning import learn
from flowstudio.mindflow.library import read_planning
from flowstudio.mindflow.model import Library
from flowstudio.mindflow.queue import ReviewQueue, show_queue
from flowstudio.models.errors import explain_error
from flowstudio.skill.skill import fold_name
from flowstudio.soul import KimiSoul, StudioToolset

if TYPE_CHECKING:
    from flowstudio.soul import Runtime
    from flowstudio.soul.skills import SkillHost
    from flowstudio.soul.toolset import AgentTool

    def _is_host(host: CalledSkills) -> SkillHost:  # pyright: ignore[reportUnusedFunction]
        return host


class CalledSkills:
    """Offers the skills that a skill may call, while it runs.

    Args:
        runtime: its skills are those that can be called; they may change.
        open_database: where use is noted; None notes nothing.
        play: runs called skills that are flows, node by node; without, they run by their text.
    """

    def __init__(
        self,
        runtime: Runtime,
        open_database: Callable[[], Database] | None = Database,
        play: PlaysFlows | None = None,
    ) -> None:
        self._session = SkillSession(runtime, open_database, play)

    @property
    def states(self) -> set[str]:
        """The states that hold in this session, as far as is known."""
        return self._session.states

    @contextlib.contextmanager
    def using(self, soul: KimiSoul, name: str, path: Path) -> Generator[SkillUse]:
        """Meanwhile the soul runs the skill in the file `path`: offer what it may call.

        In a rehearsal, where no tool is used, nothing is offered and nothing is noted.
        """
        use = SkillUse(name)
        if soul.llm is None or soul.llm.answers_as != "model":
            yield use
            return
        session = self._session
        planned = session.find(path)
        offered: list[AgentTool] = []
        if planned is not None:
            use.note = explain_begin(planned, session.skills, self.states)
            # Whoever began it says with that that it can begin.
            self.states.update(planned.preconditions)
            offered = offer_tools(session, Caller(planned, soul, use, (fold_name(planned.name),)))
        began, since = time.monotonic(), time.time()
        try:
            with _lend(soul, offered):
                yield use
        except BaseException as error:
            if not use.was_said:
                if isinstance(error, Exception):
                    use.ended("failed", explain_error(error))
                else:
                    use.ended("partial", "interrupted")
            raise
        finally:
            outcome, why = use.end
            if planned is not None and outcome == "done":
                self.states.update(planned.effects)
            # Those that it called stand for it in what is learned of rows.
            seconds = time.monotonic() - began
            session.note(soul, name, outcome, why, seconds, alone=not offered)
            if use.failed:
                soul.notify(sum_up(use.done, use.failed), "warning")
            self._look_back(soul, since)

    def _look_back(self, soul: KimiSoul, since: float) -> None:
        """The end of a task: learn from it, and show what waits in the queue because of it."""
        session = self._session
        if session.open_database is None or session.cannot_note:
            return
        skills = {one.name: read_planning(one)[0] for one in session.skills.values()}
        try:
            with session.open_database() as database:
                queue = ReviewQueue(database)
                settled = [one for one in queue.settle() if one.state == "approved"]
                learn(database, Library(skills), queue)
                # What the agent wrote to the library meanwhile, and what was learned just now.
                new = [one for one in queue.pending() if one.time >= since]
                waiting = show_queue(new, time.time())
        except DatabaseError as error:
            session.say_unkept(soul, error)
            return
        if settled:
            titles = "; ".join(one.change.title for one in settled)
            soul.notify(f"Changes to the library that approved themselves: {titles}.")
        if new:
            soul.notify(
                "Changes to the library wait for your answer; flowstudio library review shows "
                f"them with their diffs:\n{waiting}"
            )


@contextlib.contextmanager
def _lend(soul: KimiSoul, tools: list[AgentTool]) -> Generator[None]:
    """Meanwhile the soul has these tools, too."""
    toolset = soul.agent.toolset
    former: dict[str, AgentTool | None] = {}
    if isinstance(toolset, StudioToolset):
        for tool in tools:
            former[tool.base.name] = toolset.get(tool.base.name)
            toolset.add(tool)
    try:
        yield
    finally:
        if isinstance(toolset, StudioToolset):
            for name, before in former.items():
                toolset.remove(name)
                if before is not None:
                    toolset.add(before)
