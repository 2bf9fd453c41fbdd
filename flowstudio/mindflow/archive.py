"""Skills brought in from a folder or an archive, and packed into one.

What comes from elsewhere is read before anything is written: names that lead out of the folder,
links, devices, archives that unpack to more than a library can be, and files that no skill has are
refused or left out, each with a sentence. A skill is written whole or not at all.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from flowstudio.skill import Skill, SkillError, load_skill
from flowstudio.skill.manifest import manifest_in
from flowstudio.skill.skill import fold_name

MOST_FILES = 2_000
"""Files in one archive or folder."""
MOST_BYTES = 50_000_000
"""Of all files together, unpacked."""
MOST_OF_ONE = 10_000_000
"""Bytes of one file, unpacked."""
DEEPEST = 8
"""Folders in one another, from the archive's top."""

_JUNK = frozenset({"__MACOSX", ".DS_Store", "__pycache__", ".git", "node_modules", "Thumbs.db"})
_DOS_NAMES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)

type Verdict = Literal["add", "replace", "same", "taken", "broken"]


class ArchiveError(Exception):
    """Nothing can be read from it, or it is not safe; the message says why."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A skill that could be brought in."""

    skill: Skill
    folder: Path
    """Where it lies now: a folder, or a flat file."""
    target: Path
    """Where it would lie."""
    verdict: Verdict
    """`taken`: another skill has its name; `same`: it is there already, file for file; `broken`: it
    cannot be read as a skill."""
    note: str = ""


