"""Every command of the studio, declared once: key, words, tooltip.

Bindings, footer, command palette and help are made from this table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

type Scope = Literal["studio", "history", "compare", "library", "plan"]
"""The screen whose keys they are."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the user can do."""

    id: str
    """Stable name, for a keymap."""
    key: str
    label: str
    """One or two words for the footer."""
    help: str
    """A sentence for the palette and the help."""
    show: bool = True
    """Whether the footer shows it."""
    key_display: str | None = None
    scope: Scope = "studio"
    """Where its key works."""

    def binding(self) -> Binding:
        """The key binding."""
        return Binding(
            self.key,
            f"command('{self.id}')",
            self.label,
            show=self.show,
            key_display=self.key_display,
            tooltip=self.help,
            id=self.id,
        )


def _drawn(scope: Scope, back: str, *, levels: bool = True) -> tuple[Command, ...]:
    """What every screen with a drawing of its own can do, by keys that mean the same in all.

    Without `levels`, + and - are left to the screen: `z` zooms.
    """
    zooms = (
        Command(f"{scope}.zoom_in", "plus,equals_sign", "zoom in", "Zoom in", False, "+", scope),
        Command(f"{scope}.zoom_out", "minus", "zoom out", "Zoom out", False, "-", scope),
    )
    fit = "The nearest zoom at which the whole drawing fits"
    return (
        Command(f"{scope}.zoom", "z", "zoom", "Whole texts, titles, or dots", scope=scope),
        *(zooms if levels else ()),
        Command(f"{scope}.fit", "0", "fit", fit, False, scope=scope),
        Command(f"{scope}.map", "m", "map", "Show or hide the map", False, scope=scope),
        Command(f"{scope}.find", "slash", "find", "Find a node by its text", True, "/", scope),
        Command(
            f"{scope}.find_next", "greater_than_sign,f3", "next", "The next find", False, ">", scope
        ),
        Command(
            f"{scope}.find_previous",
            "less_than_sign,shift+f3",
            "previous",
            "The find before",
            False,
            "<",
            scope,
        ),
        Command(f"{scope}.close", "escape", "back", back, True, "esc", scope),
        Command(f"{scope}.help", "question_mark", "help", "Show all keys", True, "?", scope),
    )


