"""The file format of scripted rehearsals: what is answered, and what the run must show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flowstudio.models.errors import ModelError
from flowstudio.models.script_faults import Faults, Part

if TYPE_CHECKING:
    from pathlib import Path


class Reply(BaseModel):
    """One answer to a decision's prompt."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    valid: bool = True
    """False where the author wrote an answer that names no branch, to see it asked for again."""


class Decision(BaseModel):
    """What one visit of a decision is answered: its prompt, then each retry of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    node: str
    visit: int = Field(default=1, ge=1)
    takes: str | None = None
    """The branch that is taken in the end, for the reader and for a test."""
    replies: tuple[Reply, ...] = Field(min_length=1)


class Script(BaseModel):
    """A scripted run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    skill: str | None = None
    """The SKILL.md that it belongs to, relative to the corpus that holds both."""
    flow: str | None = None
    story: str = ""
    args: str = ""
    """The flow's input."""
    default_task_reply: str = "Done."
    """The answer to every prompt where nothing is chosen."""
    decisions: tuple[Decision, ...] = ()
    expected_path: tuple[str, ...] | None = None
    """The nodes entered, BEGIN and END among them."""
    expected_end: str | None = None
    expected_model_calls: int | None = None
    expected_retries: int | None = None
    """How often a choice was asked for again."""
    notes: str = ""


_PARTS = tuple(
    Part(name, tuple(model.model_fields))
    for name, model in (("a script", Script), ("a decision", Decision), ("a reply", Reply))
)


def load_script(path: Path) -> Script:
    """Read and check a script.

    Raises:
        ModelError: it cannot be read, is no YAML, or a field is wrong; the message names the file,
            the line and the column of each finding.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: the script cannot be read: {error}") from error
    try:
        root = cast("object", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
        raw: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        reason = getattr(error, "problem", None) or "not YAML"
        raise ModelError(f"{path}{where}: the script is no valid YAML: {reason}") from error
    if not isinstance(raw, dict):
        raise ModelError(f"{path}:1:1: a script is a mapping with `decisions`")
    faults = Faults(path, root, _PARTS)
    try:
        script = Script.model_validate(cast("dict[str, Any]", raw))
    except ValidationError as error:
        raise ModelError("\n".join(faults.explain(error.errors()))) from error
    _reject_doubles(faults, script)
    return script


def _reject_doubles(faults: Faults, script: Script) -> None:
    seen: set[tuple[str, int]] = set()
    for index, decision in enumerate(script.decisions):
        key = (decision.node, decision.visit)
        if key in seen:
            line, column = faults.place(("decisions", index))
            raise ModelError(
                f"{faults.path}:{line}:{column}: visit {decision.visit} of {decision.node} is "
                "scripted twice; put all its replies in one entry"
            )
        seen.add(key)
