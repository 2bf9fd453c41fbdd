"""What a paused node shows: why it paused, the prompt about to be sent, what each key does next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow.model import Flow, FlowNode
    from flowstudio.run.state import RunState


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a run waits at the node that is shown, and what can be done about it."""

    why: str
    prompt: str | None
    """What is sent next, filled in; None where nothing is."""
    is_edited: bool
    """True where the prompt is not the node's own."""
    keys: Sequence[tuple[str, str]]
    """Keys, and what each does now."""


@dataclass(frozen=True, slots=True)
class Given:
    """What fills the prompts of a run."""

    input: str
    variables: Mapping[str, str]
    is_literal: bool = False
    """True for a plain prompt, which is sent as it was typed."""


def fill_prompt(label: str, flow: Flow, given: Given, state: RunState | None) -> str:
    """The prompt as the runner will send it: filled in, the flow's input before the first one."""
    from flowstudio.run.prompts import fill, takes_input, with_request

    if given.is_literal:
        return label
    prompt = fill(label, given.input, given.variables)
    visits = state.visits if state is not None else []
    is_first = not any(visit.answer for visit in visits if visit.is_done)
    if given.input and is_first and not takes_input(node.text for node in flow.nodes.values()):
        return with_request(prompt, given.input)
    return prompt


def explain(
    state: RunState, node: FlowNode, prompt: str | None, *, is_edited: bool, has_branches: bool
) -> Waiting | None:
    """What to show of a pause at its node; None where the run does not wait there."""
    if state.phase != "paused" or state.current != node.id:
        return None
    keys = _keys(state.reason, is_edited=is_edited, has_branches=has_branches)
    if _is_answered(state):
        prompt = None
    return Waiting(state.why, prompt, is_edited, keys)


def _is_answered(state: RunState) -> bool:
    return state.reason in ("answered", "no_progress") or "breakpoint after" in state.why


def _keys(reason: str, *, is_edited: bool, has_branches: bool) -> list[tuple[str, str]]:
    branch = [("1-9", "takes that branch unasked")] if has_branches else []
    edit = "edits it again" if is_edited else "edits it, this once"
    match reason:
        case "max_moves":
            return [("c", "allows as many moves again"), ("M", "allows a number"), ("s", "ends")]
        case "model_failed":
            return [("c", "asks the model again"), ("e", edit), *branch, ("s", "ends")]
        case "choice_failed":
            return [("1-9", "takes that branch"), ("c", "asks again"), ("e", edit)]
        case "node_gone" | "flow_broken":
            return [("J", "goes on from the selected node"), ("s", "ends")]
        case "disk":
            return [("c", "tries to write again"), ("s", "ends")]
        case "answered" | "no_progress":
            keep = "keeps the answer, moves, pauses"
            other = [("1-9", "takes another branch")] if has_branches else []
            return [("n", keep), ("c", "goes on"), *other, (".", "asks once more"), ("e", edit)]
        case _:
            step = [("n", "sends it, then pauses"), ("c", "runs on")]
            return [*step, *branch, ("e", edit), ("J", "goes on elsewhere")]
