"""What the soul needs to know of a skill. The room `skill` makes such objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path


class SkillLike(Protocol):
    """A folder with a SKILL.md."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def path(self) -> Path:
        """The SKILL.md, or the folder that holds it."""
        ...

    @property
    def type(self) -> str:
        """`standard` or `flow`."""
        ...

    @property
    def scope(self) -> str:
        """Where it comes from: the project, the user, the bundled library."""
        ...


def find_skill_file(skill: SkillLike) -> Path:
    """The file that tells the agent what to do."""
    return skill.path / "SKILL.md" if skill.path.is_dir() else skill.path
