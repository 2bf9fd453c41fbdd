"""Who answers: chat providers from configuration, and the rehearsal that needs none."""

from flowstudio.models.build import build_model
from flowstudio.models.errors import ModelError, explain_error
from flowstudio.models.hint import TurnHint, turn_hint
from flowstudio.models.llm import LLM
from flowstudio.models.local import discover_local, resolve_model
from flowstudio.models.registry import ModelOption, default_model, find_model, list_models
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
    "ModelOption",
    "Question",
    "RehearsalProvider",
    "Script",
    "ScriptAnswers",
    "ScriptExhausted",
    "SeededWalk",
    "TurnHint",
    "build_model",
    "default_model",
    "discover_local",
    "explain_error",
    "find_model",
    "list_models",
    "load_script",
    "resolve_model",
    "turn_hint",
]
