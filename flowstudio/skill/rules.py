"""What a skill's front matter says about tools and models: `allowed-tools`, and `nodes`.

allowed-tools: [ReadFile, Grep]
nodes:
  check: {model: cheap, tools: [ReadFile]}
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.source import Source
from flowstudio.skill import codes
from flowstudio.skill.document import Document, read_yaml
from flowstudio.skill.front import find_front

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.flow.model import Span

TOOLS = (
    "Shell",
    "ReadFile",
    "WriteFile",
    "StrReplaceFile",
    "Glob",
    "Grep",
    "SetTodoList",
    "Think",
    "AskUser",
    "SendDMail",
    "submit_answer",
)
"""The studio's tools."""
HARMLESS = frozenset({"AskUser", "Think", "SetTodoList", "SendDMail", "submit_answer"})
"""Those that touch nothing outside the conversation: `allowed-tools` never takes them away."""
CALLED = "skill__*"
"""The tools that run the skills of `called_skills`: that field allows them, so `allowed-tools` does
not take them away."""
OTHER_NAMES: Mapping[str, str] = {
    "Bash": "Shell",
    "Read": "ReadFile",
    "Write": "WriteFile",
    "Edit": "StrReplaceFile",
    "MultiEdit": "StrReplaceFile",
    "LS": "Glob",
    "TodoWrite": "SetTodoList",
    "AskUserQuestion": "AskUser",
}
"""What other programs call the same tools."""

_WORD = re.compile(r"[^\s,()]+(?:\([^()]*\))?")
_SERVER_TOOL = re.compile(r"(?:mcp__)?([A-Za-z0-9_-]+__[\w*-]+)")


@dataclass(frozen=True, slots=True)
class NodeRules:
    """What `nodes` says of one node."""

    model: str | None = None
    """The model that answers its prompts; None: the session's."""
    tools: frozenset[str] | None = None
    """The tools that it has, these and no others; None: those of the skill."""


@dataclass(frozen=True, slots=True)
class FlowRules:
    """What a skill says of its tools and models."""

    allowed: frozenset[str] | None = None
    """The tools that its nodes may use; None: all."""
    nodes: Mapping[str, NodeRules] = field(default_factory=dict[str, NodeRules])

    @property
    def models(self) -> frozenset[str]:
        """The models that are named."""
        return frozenset(one.model for one in self.nodes.values() if one.model)

    def of(self, node: str) -> NodeRules:
        """What holds for a node: its own tools, as far as the skill may use them."""
        own = self.nodes.get(node, _NONE)
        if self.allowed is None:
            return own
        allowed = self.allowed | HARMLESS | {CALLED}
        if own.tools is None:
            return NodeRules(own.model, allowed)
        called = {one for one in own.tools if one.startswith(CALLED[:-1])}
        return NodeRules(own.model, (own.tools & allowed) | called)


_NONE = NodeRules()
NO_RULES = FlowRules()


def read_rules(path: Path | None, text: str) -> FlowRules:
    """The rules that stand in a skill's file, whose whole text is `text`.

    Never raises. What cannot be understood allows nothing: the file's findings say what is wrong.
    """
    if path is None or not text.strip():
        return NO_RULES
    source = Source(text)
    if path.suffix.lower() in (".yaml", ".yml"):
        document = read_yaml(text, 0, source)
    elif path.suffix.lower() in (".md", ".markdown"):
        front = find_front(text)
        if front is None:
            return NO_RULES
        document = read_yaml(text[front.start : front.end], front.start, source)
    else:
        return NO_RULES
    return take_rules(document, source, None)[0]


