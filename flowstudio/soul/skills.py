"""What the soul needs to know of a skill. The room `skill` makes such objects."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.soul.kimisoul import KimiSoul


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


class SkillInUse(Protocol):
    """A skill that a soul carries out."""

    @property
    def note(self) -> str:
        """What the agent is told beside the skill's text; may be empty."""
        ...

    def ended(self, outcome: Literal["done", "partial", "failed"], why: str = "") -> None:
        """Say how it ended; without a word, it ended well."""
        ...


class SkillHost(Protocol):
    """A higher room that knows which other skills a skill may call. It offers them as tools."""

    def using(self, soul: KimiSoul, name: str, path: Path) -> AbstractContextManager[SkillInUse]:
        """Meanwhile the soul carries out the skill in the file `path`."""
        ...


def find_skill_file(skill: SkillLike) -> Path:
    """The file that tells the agent what to do."""
    return skill.path / "SKILL.md" if skill.path.is_dir() else skill.path
