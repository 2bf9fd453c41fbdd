"""Which work folders the user trusts: skills that come with a folder are run only then.

A skill is a programme for an agent with tools; one that came with a cloned repository was written
by whoever wrote the repository. The user's own skills, the bundled ones and those of folders that
the user named in the settings need no trust, and neither does a rehearsal, which runs no tool.

The state is a file of the user's that nobody else may write; `FLOWSTUDIO_TRUST` names further
folders, for machines that are made anew for each run (CI).
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from flowstudio import paths
from flowstudio.skill.roots import find_project, find_roots

VARIABLE = "FLOWSTUDIO_TRUST"


class TrustError(Exception):
    """The state of trust cannot be read or written; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class TrustStore:
    """The folders that are trusted; a trusted folder covers what lies below it."""

    path: Path

    @classmethod
    def of_user(cls) -> TrustStore:
        """The user's own."""
        return cls(paths.trust_file())

    def folders(self) -> tuple[Path, ...]:
        """The trusted folders, in the order in which they were trusted.

        Raises:
            TrustError: others may write the file, or it cannot be understood.
        """
        try:
            with self.path.open("rb") as stream:
                facts = os.fstat(stream.fileno())
                if facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                    raise TrustError(
                        f"{self.path} is not used: others may write it. Make it yours alone "
                        f"(chmod 600), or remove it and trust your folders again."
                    )
                raw: object = json.loads(stream.read())
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, RecursionError) as error:
            raise TrustError(
                f"{self.path} cannot be read: {error}. Remove it to begin anew."
            ) from (error)
        listed: object = cast("dict[str, object]", raw).get("trusted") if _is_dict(raw) else None
        if not isinstance(listed, list):
            raise TrustError(f"{self.path} holds no list of trusted folders. Remove it.")
        found = (one for one in cast("list[object]", listed) if isinstance(one, str))
        return tuple(Path(one) for one in found)

    def trusts(self, folder: Path) -> bool:
        """True where the folder, or one that it lies in, is trusted.

        Raises:
            TrustError: see `folders`.
        """
        real = _real(folder)
        named = (Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one)
        return any(real.is_relative_to(_real(one)) for one in (*named, *self.folders()))

    def trust(self, folder: Path) -> None:
        """Trust a folder from now on.

        Raises:
            TrustError: the file cannot be read or written.
        """
        real = _real(folder)
        known = self.folders()
        if real not in known:
            self._write((*known, real))

    def remove(self, folder: Path) -> bool:
        """Trust a folder no longer; False where it was not trusted by itself.

        Raises:
            TrustError: the file cannot be read or written.
        """
        real = _real(folder)
        known = self.folders()
        if real not in known:
            return False
        self._write(one for one in known if one != real)
        return True

    def _write(self, folders: Iterable[Path]) -> None:
        text = json.dumps({"trusted": [str(one) for one in folders]}, indent=2) + "\n"
        temporary = ""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".trust.", dir=self.path.parent)
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode(errors="surrogateescape"))
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise TrustError(f"{self.path} cannot be written: {error.strerror}.") from error


def folder_to_trust(skill: SkillAt, work_dir: Path, extra_dirs: Iterable[Path] = ()) -> Path | None:
    """The folder that must be trusted before `skill` may use tools; None where none need be.

    Args:
        extra_dirs: folders of skills that the user named in the settings or on the command line.
    """
    real = _real(skill.path)
    for root in find_roots(work_dir, extra_dirs=extra_dirs):
        if root.scope != "project" and real.is_relative_to(_real(root.path)):
            return None
    folder = skill.path if skill.path.is_dir() else skill.path.parent
    return _real(find_project(folder))


class SkillAt(Protocol):
    """What the guard looks at in a skill."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class TrustGuard:
    """Tells for one work folder which skills may be used with tools."""

    work_dir: Path
    extra_dirs: tuple[Path, ...] = ()

    def untrusted(self, skill: SkillAt) -> Path | None:
        """The folder that the user must trust first; None where none need be.

        Raises:
            TrustError: the state of trust cannot be read.
        """
        folder = folder_to_trust(skill, self.work_dir, self.extra_dirs)
        return None if folder is None or TrustStore.of_user().trusts(folder) else folder

    def why_no_skill(self, skill: SkillAt) -> str:
        """Why a skill may not be used, as a sentence; empty where it may."""
        try:
            folder = self.untrusted(skill)
        except TrustError as error:
            return str(error)
        if folder is None:
            return ""
        return (
            f"“{skill.name}” comes with the folder {folder}, which you have not trusted: its "
            "prompts would tell an agent with tools what to do"
        )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)
