"""One turn with an agent: from a prompt to the answer that calls no tool any more.

Seeded by the design "KimiSoul": `run` checks the model and appends the prompt, `_agent_loop` makes
steps until one ends the turn, `_step` is one call to the model with its retries and tools. kosong
makes the call (`kosong.step`) and neither loops nor retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kosong.chat_provider import ChatProviderError
from kosong.message import ContentPart, Message

from flowstudio.models.build import build_model
from flowstudio.models.errors import explain_error
from flowstudio.models.hint import turn_hint
from flowstudio.models.registry import find_model, list_models
from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.caller import ModelCaller
from flowstudio.soul.commands import list_own_commands, list_skill_commands
from flowstudio.soul.compaction import SimpleCompaction
from flowstudio.soul.dispatch import Dispatcher
from flowstudio.soul.errors import (
    BackToTheFuture,
    LLMNotSet,
    LLMNotSupported,
    MaxStepsReached,
)
from flowstudio.soul.hooks import ToolHook, make_default_hooks
from flowstudio.soul.messages import (
    as_parts,
    has_picture,
    interrupted_answer,
    system_message,
    tool_message,
)
from flowstudio.soul.protocol import StatusSnapshot, TurnResult
from flowstudio.soul.rules import NO_RULES, TurnRules
from flowstudio.soul.slash import CommandTable, SlashCommand, parse_command
from flowstudio.soul.tools.ask_user import UnansweredError
from flowstudio.wire import (
    Compacted,
    DmailSent,
    Notice,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    Wire,
)

if TYPE_CHECKING:
    from kosong.chat_provider import TokenUsage
    from kosong.tooling import ToolResult

    from flowstudio.models.llm import LLM, Capability
    from flowstudio.soul.agent import Agent, Runtime
    from flowstudio.soul.context import Context
    from flowstudio.soul.protocol import Soul

    def _is_soul(soul: KimiSoul) -> Soul:  # pyright: ignore[reportUnusedFunction]
        return soul


RESERVED_TOKENS = 50_000
"""Tokens kept free for the next step; half the window where the model's is smaller than twice
that."""

SUBMIT = "submit_answer"
"""The tool whose accepted result ends the turn."""

type UserInput = str | list[ContentPart]


@dataclass(slots=True)
class _Turn:
    """What a turn has come to so far."""

    steps: int = 0
    tokens: int = 0
    message: Message | None = None
    rejected: bool = False
    submitted: str | None = None

    def finish(self) -> TurnResult:
        text = self.message.extract_text() if self.message else ""
        if self.submitted is not None:
            text = f"{text}\n\n{self.submitted}" if text.strip() else self.submitted
        return TurnResult(
            message=self.message,
            answer_text=text,
            rejected=self.rejected,
            submitted=self.submitted is not None,
            steps=self.steps,
            tokens=self.tokens,
        )


class KimiSoul:
    """An agent with a context, that takes prompts and slash commands.

    One prompt at a time: a front end that has a turn running cancels its task before it starts
    another. Cancelling leaves a context that the next turn can go on from.
    """

    def __init__(self, agent: Agent, runtime: Runtime, *, context: Context) -> None:
        self.agent = agent
        self.runtime = runtime
        self._context = context
        self._caller = ModelCaller(runtime)
        self._compaction = SimpleCompaction()
        self._dispatcher = Dispatcher(agent.toolset, runtime.wire, runtime.secrets)
        self._hooks: Sequence[ToolHook] = make_default_hooks(
            disable_curl_tip=runtime.disable_curl_tip
        )
        self._checkpoint_with_user_message = any(
            tool.name == "SendDMail" for tool in agent.toolset.tools
        )
        self._sources: list[Callable[[], Iterable[SlashCommand]]] = []
        self._commands = CommandTable(())
        self._is_busy = False
        self.last_turn: TurnResult | None = None
        """How the last turn ended; None before the first, and after one that an error ended."""
        self.take_prompt: Callable[[UserInput], Awaitable[bool]] | None = None
        """Where a higher room may take a plain prompt over (a Ralph loop); True: it did."""
        self.find_rules: Callable[[str], TurnRules] | None = None
        """Where a higher room says what the turns of a node (by its id) may use."""
        self._models: dict[str, LLM] = {}
        """Models that a turn named, ready to answer."""
        self.rebuild_slash_commands()

    # What a front end shows

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def llm(self) -> LLM | None:
        """The model in force."""
        return self.runtime.llm

    @property
    def model_name(self) -> str:
        """The server's name of the model; empty without one."""
        return self.llm.model if self.llm else ""

    @property
    def model_capabilities(self) -> frozenset[Capability] | None:
        """What the model can do beyond text; None without a model."""
        return self.llm.capabilities if self.llm else None

    @property
    def thinking(self) -> bool:
        """True where the model was told to think before it answers."""
        return self._caller.thinking

    @property
    def wire(self) -> Wire:
        """Where all that happens is said."""
        return self.runtime.wire

    @property
    def context(self) -> Context:
        """The conversation."""
        return self._context

    @property
    def partial_text(self) -> str:
        """The answer that is coming, or that was cut, as far as it came."""
        return self._caller.partial_text

    @property
    def status(self) -> StatusSnapshot:
        """How full the context is."""
        tokens = self._context.token_count
        size = self.llm.context_size if self.llm else None
        return StatusSnapshot(min(1.0, tokens / size) if size else 0.0, tokens, size)

    @property
    def available_slash_commands(self) -> Sequence[SlashCommand]:
        """This soul's commands: its own, the skills', then those of higher rooms."""
        return self._commands.commands

    def notify(
        self, text: str, severity: Literal["information", "warning", "error"] = "information"
    ) -> None:
        """Tell the user something that is no model's answer."""
        self.wire.emit(Notice(text, severity))

    # What may be changed between turns

    def set_model(self, llm: LLM | None) -> None:
        """Let another model answer from the next call on."""
        self._caller.set_model(llm)

    def set_thinking(self, enabled: bool) -> None:
        """Tell the model to think before it answers, or not to.

        Raises:
            LLMNotSet: there is no model.
            LLMNotSupported: it cannot think.
        """
        self._caller.set_thinking(enabled)

    def add_commands(self, source: Callable[[], Iterable[SlashCommand]]) -> None:
        """Add a source of commands (a higher room's `/flow:NAME`); it is asked at each rebuild."""
        self._sources.append(source)
        self.rebuild_slash_commands()

    def rebuild_slash_commands(self) -> None:
        """Make the table of commands anew: the skills have changed."""
        commands = [*list_own_commands(), *list_skill_commands(self.runtime.skills)]
        for source in self._sources:
            commands.extend(source())
        self._commands = CommandTable(commands)

    def clear(self) -> None:
        """Forget the conversation."""
        self._context.clear()
        self._say_status()

    # Prompts

    async def run(self, user_input: UserInput) -> TurnResult | None:
        """Take what the user typed: a slash command, or a prompt.

        Returns:
            How the turn ended; None where it was a command, or a higher room took it.

        Raises:
            what `turn` raises.
        """
        if isinstance(user_input, str) and (command := parse_command(user_input)):
            name, args = command
            found = self._commands.find(name)
            if found is None:
                self.notify(self._commands.explain_unknown(name), "error")
                return None
            try:
                await found.func(self, args)
            except (LLMNotSet, LLMNotSupported) as error:
                self.notify(str(error), "error")
            return None
        if self.take_prompt is not None and await self.take_prompt(user_input):
            return None
        return await self.turn(user_input)

    async def turn(self, user_input: UserInput) -> TurnResult:
        """Take a prompt as it is, a leading slash and all, until the agent calls no tool any more.

        Raises:
            LLMNotSet: no model is chosen.
            LLMNotSupported: the prompt holds a picture and the model cannot see.
            ChatProviderError: the model failed, after all retries.
            MaxStepsReached: the turn came to no end.
            NeedsUser: the agent asked the user something, and nobody is there.
            ModelError: the model that the node names cannot be used.
            RuntimeError: a turn is on already.
        """
        if self._is_busy:
            raise RuntimeError("a turn is on already")
        self._is_busy = True
        try:
            self.last_turn = None
            rules = self._rules_now()
            llm = await self._choose_model(rules)
            if has_picture(user_input) and "image" not in llm.capabilities:
                raise LLMNotSupported(llm.name, "image")
            self._checkpoint()
            self._context.append_message(Message(role="user", content=as_parts(user_input)))
            self.runtime.undo.position = lambda: self._context.position
            self._dispatcher.rules = rules
            with self._caller.using(llm if llm is not self.llm else None):
                self.last_turn = await self._agent_loop()
        finally:
            self._dispatcher.rules = NO_RULES
            self._is_busy = False
        return self.last_turn

    def _rules_now(self) -> TurnRules:
        """What the present turn may use: the node's rules in a run, none in a conversation."""
        hint = turn_hint.get()
        if self.find_rules is None or hint is None or hint.node is None:
            return NO_RULES
        return self.find_rules(hint.node)

    async def _choose_model(self, rules: TurnRules) -> LLM:
        """The model that answers the turn. In a rehearsal that is always the rehearsal."""
        if self.llm is None:
            raise LLMNotSet
        name = rules.model
        if name is None or name == self.llm.name or self.llm.answers_as != "model":
            return self.llm
        if name not in self._models:
            config = self.runtime.config
            self._models[name] = await build_model(find_model(list_models(config), name), config)
        return self._models[name]

    async def compact_context(self) -> bool:
        """Replace the older part of the conversation by a summary.

        False where it is too short, or where something was said while the model summarised.

        Whatever goes wrong, the context is as it was.

        Raises:
            LLMNotSet: no model is chosen.
            ChatProviderError: the model failed, after all retries.
        """
        before = self._context.token_count
        position = self._context.position
        compacted = await self._compaction.compact(self._context.history, self._caller.ask)
        if compacted is None or self._context.position != position:
            # Too short, or something was said meanwhile that the summary does not hold.
            return False
        self._begin_again(0, compacted.messages)
        self.wire.emit(
            Compacted(
                before,
                self._context.token_count,
                compacted.summary,
                tuple(_brief(message) for message in compacted.messages[1:]),
            )
        )
        self._say_status()
        return True

    # The loop

    async def _agent_loop(self) -> TurnResult:
        turn = _Turn()
        while True:
            if turn.steps == self.runtime.config.loop.max_steps_per_run:
                raise MaxStepsReached(turn.steps)
            turn.steps += 1
            self.wire.emit(StepBegan(turn.steps))
            self._caller.forget_partial()
            try:
                await self._make_room()
                self._checkpoint()
                self.runtime.denwa_renji.set_n_checkpoints(self._context.n_checkpoints)
                if await self._step(turn):
                    return turn.finish()
            except BackToTheFuture as back:
                self._begin_again(back.checkpoint_id, back.messages)
            except ChatProviderError as error:
                self.wire.emit(StepInterrupted(explain_error(error), self.partial_text))
                raise
            except asyncio.CancelledError:
                self.wire.emit(StepInterrupted("interrupted by the user", self.partial_text))
                raise

    async def _step(self, turn: _Turn) -> bool:
        """One call to the model and the tools that it asks for. True where the turn is over."""
        try:
            result = await self._caller.step(
                self.agent.system_prompt, self._dispatcher, self._context.history
            )
        except asyncio.CancelledError:
            self._context.append_message(interrupted_answer(self._caller.partial_text))
            raise
        turn.tokens += result.usage.total if result.usage else 0
        turn.message = result.message
        try:
            results = await self._dispatcher.run()
        except asyncio.CancelledError:
            self._grow_context(result.message, result.usage, self._dispatcher.results)
            self.runtime.denwa_renji.fetch_pending_dmail()
            raise
        self._grow_context(result.message, result.usage, results)

        values = {one.tool_call_id: one.return_value for one in results}
        for call in self._dispatcher.calls:
            if call.function.name == SUBMIT and not values[call.id].is_error:
                output = values[call.id].output
                turn.submitted = output if isinstance(output, str) else ""
        turn.rejected = any(isinstance(value, ToolRejectedError) for value in values.values())
        dmail = self.runtime.denwa_renji.fetch_pending_dmail()
        for value in values.values():
            if isinstance(value, UnansweredError):
                raise value.needs
        if turn.submitted is not None or turn.rejected:
            return True
        if dmail is not None:
            origin = self._context.n_checkpoints - 1
            self.wire.emit(DmailSent(dmail.message, origin, dmail.checkpoint_id))
            raise BackToTheFuture(dmail.checkpoint_id, [_read_dmail(dmail.message)])
        return not values

    # The context

    def _checkpoint(self) -> None:
        self._context.checkpoint(add_user_message=self._checkpoint_with_user_message)

    def _begin_again(self, checkpoint_id: int, messages: Sequence[Message]) -> None:
        self._context.begin_again(
            checkpoint_id, messages, add_user_message=self._checkpoint_with_user_message
        )

    def _grow_context(
        self, answer: Message, usage: TokenUsage | None, results: Sequence[ToolResult]
    ) -> None:
        """Add an answer and all its tool results at once: nothing waits here, nothing is
        cancelled."""
        messages: list[Message] = []
        for call, result in zip(self._dispatcher.calls, results, strict=True):
            message = tool_message(result)
            for hook in self._hooks:
                message = hook(call, result, message)
            messages.append(message)
        self._context.append_step(answer, messages, usage.total if usage else None)
        self._say_status()

    async def _make_room(self) -> None:
        """Compact the context where the next step might not fit. If that fails, go on as it is."""
        size = self._caller.llm.context_size if self._caller.llm else None
        if size is None:
            return
        if self._context.token_count + min(RESERVED_TOKENS, size // 2) < size:
            return
        try:
            await self.compact_context()
        except ChatProviderError as error:
            self.notify(
                f"The conversation could not be summarised. {explain_error(error)}", "warning"
            )

    def _say_status(self) -> None:
        status = self.status
        self.wire.emit(StatusChanged(status.tokens, round(status.context_usage, 4)))


def _brief(message: Message) -> str:
    """A message in a line: who said it, and how it begins."""
    text = " ".join(message.extract_text().split())
    called = ", ".join(call.function.name for call in message.tool_calls or ())
    return f"{message.role}: {text or called}"[:120]


def _read_dmail(message: str) -> Message:
    return system_message(
        "You just received a D-Mail from your future self. What it tells is true; the user does "
        f"not know of it, so do not mention it. Go on from here with what it says:\n\n{message}"
    )
