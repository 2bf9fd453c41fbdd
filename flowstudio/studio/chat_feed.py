"""From events to entries: what the chat shows of each thing that happens on the wire."""

from __future__ import annotations

from collections.abc import Sequence

from flowstudio.run.called_lines import describe_called
from flowstudio.studio.chat_answer import Answer
from flowstudio.studio.chat_entries import Entry, Fold, Said, Thinking, note
from flowstudio.studio.chat_lines import Line
from flowstudio.studio.chat_log import ChatLog
from flowstudio.studio.chat_tools import Call, finish_call
from flowstudio.studio.keymap import key_of
from flowstudio.studio.marks import GLYPHS
from flowstudio.studio.waiting import pause_offers
from flowstudio.text import duration, first_line, shorten
from flowstudio.wire import (
    ApprovalAsked,
    ApprovalGiven,
    Author,
    CalledFlowSaid,
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
    Thinking as Thinking_,
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
        self._live: Answer | Thinking | None = None
        self._tools: dict[str, Call] = {}
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

    def consume(self, event: Event) -> None:
        """Show one event."""
        match event.body:
            case TextPiece(text=text):
                self._stream(text, Answer)
                return
            case Thinking_(text=text):
                self._stream(text, Thinking)
                return
            case _:
                self._finish_live()
        match event.body:
            case RunStarted() as body:
                self._say_run(body)
            case NodeEntered(kind=kind, label=label):
                self._retries = 0
                self._say_visit(event.node or "", event.visit or 1, kind, label)
            case PromptSent(prompt=prompt, attempt=attempt):
                self._drop_pause()
                if event.node is None:
                    self._log.add(Said(prompt))
                elif self._visit is not None and attempt == 1:
                    self._visit.fill(prompt)
                    self._log.renew(self._visit)
            case ToolCalled(id=call, name=name, arguments=arguments):
                self._tools[call] = self._log.add(Call(name, arguments))
            case ToolReturned() as body:
                if (entry := self._tools.pop(body.id, None)) is not None:
                    finish_call(entry, body)
                    self._log.renew(entry)
            case ApprovalAsked() as body:
                self._say_request(body)
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
                sign, role = _verdict(reason == "reached_end")
                text = f"{sign} {message}, after {moves} moves"
                self._log.add(note(text, role, bar=role, above=1))
            case StepInterrupted(reason=reason):
                self._note(f"{GLYPHS['failed']} {reason}", "fault")
            case Compacted(before=before, after=after, summary=summary):
                line: Line = [(f"context summarised: {before} → {after} tokens", "muted")]
                self._log.add(Fold(line, body=summary))
            case DmailSent(origin=origin, checkpoint=checkpoint, message=message):
                line = [(f"D-Mail from checkpoint {origin} back to {checkpoint}", "muted")]
                self._log.add(Fold(line, body=message))
            case FlowReloaded(revision=revision):
                self._note(f"the flow's file changed: revision {revision} is in force", "muted")
            case CalledFlowSaid() as said if told := describe_called(said):
                self._note(told, "muted")
            case Notice(text=text, severity=severity):
                role = {"information": "text", "warning": "now", "error": "fault"}[severity]
                self._log.add(note(text, role), is_first_word=False)
            case _:
                pass

    def say_user(self, text: str) -> None:
        """Show what the user typed."""
        self._finish_live()
        self._log.add(Said(text))

    # Runs and visits

    def _say_run(self, body: RunStarted) -> None:
        name = [(f"{GLYPHS['running']} {body.flow}", "text bold")]
        lines: list[Line] = [[(one, "muted")] for one in body.input.strip().split("\n") if one]
        self._log.add(Entry(name, *lines, bar="muted", above=1, copied=body.input))

    def _say_visit(self, node: str, visit: int, kind: str, label: str) -> None:
        self._kind = kind
        if kind in ("begin", "end"):
            return
        name = f"{GLYPHS['flow']} {node}" if kind == "decision" else node
        title: Line = [(shorten(name, 24), "accent bold")]
        if visit > 1:
            title.append((f"  visit {visit}", "dim"))
        if first_line(label) != node:
            title.append((f"  {first_line(label)}", "text bold"))
        self._visit = self._log.add(Fold(title, body=label, bar="now", above=1, copied=label))

    def _end_visit(self) -> None:
        if self._visit is not None:
            self._colour_visit("accent" if self._visit.bar != "forced" else "forced")
            self._visit = None

    def _colour_visit(self, role: str) -> None:
        if self._visit is not None:
            self._visit.bar = role
            self._log.ask_frame()

    def _say_choice(self, body: ChoiceMade) -> None:
        if not body.forced:
            tries = f", try {self._retries + 1}" if self._retries else ""
            by = (f"   {_AUTHORS[body.by]}{tries}", "dim")
            self._log.add(Entry([(f"{GLYPHS['chosen']} ", "done"), (body.branch, "done bold"), by]))
            return
        self._colour_visit("forced")
        over = f", over the model’s “{shorten(body.over, 40)}”" if body.over else ""
        line: Line = [(f"{GLYPHS['forced']} ", "forced"), (body.branch, "forced bold")]
        self._log.add(Entry([*line, (f"   you{over}", "forced")]))

    # Waiting for the user

    def _say_pause(self, why: str, message: str) -> None:
        self._drop_pause()
        failed = why in ("model_failed", "choice_failed", "node_gone", "tool_rejected")
        lines: list[Line] = [
            [(f"{GLYPHS['paused']} paused  ", "now bold"), (message, "fault" if failed else "now")]
        ]
        offers = pause_offers(why, is_edited=False, has_branches=self._kind == "decision")
        for command, meaning in offers:
            lines.append([(f"{key_of(command):>4}  ", "accent bold"), (meaning, "muted")])
        self._pause = self._log.add(Entry(*lines, bar="now", above=1))

    def _ask(self, question: str, options: Sequence[str]) -> None:
        self._drop_pause()
        first, *more = question.split("\n")
        lines: list[Line] = [[(f"{GLYPHS['waiting']} ", "now bold"), (first, "now")]]
        lines += [[(one, "now")] for one in more]
        for number, option in enumerate(options, 1):
            lines.append([(f"{number:>4}  ", "accent bold"), (option, "text")])
        self._pause = self._log.add(Entry(*lines, bar="now", above=1, copied=question))

    def _drop_pause(self) -> None:
        if self._pause is not None:
            self._pause.is_gone = True
            self._log.renew(self._pause)
            self._pause = None

    def _say_request(self, asked: ApprovalAsked) -> None:
        from flowstudio.studio.chat_card import ApprovalCard

        if asked.diff:
            for entry in reversed(self._tools.values()):
                if entry.name == asked.tool:
                    entry.diff = asked.diff
                    break
        card = ApprovalCard(asked.id, asked.tool, asked.action, asked.description, asked.diff)
        self._log.show_below(card)

    def _say_approval(self, body: ApprovalGiven) -> None:
        self._log.settle_below(body.id)
        if body.verdict == "reject":
            self._note(f"{GLYPHS['forced']} refused {body.reason}".rstrip(), "forced")

    def _note(self, text: str, role: str) -> None:
        self._log.add(note(text, role))

    # What streams

    def _stream(self, text: str, kind: type[Answer | Thinking]) -> None:
        live = self._live
        if live is None or not isinstance(live, kind):
            self._finish_live()
            live = self._live = kind()
            live.is_live = True
            entries = self._log.stack.entries
            live.above = int(bool(entries) and isinstance(entries[-1], Said))
            self._log.add(live)
        live.append(text)
        if not self._is_dirty:
            self._is_dirty = True
            self._log.ask_frame()

    def _show_live(self) -> None:
        """Called once a frame: what has grown is laid out anew, what has become long is parted."""
        live = self._live
        if live is None or not self._is_dirty:
            return
        self._is_dirty = False
        self._part(live)

    def _part(self, live: Answer | Thinking) -> None:
        while isinstance(live, Answer) and (after := live.split()) is not None:
            live.is_live = False
            self._log.stack.renew(live)
            after.is_live = self._live is not None
            live = self._log.add(after)
            if self._live is not None:
                self._live = live
        self._log.stack.renew(live)

    def _finish_live(self) -> None:
        if self._live is not None:
            live, self._live = self._live, None
            self._is_dirty = False
            live.is_live = False
            self._part(live)
            self._log.ask_frame()


def _verdict(is_good: bool) -> tuple[str, str]:
    return (GLYPHS["done"], "done") if is_good else (GLYPHS["failed"], "fault")
