"""The chat: what the agent is asked and answers, as it comes, and the line to talk to it.

It consumes the same events as the journal. Finished things are one plain widget each, and only the
newest stay on the screen; the journal has them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from flowstudio.studio.chat_entries import Answer, ApprovalCard, Entry, Fold
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import duration, first_line, harmless, shorten
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    Author,
    ChoiceMade,
    ChoiceRejected,
    Compacted,
    DmailSent,
    Event,
    FlowReloaded,
    NodeEntered,
    NodeLeft,
    Notice,
    PromptSent,
    Retried,
    RunEnded,
    RunPaused,
    RunResumed,
    RunStarted,
    StepInterrupted,
    Thinking,
    ToolCalled,
    ToolReturned,
    UserAnswered,
    UserAsked,
)
from flowstudio.wire import Text as TextPiece

KEPT = 240
"""Entries that stay on the screen."""
_CUT = 60
"""Entries that go at once when there are too many."""
_FRAME = 1 / 12
"""Seconds between two looks at a streaming answer."""
_SETTLING = 3
"""Frames for which the log is kept at its end after something was added."""

_AUTHORS: dict[Author, str] = {
    "model": "model",
    "user": "you",
    "script": "script",
    "seed": "by chance",
    "replay": "replay",
    "only-exit": "",
}


class ChatInput(Input):
    """The line to type in; up and down go through what was typed before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "earlier", "Earlier", show=False),
        Binding("down", "later", "Later", show=False),
        Binding("tab", "complete", "Complete", show=False),
        Binding("escape", "leave", "Back to the flow", show=False),
    ]

    class Left(Message):
        """The user is done typing; `step` is 1 for the next pane, 0 for back to the flow."""

        def __init__(self, step: int = 0) -> None:
            super().__init__()
            self.step = step

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(compact=True, id=id)
        self._typed: list[str] = []
        self._at = 0

    def remember(self, text: str) -> None:
        """Keep a line for `up`."""
        if text and (not self._typed or self._typed[-1] != text):
            self._typed.append(text)
        self._at = len(self._typed)

    def action_earlier(self) -> None:
        """One line back, or one up in the list of completions."""
        self._move(-1)

    def action_later(self) -> None:
        """One line on, or one down in the list of completions."""
        self._move(1)

    def action_complete(self) -> None:
        """Take the completion; without one, go to the next pane."""
        chat = self.query_ancestor(ChatPane)
        if not chat.complete():
            self.post_message(self.Left(step=1))

    def action_leave(self) -> None:
        """Back to the flow."""
        self.post_message(self.Left())

    def _move(self, step: int) -> None:
        chat = self.query_ancestor(ChatPane)
        if chat.move_in_completions(step) or not self._typed:
            return
        self._at = min(max(self._at + step, 0), len(self._typed))
        self.value = self._typed[self._at] if self._at < len(self._typed) else ""
        self.cursor_position = len(self.value)


class ChatPane(Vertical):
    """The conversation, and the input line below it."""

    DEFAULT_CSS = """
    ChatPane {
        & #log { height: 1fr; scrollbar-size: 1 1; background: $background; }
        & #completions {
            display: none; height: auto; max-height: 8; border: none; padding: 0 1;
            background: $panel; scrollbar-size: 1 1;
        }
        & ChatInput {
            height: 1; border: none; padding: 0 1; background: $surface;
            &:focus { background: $panel; }
        }
        & .visit { margin-top: 1; border-left: thick $role-accent; padding: 0 1; }
        & .visit.-decision { border-left: thick $role-forced; }
        & .said { margin-top: 1; border-left: thick $role-muted; padding: 0 1; }
        & .answer { padding: 0 2; }
        & .thinking { padding: 0 2; }
        & .tool { padding: 0 2; }
        & .note { padding: 0 2; }
        & .pause { padding: 0 2; margin-top: 1; }
    }
    """

    class Typed(Message):
        """The user sent a line."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.border_title = "Chat"
        self._live: Answer | None = None
        self._tools: dict[str, Fold] = {}
        self._pause: Entry | None = None
        self._kind = ""
        self._frames_to_end = 0
        self._retries = 0
        self._is_dirty = False
        self._dropped = 0
        self._commands: Sequence[tuple[str, str]] = ()

    def compose(self) -> ComposeResult:
        """The log, the completions and the input line."""
        yield VerticalScroll(id="log", can_focus=True)
        yield OptionList(id="completions", compact=True, markup=False)
        yield ChatInput(id="say")

    def on_mount(self) -> None:
        """Stay at the end while things come in."""
        self.set_interval(_FRAME, self._show_live)
        self.set_hint("message the agent, or / for commands")

    @property
    def _log(self) -> VerticalScroll:
        return self.query_one("#log", VerticalScroll)

    @property
    def input(self) -> ChatInput:
        """The input line."""
        return self.query_one(ChatInput)

    def set_hint(self, text: str) -> None:
        """What the empty input line says."""
        self.input.placeholder = f"› {text}"

    def set_commands(self, commands: Sequence[tuple[str, str]]) -> None:
        """The slash commands that complete: name with its slash, and description."""
        self._commands = commands

    def forget(self) -> None:
        """Empty the chat."""
        self._finish_live()
        self._log.remove_children()
        self._tools.clear()
        self._pause = None
        self._dropped = 0

    # Events

    def consume(self, event: Event) -> None:
        """Show one event."""
        match event.body:
            case TextPiece(text=text):
                self._stream(text, is_thinking=False)
                return
            case Thinking(text=text):
                self._stream(text, is_thinking=True)
                return
            case _:
                self._finish_live()
        match event.body:
            case RunStarted() as body:
                self._say_run(body)
            case NodeEntered(kind=kind, label=label):
                self._retries = 0
                self._say_visit(event.node or "", event.visit or 1, kind, label)
            case PromptSent() as body:
                self._say_prompt(event, body)
            case ToolCalled(id=call, name=name, arguments=arguments):
                title = Text(f"{GLYPHS['tool']} {harmless(name)} ", style_of(self, "muted"))
                title.append(shorten(harmless(_brief(arguments)), 60), style_of(self, "text"))
                self._tools[call] = self._add(Fold(title, arguments, classes="tool"))
            case ToolReturned() as body:
                self._say_tool_result(body)
            case ApprovalAsked(id=request, tool=tool, action=action, description=description):
                card = self._add(ApprovalCard(request, tool, action, description))
                if not isinstance(self.app.focused, Input):
                    self.call_after_refresh(card.focus)
            case ApprovalGiven() as body:
                self._say_approval(body)
            case UserAsked(question=question, options=options):
                self._ask(question, options)
            case UserAnswered():
                self._drop_pause()
            case Retried(reason=reason, wait=wait, attempt=attempt, attempts=attempts):
                text = f"{GLYPHS['retry']} {reason} Trying again in {duration(wait)}"
                self._note(f"{text} ({attempt} of {attempts})", "now")
            case ChoiceRejected(got=got, branches=branches):
                self._retries += 1
                what = "no choice" if got is None else f"“{shorten(got, 40)}” is no branch"
                allowed = ", ".join(branches)
                self._note(f"{GLYPHS['retry']} {what}; asking again for: {allowed}", "now")
            case ChoiceMade() as body:
                self._say_choice(body)
            case RunPaused(why=why, message=message):
                self._say_pause(why, message)
            case RunResumed() | NodeLeft():
                self._drop_pause()
            case RunEnded(reason=reason, message=message, moves=moves):
                self._drop_pause()
                good = reason == "reached_end"
                sign = GLYPHS["done" if good else "failed"]
                text = f"{sign} {message}, after {moves} moves"
                self._note(text, "done" if good else "fault", classes="said")
            case StepInterrupted(reason=reason):
                self._note(f"{GLYPHS['failed']} {reason}", "fault")
            case Compacted(before=before, after=after):
                self._note(f"context summarised: {before} → {after} tokens", "muted")
            case DmailSent(origin=origin, checkpoint=checkpoint):
                self._note(f"D-Mail from checkpoint {origin} back to {checkpoint}", "muted")
            case FlowReloaded(revision=revision):
                self._note(f"the flow's file changed: revision {revision} is in force", "muted")
            case Notice(text=text, severity=severity):
                role = {"information": "text", "warning": "now", "error": "fault"}[severity]
                self._note(text, role, classes="note")
            case _:
                pass

    def _say_run(self, body: RunStarted) -> None:
        self._add(Entry(Text(f"{GLYPHS['running']} {harmless(body.flow)}", "bold"), classes="said"))
        if body.input.strip():
            self._add(Entry(Text(harmless(body.input), style_of(self, "muted")), classes="note"))

    def _say_visit(self, node: str, visit: int, kind: str, label: str) -> None:
        self._kind = kind
        if kind in ("begin", "end"):
            return
        role = "forced" if kind == "decision" else "accent"
        title = Text(harmless(shorten(node, 24)), style_of(self, role) + style_of(self, "bold"))
        if visit > 1:
            title.append(f"  visit {visit}", style_of(self, "dim"))
        if first_line(label) != node:
            title.append(f"  {harmless(first_line(label))}", style_of(self, "bold"))
        self._add(Fold(title, label, classes=f"visit -{kind}"))

    def _say_prompt(self, event: Event, body: PromptSent) -> None:
        self._drop_pause()
        if event.node is None:
            self._add(Entry(Text(harmless(body.prompt), "bold"), classes="said"))

    def say_user(self, text: str) -> None:
        """Show what the user typed."""
        self._finish_live()
        self._add(Entry(Text(harmless(text), "bold"), classes="said"))

    def _say_tool_result(self, body: ToolReturned) -> None:
        entry = self._tools.pop(body.id, None)
        if entry is None:
            return
        sign, role = (GLYPHS["done"], "done") if body.ok else (GLYPHS["failed"], "fault")
        entry.summary.append(f"  {sign} ", style_of(self, role))
        entry.summary.append(duration(body.seconds), style_of(self, "dim"))
        if body.brief:
            brief = shorten(harmless(body.brief), 70)
            entry.summary.append(f"\n  {brief}", style_of(self, "dim" if body.ok else "fault"))
        entry.body = f"{entry.body}\n\n{body.output}".strip()
        entry.redraw()

    def _say_approval(self, body: ApprovalGiven) -> None:
        for card in self.query(ApprovalCard):
            if card.request == body.id:
                had_focus = card.has_focus_within
                card.remove()
                if had_focus:
                    self.post_message(ChatInput.Left())
        if body.verdict == "reject":
            self._note(f"{GLYPHS['forced']} refused {body.reason}".rstrip(), "forced")

    def _say_choice(self, body: ChoiceMade) -> None:
        forced = body.forced
        text = Text(GLYPHS["forced" if forced else "chosen"] + " ")
        text.append(harmless(body.branch), "bold")
        text.stylize(style_of(self, "forced" if forced else "done"))
        if forced:
            over = f", over the model’s “{shorten(harmless(body.over), 40)}”" if body.over else ""
            text.append(f"   you{over}", style_of(self, "forced"))
        else:
            tries = f", try {self._retries + 1}" if self._retries else ""
            text.append(f"   {_AUTHORS[body.by]}{tries}", style_of(self, "dim"))
        self._add(Entry(text, classes="tool"))

    def _say_pause(self, why: str, message: str) -> None:
        self._drop_pause()
        failed = why in ("model_failed", "choice_failed", "node_gone", "tool_rejected")
        text = Text(f"{GLYPHS['paused']} paused  ", style_of(self, "now") + style_of(self, "bold"))
        text.append(harmless(message), style_of(self, "fault" if failed else "now"))
        for key, meaning in PAUSE_KEYS.get(why, ()):
            if key == "1-9" and self._kind != "decision":
                continue
            text.append(f"\n  {key:>3} ", style_of(self, "accent") + style_of(self, "bold"))
            text.append(meaning, style_of(self, "muted"))
        self._pause = self._add(Entry(text, classes="pause"))

    def _ask(self, question: str, options: Sequence[str]) -> None:
        self._drop_pause()
        text = Text(f"{GLYPHS['waiting']} ", style_of(self, "now") + style_of(self, "bold"))
        text.append(harmless(question), style_of(self, "now"))
        for number, option in enumerate(options, 1):
            text.append(f"\n  {number} ", style_of(self, "accent") + style_of(self, "bold"))
            text.append(harmless(option), style_of(self, "text"))
        self._pause = self._add(Entry(text, classes="pause"))

    def _note(self, text: str, role: str, classes: str = "tool") -> None:
        self._add(Entry(Text(harmless(text), style_of(self, role)), classes=classes))

    def _drop_pause(self) -> None:
        if self._pause is not None:
            self._pause.remove()
            self._pause = None

    # The log

    def _add[W: Widget](self, entry: W) -> W:
        log = self._log
        self._keep_up()
        log.mount(entry)
        if len(log.children) > KEPT:
            gone = [child for child in log.children[:_CUT] if child is not self._live]
            self._dropped += len(gone)
            log.remove_children(gone)
            note = f"… {self._dropped} earlier entries are in the run's journal"
            log.mount(Entry(Text(note, style_of(self, "dim"))), before=0)
        return entry

    def _keep_up(self) -> None:
        """Stay at the end while things come in, unless the user has scrolled up to read."""
        log = self._log
        if log.max_scroll_y - log.scroll_y <= 2:
            self._frames_to_end = _SETTLING

    def _stream(self, text: str, *, is_thinking: bool) -> None:
        if self._live is None or self._live.is_thinking != is_thinking:
            self._finish_live()
            self._live = self._add(Answer(is_thinking=is_thinking))
        self._live.append(text)
        self._is_dirty = True

    def _show_live(self) -> None:
        if self._frames_to_end:
            # A new entry has its height only after a layout or two.
            self._frames_to_end -= 1
            self._log.scroll_end(animate=False)
        if self._is_dirty and self._live is not None and self._live.is_mounted:
            self._is_dirty = False
            self._keep_up()
            self._live.refresh_live()

    def _finish_live(self) -> None:
        if self._live is not None:
            live, self._live = self._live, None
            self._keep_up()
            self.call_after_refresh(live.finish)

    # Typing

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Send the line; a half-typed command is completed first."""
        event.stop()
        text = event.value.strip()
        is_half = text.startswith("/") and " " not in text and not self._is_command(text)
        if is_half and self.complete():
            return
        self.input.remember(text)
        self.input.value = ""
        self._hide_completions()
        self.post_message(self.Typed(text))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer the commands that begin with what is typed."""
        event.stop()
        text = event.value
        if not text.startswith("/") or " " in text:
            self._hide_completions()
            return
        word = text.casefold()
        found = [c for c in self._commands if c[0].casefold().startswith(word)]
        found += [c for c in self._commands if word[1:] in c[0].casefold() and c not in found]
        listing = self.query_one("#completions", OptionList)
        listing.clear_options()
        for name, description in found[:40]:
            row = Text(harmless(name), style_of(self, "text"), no_wrap=True, overflow="ellipsis")
            row.append(f"  {shorten(harmless(description), 80)}", style_of(self, "muted"))
            listing.add_option(Option(row, id=name))
        listing.display = bool(found)
        listing.highlighted = 0 if found else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click on a completion takes it."""
        event.stop()
        self.complete()
        self.input.focus()

    def on_key(self, event: events.Key) -> None:
        """Typing while the log has the focus goes to the input line."""
        if event.character == "/" and self.app.focused is self._log:
            event.stop()
            self.input.focus()
            self.input.value = "/"
            self.input.cursor_position = 1

    def complete(self) -> bool:
        """Put the highlighted completion into the line; False where there is none."""
        listing = self.query_one("#completions", OptionList)
        option = listing.highlighted_option if listing.display else None
        if option is None or option.id is None:
            return False
        self.input.value = f"{option.id} "
        self.input.cursor_position = len(self.input.value)
        self._hide_completions()
        return True

    def move_in_completions(self, step: int) -> bool:
        """Move the highlight; False where no completions are shown."""
        listing = self.query_one("#completions", OptionList)
        if not listing.display or listing.highlighted is None:
            return False
        listing.highlighted = (listing.highlighted + step) % listing.option_count
        return True

    def _hide_completions(self) -> None:
        self.query_one("#completions", OptionList).display = False

    def _is_command(self, text: str) -> bool:
        return any(name == text for name, _ in self._commands)


PAUSE_KEYS: dict[str, tuple[tuple[str, str], ...]] = {
    "step": (("n", "send the prompt"), ("c", "continue"), ("1-9", "take a branch unasked")),
    "breakpoint": (("n", "run this node"), ("c", "continue"), ("1-9", "take a branch unasked")),
    "pause": (("n", "run this node"), ("c", "continue"), ("1-9", "take a branch unasked")),
    "run_to": (("n", "run this node"), ("c", "continue"), ("1-9", "take a branch unasked")),
    "answered": (("n", "take it"), ("1-9", "take another branch"), ("c", "continue")),
    "choice_failed": (("1-9", "choose the branch"), ("n", "ask again"), ("s", "stop")),
    "model_failed": (("n", "try again"), ("1-9", "choose without asking"), ("s", "stop")),
    "tool_rejected": (("n", "run this node again"), ("J", "go on from a node"), ("s", "stop")),
    "node_gone": (("J", "go on from the selected node"), ("s", "stop")),
    "max_moves": (("c", "allow as many again"), ("s", "stop")),
}
"""What each kind of pause offers, as key and meaning."""


def _brief(arguments: str) -> str:
    """The gist of a tool call's JSON arguments: the values, in order."""
    import json

    try:
        values: object = json.loads(arguments)
    except ValueError:
        return arguments
    if isinstance(values, dict):
        return " ".join(str(value) for value in values.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return arguments
