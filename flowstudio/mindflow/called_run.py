"""One called skill: the tool that runs it, in a conversation of its own.

A standard skill is one turn; a flow is run node by node. Either has the caller's tools as far as
both may use them, and the skills that it may call itself. How it ended is kept in the user's data,
and what it brings about holds afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from kosong.chat_provider import ChatProviderError
from kosong.tooling import Tool, ToolError, ToolOk, ToolReturnValue
from pydantic import BaseModel, Field, ValidationError

from flowstudio.mindflow.called_state import SkillSession, SkillUse
from flowstudio.mindflow.called_wire import forward
from flowstudio.mindflow.called_words import (
    PREFIX,
    bounded,
    describe_tool,
    explain_missing,
    name_tool,
    prompt_of,
    read_outcome,
    request_of,
    system_prompt,
)
from flowstudio.mindflow.library import read_planning
from flowstudio.models.errors import ModelError, explain_error
from flowstudio.models.hint import turn_hint
from flowstudio.skill.rules import HARMLESS, read_rules
from flowstudio.skill.skill import fold_name
from flowstudio.soul import (
    Agent,
    Context,
    DenwaRenji,
    KimiSoul,
    MaxStepsReached,
    NeedsUser,
    StudioToolset,
    TurnRules,
)
from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.emit import WireFailure
from flowstudio.soul.tools.ask_user import UnansweredError
from flowstudio.soul.toolset import explain_wrong
from flowstudio.soul.undo import UndoLog
from flowstudio.text import shorten

if TYPE_CHECKING:
    from flowstudio.mindflow.model import LibrarySkill
    from flowstudio.mindflow.usage import Outcome
    from flowstudio.skill import Skill
    from flowstudio.soul.toolset import AgentTool

DEEPEST = 4
"""How deep skills may call each other."""
_MOST_STEPS = 30
"""Nodes of a called flow that its caller is told of."""
_OWN_TOOLS = frozenset({"SendDMail", "submit_answer"})
"""Tools that act on the conversation or the turn of whoever has them: a called skill has none."""


class SkillCall(BaseModel):
    """Arguments of a called skill."""

    request: str = Field(min_length=1, description="What it is to do, with all it needs to know.")
    data: str = Field(default="", description="Data for it, or the paths of files that hold it.")
    have: list[str] = Field(
        default_factory=list[str],
        description="States that hold now although no skill brought them about.",
    )


class FlowCall(SkillCall):
    """Arguments of a called skill that is a flow."""

    variables: dict[str, str] = Field(
        default_factory=dict[str, str], description="Values for the {{name}} in its prompts."
    )


@dataclass(frozen=True, slots=True)
class Caller:
    """Who may call: a skill that runs, its soul, and those that called it."""

    planned: LibrarySkill
    soul: KimiSoul
    use: SkillUse
    """The outermost skill's: what is done and what failed is summed up there."""
    stack: tuple[str, ...]
    """The folded names of the skills that run, the outermost first, its own last."""


@dataclass(frozen=True, slots=True)
class _End:
    """How a called skill ended."""

    outcome: Outcome
    answer: str
    why: str = ""
    steps: str = ""
    ends: Literal["", "rejected"] = ""
    """`rejected`: the user refused a tool, which ends the caller's turn too."""


def offer_tools(session: SkillSession, caller: Caller) -> list[AgentTool]:
    """A tool for each skill that `caller` may call; none for those that called it."""
    if len(caller.stack) > DEEPEST:
        return []
    skills = session.skills
    tools: dict[str, AgentTool] = {}
    for name in caller.planned.called_skills:
        skill = skills.get(fold_name(name))
        if skill is not None and fold_name(name) not in caller.stack:
            tools.setdefault(name_tool(skill.name), SkillTool(session, skill, caller))
    return list(tools.values())


