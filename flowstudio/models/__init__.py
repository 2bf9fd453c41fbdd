"""Who answers: chat providers from configuration, and the rehearsal that needs none."""

from flowstudio.models.errors import ModelError, explain_error
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.models.llm import LLM
from flowstudio.models.rehearsal import (
    AskUser,
    Question,
    RehearsalProvider,
    ScriptAnswers,
    ScriptExhausted,
    SeededWalk,
)
from flowstudio.models.script import Script, load_script

__all__ = [
    "LLM",
    "AskUser",
    "ModelError",
    "Question",
    "RehearsalProvider",
    "Script",
    "ScriptAnswers",
    "ScriptExhausted",
    "SeededWalk",
    "TurnHint",
    "explain_error",
    "load_script",
    "turn_hint",
]
