"""A skill's file while it is edited: what is on the disk, what the author has, and who wins.

Nothing that either side wrote is lost: what gives way is kept as a copy in the state folder.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from flowstudio import paths
from flowstudio.studio.merge import merge
from flowstudio.studio.source_text import to_lines, to_source

if TYPE_CHECKING:
    from flowstudio.skill import Skill

type Outcome = Literal["same", "taken", "merged", "conflict"]
"""What a change on the disk did to a draft: nothing; the draft shows it; both changes stand in the
draft; they contradict each other, and the author has to say."""


@dataclass(slots=True)
class Draft:
    """One file that is shown in the source pane, or was."""

    base: Skill
    """The file as it was on the disk when the text was last in step with it."""
    text: str
    """As the author has it, lines ending at LF."""
    theirs: Skill | None = None
    """The file as it is on the disk, where that contradicts the author's changes."""
    is_gone: bool = False
    """True where the file is no longer on the disk."""

    @classmethod
    def of(cls, skill: Skill) -> Draft:
        """A draft without changes."""
        return cls(skill, to_lines(skill.source))

    @property
    def path(self) -> Path:
        """The file."""
        return self.base.path

    @property
    def is_dirty(self) -> bool:
        """True where there is something to save."""
        return self.is_gone or self.text != to_lines(self.base.source)

    @property
    def source(self) -> str:
        """The file's text if it were saved now."""
        return to_source(self.text, self.base.source)

    def take_disk(self, skill: Skill) -> Outcome:
        """The file was read anew."""
        self.is_gone = False
        if skill.source == self.base.source:
            self.base, self.theirs = skill, None
            return "same"
        before, theirs = to_lines(self.base.source), to_lines(skill.source)
        if self.text in (before, theirs):
            self.base, self.text, self.theirs = skill, theirs, None
            return "taken"
        merged = merge(before, self.text, theirs)
        if merged.conflicts:
            self.theirs = skill
            return "conflict"
        self.base, self.text, self.theirs = skill, merged.text, None
        return "merged"

    def settle(self, winner: Literal["mine", "theirs"]) -> Path | None:
        """End a conflict; gives the copy of what gave way.

        Raises:
            OSError: no copy can be kept; nothing is settled then.
        """
        theirs = self.theirs
        if theirs is None:
            return None
        lost = theirs.source if winner == "mine" else self.source
        copy = keep_copy(self.path, lost, "theirs" if winner == "mine" else "mine")
        if winner == "theirs":
            self.text = to_lines(theirs.source)
        self.base, self.theirs = theirs, None
        return copy

    def save(self) -> Skill:
        """Write the draft to its file; gives the skill as it is then read.

        Raises:
            SkillError: it cannot be written, or the file changed since it was read.
        """
        from flowstudio.skill import SkillError, load_skill, save

        if self.is_gone:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("xb") as file:
                    file.write(self.base.encode(self.source))
            except FileExistsError:
                raise SkillError(f"{self.path}: is on the disk again; look at it first") from None
            except OSError as error:
                reason = error.strerror or str(error)
                raise SkillError(f"{self.path}: cannot be written: {reason}") from error
            saved = load_skill(self.path, self.base.scope)
        else:
            saved = save(self.base, self.source)
        self.base, self.theirs, self.is_gone = saved, None, False
        return saved


def keep_copy(path: Path, text: str, whose: str) -> Path:
    """Keep a text that gives way, in the state folder, for the user alone.

    Raises:
        OSError: the disk refuses.
    """
    folder = paths.state_file().parent / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    stem = path.parent.name if path.stem.upper() == "SKILL" else path.stem
    name = re.sub(r"\W+", "-", stem)[:40].strip("-") or "skill"
    moment = datetime.now().strftime("%Y%m%d-%H%M%S-%f")
    copy = folder / f"{name}-{moment}-{whose}{path.suffix}"
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    return copy
