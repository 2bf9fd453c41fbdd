"""The folders in which skills lie, and the files in them that can be skills.

A root holds skills one level deep: `<name>/SKILL.md`, `<name>/skill.yaml`, or flat `<name>.md`.
Nothing below is looked into, so neither a loop of links nor a `node_modules` costs anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from flowstudio import paths
from flowstudio.skill.manifest import manifest_in
from flowstudio.skill.skill import Scope

PROJECT_ROOTS = (".kimi/skills", ".claude/skills", ".codex/skills", ".agents/skills")
"""Below the repository's root, in this order."""
USER_ROOTS = (
    ".kimi/skills",
    ".claude/skills",
    ".codex/skills",
    ".config/agents/skills",
    ".agents/skills",
)
"""Below the home folder, in this order."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder in which skills lie. It need not exist yet."""

    path: Path
    scope: Scope
    base: Path
    """The folder below which it may still come into being: watched, with what lies between."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that makes a skill, or should."""

    path: Path
    is_flat: bool
    """True for `<name>.md` beside the skill folders, which is a skill only with front matter."""


def find_project(work_dir: Path, home: Path | None = None) -> Path:
    """The repository that holds `work_dir`: the nearest folder with `.git`, else `work_dir` itself.

    The home folder itself is never taken for the repository of the projects in it, although many
    people keep their dot files in one.
    """
    work_dir = Path(os.path.abspath(work_dir))  # noqa: PTH100 - links stay as the user wrote them
    home = home or paths.home()
    for folder in (work_dir, *work_dir.parents):
        if folder == home and folder != work_dir:
            break
        if os.path.lexists(folder / ".git"):
            return folder
    return work_dir


def find_roots(
    work_dir: Path,
    *,
    extra_dirs: Iterable[Path] = (),
    include_builtin: bool = True,
    home: Path | None = None,
) -> tuple[Root, ...]:
    """Every place for skills, in the order in which names are given away. None need exist.

    A folder that is reached in two ways (a link, a project that is the home folder) counts once.
    `extra_dirs` may be relative to `work_dir` and may begin with `~`.
    """
    home = home or paths.home()
    project = find_project(work_dir, home)
    roots: list[Root] = []
    if _real(project) != _real(home):
        roots += (Root(project / part, "project", project) for part in PROJECT_ROOTS)
    roots += (Root(home / part, "user", home) for part in USER_ROOTS)
    for extra in extra_dirs:
        path = Path(os.path.abspath(work_dir / _expand(extra, home)))  # noqa: PTH100
        roots.append(Root(path, "extra", _nearest(path.parent)))
    if include_builtin:
        bundled = paths.bundled("skills")
        roots.append(Root(bundled, "builtin", bundled))
    seen: set[str] = set()
    return tuple(root for root in roots if not _was_seen(_real(root.path), seen))


def candidates(folder: Path) -> list[Candidate]:
    """The files in the root `folder` that can be skills, by name.

    Where the root is itself a skill's folder (`--skills-dir` names a single one), that comes first.
    Raises OSError where the folder cannot be listed.
    """
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: (entry.name.casefold(), entry.name))
    own = manifest_in(folder)
    found = [] if own is None else [Candidate(own, is_flat=False)]
    found += (one for entry in listed if (one := _candidate(folder, entry)) is not None)
    return found


def _candidate(folder: Path, entry: os.DirEntry[str]) -> Candidate | None:
    # Hidden names are lock and swap files of editors, version control, the system's own.
    if entry.name.startswith("."):
        return None
    path = folder / entry.name
    try:
        is_dir = entry.is_dir()
    except OSError:  # a loop of links
        is_dir = False
    if is_dir:
        manifest = manifest_in(path)
        return None if manifest is None else Candidate(manifest, is_flat=False)
    # A link that leads nowhere was a skill once: reading it says so. `Path.exists` may raise.
    if entry.is_symlink() and not os.path.exists(path):  # noqa: PTH110
        return Candidate(path, is_flat=False)
    name = entry.name.lower()
    is_flat = name.endswith(".md") and name != "skill.md"
    return Candidate(path, is_flat=True) if is_flat else None


def chain(root: Root) -> Iterator[Path]:
    """The folders from the root's base (or the nearest that exists) down to the root itself."""
    folder = _nearest(root.base)
    yield folder
    for part in root.path.relative_to(folder).parts:
        folder /= part
        yield folder


def _expand(path: Path, home: Path) -> Path:
    return home.joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def _nearest(path: Path) -> Path:
    """The nearest folder that exists, upwards; a file system's root always does."""
    # `Path.is_dir` may raise.
    found = (folder for folder in (path, *path.parents) if os.path.isdir(folder))  # noqa: PTH112
    return next(found, path)


def _real(path: Path) -> str:
    return os.path.realpath(path)


def _was_seen(real: str, seen: set[str]) -> bool:
    if real in seen:
        return True
    seen.add(real)
    return False
