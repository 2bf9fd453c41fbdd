"""Finds every skill that can be called from a work folder, and who has which name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Span
from flowstudio.skill import codes
from flowstudio.skill.decode import take_stamp
from flowstudio.skill.manifest import read_skill
from flowstudio.skill.roots import Candidate, Root, candidates, find_roots
from flowstudio.skill.skill import SCOPES, Scope, Skill, Stamp, fold_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOP = Span(1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Match:
    """The answer to a name: the skill, or the names that it may have meant."""

    skill: Skill | None
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills of one work folder."""

    roots: tuple[Root, ...] = ()
    skills: tuple[Skill, ...] = ()
    """Those that can be called: by scope (project, user, extra, built-in), then by name."""
    shadowed: tuple[Skill, ...] = ()
    """Those whose name an earlier one has."""
    skipped: tuple[Path, ...] = ()
    """Flat `.md` files without front matter: notes beside the skills, most likely."""
    files: tuple[Path, ...] = ()
    """The single files that were named besides the roots."""
    findings: tuple[Diagnostic, ...] = ()
    """What is wrong with the roots themselves."""
    stamps: Mapping[Path, Stamp] = field(default_factory=dict[Path, Stamp], repr=False)
    """The state in which each file was read, for telling changes."""
    _by_name: Mapping[str, Skill] = field(default_factory=dict[str, Skill], repr=False)
    _by_path: Mapping[Path, Skill] = field(default_factory=dict[Path, Skill], repr=False)

    def get(self, name: str) -> Skill | None:
        """The skill of this name; case does not count."""
        return self._by_name.get(fold_name(name))

    def at(self, path: Path) -> Skill | None:
        """The skill that is read from the file `path`, shadowed ones included."""
        return self._by_path.get(path)

    def find(self, name: str) -> Match:
        """The skill of this name, or up to three that may be meant: by folder, start, likeness."""
        if skill := self.get(name):
            return Match(skill)
        from difflib import get_close_matches

        wanted = fold_name(name)
        by_folder = [s.name for s in self.skills if fold_name(s.root.name) == wanted]
        starts = [s.name for key, s in self._by_name.items() if wanted and key.startswith(wanted)]
        near = [self._by_name[key].name for key in get_close_matches(wanted, self._by_name)]
        return Match(None, tuple(dict.fromkeys([*by_folder, *starts, *near]))[:3])

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Every finding: about the roots, then skill by skill, the shadowed ones last."""
        skills = (*self.skills, *self.shadowed)
        return (*self.findings, *(d for skill in skills for d in skill.diagnostics))

    def of_scope(self, scope: Scope) -> tuple[Skill, ...]:
        """The skills of one scope."""
        return tuple(skill for skill in self.skills if skill.scope == scope)


def discover(
    work_dir: Path,
    *,
    extra_dirs: Iterable[Path] = (),
    files: Iterable[Path] = (),
    include_builtin: bool = True,
    home: Path | None = None,
    charts: bool = True,
    previous: Catalogue | None = None,
) -> Catalogue:
    """Every skill that can be called in `work_dir`. Never raises for anything on the disk.

    `files` are single skills outside the roots that the user opened: they come into scope `extra`,
    and have the first right to their names. `charts=False` reads front matter alone, a quick list
    for the first paint (see `Skill.checked`). Skills of `previous` whose files have not changed
    since are taken over instead of being read again. Reads the disk: call it in a thread.
    """
    roots = find_roots(work_dir, extra_dirs=extra_dirs, include_builtin=include_builtin, home=home)
    return read_roots(roots, files=files, charts=charts, previous=previous)


def read_roots(
    roots: Iterable[Root],
    *,
    files: Iterable[Path] = (),
    charts: bool = True,
    previous: Catalogue | None = None,
) -> Catalogue:
    """The catalogue of these roots; `discover` says what the rest means."""
    reader = _Reader(charts, previous or Catalogue())
    roots = tuple(roots)
    files = tuple(files)
    for path in files:
        reader.read(Candidate(path, is_flat=False), "extra", None)
    for root in roots:
        reader.read_root(root)
    return reader.finish(roots, files)


def refresh(catalogue: Catalogue) -> Catalogue:
    """The same places, read again where something changed: what to do when `watch` tells of it."""
    return read_roots(catalogue.roots, files=catalogue.files, previous=catalogue)


@dataclass(slots=True)
class _Reader:
    charts: bool
    previous: Catalogue
    skills: list[Skill] = field(default_factory=list[Skill])
    shadowed: list[Skill] = field(default_factory=list[Skill])
    skipped: list[Path] = field(default_factory=list[Path])
    findings: list[Diagnostic] = field(default_factory=list[Diagnostic])
    stamps: dict[Path, Stamp] = field(default_factory=dict[Path, Stamp])
    by_name: dict[str, Skill] = field(default_factory=dict[str, Skill])
    root_of: dict[str, Root | None] = field(default_factory=dict[str, Root | None])
    seen: set[str] = field(default_factory=set[str])

    def read_root(self, root: Root) -> None:
        try:
            found = candidates(root.path)
        except FileNotFoundError:
            if root.scope == "extra":
                hint = "create it, or take it out of skills_dirs and --skills-dir"
                self._report(codes.ROOT_MISSING, f"{root.path} does not exist", hint, root)
            return
        except OSError as error:
            # A project without a `.kimi` folder may well have a file of that name.
            if not isinstance(error, NotADirectoryError) or root.scope == "extra":
                reason = error.strerror or str(error)
                message = f"{root.path} cannot be listed: {reason}"
                self._report(codes.ROOT_UNREADABLE, message, "allow it: chmod u+rx", root)
            return
        for candidate in found:
            self.read(candidate, root.scope, root)

    def read(self, candidate: Candidate, scope: Scope, root: Root | None) -> None:
        path = candidate.path
        # Taken before the file is read: an edit in between is then seen as a change.
        self.stamps[path] = stamp = take_stamp(path)
        real = os.path.realpath(path)
        if real in self.seen:
            return  # the same file over another way: nothing is shadowed
        self.seen.add(real)
        skill = self._unchanged(path, scope, stamp)
        if skill is None:
            if candidate.is_flat and stamp is not None and stamp == self._skipped_before(path):
                self.skipped.append(path)
                return
            try:
                skill = read_skill(path, scope, charts=self.charts)
            except FileNotFoundError:
                del self.stamps[path]  # gone since the folder was listed
                return
        if candidate.is_flat and _is_note(skill):
            self.skipped.append(path)
            return
        self._add(skill, root)

    def _unchanged(self, path: Path, scope: Scope, stamp: Stamp) -> Skill | None:
        before = self.previous.at(path)
        if before is None or stamp is None or before.stamp != stamp:
            return None
        if before.scope != scope or (self.charts and not before.checked):
            return None
        return _without_name_taken(before)

    def _skipped_before(self, path: Path) -> Stamp:
        return self.previous.stamps.get(path) if path in self.previous.skipped else None

    def _add(self, skill: Skill, root: Root | None) -> None:
        key = fold_name(skill.name)
        first = self.by_name.get(key)
        if first is None:
            self.by_name[key] = skill
            self.root_of[key] = root
            self.skills.append(skill)
            return
        # A project's skill in place of a built-in one is meant; two in one folder are an accident.
        if root is not None and self.root_of[key] == root:
            skill = _with_name_taken(skill, first)
        self.shadowed.append(skill)

    def _report(self, code: str, message: str, hint: str, root: Root) -> None:
        self.findings.append(finding(code, message, _TOP, hint).at(str(root.path)))

    def finish(self, roots: tuple[Root, ...], files: tuple[Path, ...]) -> Catalogue:
        order = {scope: at for at, scope in enumerate(SCOPES)}
        self.skills.sort(key=lambda skill: (order[skill.scope], fold_name(skill.name)))
        return Catalogue(
            roots=roots,
            skills=tuple(self.skills),
            shadowed=tuple(self.shadowed),
            skipped=tuple(self.skipped),
            files=files,
            findings=tuple(self.findings),
            stamps=self.stamps,
            _by_name={fold_name(skill.name): skill for skill in self.skills},
            _by_path={skill.path: skill for skill in (*self.skills, *self.shadowed)},
        )


def _is_note(skill: Skill) -> bool:
    return any(d.code == codes.FRONT_MATTER_MISSING for d in skill.diagnostics)


def _with_name_taken(skill: Skill, first: Skill) -> Skill:
    said = finding(
        codes.NAME_TAKEN,
        f'the name "{skill.name}" is taken by {first.root.name}/{first.path.name}',
        _TOP,
        "give this skill a name of its own",
    )
    return replace(skill, diagnostics=(said.at(str(skill.path)), *skill.diagnostics))


def _without_name_taken(skill: Skill) -> Skill:
    """A skill taken over from before: whether its name is taken is asked anew."""
    if all(d.code != codes.NAME_TAKEN for d in skill.diagnostics):
        return skill
    kept = tuple(d for d in skill.diagnostics if d.code != codes.NAME_TAKEN)
    return replace(skill, diagnostics=kept)


def skill_files(roots: Iterable[Root], files: Iterable[Path] = ()) -> Iterator[Path]:
    """Every file that `read_roots` would read, without reading it."""
    for path in files:
        if os.path.lexists(path):
            yield path
    for root in roots:
        try:
            found = candidates(root.path)
        except OSError:
            continue
        yield from (candidate.path for candidate in found)
