"""Skills on the disk: reads them, finds them, watches them. Knows nothing of agents."""

from __future__ import annotations

from flowstudio.skill.discovery import Catalogue, Match, discover, read_roots, refresh
from flowstudio.skill.manifest import load_skill
from flowstudio.skill.open import Target, resolve
from flowstudio.skill.roots import Root, find_project, find_roots
from flowstudio.skill.save import save
from flowstudio.skill.skill import SCOPES, Scope, Skill, SkillError, SkillType
from flowstudio.skill.watch import watch

__all__ = [
    "SCOPES",
    "Catalogue",
    "Match",
    "Root",
    "Scope",
    "Skill",
    "SkillError",
    "SkillType",
    "Target",
    "discover",
    "find_project",
    "find_roots",
    "load_skill",
    "read_roots",
    "refresh",
    "resolve",
    "save",
    "watch",
]
