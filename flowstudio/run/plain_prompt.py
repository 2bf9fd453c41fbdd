"""A plain prompt as a run of its own: once, or as a Ralph loop that is drawn like any flow."""

from __future__ import annotations

from flowstudio.flow.convert import write_mermaid
from flowstudio.run.ralph import prompt_flow, ralph_flow, ralph_moves
from flowstudio.run.session import RunRequest


def prompt_request(prompt: str, iterations: int) -> RunRequest:
    """What to run for a prompt: one turn for 0 iterations, else a loop of at most so many rounds.

    -1 is without bound. The prompt is sent as it is: no place in it is filled in.
    """
    flow = ralph_flow(prompt) if iterations else prompt_flow(prompt)
    return RunRequest(
        flow,
        "ralph" if iterations else "prompt",
        source=write_mermaid(flow),
        max_moves=ralph_moves(iterations),
        rounds=iterations,
    )