COMMANDS: tuple[Command, ...] = (
    Command("run.start", "r", "run", "Run the selected flow"),
    Command("run.step", "n", "step", "Run one node, then pause before the next"),
    Command("run.continue", "c", "continue", "Continue to the next breakpoint or END"),
    Command("run.pause", "p", "pause", "Pause once the node that runs now is done"),
    Command("run.stop", "s", "stop", "Stop the run now; a stream that is coming is cut"),
    Command("run.breakpoint", "b", "break", "Set or clear a breakpoint before the node"),
    Command("run.condition", "B", "break if", "A breakpoint with a condition", show=False),
    *(
        Command(
            f"run.branch{number}",
            str(number),
            "branch",
            f"Take branch {number}, whatever the model says",
            show=number == 1,
            key_display="1-9" if number == 1 else None,
        )
        for number in range(1, 10)
    ),
    Command("run.to", "t", "run to", "Continue, and pause before the selected node"),
    Command("run.jump", "J", "go on here", "Go on from the selected node", show=False),
    Command("run.rewind", "u", "rewind", "Fork the run at an earlier visit and go on from there"),
    Command("run.history", "H", "history", "Earlier runs: look, resume, fork, replay, compare"),
    Command("run.points", "L", "breaks", "List the breakpoints of this flow", show=False),
    Command("run.plan", "P", "plan", "Plan a flow of skills from a goal in words", show=False),
    Command("run.more", "M", "more", "Allow the run more moves than it may make", show=False),
    Command("run.again", "full_stop", "again", "Run this node again", False, "."),
    Command("run.detach", "D", "detach", "Leave another process's run, which goes on", show=False),
    Command("edit.prompt", "e", "prompt", "Edit the prompt that is about to be sent"),
    Command("edit.file", "E", "edit", "Open the skill's file in $EDITOR"),
    Command("edit.source", "v", "source", "Show and edit the SKILL.md beside the flow"),
    Command("edit.save", "ctrl+s", "save", "Save the source", show=False),
    Command("edit.back", "w", "write back", "Write an edited prompt back to SKILL.md", show=False),
    Command("edit.rename", "R", "rename", "Rename the selected node everywhere", show=False),
    Command("edit.new", "N", "new", "Make a new flow skill from a template", show=False),
    Command(
        "edit.undo", "ctrl+z", "undo", "Take back what was written back or renamed", show=False
    ),
    Command("view.zoom", "z", "zoom", "Whole prompts, titles, or dots"),
    Command("view.zoom_in", "plus,equals_sign", "zoom in", "Zoom in; ctrl+wheel too", False, "+"),
    Command("view.zoom_out", "minus", "zoom out", "Zoom out", False, "-"),
    Command("view.fit", "0", "fit", "The nearest zoom at which the whole flow fits", show=False),
    Command("view.map", "m", "map", "Show or hide the map of a large flow", show=False),
    Command("view.follow", "f", "follow", "Keep the current node in view", show=False),
    Command("view.find", "slash", "find", "Find a node; in the list: a skill", key_display="/"),
    Command(
        "view.next", "greater_than_sign,f3", "next", "The next node that was found", False, ">"
    ),
    Command(
        "view.previous",
        "less_than_sign,shift+f3",
        "previous",
        "The node that was found before",
        False,
        "<",
    ),
    Command(
        "view.earlier", "left_square_bracket", "earlier", "Look at the visit before", False, "["
    ),
    Command("view.later", "right_square_bracket", "later", "Look at the visit after", False, "]"),
    Command("view.now", "escape", "now", "Back from an earlier visit to what is now", False, "esc"),
    Command("view.fold", "F", "fold", "Fold this pane; in the flow: node and timeline", show=False),
    Command("view.alone", "Z", "maximise", "This pane alone, and back", show=False),
    Command("view.wider", "right_curly_bracket", "wider", "Make this pane wider", False, "}"),
    Command("view.narrower", "left_curly_bracket", "narrower", "Narrower", False, "{"),
    Command(
        "view.taller", "right_parenthesis", "taller", "Make the node's pane taller", False, ")"
    ),
    Command("view.flatter", "left_parenthesis", "flatter", "Make it flatter", False, "("),
    Command("view.filter", "ctrl+k", "skills", "Filter the skills", show=False),
    Command(
        "view.not_this", "X", "not this", "Not this skill: find the next by meaning", show=False
    ),
    Command("view.review", "Q", "review", "Changes to the library that wait", show=False),
    Command("view.library", "G", "library", "The library around the skill, drawn", show=False),
    Command("view.picture", "S", "picture", "Save a picture of the screen (SVG)", show=False),
    Command("view.welcome", "W", "welcome", "What can be done here, and the tour", show=False),
    Command("view.copy", "y", "copy", "Copy the marked text, the entry, the prompt", show=False),
    Command("view.talk", "i", "talk", "Talk to the agent", show=False),
    Command("help", "question_mark", "help", "Show all keys", key_display="?"),
    Command("history.open", "enter", "look", "Look at the run, visit by visit", scope="history"),
    Command("history.resume", "r", "resume", "Go on where the run stands", scope="history"),
    Command(
        "history.attach", "a", "join", "Watch and steer a run that is on elsewhere", scope="history"
    ),
    Command("history.fork", "f", "fork", "A new run from one of its visits on", scope="history"),
    Command("history.replay", "p", "replay", "Walk it again on its answers", scope="history"),
    Command("history.mark", "space", "mark", "Mark the run, or mark it no longer", scope="history"),
    Command("history.compare", "d", "compare", "Both marked runs on one drawing", scope="history"),
    Command("history.delete", "x", "delete", "Delete the run, or those marked", scope="history"),
    Command("history.prune", "P", "prune", "Delete all but the latest runs", scope="history"),
    Command("history.filter", "slash", "filter", "Filter the runs", True, "/", "history"),
    Command("history.help", "question_mark", "help", "Show all keys", True, "?", "history"),
    Command("history.close", "escape", "back", "Back to the studio", True, "esc", "history"),
    Command("compare.next", "n", "next", "The next difference", scope="compare"),
    Command("compare.previous", "N", "previous", "The difference before", scope="compare"),
    *_drawn("compare", "Back to the history"),
    Command(
        "library.go",
        "enter",
        "go there",
        "Draw the library around the selected node; in the middle: open",
        scope="library",
    ),
    Command("library.open", "o", "open", "Open the selected skill in the studio", scope="library"),
    Command("library.more", "plus,equals_sign", "farther", "One hop farther", True, "+", "library"),
    Command("library.fewer", "minus", "nearer", "One hop less", True, "-", "library"),
    Command(
        "library.back", "backspace", "before", "Around the one before", True, "bksp", "library"
    ),
    Command("library.all", "a", "all", "The whole library, and back", scope="library"),
    Command(
        "library.scores", "s", "scores", "Show or hide methodologies and scores", scope="library"
    ),
    Command("library.plan", "P", "plan", "Plan for the selected state or skill", scope="library"),
    *_drawn("library", "Back to the studio", levels=False),
    Command("plan.run", "r,enter", "run", "Run the plan in the studio", True, "r", "plan"),
    Command("plan.save", "s", "save", "Save the plan as a skill of the project", scope="plan"),
    Command("plan.open", "o", "open", "Open the plan in the studio, unsaved", scope="plan"),
    Command("plan.goal", "g", "goal", "Say what you want", scope="plan"),
    Command("plan.have", "a", "at hand", "Say which states hold already", scope="plan"),
    *_drawn("plan", "Back to the studio"),
)


def commands_of(scope: Scope) -> Iterator[Command]:
    """The commands whose keys work on one screen."""
    return (command for command in COMMANDS if command.scope == scope)


def bindings_of(scope: Scope) -> list[Binding]:
    """Their key bindings."""
    return [command.binding() for command in commands_of(scope)]


