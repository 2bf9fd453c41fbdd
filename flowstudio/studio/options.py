"""What the command line asks of the studio."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StudioOptions:
    """What the command line asked for."""

    path: Path | None = None
    """What to open: a folder, a skill, a chart, or a skill's name; None for this folder."""
    welcome: bool = False
    """Whether who has nothing here yet is welcomed."""
    attach: Path | None = None
    """The folder of a run that another process makes, to be watched and steered."""
    model: str | None = None
    script: Path | None = None
    seed: int | None = None
    yolo: bool = False
    sandbox: bool = False
    """Commands run in bubblewrap, or not at all."""
    no_network: bool = False
    agent: Path | None = None
    """An agent file."""
    skills_dirs: tuple[Path, ...] = ()
    theme: str | None = None
    glyphs: str | None = None
    """The signs to draw with (`auto`, `unicode`, `console`, `ascii`); None as configured."""
    max_ralph_iterations: int | None = None
    """The rounds of a plain prompt's loop (0: none, -1 without bound); None as configured."""
    pace: float = 0.0
    """Seconds between two pieces of a rehearsed answer, so that the eye can follow."""
