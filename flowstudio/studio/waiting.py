"""What a paused node shows: why it paused, the prompt about to be sent, what each key does next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.studio.keymap import key_of

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
    offers = pause_offers(state.reason, is_edited=is_edited, has_branches=has_branches)
    keys = [(key_of(command), what) for command, what in offers]
    if _is_answered(state.reason, state.why):
        prompt = None
    return Waiting(state.why, prompt, is_edited, keys)


def _is_answered(reason: str, why: str) -> bool:
    return reason in ("answered", "no_progress") or "breakpoint after" in why


def pause_offers(reason: str, *, is_edited: bool, has_branches: bool) -> list[tuple[str, str]]:
    """What can be done about a pause: ids of commands, and what each does now."""
    branch = [("run.branch1", "takes that branch unasked")] if has_branches else []
    edit = "edits it again" if is_edited else "edits it, this once"
    match reason:
        case "max_moves":
            more = [("run.more", "allows a number"), ("run.stop", "ends")]
            return [("run.continue", "allows as many moves again"), *more]
        case "model_failed":
            again = [("run.continue", "asks the model again"), ("edit.prompt", edit)]
            return [*again, *branch, ("run.stop", "ends")]
        case "choice_failed":
            take = [("run.branch1", "takes that branch"), ("run.continue", "asks again")]
            return [*take, ("edit.prompt", edit)]
        case "node_gone" | "flow_broken":
            return [("run.jump", "goes on from the selected node"), ("run.stop", "ends")]
        case "disk":
            return [("run.continue", "tries to write again"), ("run.stop", "ends")]
        case "answered" | "no_progress":
            keep = [("run.step", "keeps the answer, moves, pauses"), ("run.continue", "goes on")]
            other = [("run.branch1", "takes another branch")] if has_branches else []
            return [*keep, *other, ("run.again", "asks once more"), ("edit.prompt", edit)]
        case _:
            step = [("run.step", "sends it, then pauses"), ("run.continue", "runs on")]
            return [*step, *branch, ("edit.prompt", edit), ("run.jump", "goes on elsewhere")]
