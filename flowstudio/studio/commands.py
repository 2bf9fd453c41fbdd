"""Every command of the studio, declared once: key, words, tooltip.

Bindings, footer, command palette and help are made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


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
    Command("run.again", "full_stop", "again", "Run this node again", False, "."),
    Command("edit.prompt", "e", "prompt", "Edit the prompt that is about to be sent"),
    Command("edit.file", "E", "edit", "Open the skill's file in $EDITOR"),
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
    Command("view.filter", "ctrl+k", "skills", "Filter the skills", show=False),
    Command("view.talk", "i", "talk", "Talk to the agent", show=False),
    Command("help", "question_mark", "help", "Show all keys", key_display="?"),
)


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

OTHER_KEYS: tuple[tuple[str, str], ...] = (
    ("tab", "Next pane"),
    ("arrows", "Select a node (flow); choose a skill (skills)"),
    ("shift+arrows, hjkl", "Pan the flow; the wheel, dragging and the map do too"),
    ("click", "Select a node; open a folded prompt, tool call or thought"),
    ("esc", "Leave the input line"),
    ("y a x", "Allow, allow for the session, reject: what a tool asks"),
    ("ctrl+p", "Command palette: themes and every command by name"),
    ("ctrl+q", "Quit"),
)
