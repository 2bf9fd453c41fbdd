"""What `flowstudio [PATH]` opens: a work folder, or one skill."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flowstudio.skill.discovery import skill_files
from flowstudio.skill.manifest import MANIFESTS, is_skill_file, manifest_in
from flowstudio.skill.roots import find_roots
from flowstudio.skill.skill import SkillError


@dataclass(frozen=True, slots=True)
class Target:
    """Where to work, and which skill to show first."""

    work_dir: Path
    """The folder in which tools run and whose skills are listed."""
    skill: Path | None = None
    """The file of the skill that was named: `Catalogue.at(skill)` once the catalogue is read."""
    is_outside: bool = False
    """True where no root holds it: then `files` hands it to `discover`."""
    extra_dirs: tuple[Path, ...] = ()
    """The work folder itself, where skills lie right in it: hand it on to `discover`."""

    @property
    def files(self) -> tuple[Path, ...]:
        """What `discover` needs for `files`."""
        return (self.skill,) if self.skill is not None and self.is_outside else ()


def resolve(
    target: Path | None,
    *,
    cwd: Path | None = None,
    extra_dirs: Iterable[Path] = (),
    home: Path | None = None,
) -> Target:
    """What `target` means, seen from `cwd` (the process's own by default).

    A folder that is a skill's is that skill, any other folder is the place to work; skills that lie
    right in it (a library of skills) are listed too. A skill is run
    where the user stands: its own folder is not the project. Raises `SkillError`, fit to show,
    where nothing is there or the file is none that can hold a skill.
    """
    here = _absolute(cwd or Path.cwd())
    if target is None:
        return Target(here)
    path = _absolute(here / target.expanduser())
    if os.path.isdir(path):  # noqa: PTH112 - `Path.is_dir` may raise
        manifest = manifest_in(path)
        if manifest is None:
            return Target(path, extra_dirs=(path,) if _holds_skills(path) else ())
        path = manifest
    elif not os.path.lexists(path):
        raise SkillError(f"{target}: no such file or folder{_hint(path)}")
    elif not is_skill_file(path):
        what = "SKILL.md or another .md, skill.yaml, or a chart (.mmd, .mermaid, .d2)"
        raise SkillError(f"{target}: not a skill. Name a folder, {what}")
    real = os.path.realpath(path)
    roots = find_roots(here, extra_dirs=extra_dirs, home=home)
    for known in skill_files(roots):
        if os.path.realpath(known) == real:
            return Target(here, known)
    return Target(here, path, is_outside=True)


def _holds_skills(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(_is_skill_folder(entry) for entry in entries)
    except OSError:
        return False


def _is_skill_folder(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and any(
        os.path.lexists(os.path.join(entry.path, name))  # noqa: PTH118
        for name in MANIFESTS
    )


def _hint(path: Path) -> str:
    """The names in the same folder that are near the one that is not there."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return ""
    near = get_close_matches(path.name, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _absolute(path: Path) -> Path:
    # Not resolved: links stay as the user wrote them.
    return Path(os.path.abspath(path))  # noqa: PTH100
