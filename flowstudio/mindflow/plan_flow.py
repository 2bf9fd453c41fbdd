"""A plan is a flow: BEGIN, a node for each skill, END; and a skill that holds it, as a file.

The file is what `flowstudio run` and the studio take, and what its user may edit: nothing in it is
known to the program only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from unicodedata import normalize

from flowstudio.flow import compile_flow, read_mermaid
from flowstudio.flow.convert import write_mermaid
from flowstudio.flow.model import Flow, FlowEdge, FlowNode
from flowstudio.flow.placeholder import PLACEHOLDER
from flowstudio.text import first_line, shorten

if TYPE_CHECKING:
    from flowstudio.mindflow.model import Library
    from flowstudio.mindflow.plan import Plan, Step

LONGEST_GOAL = 2_000
"""Characters of a goal that stand in the file."""
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_NOT_A_NAME = re.compile(r"[^\w-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")

_WORDS = {
    "en": {
        "use": "Use the skill {name}.",
        "what": "What it is for: {what}",
        "goal": "The goal of the whole: {goal}",
        "needs": "It needs: {states}. If that is missing, say so instead of going on.",
        "gives": "Afterwards this must hold: {states}.",
        "begin": "This was planned from the skills of the library:",
        "title": "A plan",
        "have": "To begin with, this must hold: {states}.",
        "miss": "No skill here brings this about: {states}.",
    },
    "zh": {
        "use": "用技能 {name}。",
        "what": "它做什么：{what}",
        "goal": "总的目标：{goal}",
        "needs": "它需要：{states}。缺了就直说，不要硬做。",
        "gives": "做完以后应当有：{states}。",
        "begin": "这是从技能库里规划出来的步骤：",
        "title": "计划",
        "have": "开始之前要有：{states}。",
        "miss": "这里没有技能能做到：{states}。",
    },
}


@dataclass(frozen=True, slots=True)
class PlannedSkill:
    """A plan as a skill: its name, the text of its SKILL.md, and the flow that is in it."""

    name: str
    text: str
    flow: Flow


def plan_skill(plan: Plan, library: Library, goal: str, name: str | None = None) -> PlannedSkill:
    """The skill that carries out a plan.

    Args:
        goal: what the user said, for the prompts; the language of the prompts is the goal's.
        name: what the skill is called; made of the goal if left out.
    """
    goal = clean(goal)[:LONGEST_GOAL]
    words = _WORDS["zh" if _CHINESE.search(goal) else "en"]
    name = clean(name) if name and clean(name) else name_plan(goal)
    # Read again from what is written, so that it is in truth the flow of the file.
    chart = read_mermaid(write_mermaid(_draft(plan, library, goal, words)))
    flow = compile_flow(chart)
    called = list(dict.fromkeys(step.skill.name for step in plan.steps))
    needs = [*sorted(plan.have & _needed(plan)), *plan.needs]
    fields = [
        ("name", quote(name)),
        ("description", quote(shorten(f"{words['title']}: {goal}", 300))),
        ("type", "flow"),
        ("preconditions", _listed(needs)),
        ("effects", _listed(list(plan.reached))),
        ("called_skills", _listed(called)),
    ]
    front = "\n".join(f"{key}: {value}" for key, value in fields)
    steps = [
        f"{number}. **{_plain(step.skill.name)}**: {_plain(_what_for(step, 160))}"
        for number, step in enumerate(plan.steps, 1)
    ]
    notes = [
        words[key].format(states=_mean(states, library))
        for key, states in (("have", needs), ("miss", [gap.state for gap in plan.gaps]))
        if states
    ]
    title = _plain(shorten(goal, 80)) or words["title"]
    text = "\n".join(
        [
            f"---\n{front}\n---\n",
            f"# {title}\n",
            *(f"{_plain(note)}\n" for note in notes),
            f"```mermaid\n{write_mermaid(flow)}```\n",
            f"{words['begin']}\n",
            *steps,
            "",
        ]
    )
    return PlannedSkill(name, text, flow)


def name_plan(goal: str) -> str:
    """A name for a plan: the first words of its goal, as a folder may be called."""
    words = _NOT_A_NAME.sub("-", normalize("NFKC", goal).casefold()).strip("-_")
    cut = words[:40]
    if len(words) > 40 and "-" in cut:
        cut = cut.rpartition("-")[0]
    return f"plan-{cut}".strip("-_")


def clean(text: str) -> str:
    """A text on one line, without control characters, with nothing in it that a run fills in."""
    flat = " ".join(_CONTROL.sub(" ", text).split())
    return PLACEHOLDER.sub(lambda found: f"({found[1] or found[2]})", flat)


def quote(text: str) -> str:
    """A YAML string in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _draft(plan: Plan, library: Library, goal: str, words: dict[str, str]) -> Flow:
    nodes = {"BEGIN": FlowNode("BEGIN", "BEGIN", "begin")}
    for number, step in enumerate(plan.steps, 1):
        node = f"step{number}"
        nodes[node] = FlowNode(node, _prompt(step, library, goal, words), "task")
    nodes["END"] = FlowNode("END", "END", "end")
    ids = list(nodes)
    outgoing: dict[str, list[FlowEdge]] = {one: [] for one in ids}
    for src, dst in pairwise(ids):
        outgoing[src] = [FlowEdge(src, dst, None)]
    return Flow(nodes, outgoing, "BEGIN", "END")


def _prompt(step: Step, library: Library, goal: str, words: dict[str, str]) -> str:
    skill = step.skill
    lines = [words["use"].format(name=clean(skill.name))]
    if what := _what_for(step, 240):
        lines.append(words["what"].format(what=what))
    lines.append(words["goal"].format(goal=goal))
    if skill.preconditions:
        lines.append(words["needs"].format(states=_mean(skill.preconditions, library)))
    if step.provides:
        lines.append(words["gives"].format(states=_mean(step.provides, library)))
    return "\n".join(lines)


def _what_for(step: Step, length: int) -> str:
    return shorten(clean(first_line(step.skill.description)), length)


def _needed(plan: Plan) -> frozenset[str]:
    return frozenset(state for step in plan.steps for state in step.skill.preconditions)


def _mean(states: list[str] | tuple[str, ...], library: Library) -> str:
    """States with what they mean."""
    rows = [(clean(one), clean(library.states.get(one, ""))) for one in states]
    return "; ".join(f"{one} ({shorten(what, 120)})" if what else one for one, what in rows)


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(quote(clean(name)) for name in names) + "]"


def _plain(text: str) -> str:
    """A line of text in which nothing is Markdown that matters: no fence, no heading."""
    return text.replace("`", "'").lstrip("#>-*~= ")
