"""The Ralph loop: a plain prompt as a flow that goes on until the model says that it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.flow.model import Flow, FlowEdge, FlowNode

if TYPE_CHECKING:
    from kosong.message import ContentPart

UNBOUNDED_MOVES = 10**9
"""The moves of a loop that is asked to run without bound: more than any run can make."""

_QUESTION = (
    "Look at what has been done so far and at the request that started it. Is anything left to do, "
    "or worth checking or improving? Do the next piece of it now. Choose STOP only when nothing is "
    "left; otherwise CONTINUE."
)


def ralph_flow(prompt: str | list[ContentPart]) -> Flow:
    """BEGIN → R1 (the prompt) → R2; CONTINUE → R2, STOP → END (KLIP-10, section 6)."""
    nodes = {
        "BEGIN": FlowNode("BEGIN", "BEGIN", "begin"),
        "R1": FlowNode("R1", prompt, "task"),
        "R2": FlowNode("R2", _QUESTION, "decision"),
        "END": FlowNode("END", "END", "end"),
    }
    outgoing = {
        "BEGIN": [FlowEdge("BEGIN", "R1", None)],
        "R1": [FlowEdge("R1", "R2", None)],
        "R2": [FlowEdge("R2", "R2", "CONTINUE"), FlowEdge("R2", "END", "STOP")],
        "END": [],
    }
    return Flow(nodes, outgoing, "BEGIN", "END")


def prompt_flow(prompt: str | list[ContentPart]) -> Flow:
    """BEGIN → R1 (the prompt) → END: a prompt without a loop."""
    nodes = {
        "BEGIN": FlowNode("BEGIN", "BEGIN", "begin"),
        "R1": FlowNode("R1", prompt, "task"),
        "END": FlowNode("END", "END", "end"),
    }
    outgoing = {
        "BEGIN": [FlowEdge("BEGIN", "R1", None)],
        "R1": [FlowEdge("R1", "END", None)],
        "END": [],
    }
    return Flow(nodes, outgoing, "BEGIN", "END")


def ralph_moves(iterations: int) -> int:
    """The moves of R1 and at most `iterations` rounds of R2 (-1: without bound).

    BEGIN → R1, R1 → R2, each CONTINUE between two rounds, and STOP.
    """
    return UNBOUNDED_MOVES if iterations < 0 else iterations + 2


def split_rounds(text: str) -> tuple[int | None, str]:
    """The number of rounds that a text begins with (-1 without bound), and the prompt behind it.

    None where it begins with none.
    """
    head, _, rest = text.strip().partition(" ")
    number = head.removeprefix("-")
    is_number = number.isascii() and number.isdecimal() and len(number) <= 6
    if not is_number or int(head) < -1 or int(head) == 0:
        return None, text.strip()
    return int(head), rest.strip()
