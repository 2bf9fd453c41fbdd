"""A skill as a value: what its file says, the flow in it, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.flow.chart import Chart
    from flowstudio.flow.diagnostics import Diagnostic
    from flowstudio.flow.model import Flow

type SkillType = Literal["standard", "flow"]
type Scope = Literal["project", "user", "extra", "builtin"]
type Stamp = tuple[int, ...] | None
"""Tells two states of a file apart without reading it; None where there is no file."""

SCOPES: tuple[Scope, ...] = ("project", "user", "extra", "builtin")
"""In the order in which they are listed, and in which a name goes to the first that has it."""


class SkillError(Exception):
    """There is no skill at this path. The message says what was looked for, and is fit to show."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill, right or broken. Broken ones have an error among their `diagnostics`."""

    name: str
    description: str
    type: SkillType
    """What it works as: a flow skill whose chart is missing or broken works as a standard one."""
    declared_type: SkillType
    """What its author says that it is."""
    scope: Scope
    path: Path
    """The file that the author edits: SKILL.md, a flat `.md`, skill.yaml or a bare chart."""
    root: Path
    """The folder in which the skill's own files lie."""
    chart: Chart | None = None
    """What could be read of the chart, in lines and columns of `source`; None without a chart."""
    flow: Flow | None = None
    """The flow that can be run; None for a standard skill and where anything is in error."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """In order of place, each with `path` filled in."""
    body: str = ""
    """The text below the front matter; empty for skill.yaml and bare charts."""
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """All fields of the front matter as YAML reads them."""
    source: str = field(default="", repr=False)
    """The whole file, decoded; line ends as they are in the file, without a byte order mark."""
    chart_text: str = field(default="", repr=False)
    """`source` with all but the chart blanked out: the chart at its place in the file.

    For a chart in quotes or in a folded scalar of skill.yaml it is the chart alone.
    """
    encoding: str = "utf-8"
    """How `source` was read, and is to be written: a codec's name."""
    bom: bytes = b""
    """The byte order mark that the file began with."""
    stamp: Stamp = None
    checked: bool = True
    """False where only the front matter was read (`discover(..., charts=False)`)."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep the skill from working as its author meant it."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    @property
    def command(self) -> str:
        """What calls it in the chat: `/flow:<name>` or `/skill:<name>`."""
        return f"/{'flow' if self.type == 'flow' else 'skill'}:{self.name}"

    def encode(self, text: str) -> bytes:
        """The bytes of an edited `source`, in the file's own encoding.

        Raises UnicodeEncodeError where the encoding has no sign for a character.
        """
        return self.bom + text.encode(self.encoding)


def fold_name(name: str) -> str:
    """A name as names are compared: without case, without space at its ends, Unicode composed."""
    from unicodedata import normalize

    return normalize("NFC", normalize("NFC", name.strip()).casefold())