HELP_GROUPS: tuple[tuple[str, str], ...] = (
    ("run.", "Driving a run"),
    ("edit.", "Authoring"),
    ("view.", "Looking"),
)
"""Prefixes of command ids, and the headings of the help."""

SIGNS: tuple[tuple[str, str, str], ...] = (
    ("▶ ━", "now", "The current node"),
    ("⏸", "now", "Paused here, or it waits for you"),
    ("✓ ✓3", "done", "Visited, and how often"),
    ("✗", "fault", "Failed"),
    ("●", "fault", "Breakpoint before it"),
    ("━ ▼ ×3", "done", "An edge that was taken, and how often; the head of others is hollow"),
    ("⇢ ╍", "forced", "A branch taken by hand; a light dashed line waits to be"),
    ("↑ ◄", "muted", "An edge that leads back"),
    ("◆ ═", "muted", "A decision; its branches go by 1-9 where the run stands"),
    ("+3", "muted", "Lines of the prompt that a title hides: + shows them"),
)
"""What the signs of the flow mean: signs, colour role, words."""

PANE_KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "flow": (
        ("arrows", "Select a node"),
        ("shift+arrows, hjkl", "Pan; the wheel, dragging and the map do too"),
        ("click", "Select a node; a line stands for the node that it leaves"),
    ),
    "skills": (
        ("arrows", "Choose a skill"),
        ("type after /", "Filter; a sentence searches by meaning"),
        ("enter", "Open the skill that was found; in the filter: go to the list"),
    ),
    "source": (
        ("any text", "Edits the file; the drawing follows while it can be read"),
        ("esc", "Leave the text"),
    ),
    "chat": (
        ("enter", "Send what is typed: talk, an answer, a slash command"),
        ("ctrl+j, alt+enter", "A new line; shift+enter where the terminal tells it apart"),
        ("up, down", "In the first and last line: what was sent before"),
        ("shift+tab", "Into the log: up, down or j, k choose an entry, enter opens it"),
        ("pageup, pagedown", "Read on in the log; it follows again at its end"),
        ("/", "Slash commands; tab completes"),
        ("y a x", "Allow, allow for the session, reject: what a tool asks"),
        ("click, drag", "Open a folded prompt, tool call or thought; mark text"),
        ("esc", "Leave the input line: then the keys of all commands work"),
    ),
    "library": (
        ("arrows", "Select a node"),
        ("click, double click", "Select a node; go there"),
        ("shift+arrows, hjkl", "Pan; the wheel, dragging and the map do too"),
    ),
    "plan": (
        ("any text", "In the upper lines: the goal, and the states that hold already"),
        ("enter", "In the upper lines: plan"),
        ("tab", "Between the lines, the drawing and what is said of it"),
        ("arrows, click", "Select a step"),
    ),
    "compare": (("arrows, click", "Select a node"), ("tab", "Between the drawing and the texts")),
    "past": (
        ("left, right", "The visit before, the visit after; home and end: the first, the last"),
        ("1-9", "Fork the run there and take that branch"),
    ),
    "everywhere": (
        ("tab, shift+tab", "Next pane, the one before"),
        ("drag a border", "Resize the panes beside it; sizes are remembered"),
        ("?", "All keys"),
        ("ctrl+p", "Command palette: themes and every command by name"),
        ("ctrl+q", "Quit"),
    ),
}
"""Keys that belong to one pane and are the same for everybody, and what they do there."""

FOOTERS: dict[str, tuple[str, ...]] = {
    "skills": (
        "run.start",
        "run.step",
        "view.find",
        "run.history",
        "edit.new",
        "edit.source",
        "edit.file",
        "view.talk",
        "view.fold",
        "help",
    ),
    "past": (
        "view.earlier",
        "view.later",
        "run.rewind",
        "run.branch1",
        "view.now",
        "run.history",
        "help",
    ),
}
"""What the last line names in a pane, in this order; elsewhere all commands that are shown."""

TEXT_FOOTERS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "chat": (
        ("enter", "enter", "send"),
        ("ctrl+j", "^j", "new line"),
        ("shift+tab", "shift+tab", "read"),
        ("escape", "esc", "leave"),
        ("tab", "tab", "next pane"),
        ("ctrl+p", "ctrl+p", "palette"),
        ("ctrl+q", "ctrl+q", "quit"),
    ),
    "source": (
        ("ctrl+s", "ctrl+s", "save"),
        ("escape", "esc", "leave"),
        ("ctrl+p", "ctrl+p", "palette"),
        ("ctrl+q", "ctrl+q", "quit"),
    ),
    "skills": (
        ("enter", "enter", "choose"),
        ("escape", "esc", "clear"),
        ("ctrl+p", "ctrl+p", "palette"),
    ),
    "flow": (("enter", "enter", "next"), ("escape", "esc", "leave")),
    "plan": (
        ("enter", "enter", "plan"),
        ("tab", "tab", "next line"),
        ("escape", "esc", "leave"),
        ("ctrl+p", "ctrl+p", "palette"),
    ),
}
"""The same where a line of text has the focus, so that letters are text: key, sign, label."""