def take_rules(
    document: Document, source: Source, nodes: Iterable[str] | None
) -> tuple[FlowRules, list[Diagnostic]]:
    """The rules of a file's fields, and what is odd about them.

    Args:
        nodes: the chart's node ids, to find names that are none; None looks for none.
    """
    found: list[Diagnostic] = []
    reader = _Reader(document, source, found)
    allowed = None
    if (given := document.values.get("allowed-tools")) is not None:
        allowed = reader.take_tools(given, ("allowed-tools",))
    rules: dict[str, NodeRules] = {}
    given = document.values.get("nodes")
    if given is not None and not isinstance(given, dict):
        reader.say(
            codes.NODES_SHAPE,
            "the field nodes is not a mapping of node ids",
            ("nodes",),
            "write nodes: {check: {model: cheap, tools: [ReadFile]}}",
        )
    elif given is not None:
        known = None if nodes is None else list(nodes)
        for key, value in cast("dict[object, Any]", given).items():
            rules[str(key)] = reader.take_node(str(key), value, known)
    return FlowRules(allowed, rules), found


@dataclass(slots=True)
class _Reader:
    document: Document
    source: Source
    found: list[Diagnostic]

    def take_node(self, node: str, value: object, known: list[str] | None) -> NodeRules:
        """The settings of one node."""
        where = ("nodes", node)
        if known is not None and node not in known:
            near = difflib.get_close_matches(node, known, n=1)
            hint = f"write {near[0]}" if near else "take an id from the chart, or remove it"
            self.say(codes.NODE_UNKNOWN, f'the chart has no node "{node}"', where, hint)
        if not isinstance(value, dict) or set(cast("dict[object, Any]", value)) - {
            "model",
            "tools",
        }:
            message = f'the settings of "{node}" are not a model, tools, or both'
            self.say(codes.NODES_SHAPE, message, where, "write {model: NAME, tools: [NAME]}")
            return NodeRules(tools=frozenset())
        fields = cast("dict[str, Any]", value)
        model = fields.get("model")
        if model is not None and (not isinstance(model, str) or not model.strip()):
            message = f'the model of "{node}" is not a name'
            self.say(codes.NODES_SHAPE, message, where, "write model: NAME")
            model = None
        tools = None
        if "tools" in fields:
            tools = self.take_tools(fields["tools"], where)
        return NodeRules(model.strip() if model else None, tools)

    def take_tools(self, value: object, where: tuple[str, ...]) -> frozenset[str]:
        """The names of tools, in a list or in a line; what is none is said and left out."""
        if isinstance(value, str):
            words = _WORD.findall(value)
        elif isinstance(value, list) and all(
            isinstance(one, str) for one in cast("list[object]", value)
        ):
            words = [one.strip() for one in cast("list[str]", value)]
        else:
            message = "the tools are not a list of names"
            self.say(codes.TOOLS_SHAPE, message, where, "write [ReadFile, Grep]")
            return frozenset()
        return frozenset(name for word in words if (name := self._take_tool(word, where)))

    def _take_tool(self, word: str, where: tuple[str, ...]) -> str | None:
        name, bracket, _ = word.partition("(")
        name = OTHER_NAMES.get(name, name)
        if name in TOOLS:
            if bracket:
                message = f'"{word}" is read as {name}: what stands in brackets is not held'
                hint = f"write {name}; it asks before it acts"
                self.say(codes.TOOL_PATTERN, message, where, hint)
            return name
        if of_server := _SERVER_TOOL.fullmatch(word):
            return of_server[1]
        near = difflib.get_close_matches(name, (*TOOLS, *OTHER_NAMES), n=1)
        hint = (
            f"write {OTHER_NAMES.get(near[0], near[0])}" if near else f"one of {', '.join(TOOLS)}"
        )
        self.say(codes.TOOL_UNKNOWN, f'there is no tool "{word}"', where, hint)
        return None

    def say(self, code: str, message: str, where: tuple[str, ...], hint: str) -> None:
        """Add a finding at a field."""
        place = self.document.places.get(where) or self.document.places.get(where[:1])
        span: Span = self.source.span(place.start, place.end) if place else self.source.span(0, 0)
        self.found.append(finding(code, message, span, hint))
