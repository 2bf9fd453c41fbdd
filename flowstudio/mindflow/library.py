"""Reads the library: the planning fields of its skills, and what stands beside them.

Nothing in a file stops anything: what is odd becomes a finding, and what is usable is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Span
from flowstudio.mindflow import codes
from flowstudio.mindflow.beside import files_beside, read_beside
from flowstudio.mindflow.model import Library, LibrarySkill, Methodology
from flowstudio.mindflow.values import (
    as_list,
    as_mapping,
    as_names,
    as_share,
    clean,
    is_mapping,
    show,
)
from flowstudio.skill.skill import fold_name

if TYPE_CHECKING:
    from flowstudio.skill import Catalogue, Skill

MOST_UTTERANCES = 40
"""Utterances that are read of a skill's own file; more cost time to index."""
MOST_PHRASES = 120
"""Utterances and phrases of one skill that are kept together."""
MOST_NAMES = 200
"""Names in one list that are read."""

_TOP = Span(1, 1, 1, 1)
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"|「([^」]+)」")
_HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_QUOTE_LINE = re.compile(r"^>[^\r\n]*", re.MULTILINE)
_NAME_FIELDS = ("preconditions", "effects", "called_skills")
_UTTERANCE_FIELDS = ("utterances", "examples", "example_utterances")
_ARTIFACT_FIELDS = ("artifact", "artifacts")


def read_library(catalogue: Catalogue) -> Library:
    """The library of a catalogue. Reads the methodologies and states beside its skills' roots.

    Where two roots define one methodology or state, the first root's stands, as with skills.
    """
    methodologies: dict[str, Methodology] = {}
    states: dict[str, str] = {}
    phrases: dict[str, tuple[str, ...]] = {}
    findings: list[Diagnostic] = []
    for root in catalogue.roots:
        findings += read_beside(root.path, methodologies, states, phrases)
    skills: dict[str, LibrarySkill] = {}
    for skill in catalogue.skills:
        read, odd = read_planning(skill)
        said = (*read.utterances, *phrases.get(skill.name, ()))
        skills[skill.name] = replace(read, utterances=tuple(dict.fromkeys(said))[:MOST_PHRASES])
        findings += odd
    skills, unknown = _check_names(skills, methodologies)
    return Library(skills, methodologies, states, (*findings, *unknown))


def read_planning(skill: Skill) -> tuple[LibrarySkill, tuple[Diagnostic, ...]]:
    """The planning fields of one skill, and what is odd about them."""
    reader = _Reader(skill)
    return reader.read(), tuple(reader.findings)


def library_files(catalogue: Catalogue) -> tuple[Path, ...]:
    """The files beside the skills that `read_library` would read now."""
    return tuple(path for root in catalogue.roots for path in files_beside(root.path))