@dataclass(slots=True)
class Unpacked:
    """What was read of a source; to be closed."""

    folder: Path
    left_out: list[str] = field(default_factory=list[str])
    """A sentence for each file that is not taken."""
    _temporary: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Remove what was unpacked."""
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_source(path: Path) -> Unpacked:
    """A copy of a folder, a file or an archive, with nothing in it that is not safe.

    Raises:
        ArchiveError: it cannot be read, or is too large, or an entry leads out of it.
    """
    if path.is_dir():
        return _copy_folder(path)
    if not path.exists():
        raise ArchiveError(f"{path}: no such file or folder")
    if zipfile.is_zipfile(path):
        return _unzip(path)
    if path.suffix.lower() in (".md", ".markdown"):
        temporary = tempfile.TemporaryDirectory(prefix="flowstudio-import-")
        folder = Path(temporary.name)
        name = path.parent.name if path.name.lower() == "skill.md" else path.stem
        made = folder / (name or "skill")
        made.mkdir()
        if path.stat().st_size > MOST_OF_ONE:
            temporary.cleanup()
            raise ArchiveError(f"{path} is larger than {MOST_OF_ONE // 1_000_000} MB")
        shutil.copyfile(path, made / "SKILL.md")
        return Unpacked(folder, [], temporary)
    raise ArchiveError(f"{path} is neither a folder of skills, nor a zip archive, nor a SKILL.md")


def find_incoming(
    source: Unpacked, target: Path, present: Iterable[Skill], *, replace: bool = False
) -> list[Incoming]:
    """The skills of a source, and what would be done with each.

    Args:
        target: the folder of skills that they go to.
        present: the skills that lie there.
        replace: whether the new one is taken where a name is there already.
    """
    by_name = {fold_name(skill.name): skill for skill in present}
    found: list[Incoming] = []
    for folder in _skill_folders(source.folder):
        try:
            skill = load_skill(folder, "user")
        except SkillError as error:
            source.left_out.append(str(error))
            continue
        name = folder.name if folder != source.folder else _folder_name(skill.name)
        place = target / name
        there = by_name.get(fold_name(skill.name))
        if there is not None and there.root.parent == target:
            place = there.root
        errors = skill.errors
        if errors:
            note = f"{errors[0].message} ({errors[0].code})"
            found.append(Incoming(skill, folder, place, "broken", note))
        elif any(one.skill.name == skill.name and one.verdict != "broken" for one in found):
            note = "an earlier skill of the same source has this name"
            found.append(Incoming(skill, folder, place, "taken", note))
        elif there is None and not os.path.lexists(place):
            found.append(Incoming(skill, folder, place, "add"))
        elif place.is_dir() and not place.is_symlink() and _is_same(folder, place):
            found.append(Incoming(skill, folder, place, "same"))
        elif replace and (there is not None or place.is_dir()):
            found.append(Incoming(skill, folder, place, "replace"))
        else:
            what = f"the skill {there.name}" if there is not None else "something else"
            found.append(Incoming(skill, folder, place, "taken", f"{place} is {what}"))
    return found


def bring(one: Incoming) -> None:
    """Put a skill into its place: a whole copy beside it first, then one renaming.

    Raises:
        OSError: the disk refuses. What was there before is there still.
    """
    parent = one.target.parent
    parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=parent, prefix=f".{one.target.name}."))
    try:
        shutil.copytree(one.folder, new, dirs_exist_ok=True)
        new.chmod(0o755)
        if not os.path.lexists(one.target):
            new.rename(one.target)
            return
        old = Path(tempfile.mkdtemp(dir=parent, prefix=f".{one.target.name}.old."))
        former = old / one.target.name
        one.target.rename(former)
        try:
            new.rename(one.target)
        except BaseException:
            former.rename(one.target)
            raise
        finally:
            shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def pack(skills: Sequence[Skill], file: Path) -> list[str]:
    """Write skills into a new archive, a folder each; gives a sentence for what was left out.

    The same skills give the same bytes.

    Raises:
        OSError: it cannot be written. No half archive stays.
    """
    left_out: list[str] = []
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".tmp")
    new = Path(name)
    try:
        with (
            os.fdopen(handle, "wb") as stream,
            zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            taken: set[str] = set()
            for skill in skills:
                top = _free_name(_folder_name(skill.name), taken)
                for path, inside in _files_of(skill, left_out):
                    info = zipfile.ZipInfo(f"{top}/{inside}", (1980, 1, 1, 0, 0, 0))
                    mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
                    info.external_attr = (stat.S_IFREG | mode) << 16
                    info.compress_type = zipfile.ZIP_DEFLATED
                    archive.writestr(info, path.read_bytes())
        new.chmod(0o644)
        new.replace(file)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    return left_out


def _files_of(skill: Skill, left_out: list[str]) -> Iterator[tuple[Path, str]]:
    """The files of a skill, with their names in its folder."""
    if manifest_in(skill.root) != skill.path:
        # A flat file: its folder is that of all skills.
        yield skill.path, "SKILL.md" if skill.path.suffix.lower() == ".md" else skill.path.name
        return
    for path, inside in _walk(skill.root, left_out):
        yield path, str(inside)


def _walk(folder: Path, left_out: list[str]) -> Iterator[tuple[Path, PurePosixPath]]:
    """The plain files below a folder, in order. Links and what is no file are left out."""
    files = total = 0
    for at, names, here in os.walk(folder):
        names[:] = sorted(name for name in names if name not in _JUNK)
        below = Path(at)
        depth = len(below.relative_to(folder).parts)
        for name in list(names):
            if (below / name).is_symlink():
                left_out.append(f"{(below / name).relative_to(folder)} is a link: left out")
                names.remove(name)
        if depth >= DEEPEST and names:
            left_out.append(f"{below.relative_to(folder)}: folders below it are left out")
            names.clear()
        for name in sorted(here):
            path = below / name
            inside = path.relative_to(folder)
            if name in _JUNK:
                continue
            facts = path.lstat()
            if not stat.S_ISREG(facts.st_mode):
                left_out.append(f"{inside} is no plain file: left out")
                continue
            if facts.st_size > MOST_OF_ONE:
                left_out.append(f"{inside} is larger than {MOST_OF_ONE // 1_000_000} MB: left out")
                continue
            files, total = files + 1, total + facts.st_size
            if files > MOST_FILES or total > MOST_BYTES:
                raise ArchiveError(_too_much(folder))
            yield path, PurePosixPath(*inside.parts)


def _too_much(path: Path) -> str:
    return (
        f"{path} holds more than {MOST_FILES} files or {MOST_BYTES // 1_000_000} MB: that is no "
        "library of skills. Bring its skills in one by one."
    )


def _copy_folder(path: Path) -> Unpacked:
    temporary = tempfile.TemporaryDirectory(prefix="flowstudio-import-")
    top = Path(temporary.name)
    # One skill keeps its folder's name.
    inner = top / path.resolve().name if manifest_in(path) else top
    left_out: list[str] = []
    try:
        for file, inside in _walk(path, left_out):
            copy = inner / inside
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
            shutil.copymode(file, copy)
    except ArchiveError:
        temporary.cleanup()
        raise
    except OSError as error:
        temporary.cleanup()
        raise ArchiveError(f"{path} cannot be read: {error}") from error
    return Unpacked(top, left_out, temporary)


def _unzip(path: Path) -> Unpacked:
    temporary = tempfile.TemporaryDirectory(prefix="flowstudio-import-")
    top = Path(temporary.name)
    left_out: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [info for info in archive.infolist() if not info.is_dir()]
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BYTES:
                raise ArchiveError(_too_much(path))
            left = MOST_BYTES
            for info in entries:
                place = _safe_place(path, info, left_out)
                if place is not None:
                    left -= _extract(archive, info, top / place, left)
    except ArchiveError:
        temporary.cleanup()
        raise
    except (OSError, RuntimeError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        # A RuntimeError is an archive with a password.
        temporary.cleanup()
        raise ArchiveError(f"{path} cannot be unpacked: {error}") from error
    return Unpacked(top, left_out, temporary)


def _safe_place(path: Path, info: zipfile.ZipInfo, left_out: list[str]) -> PurePosixPath | None:
    """Where an entry goes; None where it is left out.

    Raises:
        ArchiveError: it leads out of the archive. Nobody packs that by accident.
    """
    name = info.filename.replace("\\", "/")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or ":" in (parts[0] if parts else "") or "\0" in name:
        raise ArchiveError(f"{path} is not safe: {info.filename!r} leads out of it")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        left_out.append(f"{name} is no plain file: left out")
        return None
    if not parts or any(part in _JUNK for part in parts):
        return None
    if len(parts) > DEEPEST or any(len(part.encode()) > 200 for part in parts):
        left_out.append(f"{name[:80]}: too deep, or too long a name: left out")
        return None
    if any(part.split(".")[0].lower() in _DOS_NAMES for part in parts):
        left_out.append(f"{name} is no name for a file everywhere: left out")
        return None
    if info.file_size > MOST_OF_ONE:
        left_out.append(f"{name} is larger than {MOST_OF_ONE // 1_000_000} MB: left out")
        return None
    return PurePosixPath(*parts)


def _extract(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path, left: int) -> int:
    """Unpack one entry; gives its size. What it says of its own size is not believed."""
    place.parent.mkdir(parents=True, exist_ok=True)
    most = min(MOST_OF_ONE, left)
    size = 0
    with archive.open(info) as source, place.open("xb") as stream:
        while piece := source.read(65_536):
            size += len(piece)
            if size > most:
                raise ArchiveError(f"{info.filename} unpacks to more than it says: not safe")
            stream.write(piece)
    if (info.external_attr >> 16) & stat.S_IXUSR:
        place.chmod(0o755)
    return size


def _skill_folders(top: Path) -> list[Path]:
    """The folders with a skill in them: the top itself, or up to two levels below."""
    if manifest_in(top):
        return [top]
    found: list[Path] = []
    level = [top]
    for _ in range(3):
        below = sorted(one for folder in level for one in folder.iterdir() if one.is_dir())
        found += [one for one in below if manifest_in(one)]
        level = [one for one in below if not manifest_in(one)]
    return found


def _is_same(one: Path, other: Path) -> bool:
    def content(folder: Path) -> dict[str, bytes]:
        return {str(inside): path.read_bytes() for path, inside in _walk(folder, [])}

    try:
        return content(one) == content(other)
    except (OSError, ArchiveError):
        return False


def _folder_name(name: str) -> str:
    """A skill's name as a folder may be called."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")[:80]
    return kept or "skill"


def _free_name(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free.casefold() in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free.casefold())
    return free
