"""What y copies: the text marked with the mouse, the chosen entry of the chat, a node's prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.studio.keymap import key_of
from flowstudio.text import count, harmless

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from flowstudio.studio.run_desk import Handler
    from flowstudio.studio.screen import StudioScreen


class CopyDesk:
    """Copies, and says no more than is known of it."""

    def __init__(self, screen: StudioScreen) -> None:
        self._screen = screen
        self._refused: str | None = None
        """What went to the terminal only: the same once more goes to a file."""

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"view.copy": self.copy}

    def copy(self) -> None:
        """Copy what is marked or chosen."""
        what, text = self._find()
        if not text.strip():
            self._say("Nothing to copy here: choose an entry of the chat, or a node", "warning")
            return
        work = self._copy(what, text)
        self._screen.run_worker(work, group="copy", exclusive=True, exit_on_error=False)

    def _find(self) -> tuple[str, str]:
        """What is copied, in a word, and its text."""
        screen = self._screen
        marked = screen.get_selected_text()
        if marked and marked.strip():
            return "the marked text", marked
        if screen.pane == "chat":
            from flowstudio.studio.chat_log import ChatLog

            focused = screen.focused
            log = focused if isinstance(focused, ChatLog) else screen.chat_pane.log_view
            entry = log.selected
            return "the entry", entry.source if entry is not None else ""
        node = screen.bench.selected
        flow = screen.skill.flow if screen.skill is not None else None
        if flow is None or node is None or node not in flow.nodes:
            return "", ""
        return "the prompt", flow.nodes[node].text

    async def _copy(self, what: str, text: str) -> None:
        from flowstudio.studio.copying import copy_by_tool, save_copy

        if text == self._refused:
            self._refused = None
            try:
                place = save_copy(text)
            except OSError as error:
                self._say(f"It cannot be saved: {error}", "error")
                return
            self._say(f"Saved {what} to {place}")
            return
        # The terminal may be at the other end of a line, where no tool of this machine reaches.
        self._screen.app.copy_to_clipboard(text)
        tool = await copy_by_tool(text)
        size = f"{count(len(text))} characters"
        if tool is not None:
            self._refused = None
            self._say(f"Copied {what} to {tool.where} ({tool.name}), {size}")
            return
        self._refused = text
        key = key_of("view.copy")
        self._say(
            f"Sent {what} to the terminal, {size}; it may refuse. {key} again saves it to a file."
        )

    def _say(self, text: str, severity: SeverityLevel = "information") -> None:
        self._screen.notify(harmless(text), severity=severity, markup=False, timeout=6)
