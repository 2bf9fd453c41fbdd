"""Writes an edited skill back: no reader ever sees half a file, and nobody's edit is lost."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from flowstudio.skill import codes
from flowstudio.skill.manifest import load_skill
from flowstudio.skill.skill import Skill, SkillError

_NOT_READ = frozenset(
    {
        codes.ENCODING_UNKNOWN,
        codes.FILE_BINARY,
        codes.FILE_FORBIDDEN,
        codes.FILE_HUGE,
        codes.FILE_UNREADABLE,
        codes.LINK_BROKEN,
        codes.LINK_LOOP,
    }
)


def save(skill: Skill, text: str) -> Skill:
    """Replace the skill's `source` on the disk by `text`; gives the skill as it is then read.

    The file keeps its encoding, byte order mark and permissions, and a link stays a link. Raises
    `SkillError`, fit to show, where the file has changed since `skill` was read (nothing is
    written then), where its encoding has no sign for a character, or where the disk refuses.
    """
    if any(found.code in _NOT_READ for found in skill.diagnostics):
        raise SkillError(f"{skill.path}: not read as text, so it cannot be written back")
    target = Path(os.path.realpath(skill.path))
    try:
        before = skill.encode(skill.source)
        data = skill.encode(text)
    except UnicodeEncodeError as error:
        sign = error.object[error.start : error.end]
        raise SkillError(f"{skill.path}: {sign!r} cannot be written in {skill.encoding}") from error
    try:
        if target.read_bytes() != before:
            raise SkillError(f"{skill.path}: the file has changed on the disk; nothing was written")
        _replace(target, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise SkillError(f"{skill.path}: cannot be written: {reason}") from error
    return load_skill(skill.path, skill.scope)


def _replace(target: Path, data: bytes) -> None:
    mode = target.stat().st_mode & 0o7777
    # Hidden, so that no root takes it for a skill; in the same folder, so that renaming is one act.
    with NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", suffix=".tmp", delete=False
    ) as file:
        new = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            new.chmod(mode)
            new.replace(target)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise
