"""From events to entries: what the chat shows of each thing that happens on the wire."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.widget import Widget
from textual.widgets import Input

from flowstudio.studio.chat_entries import Answer, ApprovalCard, Entry, Fold
from flowstudio.studio.chat_log import ChatLog
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
    Text as TextPiece,
    Thinking,
    ToolCalled,
    ToolReturned,
    UserAnswered,
    UserAsked,
)

_AUTHORS: dict[Author, str] = {
    "model": "model",
    "user": "you",
    "script": "script",
    "seed": "by chance",
    "replay": "replay",
    "only-exit": "",
}


class ChatFeed:
    """Consumes the wire, and fills a `ChatLog`."""

    def __init__(self, log: ChatLog) -> None:
        self._log = log
        self._live: Answer | None = None
        self._tools: dict[str, Fold] = {}
        self._pause: Entry | None = None
        self._visit: Fold | None = None
        self._kind = ""
        self._retries = 0
        self._is_dirty = False
        log.on_frame.append(self._show_live)

    def forget(self) -> None:
        """Empty the log."""
        self._finish_live()
        self._log.forget()
        self._tools.clear()
        self._pause = self._visit = None

    def _style(self, *roles: str) -> Style:
        return Style.combine(style_of(self._log, role) for role in roles)

    def _add[W: Widget](self, entry: W) -> W:
        return self._log.add(entry)

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
                title = Text(f"{GLYPHS['tool']} {harmless(name)} ", self._style("muted"))
                title.append(shorten(harmless(_brief(arguments)), 60), self._style("text"))
                self._tools[call] = self._add(Fold(title, arguments, classes="tool"))
            case ToolReturned() as body:
                self._say_tool_result(body)
            case ApprovalAsked() as asked:
                card = self._add(
                    ApprovalCard(asked.id, asked.tool, asked.action, asked.description, asked.diff)
                )
                if not isinstance(self._log.app.focused, Input):
                    self._log.call_after_refresh(card.focus)
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
            case NodeLeft():
                self._drop_pause()
                self._end_visit()
            case RunResumed():
                self._drop_pause()
            case RunEnded(reason=reason, message=message, moves=moves):
                self._drop_pause()
                self._end_visit()
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
            self._add(Entry(Text(harmless(body.input), self._style("muted")), classes="note"))

    def _say_visit(self, node: str, visit: int, kind: str, label: str) -> None:
        self._kind = kind
        if kind in ("begin", "end"):
            return
        name = f"{GLYPHS['flow']} {node}" if kind == "decision" else node
        title = Text(no_wrap=True, overflow="ellipsis")
        title.append(harmless(shorten(name, 24)), self._style("accent", "bold"))
        if visit > 1:
            title.append(f"  visit {visit}", self._style("dim"))
        if first_line(label) != node:
            title.append(f"  {harmless(first_line(label))}", self._style("bold"))
        self._visit = self._add(Fold(title, label, classes="visit -now"))

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
        entry.summary.append(f"  {sign} ", self._style(role))
        entry.summary.append(duration(body.seconds), self._style("dim"))
        if body.brief:
            brief = shorten(harmless(body.brief), 70)
            entry.summary.append(f"\n  {brief}", self._style("dim" if body.ok else "fault"))
        entry.body = f"{entry.body}\n\n{body.output}".strip()
        entry.redraw()

    def _say_approval(self, body: ApprovalGiven) -> None:
        for card in self._log.query(ApprovalCard):
            if card.request == body.id:
                had_focus = card.has_focus_within
                card.remove()
                if had_focus:
                    self._log.post_message(ChatLog.Settled())
        if body.verdict == "reject":
            self._note(f"{GLYPHS['forced']} refused {body.reason}".rstrip(), "forced")

    def _say_choice(self, body: ChoiceMade) -> None:
        forced = body.forced
        if self._visit is not None:
            self._visit.set_class(forced, "-forced")
        text = Text()
        taken = self._style("forced" if forced else "done")
        text.append(GLYPHS["forced" if forced else "chosen"] + " ", taken)
        text.append(harmless(body.branch), taken + self._style("bold"))
        if forced:
            over = f", over the model’s “{shorten(harmless(body.over), 40)}”" if body.over else ""
            text.append(f"   you{over}", self._style("forced"))
        else:
            tries = f", try {self._retries + 1}" if self._retries else ""
            text.append(f"   {_AUTHORS[body.by]}{tries}", self._style("dim"))
        self._add(Entry(text, classes="tool"))

    def _say_pause(self, why: str, message: str) -> None:
        self._drop_pause()
        failed = why in ("model_failed", "choice_failed", "node_gone", "tool_rejected")
        text = Text()
        now = self._style("now", "bold")
        text.append(f"{GLYPHS['paused']} paused  ", now)
        text.append(harmless(message), self._style("fault" if failed else "now"))
        for key, meaning in PAUSE_KEYS.get(why, ()):
            if key == "1-9" and self._kind != "decision":
                continue
            text.append(f"\n  {key:>3} ", self._style("accent", "bold"))
            text.append(meaning, self._style("muted"))
        self._pause = self._add(Entry(text, classes="pause"))

    def _ask(self, question: str, options: Sequence[str]) -> None:
        self._drop_pause()
        text = Text()
        text.append(f"{GLYPHS['waiting']} ", self._style("now", "bold"))
        text.append(harmless(question), self._style("now"))
        for number, option in enumerate(options, 1):
            text.append(f"\n  {number} ", self._style("accent", "bold"))
            text.append(harmless(option), self._style("text"))
        self._pause = self._add(Entry(text, classes="pause"))

    def _note(self, text: str, role: str, classes: str = "tool") -> None:
        self._add(Entry(Text(harmless(text), self._style(role)), classes=classes))

    def _end_visit(self) -> None:
        if self._visit is not None:
            self._visit.remove_class("-now")
            self._visit = None

    def _drop_pause(self) -> None:
        if self._pause is not None:
            self._pause.remove()
            self._pause = None

    def _stream(self, text: str, *, is_thinking: bool) -> None:
        if self._live is None or self._live.is_thinking != is_thinking:
            self._finish_live()
            self._live = self._log.live = self._add(Answer(is_thinking=is_thinking))
        self._live.append(text)
        self._is_dirty = True
        while (after := self._live.split()) is not None:
            self._log.call_after_refresh(self._live.finish)
            self._live = self._log.live = self._add(after)

    def _show_live(self) -> None:
        if self._is_dirty and self._live is not None and self._live.is_mounted:
            self._is_dirty = False
            self._log.keep_up()
            self._live.refresh_live()

    def _finish_live(self) -> None:
        if self._live is not None:
            live, self._live = self._live, None
            self._log.live = None
            self._log.keep_up()
            self._log.call_after_refresh(live.finish)


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
    "no_progress": (("c", "let it go on"), ("1-9", "take a branch"), ("e", "edit the prompt")),
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