class _Reader:
    """Reads one skill's fields: those of the top level, and below them those of `metadata:`."""

    def __init__(self, skill: Skill) -> None:
        self.skill = skill
        self.fields = _planning_fields(skill.meta)
        self.findings: list[Diagnostic] = []

    def read(self) -> LibrarySkill:
        skill = self.skill
        preconditions, effects, called = (self._names(key) for key in _NAME_FIELDS)
        return LibrarySkill(
            name=skill.name,
            description=skill.description,
            title=_title(skill.body),
            utterances=self._utterances(),
            preconditions=preconditions,
            effects=effects,
            called_skills=called,
            methodology_scores=self._scores(),
            artifacts=self._artifacts(),
            skill=skill,
        )

    def _names(self, key: str) -> tuple[str, ...]:
        given = as_names(self.fields.get(key))
        if given is None:
            self._odd(key, "is not a list of names", f"write {key}: [one, another]")
            return ()
        kept = [clean(str(one)) for one in given if isinstance(one, str | int | float)]
        kept = [one for one in kept if one]
        if len(kept) != len(given):
            self._odd(key, "holds something that is not a name", "write plain names")
        if len(kept) > MOST_NAMES:
            self._odd(key, f"holds more than {MOST_NAMES} names", "the rest is not read")
        return tuple(dict.fromkeys(kept[:MOST_NAMES]))

    def _utterances(self) -> tuple[str, ...]:
        """From the front matter, by language or not; else the quotes above the first section."""
        for key in _UTTERANCE_FIELDS:
            value = self.fields.get(key)
            if is_mapping(value):  # by language: {en: [...], zh: [...]}
                value = [one for part in as_mapping(value).values() for one in as_list(part) or ()]
            given = as_list(value) or ()
            said = [clean(one) for one in given if isinstance(one, str)]
            if value is not None and (len(said) != len(given) or not said):
                self._odd(key, "is not a list of texts", f'write {key}: ["what a user says"]')
            if said := [one for one in said if one]:
                return tuple(dict.fromkeys(said))[:MOST_UTTERANCES]
        above = self.skill.body.partition("\n## ")[0]
        quotes = " ".join(_QUOTE_LINE.findall(above))
        said = [clean("".join(match)) for match in _QUOTED.findall(quotes)]
        return tuple(dict.fromkeys(one for one in said if one))[:MOST_UTTERANCES]

    def _artifacts(self) -> tuple[str, ...]:
        found: list[str] = []
        for key in _ARTIFACT_FIELDS:
            for one in as_list(self.fields.get(key)) or ():
                entry = as_mapping(one)
                thing = (entry.get("path") or entry.get("name")) if entry else one
                if isinstance(thing, str) and clean(thing):
                    found.append(clean(thing))
                else:
                    what = "is neither a path nor a name"
                    self._odd(key, what, f"write {key}: templates/report.md")
        return tuple(dict.fromkeys(found))[:MOST_NAMES]

    def _scores(self) -> dict[str, float]:
        key = "methodology_scores"
        value = self.fields.get(key)
        if value is not None and not is_mapping(value):
            hint = "write methodology_scores: {meth_simple: 0.8}"
            self._odd(key, "is not a mapping of scores", hint)
        scores: dict[str, float] = {}
        for name, score in as_mapping(value).items():
            share = as_share(score)
            if share is None:
                what = f"has for {name} the score {show(score)}, not a number from 0 to 1"
                self._odd(key, what, "0 does not keep to it at all, 1 fully")
            else:
                scores[clean(name)] = share
        return scores

    def _odd(self, key: str, what: str, hint: str) -> None:
        self.findings.append(_report(self.skill, key, codes.PLANNING_FIELD, f"{key} {what}", hint))


def _check_names(
    skills: Mapping[str, LibrarySkill], methodologies: Mapping[str, Methodology]
) -> tuple[dict[str, LibrarySkill], list[Diagnostic]]:
    """The skills with the names of called ones as those write them; and what names nothing."""
    findings: list[Diagnostic] = []
    by_name = {fold_name(name): name for name in skills}
    checked: dict[str, LibrarySkill] = {}
    for read in skills.values():
        called: list[str] = []
        for name in read.called_skills:
            known = by_name.get(fold_name(name))
            called.append(known or name)
            if known is None and read.skill:
                findings.append(_unknown(read.skill, "called_skills", name, by_name.values()))
        checked[read.name] = replace(read, called_skills=tuple(dict.fromkeys(called)))
        if not read.skill or not methodologies:
            continue
        for name in read.methodology_scores:
            if name not in methodologies:
                findings.append(_unknown(read.skill, "methodology_scores", name, methodologies))
    return checked, findings


def _unknown(skill: Skill, key: str, name: str, known: Iterable[str]) -> Diagnostic:
    from difflib import get_close_matches

    is_skill = key == "called_skills"
    near = " or ".join(get_close_matches(name, list(known), 2))
    message = f"there is no {'skill' if is_skill else 'methodology'} {name}"
    code = codes.CALLED_SKILL_UNKNOWN if is_skill else codes.METHODOLOGY_UNKNOWN
    return _report(skill, key, code, message, f"did you mean {near}?" if near else "")


def _report(skill: Skill, key: str, code: str, message: str, hint: str) -> Diagnostic:
    return finding(code, message, _place_of(key, skill.source), hint).at(str(skill.path))


def _planning_fields(meta: Mapping[str, Any]) -> Mapping[str, object]:
    below = as_mapping(meta.get("metadata"))
    return {**below, **{key: value for key, value in meta.items() if value is not None}}


def _title(body: str) -> str:
    found = _HEADING.search(body)
    return clean(found[1]) if found else ""


def _place_of(key: str, source: str) -> Span:
    """Where the field stands; the file was read long ago, so it is looked for by its name."""
    found = re.search(rf"^([ \t]*){re.escape(key)}[ \t]*:[^\r\n]*", source, re.MULTILINE)
    if found is None:
        return _TOP
    line = source.count("\n", 0, found.start()) + 1
    return Span(line, len(found[1]) + 1, line, len(found[0]) + 1)
