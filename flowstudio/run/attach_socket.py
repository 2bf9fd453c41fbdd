"""The socket in a run's folder: made for its owner only, and found there, however long the path.

A socket's address may have some hundred bytes. Where the path is longer, it is reached through a
symbolic link in a folder of its own that lives for as long as the call takes.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Generator
from pathlib import Path

NAME = "attach.sock"
_LONGEST = 100
"""Bytes of an address; Linux takes 107, macOS 103."""


class NotOn(Exception):
    """Nobody serves the run: it is over, broken off, or was started with `--no-attach`."""


def listen(folder: Path) -> socket.socket:
    """A listening socket in a run's folder, in place of one that a killed process left.

    Only who writes the run may call this.

    Raises:
        OSError: it cannot be made there.
    """
    with contextlib.suppress(FileNotFoundError):
        (folder / NAME).unlink()
    made = _new_socket()
    try:
        with _address(folder) as address:
            before = os.umask(0o177)
            try:
                made.bind(address)
            finally:
                os.umask(before)
        made.listen()
    except OSError:
        made.close()
        raise
    return made


def connect(folder: Path) -> socket.socket:
    """A socket that is connected with whoever serves the run.

    Raises:
        NotOn: nobody does.
        OSError: it may not be reached.
    """
    made = _new_socket()
    try:
        with _address(folder) as address:
            made.connect(address)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        made.close()
        raise NotOn(f"nobody can be attached to the run {folder.name}: it is not on") from error
    except OSError:
        made.close()
        raise
    made.setblocking(False)
    return made


def _new_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(10)
    return made


@contextlib.contextmanager
def _address(folder: Path) -> Generator[str]:
    address = str(folder.absolute() / NAME)
    if len(os.fsencode(address)) <= _LONGEST:
        yield address
        return
    with tempfile.TemporaryDirectory(prefix="fs-") as short:
        link = Path(short) / "run"
        link.symlink_to(folder.absolute(), target_is_directory=True)
        yield str(link / NAME)
