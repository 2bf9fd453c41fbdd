"""Changing a file: the user sees the difference and says yes, what stood there is kept, then it is
written.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flowstudio.soul.tools.files import (
    encode,
    make_diff,
    read_if_there,
    replace_file,
    show_change,
)
from flowstudio.soul.tools.toolbox import ToolFailure

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.soul.tools.toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a higher room made of a write that it answers for."""

    said: str
    """For the model: it is written, or waits for somebody's answer."""
    brief: str = ""
    """The same in a few words, for people."""
    written: tuple[tuple[Path, str | None, str], ...] = ()
    """The files that were written, each with its text before (None: there was none) and after."""


class ClaimsWrites(Protocol):
    """A higher room that answers for some folders: it asks and writes there by rules of its own."""

    async def take(self, tool: str, path: Path, before: str | None, after: str) -> Claimed | None:
        """Carry out a write; None where it is none of its own.

        Raises:
            ToolFailure: the user said no, or it cannot be written.
        """
        ...


async def read_before(box: Toolbox, tool: str, place: Path, shown: str) -> str | None:
    """The text that is about to be changed; None where there is no file yet.

    Raises:
        ToolFailure: it cannot be read. Outside the work folder the model learns this, as all else,
            only after the user said yes.
    """
    try:
        return read_if_there(place, shown)
    except ToolFailure:
        if not box.is_inside(place):
            await box.ask_to_read(tool, place)
        raise


async def change_file(
    box: Toolbox, tool: str, place: Path, before: str | None, after: str
) -> Claimed | None:
    """Ask with the difference shown, keep the former text for `/undo`, and write.

    A file that a higher room answers for is written by its rules; gives what came of it.

    Raises:
        ToolFailure: the user said no, someone else changed the file meanwhile, or it cannot be
            kept or written.
    """
    claims = box.find_claims()
    if claims is not None:
        claimed = await claims.take(tool, place, before, after)
        if claimed is not None:
            for path, former, text in claimed.written:
                _note(box, path, former, text)
            return claimed
    shown = box.show(place)
    diff = make_diff(shown, before, after)
    await box.ask_to_write(tool, place, show_change(shown, before, after), diff)
    if read_if_there(place, shown) != before:
        raise ToolFailure(f"{shown} was changed by someone else meanwhile. Read it again.")
    data = encode(after)
    try:
        write = box.undo.note(place, None if before is None else encode(before), data)
    except OSError as error:
        message = f"{shown} is not written: what stands in it cannot be kept: {error.strerror}."
        raise ToolFailure(message) from error
    try:
        replace_file(place, shown, data)
    except ToolFailure:
        box.undo.forget(write)
        raise
    return None


def _note(box: Toolbox, path: Path, before: str | None, after: str) -> None:
    """Let `/undo` and a rewind find what was written elsewhere. Where that cannot be kept, whoever
    wrote it can undo it all the same."""
    with contextlib.suppress(OSError):
        box.undo.note(path, None if before is None else encode(before), encode(after))
