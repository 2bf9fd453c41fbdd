"""What Mindflow knows of a library: its skills, its methodologies, and the states between them.

The fields and their names are those of the Mindflow design ("数据结构增强"). What a user did with a
skill is no part of it: usage and success are kept apart from the files (`History`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.flow.diagnostics import Diagnostic
    from flowstudio.skill import Skill

UNSCORED = 0.5
"""What counts where a skill has no score for a methodology."""


@dataclass(frozen=True, slots=True)
class LibrarySkill:
    """A skill with its planning fields, whatever the front matter holds of them."""

    name: str
    description: str = ""
    title: str = ""
    """Its first heading, where many skills have their name in another language."""
    utterances: tuple[str, ...] = ()
    """What people say when they want it, in any language."""
    preconditions: tuple[str, ...] = ()
    """States that must hold before it can run."""
    effects: tuple[str, ...] = ()
    """States that it brings about."""
    called_skills: tuple[str, ...] = ()
    """Names of the skills that it may use, as written."""
    methodology_scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """How far it keeps to each methodology, 0 to 1, by the methodology's id."""
    artifacts: tuple[str, ...] = ()
    """What comes out of it, or along with it: files beside it, by path, or things, by name."""
    skill: Skill | None = field(default=None, compare=False, repr=False)
    """The skill itself; None for those of tests and benchmarks."""


@dataclass(frozen=True, slots=True)
class Methodology:
    """A way of working that skills keep to more or less."""

    id: str
    name: str = ""
    description: str = ""
    evaluation_rule: str = ""
    """How compliance is judged: a text for a person or a model."""
    weight: float = 1.0
    """How much it counts beside the others, 0 to 1."""


@dataclass(frozen=True, slots=True)
class History:
    """What the user's use of a skill says about it."""

    usage_count: int = 0
    success_rate: float = 0.0
    """0 to 1; without meaning while `usage_count` is 0."""


@dataclass(frozen=True, slots=True)
class Library:
    """All of it, as read; nothing in it is checked against anything else."""

    skills: Mapping[str, LibrarySkill] = field(default_factory=dict[str, LibrarySkill])
    """By name, in the catalogue's order."""
    methodologies: Mapping[str, Methodology] = field(default_factory=dict[str, Methodology])
    """By id."""
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    """What each state means, in the author's languages; empty where nobody says it."""
    findings: tuple[Diagnostic, ...] = ()
    """What is odd about planning fields and methodologies; nothing of it stops anything."""
