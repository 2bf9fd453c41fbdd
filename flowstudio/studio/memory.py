"""What the studio remembers for its user between two starts: sizes of panes, offers declined,
the theme.

One JSON file in the state folder. A file that cannot be read or written costs the memory, never
the studio; it is written whole, so that two studios leave one of both versions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flowstudio import paths

_MOST = 50


class Memory(BaseModel):
    """The file's content."""

    model_config = ConfigDict(extra="ignore")

    sizes: dict[str, Annotated[int, Field(ge=1, le=1000)]] = Field(default_factory=dict[str, int])
    """Columns or rows of a pane, by its name."""
    folded: list[str] = Field(default_factory=list[str])
    """The panes that are folded."""
    declined: list[str] = Field(default_factory=list[str])
    """Runs that the user did not want to go on with, by id."""
    theme: str | None = None
    """The theme that was chosen last; a configured one and `--theme` come before it."""


def load_memory(path: Path | None = None) -> Memory:
    """What is remembered; nothing where the file is missing or broken."""
    try:
        text = (path or paths.state_file()).read_bytes()
        return Memory.model_validate_json(text)
    except (OSError, ValidationError):
        return Memory()


def save_memory(memory: Memory, path: Path | None = None) -> str:
    """Write it; what went wrong as a sentence, empty where nothing did."""
    from flowstudio.run.folder import write_safely

    place = path or paths.state_file()
    memory.declined = memory.declined[-_MOST:]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_safely(place, memory.model_dump_json(indent=2) + "\n")
    except OSError as error:
        return f"{place} cannot be written, so sizes are not remembered: {error.strerror}"
    return ""