class SkillTool:
    """The tool that runs one called skill."""

    def __init__(self, session: SkillSession, skill: Skill, caller: Caller) -> None:
        self._session = session
        self._skill = skill
        self._caller = caller
        self._planned = read_planning(skill)[0]
        self._is_flow = skill.type == "flow" and session.play is not None
        self._arguments = FlowCall if self._is_flow else SkillCall
        self._base = Tool(
            name=name_tool(skill.name),
            description=describe_tool(skill, self._planned, is_flow=self._is_flow),
            parameters=self._arguments.model_json_schema(),
        )

    @property
    def base(self) -> Tool:
        """What the model is told of it."""
        return self._base

    async def call(self, arguments: Any, /) -> ToolReturnValue:
        """Check the arguments and run the skill."""
        try:
            call = self._arguments.model_validate(arguments)
        except ValidationError as error:
            return explain_wrong(error)
        return await self._run(call)

    async def _run(self, call: SkillCall) -> ToolReturnValue:
        """Run the skill, if it may run now, and give its answer."""
        session, skill = self._session, self._skill
        why_not = session.runtime.why_no_skill
        if why_not is not None and (why := why_not(skill)):
            return self._fail(why)
        session.states.update(call.have)
        needed = self._planned.preconditions
        if missing := [one for one in needed if one not in session.states]:
            return ToolError(
                message=explain_missing(skill.name, missing, self._caller.planned, session.skills),
                brief=f"needs {', '.join(missing)}",
            )
        try:
            text = skill.path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            return self._fail(f"its file cannot be read: {error}")
        began = time.monotonic()
        own = self._open_soul(text)
        hint = turn_hint.set(None)  # the node's question is not the called skill's
        try:
            end = await (self._play(own, call) if self._is_flow else self._turn(own, text, call))
        except NeedsUser as needs:
            return UnansweredError(needs)
        except WireFailure:
            raise
        except (ChatProviderError, ModelError, MaxStepsReached) as error:
            why = str(error) if isinstance(error, MaxStepsReached) else explain_error(error)
            end = _End("failed", own.partial_text, why)
        except Exception as error:
            # What else ends a turn is a consumer of the wire: it must end the caller's, too.
            raise WireFailure(error) from error
        except BaseException:
            # The caller was stopped, and this with it.
            self._note(_End("partial", "", "interrupted"), began)
            raise
        finally:
            turn_hint.reset(hint)
        self._note(end, began)
        return self._give(end)

    async def _turn(self, own: KimiSoul, text: str, call: SkillCall) -> _End:
        """A standard skill: one turn."""
        result = await own.turn(prompt_of(self._skill, text, call))
        if result.rejected:
            return _End("partial", "", "a tool was rejected", ends="rejected")
        outcome, answer = read_outcome(result.answer_text)
        return _End(outcome, answer, "" if outcome == "done" else answer)

    async def _play(self, own: KimiSoul, call: SkillCall) -> _End:
        """A flow: its own run, node by node, from BEGIN to its end."""
        assert self._session.play is not None
        variables: Mapping[str, str] = call.variables if isinstance(call, FlowCall) else {}
        end = await self._session.play(own, self._skill, request_of(call), variables)
        shown = end.steps[-_MOST_STEPS:]
        steps = " → ".join(["…", *shown] if len(shown) < len(end.steps) else shown)
        outcome, answer = read_outcome(end.answer)
        match end.reason:
            case "reached_end":
                return _End(outcome, answer, "" if outcome == "done" else answer, steps)
            case "tool_rejected":
                return _End("partial", answer, "a tool was rejected", steps, "rejected")
            case "needs_user" if end.needs is not None:
                raise end.needs
            case _:
                return _End("failed", answer, end.message, steps)

    def _give(self, end: _End) -> ToolReturnValue:
        """The result that the caller's model reads."""
        name, use = self._skill.name, self._caller.use
        if end.ends == "rejected":
            return ToolRejectedError(f"(in the skill {name})")
        went = f"It went {end.steps}." if end.steps else ""
        if end.outcome == "failed":
            return self._fail(shorten(end.why, 300), end.answer, went)
        if end.outcome == "done":
            self._session.states.update(self._planned.effects)
            use.done.append(name)
            effects = ", ".join(self._planned.effects)
            said = [one for one in (went, f"Now holds: {effects}." if effects else "") if one]
            return ToolOk(
                output=bounded(end.answer), message=" ".join(said), brief=shorten(end.answer, 60)
            )
        use.failed.append((name, f"only a part could be done: {shorten(end.answer, 200)}"))
        said = "Only a part could be done; what is above is what there is."
        return ToolOk(
            output=bounded(end.answer), message=f"{said} {went}".strip(), brief="a part is done"
        )

    def _fail(self, why: str, partly: str = "", went: str = "") -> ToolError:
        """One failed skill does not fail the task: the caller is told, and goes on."""
        name = self._skill.name
        self._caller.use.failed.append((name, why))
        said = [f"The skill {name} failed: {why}", went, "Go on with what can be done without it."]
        return ToolError(
            output=bounded(partly),
            message="\n".join(one for one in said if one),
            brief=f"{name} failed",
        )

    def _note(self, end: _End, began: float) -> None:
        seconds = time.monotonic() - began
        soul = self._caller.soul
        self._session.note(soul, self._skill.name, end.outcome, end.why, seconds)

    def _open_soul(self, text: str) -> KimiSoul:
        """A soul for the called skill: its own conversation, the caller's tools as far as both may
        use them, and the skills that it may call itself."""
        session, skill, caller = self._session, self._skill, self._caller
        call = f"{name_tool(skill.name)}-{session.next_call()}"
        runtime = replace(
            caller.soul.runtime,
            wire=forward(caller.soul.wire, call, skill.name),
            denwa_renji=DenwaRenji(),
            # The tools note what they write in the caller's log, at the caller's position.
            undo=UndoLog(),
        )
        allowed = read_rules(skill.path, text).allowed
        rules = TurnRules(None if allowed is None else allowed | HARMLESS)
        outer = _rules_now(caller.soul)
        toolset = StudioToolset()
        if isinstance(caller.soul.agent.toolset, StudioToolset):
            for tool in caller.soul.agent.toolset.all:
                name = tool.base.name
                own = name.startswith(PREFIX) or name in _OWN_TOOLS
                if not own and rules.allows(name) and outer.allows(name):
                    toolset.add(tool)
        prompt = system_prompt(runtime.work_dir, is_flow=self._is_flow)
        made = KimiSoul(Agent(skill.name, prompt, toolset), runtime, context=Context())
        inner = Caller(self._planned, made, caller.use, (*caller.stack, fold_name(skill.name)))
        for tool in offer_tools(session, inner):
            toolset.add(tool)
        return made


def _rules_now(soul: KimiSoul) -> TurnRules:
    """What the caller's turn may use."""
    hint = turn_hint.get()
    if soul.find_rules is None or hint is None or hint.node is None:
        return TurnRules()
    return soul.find_rules(hint.node)
