"""The skills behind the studio: loads them off the main thread and follows the disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowstudio.skill import Catalogue, Skill

_GRACE = 0.15
"""Seconds in which a file that went may come back before anybody is told: editors and `git` take
the old one away first."""
_EMPTY = 10
"""As many times that for one that was emptied: somebody is about to write it."""


@dataclass(slots=True)
class Library:
    """The catalogue in force, and how to get the next one."""

    wanted: Path | None
    """What the user asked for: a path, or a skill's name."""
    extra_dirs: Sequence[Path] = ()
    work_dir: Path = field(default_factory=Path.cwd)
    selected: Path | None = None
    """The file of the skill that was asked for, once it is found."""
    catalogue: Catalogue | None = None
    found: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once `work_dir` and `catalogue` are known."""

    @property
    def skills(self) -> Sequence[Skill]:
        """Those that can be called."""
        return self.catalogue.skills if self.catalogue else ()

    async def load(self) -> Catalogue:
        """Find out what was asked for, and read every skill; off the main thread.

        Raises:
            SkillError: nothing is there.
        """
        self.catalogue = await asyncio.to_thread(self._read)
        self.found.set()
        return self.catalogue

    def _read(self) -> Catalogue:
        from flowstudio.skill import SkillError, configured_dirs, discover, resolve

        extra = configured_dirs(self.extra_dirs)
        try:
            target = resolve(self.wanted, extra_dirs=extra)
        except SkillError:
            # Not a path: perhaps a skill's name, as `flowstudio run` takes it.
            catalogue = discover(self.work_dir, extra_dirs=extra)
            named = catalogue.get(str(self.wanted))
            if named is None:
                raise
            self.selected = named.path
            return catalogue
        self.work_dir, self.selected = target.work_dir, target.skill
        folders = (*extra, *target.extra_dirs)
        catalogue = discover(target.work_dir, extra_dirs=folders, files=target.files)
        asked = catalogue.at(target.skill) if target.skill else None
        if asked is None or asked in catalogue.skills:
            return catalogue
        # Another skill has its name first, but this one was asked for by its path.
        files = (*target.files, asked.path)
        return discover(target.work_dir, extra_dirs=folders, files=files, previous=catalogue)

    async def changes(self) -> AsyncIterator[set[Path]]:
        """After each change on the disk: the files that changed; the catalogue is new by then."""
        from flowstudio.skill import refresh, watch

        assert self.catalogue is not None
        async for changed in watch(self.catalogue):
            before = self.catalogue
            now = await asyncio.to_thread(refresh, before)
            waited = 0
            while waited < max(_patience(before, now, path) for path in changed):
                await asyncio.sleep(_GRACE)
                now = await asyncio.to_thread(refresh, before)
                waited += 1
            self.catalogue = now
            yield changed


def _patience(before: Catalogue, now: Catalogue, path: Path) -> int:
    """How often to look again whether what was in a file comes back; 0 where it is there."""
    old, new = before.at(path), now.at(path)
    if old is None or old.source == "":
        return 0
    if new is None:
        return 1
    return _EMPTY if new.source == "" else 0
