"""Where a file lies in the library, and what kind of change it is to write it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio import paths
from flowstudio.skill.manifest import is_skill_file, manifest_in
from flowstudio.skill.roots import USER_ROOTS, find_project, find_roots

if TYPE_CHECKING:
    from flowstudio.mindflow.risk import ChangeKind, Reach
    from flowstudio.skill.roots import Root

_BESIDE = ("methodologies", "states", "phrases")
_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Place:
    """A file of the library, there or not."""

    path: Path
    """Its real place."""
    root: Path
    """The real folder of skills that it lies in."""
    skill: str
    """The name of the skill's folder or flat file; empty for what stands beside the skills."""
    kind: ChangeKind
    """What it is to write it now."""
    reach: Reach
    is_bundled: bool
    """It comes with the program: a copy of it is the user's to change."""

    @property
    def title(self) -> str:
        """What writing it means, in a few words."""
        inner = self.path.relative_to(self.root).as_posix()
        match self.kind:
            case "skill_create":
                return f"a new skill {self.skill}: {inner}"
            case "artifact_add":
                return f"{self.skill} gets {inner.partition('/')[2]}"
            case "methodology_change":
                return f"the methodologies change: {inner}"
            case "skill_update":
                return f"{self.skill} changes: {inner}" if self.skill else f"{inner} changes"


def find_place(path: Path, work_dir: Path, extra_dirs: Iterable[Path] = ()) -> Place | None:
    """Where a resolved path lies in the library; None where it is no file of it.

    Hidden files are none: they belong to editors and version control.
    """
    for root in find_roots(work_dir, extra_dirs=extra_dirs):
        real = Path(os.path.realpath(root.path))
        if path == real or not path.is_relative_to(real):
            continue
        parts = path.relative_to(real).parts
        if any(part.startswith(".") for part in parts):
            return None
        return _place_in(root, real, path, parts, work_dir)
    return None


def _place_in(
    root: Root, real: Path, path: Path, parts: Sequence[str], work_dir: Path
) -> Place | None:
    project = Path(os.path.realpath(find_project(work_dir)))
    in_project = real.is_relative_to(project) and root.scope != "user"
    # In a checkout of the program itself, what is bundled is the project's own.
    is_bundled = root.scope == "builtin" and not in_project
    reach: Reach = "local" if in_project else "global"

    def place(skill: str, kind: ChangeKind) -> Place:
        return Place(path, real, skill, kind, reach, is_bundled)

    first = Path(parts[0])
    is_beside = first.stem in _BESIDE and (len(parts) > 1 or first.suffix in _ENDINGS)
    if is_beside and manifest_in(real / first) is None:
        is_way = first.stem == "methodologies"
        return place("", "methodology_change" if is_way else "skill_update")
    if len(parts) == 1:
        if not is_skill_file(path):
            return None
        return place(first.stem, "skill_update" if path.exists() else "skill_create")
    if manifest_in(real / parts[0]) is None:
        return place(parts[0], "skill_create")
    return place(parts[0], "skill_update" if path.exists() else "artifact_add")


def own_root() -> Path:
    """The user's own folder of skills: the first that is there, else the first of all."""
    there = (paths.home() / root for root in USER_ROOTS)
    return next((one for one in there if one.is_dir()), paths.home() / USER_ROOTS[0])
