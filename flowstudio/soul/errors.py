"""What ends a turn early. The names are those of KimiSoul's design."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kosong.message import Message


class LLMNotSet(Exception):
    """A turn was asked for, but no model is chosen."""

    def __init__(self) -> None:
        super().__init__(
            "No model is chosen. Choose one with /model, set a key such as OPENAI_API_KEY, "
            "or choose the rehearsal."
        )


class LLMNotSupported(Exception):
    """The model cannot do what is asked of it."""

    def __init__(self, model: str, capability: str) -> None:
        super().__init__(
            f"The model {model} cannot do “{capability}”. Choose another model with /model, "
            "or add it to the model's capabilities in the configuration if it has it."
        )
        self.model = model
        self.capability = capability


class MaxStepsReached(Exception):
    """The agent used up its steps, or a run its moves, without coming to an end."""

    def __init__(self, steps: int, message: str | None = None) -> None:
        super().__init__(
            message
            or f"The turn made {steps} calls to the model without coming to an end. Send another "
            "prompt to go on, or raise loop.max_steps_per_run in the configuration."
        )
        self.steps = steps


class NeedsUser(Exception):
    """The agent, or a node, asks the user something, and nobody is there to answer."""

    def __init__(self, question: str) -> None:
        shown = " ".join(question.split())
        shown = f"{shown[:300]}…" if len(shown) > 300 else shown
        super().__init__(f"nobody is there to answer: “{shown}”")
        self.question = question


class BackToTheFuture(Exception):
    """A D-Mail is pending: go back to its checkpoint and read it there."""

    def __init__(self, checkpoint_id: int, messages: Sequence[Message]) -> None:
        super().__init__(f"back to checkpoint {checkpoint_id}")
        self.checkpoint_id = checkpoint_id
        self.messages = messages
