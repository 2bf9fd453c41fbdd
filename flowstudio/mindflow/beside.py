"""What stands beside the skills: methodologies, and what the states of a library mean.

Methodologies are YAML in `methodologies/*.yaml` or `methodologies.yaml` of a root of skills: one
mapping, a list of them, or mappings by id. `states.yaml` gives a meaning to each state's name, and
`phrases.yaml` holds more of what people say when they want a skill, by the skill's name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Span
from flowstudio.flow.source import Source
from flowstudio.mindflow import codes
from flowstudio.mindflow.model import Methodology
from flowstudio.mindflow.values import (
    as_list,
    as_mapping,
    as_share,
    as_text,
    clean,
    is_mapping,
    show,
)
from flowstudio.skill.decode import read_file
from flowstudio.skill.document import read_yaml

_TOP = Span(1, 1, 1, 1)
_LIST = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n|---[^\n]*\n)*[ \t]*-[ \t]")


def files_beside(root: Path) -> list[Path]:
    """The files that `read_beside` would read. Folders that may not be looked into hold none."""
    try:
        listed = sorted((root / "methodologies").iterdir())
    except OSError:
        listed = []
    files = [path for path in listed if path.suffix.lower() in (".yaml", ".yml")]
    files += (root / f"methodologies{ending}" for ending in (".yaml", ".yml"))
    files += (root / f"states{ending}" for ending in (".yaml", ".yml"))
    files += (root / f"phrases{ending}" for ending in (".yaml", ".yml"))
    return [path for path in files if path.is_file()]


def read_beside(
    root: Path,
    methodologies: dict[str, Methodology],
    states: dict[str, str],
    phrases: dict[str, tuple[str, ...]],
) -> list[Diagnostic]:
    """Add what the files of `root` define and is not there yet; gives what is odd about them."""
    findings: list[Diagnostic] = []
    for path in files_beside(root):
        if path.stem == "phrases" and path.parent == root:
            _File(path, codes.PHRASES_FILE, findings).take_phrases(phrases)
            continue
        is_states = path.stem == "states" and path.parent == root
        reader = _File(path, codes.STATES_FILE if is_states else codes.METHODOLOGY_FIELD, findings)
        for entry in reader.entries("states" if is_states else "methodologies"):
            if is_states:
                reader.take_state(entry, states)
            else:
                reader.take_methodology(entry, methodologies)
    return findings


class _File:
    """One file, and the list to which its findings go."""

    def __init__(self, path: Path, code: str, findings: list[Diagnostic]) -> None:
        self.path = path
        self.code = code
        self.findings = findings

    def entries(self, key: str) -> Sequence[object]:
        """The mappings in it: those of a list, those by id below `key`, or the one that it is."""
        text = self._text()
        if _LIST.match(text):
            # The guarded reader takes mappings; a line `entries:` makes one of the list.
            text, key = "entries:\n" + text.replace("---", "", 1), "entries"
        document = read_yaml(text, 0, Source(text))
        for said in document.findings:
            self._report(said.message, said.span, said.hint)
        inner: object = document.values.get(key)
        if isinstance(inner, list):
            return cast("list[object]", inner)
        if is_mapping(inner) or key == "states":
            source = as_mapping(inner) or as_mapping(document.values)
            return [_with_id(name, value) for name, value in source.items()]
        return [document.values] if document.values else ()

    def take_phrases(self, phrases: dict[str, tuple[str, ...]]) -> None:
        """A list of texts for each skill, or one for each language of it."""
        text = self._text()
        document = read_yaml(text, 0, Source(text))
        for said in document.findings:
            self._report(said.message, said.span, said.hint)
        for name, value in document.values.items():
            parts = list(as_mapping(value).values()) if is_mapping(value) else [value]
            given = [one for part in parts for one in as_list(part) or ()]
            said = [clean(one) for one in given if isinstance(one, str) and clean(one)]
            if len(said) != len(given) or not said:
                self._report(f"{name} holds something that is not a text")
            phrases[name] = tuple(dict.fromkeys((*phrases.get(name, ()), *said)))

    def _text(self) -> str:
        try:
            file = read_file(self.path)
        except OSError:  # gone since the folder was listed
            return ""
        self.findings += (said.at(str(self.path)) for said in file.findings)
        return file.text

    def take_state(self, entry: object, states: dict[str, str]) -> None:
        given = as_mapping(entry)
        name = as_text(given.get("id") or given.get("name"))
        about = given.get("description", given.get("value"))
        # {id: ..., en: ..., zh: ...} gives the meaning by language.
        spread = [value for key, value in given.items() if key not in ("id", "name", "value")]
        if not name:
            self._report("an entry has no name")
            return
        meaning = as_text(about) or as_text(spread)
        if not meaning:
            self._report(f"{name} has no description")
        states.setdefault(name, meaning)

    def take_methodology(self, entry: object, methodologies: dict[str, Methodology]) -> None:
        given = as_mapping(entry)
        known = given.get("id")
        if not isinstance(known, str) or not clean(known):
            self._report("a methodology has no id", hint="add id: meth_...")
            return
        known = clean(known)
        weight = as_share(given.get("weight", 1.0))
        if weight is None:
            message = f"{known} has the weight {show(given.get('weight'))}; it counts as 1"
            self._report(message, hint="a weight is a number from 0 to 1")
            weight = 1.0
        name, about, rule = (
            as_text(given.get(key)) for key in ("name", "description", "evaluation_rule")
        )
        missing = [
            key
            for key, text in (("name", name), ("description", about), ("evaluation_rule", rule))
            if not text
        ]
        if missing:
            self._report(f"{known} has no {' and no '.join(missing)}")
        methodologies.setdefault(known, Methodology(known, name, about, rule, weight))

    def _report(self, message: str, span: Span = _TOP, hint: str = "") -> None:
        said = finding(self.code, f"{self.path.name}: {message}", span, hint)
        self.findings.append(said.at(str(self.path)))


def _with_id(name: str, value: object) -> object:
    return (
        {"id": name, **as_mapping(value)}
        if is_mapping(value)
        else {
            "id": name,
            "value": value,
        }
    )
