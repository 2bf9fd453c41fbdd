"""The skills behind the studio: loads them off the main thread and follows the disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flowstudio.skill import Catalogue, Skill, discover, watch


@dataclass(slots=True)
class Library:
    """The catalogue in force, and how to get the next one."""

    work_dir: Path
    extra_dirs: Sequence[Path] = ()
    files: Sequence[Path] = ()
    catalogue: Catalogue = field(default_factory=Catalogue)

    @property
    def skills(self) -> Sequence[Skill]:
        """Those that can be called."""
        return self.catalogue.skills

    async def load(self) -> Catalogue:
        """Read what changed since the last time, in a thread."""
        before = self.catalogue if self.catalogue.skills else None
        self.catalogue = await asyncio.to_thread(
            discover,
            self.work_dir,
            extra_dirs=self.extra_dirs,
            files=self.files,
            previous=before,
        )
        return self.catalogue

    async def changes(self) -> AsyncIterator[set[Path]]:
        """After each change on the disk: the files that changed; the catalogue is new by then."""
        async for changed in watch(self.catalogue):
            await self.load()
            yield changed
