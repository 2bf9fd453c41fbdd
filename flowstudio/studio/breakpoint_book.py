"""The breakpoints of all flows as the studio sets them: kept on disk, told to the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.run.breakpoints import Breakpoint, Breakpoints, Moment
    from flowstudio.run.control import RunControl
    from flowstudio.skill.skill import Skill


class BreakpointBook:
    """By the flow's file; they outlive the run, and the program.

    Args:
        control_of: the control of the run that is on, if it is of that skill: changes go through
            it, so that the run's journal knows of them.
        warn: takes what went wrong with their file, as a sentence; empty for nothing.
    """

    def __init__(
        self, control_of: Callable[[Skill], RunControl | None], warn: Callable[[str], object]
    ) -> None:
        self._control_of = control_of
        self._warn = warn
        self._points: dict[Path, Breakpoints] = {}

    def of(self, skill: Skill) -> Breakpoints:
        """The breakpoints of a skill's flow, as they were kept; each change is kept at once."""
        from flowstudio.run.breakpoints import Breakpoints
        from flowstudio.run.kept_breakpoints import load_breakpoints

        points = self._points.get(skill.path)
        if points is None:
            kept, problem = load_breakpoints(skill.path)
            points = self._points[skill.path] = Breakpoints(kept)
            points.on_change = lambda: self._keep(skill.path)
            self._warn(problem)
        return points

    def toggle(self, skill: Skill, node: str) -> bool:
        """Set a breakpoint before a node, or clear those that it has; True if one is set now."""
        control = self._control_of(skill)
        if control is not None:
            return control.toggle_breakpoint(node)
        return self.of(skill).toggle(node)

    def set(self, skill: Skill, point: Breakpoint) -> None:
        """Set a breakpoint, in place of the one at the same node and moment."""
        control = self._control_of(skill)
        if control is not None:
            control.set_breakpoint(point)
        else:
            self.of(skill).add(point)

    def clear(self, skill: Skill, node: str, when: Moment | None = None) -> None:
        """Clear the breakpoints of a node, or the one of one moment."""
        control = self._control_of(skill)
        if control is not None:
            control.clear_breakpoint(node, when)
        else:
            self.of(skill).discard(node, when)

    def lend(self, skill: Skill, points: Breakpoints) -> None:
        """Show another process's breakpoints as the flow's; they are not kept."""
        self._points[skill.path] = points

    def take_back(self, skill: Skill) -> None:
        """The user's own are the flow's again."""
        self._points.pop(skill.path, None)

    def _keep(self, path: Path) -> None:
        from flowstudio.run.kept_breakpoints import keep_breakpoints

        try:
            keep_breakpoints(path, self._points[path])
        except OSError as error:
            self._warn(f"The breakpoints could not be kept: {error}")
