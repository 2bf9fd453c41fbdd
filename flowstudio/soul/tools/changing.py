"""Changing a file: the user sees the difference and says yes, what stood there is kept, then it is
written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


async def change_file(box: Toolbox, tool: str, place: Path, before: str | None, after: str) -> None:
    """Ask with the difference shown, keep the former text for `/undo`, and write.

    Raises:
        ToolFailure: the user said no, someone else changed the file meanwhile, or it cannot be
            kept or written.
    """
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
