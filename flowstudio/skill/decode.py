"""From a file to its text: whatever the bytes are, a text and findings, never an exception.

UTF-8 is the rule; UTF-16 is told by its byte order mark; what is neither may be GB18030, the
encoding of older Chinese editors, which fits few byte sequences by accident.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Span
from flowstudio.skill import codes

if TYPE_CHECKING:
    from pathlib import Path

    from flowstudio.skill.skill import Stamp

LARGEST = 10 * 1024 * 1024
"""Bytes; a larger file is not read."""

_TOP = Span(1, 1, 1, 1)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text, how it was read, and what was wrong with it."""

    text: str = ""
    encoding: str = "utf-8"
    bom: bytes = b""
    findings: tuple[Diagnostic, ...] = ()
    stamp: Stamp = None


def take_stamp(path: Path) -> Stamp:
    """The state of the file behind `path`; None where there is none or it cannot be looked at."""
    try:
        return _stamp(path.stat())
    except OSError:
        return None


def read_file(path: Path) -> FileText:
    """Read `path` as text. Raises FileNotFoundError where there is neither a file nor a link."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "folder" if stat.S_ISDIR(status.st_mode) else "pipe or device"
            return _refused(codes.FILE_UNREADABLE, f"this is a {kind}, not a text file", "")
        if status.st_size > LARGEST:
            return _refused(
                codes.FILE_HUGE,
                f"the file has {status.st_size / 1024 / 1024:.1f} MB and was not read",
                "keep it below 10 MB: move data into files beside it",
                _stamp(status),
            )
        # A file that grows meanwhile must not fill the memory.
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        return _refused_by_system(path, error)
    return decode(data[:LARGEST], _stamp(status))


def decode(data: bytes, stamp: Stamp = None) -> FileText:
    """The text of `data`, without a byte order mark and with its line ends as they are."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decode_marked(data[len(bom) :], bom, encoding, stamp)
    if (at := data.find(0)) >= 0:
        line = data.count(b"\n", 0, at) + 1
        return _refused(
            codes.FILE_BINARY,
            f"the file is not text: it holds a NUL byte in line {line}",
            "save it as plain text in UTF-8",
            stamp,
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _decode_other(data, error.start, stamp)
    return FileText(text, stamp=stamp, findings=_empty(text))


def _decode_marked(data: bytes, bom: bytes, encoding: str, stamp: Stamp) -> FileText:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "replace")
        return _undecodable(data, before, encoding, bom, stamp)
    if "\0" in text:
        return _refused(
            codes.FILE_BINARY,
            "the file is not text: it holds NUL characters",
            "save it as plain text in UTF-8",
            stamp,
        )
    findings = _empty(text)
    if encoding != "utf-8":
        findings += (_guessed(encoding[:-3].upper()),)
    return FileText(text, encoding, bom, findings, stamp)


def _decode_other(data: bytes, at: int, stamp: Stamp) -> FileText:
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return _undecodable(data, data[:at].decode(), "utf-8", b"", stamp)
    return FileText(text, "gb18030", b"", (*_empty(text), _guessed("GB18030")), stamp)


def _undecodable(data: bytes, before: str, encoding: str, bom: bytes, stamp: Stamp) -> FileText:
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    said = finding(
        codes.ENCODING_UNKNOWN,
        f"the file is not {encoding.upper()} text: a byte here stands for no character",
        Span(line, column, line, column + 1),
        "save the file as UTF-8",
    )
    return FileText(data.decode(encoding, "replace"), encoding, bom, (said,), stamp)


def _guessed(name: str) -> Diagnostic:
    return finding(
        codes.ENCODING_GUESSED,
        f"the file is not UTF-8; it was read as {name}",
        _TOP,
        "save the file as UTF-8",
    )


def _empty(text: str) -> tuple[Diagnostic, ...]:
    if text.strip():
        return ()
    hint = "begin with the front matter: ---, name, description, type, ---"
    return (finding(codes.FILE_EMPTY, "the file is empty", _TOP, hint),)


def _refused(code: str, message: str, hint: str, stamp: Stamp = None) -> FileText:
    return FileText(findings=(finding(code, message, _TOP, hint),), stamp=stamp)


def _refused_by_system(path: Path, error: OSError) -> FileText:
    match error.errno:
        case errno.ELOOP:
            hint = "remove the link, or let it point at the skill"
            return _refused(codes.LINK_LOOP, "the symbolic link leads back to itself", hint)
        case errno.ENOENT | errno.ENOTDIR:
            if target := _broken_link(path):
                message = f"the symbolic link leads to {target}, where nothing is"
                hint = "remove the link, or let it point at the skill"
                return _refused(codes.LINK_BROKEN, message, hint)
            raise FileNotFoundError(*error.args) from error
        case errno.EACCES | errno.EPERM:
            hint = f"allow it: chmod u+rX {path.parent.name}/ {path.parent.name}/{path.name}"
            return _refused(codes.FILE_FORBIDDEN, "you may not read this file", hint)
        case _:
            reason = error.strerror or str(error)
            return _refused(codes.FILE_UNREADABLE, f"the file cannot be read: {reason}", "")


def _broken_link(path: Path) -> str | None:
    """Where the link leads that `path`, or the folder it lies in, is; None if neither is a link."""
    for place in (path, path.parent):
        if place.is_symlink() and not os.path.exists(place):  # noqa: PTH110
            return str(place.readlink())
    return None


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    # The time of the inode's change tells edits apart that keep size and time (`cp -p`), and a
    # chmod.
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
