"""From a skill to its test cases, each fault with its file, line and column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import yaml
from pydantic import ValidationError

from flowstudio.flow.choice import match_choice
from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.flow.model import Flow, Span
from flowstudio.flow.source import Source
from flowstudio.models.errors import ModelError
from flowstudio.models.script import Script, load_script
from flowstudio.run import case_codes
from flowstudio.run.cases import Case, CaseFile, Visits
from flowstudio.run.prompts import missing_values
from flowstudio.skill.document import read_yaml
from flowstudio.skill.front import find_front

if TYPE_CHECKING:
    from flowstudio.skill import Skill

FILE = "flow-tests.yaml"
"""Beside a SKILL.md or skill.yaml; beside other files `NAME.flow-tests.yaml`."""

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads all scalars as text: a branch `yes` stays what its author wrote."""
_TOP = Span(1, 1, 1, 1)
type _Place = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class PlacedCase:
    """A case and where it stands."""

    case: Case
    path: Path
    line: int
    column: int
    script: Script | None = None


@dataclass(frozen=True, slots=True)
class SkillCases:
    """All cases of a skill, and what is wrong with them."""

    cases: tuple[PlacedCase, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    sources: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The texts that the findings are about."""


def load_cases(skill: Skill) -> SkillCases:
    """The cases in the skill's front matter and in the file beside it. Never raises."""
    cases: list[PlacedCase] = []
    findings: list[Diagnostic] = []
    sources: dict[Path, str] = {}
    for text in _texts(skill):
        sources[text.path] = text.whole
        found = text.read(skill)
        findings += found.findings
        cases += found.cases
    findings += _find_doubles(cases)
    return SkillCases(tuple(cases), tuple(findings), sources)


def _find_doubles(cases: Sequence[PlacedCase]) -> Iterator[Diagnostic]:
    seen: dict[str, PlacedCase] = {}
    for one in cases:
        first = seen.setdefault(one.case.name, one)
        if first is not one:
            message = f'there are two cases "{one.case.name}"'
            span = Span(one.line, one.column, one.line, one.column)
            said = finding(case_codes.TESTS_SHAPE, message, span, "give each a name of its own")
            yield said.at(str(one.path))


# Where cases stand


@dataclass(frozen=True, slots=True)
class _Text:
    """A stretch of YAML in a file."""

    path: Path
    whole: str
    yaml: str
    base: int
    """Where the stretch begins in `whole`, in characters."""
    is_skill: bool
    """True where `tests` is one field of the skill among others."""
    error: str = ""
    """Why the file cannot be read."""

    def read(self, skill: Skill) -> SkillCases:
        source = Source(self.whole)
        if self.error:
            said = finding(case_codes.TESTS_UNREADABLE, self.error, _TOP)
            return SkillCases((), (said.at(str(self.path)),))
        document = read_yaml(self.yaml, self.base, source)
        if bad := [d for d in document.findings if d.severity == "error"]:
            return SkillCases((), tuple(d.at(str(self.path)) for d in bad))
        root, values = _load(self.yaml)
        if self.is_skill:
            fields = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
            if "tests" not in fields:
                return SkillCases()
            values = {"tests": fields["tests"]}
        finder = _Finder(root, self.base, source, self.path)
        try:
            read = CaseFile.model_validate({} if values in (None, "") else values)
        except ValidationError as error:
            found = sorted(_explain(error, finder), key=lambda d: d.span)
            return SkillCases((), tuple(found))
        return _check(read, skill, finder)


def _texts(skill: Skill) -> Iterator[_Text]:
    own = skill.path
    if own.suffix.lower() in (".yaml", ".yml"):
        yield _Text(own, skill.source, skill.source, 0, is_skill=True)
    elif front := find_front(skill.source):
        yaml_text = skill.source[front.start : front.end]
        yield _Text(own, skill.source, yaml_text, front.start, is_skill=True)
    manifest = own.name.lower() in ("skill.md", "skill.yaml", "skill.yml")
    beside = own.with_name(FILE if manifest else f"{own.stem}.{FILE}")
    try:
        text = beside.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        yield _Text(beside, "", "", 0, is_skill=False, error=f"the cases cannot be read: {error}")
        return
    yield _Text(beside, text, text, 0, is_skill=False)


def _load(text: str) -> tuple[yaml.Node | None, object]:
    loader = _LOADER(text)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds places of values in the file."""

    root: yaml.Node | None
    base: int
    source: Source
    path: Path

    def span(self, place: Sequence[int | str], *, key: bool = False) -> Span:
        """The deepest part of `place` that stands in the file; with `key`, the key and not what
        stands behind it."""
        node = self.root
        start = end = self.base
        for part in place:
            # Parts that only our own form has, such as `visits`, are passed over.
            if isinstance(node, yaml.MappingNode):
                for name, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
                    if name.value == part:
                        (start, end), node = self._ends(name), value
                        break
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
                items = cast("list[yaml.Node]", node.value)
                if part < len(items):
                    node = items[part]
                    start, end = self._ends(node)
        if isinstance(node, yaml.ScalarNode) and node is not self.root and not key:
            start, end = self._ends(node)
        if end > start and "\n" in self.source.text[start:end]:
            end = self.source.text.index("\n", start)
        return self.source.span(start, end)

    def _ends(self, node: yaml.Node) -> tuple[int, int]:
        return self.base + node.start_mark.index, self.base + node.end_mark.index

    def report(
        self, code: str, place: Sequence[int | str], message: str, hint: str, *, key: bool = False
    ) -> Diagnostic:
        """A finding at a place, or at its key."""
        return finding(code, message, self.span(place, key=key), hint).at(str(self.path))


def _explain(error: ValidationError, finder: _Finder) -> Iterator[Diagnostic]:
    for one in error.errors():
        place = one["loc"]
        names = [part for part in place if isinstance(part, str) and part != "visits"]
        last = names[-1] if names else "tests"
        hint = ""
        match one["type"]:
            case "extra_forbidden":
                message, hint = f'"{last}" is not known here', "docs/testing.md lists the fields"
            case "missing":
                message = f'"{last}" is missing'
            case "tuple_type":
                message = f'"{last}" must be a list'
            case "model_type" | "dict_type":
                what = f'each entry of "{last}"' if isinstance(place[-1], int) else f'"{last}"'
                message = f"{what} must be a mapping"
            case _:
                message = f'"{last}": {one["msg"][:1].lower()}{one["msg"][1:]}'
        is_key = one["type"] == "extra_forbidden"
        yield finder.report(case_codes.TESTS_SHAPE, place, message, hint, key=is_key)


# What a case names must be there


def _check(read: CaseFile, skill: Skill, finder: _Finder) -> SkillCases:
    cases: list[PlacedCase] = []
    findings: list[Diagnostic] = []
    if not read.tests:
        message = "there is no case in this list"
        findings.append(finder.report(case_codes.TESTS_SHAPE, ("tests",), message, "", key=True))
    for index, case in enumerate(read.tests):
        place: _Place = ("tests", index)
        script: Script | None = None
        if case.script is not None:
            if case.answers:
                message = "a case has a script or answers, not both"
                at = (*place, "script")
                findings.append(finder.report(case_codes.TESTS_SHAPE, at, message, ""))
            try:
                script = load_script(skill.root / case.script)
            except ModelError as error:
                at = (*place, "script")
                findings.append(finder.report(case_codes.TESTS_UNREADABLE, at, str(error), ""))
        if skill.flow is not None:
            for where, message, hint in _find_unknown(case, skill.flow):
                at = (*place, *where)
                # Node names are keys, but where they stand in a list.
                is_key = len(where) == 2
                report = finder.report(case_codes.TESTS_UNKNOWN, at, message, hint, key=is_key)
                findings.append(report)
        span = finder.span(place)
        cases.append(PlacedCase(case, finder.path, span.line, span.column, script))
    return SkillCases(tuple(cases), tuple(findings))


type _Unknown = tuple[_Place, str, str]


def _find_unknown(case: Case, flow: Flow) -> Iterator[_Unknown]:
    for node, visits in case.answers.items():
        if node not in flow.nodes:
            yield ("answers", node), *_no_node(node, flow)
        else:
            yield from _check_answers(node, visits, flow)
    for node, chosen in case.choose.items():
        branches = _branches(flow, node)
        if node not in flow.nodes:
            yield ("choose", node), *_no_node(node, flow)
        elif len(branches) < 2:
            yield ("choose", node), f'"{node}" has nothing to choose', ""
        else:
            for index, branch in enumerate(chosen):
                if branch not in branches:
                    yield ("choose", node, index), *_no_branch(node, branch, branches)
    for missing in missing_values(flow, case.vars, has_input=True):
        message = f'the prompt of "{missing.node}" holds {missing.written}, and the case gives none'
        yield ("vars",), message, f"write vars: {{{missing.name}: ...}}"
    expect = case.expect
    for key, nodes in (("path", expect.path), ("through", expect.through), ("never", expect.never)):
        for index, node in enumerate(nodes or ()):
            if node not in flow.nodes:
                yield ("expect", key, index), *_no_node(node, flow)


def _check_answers(node: str, visits: Visits, flow: Flow) -> Iterator[_Unknown]:
    branches = _branches(flow, node)
    if not visits.visits:
        yield ("answers", node), f'"{node}" has an empty list of answers', "leave it out instead"
    for index, answer in enumerate(visits.visits):
        place = ("answers", node, "visits", index)
        if (answer.text is None) == (not answer.say):
            yield place, "an answer is a text, or has `say`", ""
        elif len(branches) > 1 and answer.text and match_choice(answer.text, branches) is None:
            yield place, *_no_branch(node, answer.text, branches)


def _branches(flow: Flow, node: str) -> list[str]:
    return [edge.label or "" for edge in flow.outgoing.get(node, ())]


def _no_node(node: str, flow: Flow) -> tuple[str, str]:
    from difflib import get_close_matches

    near = get_close_matches(node, flow.nodes, 1)
    hint = f"did you mean {near[0]}?" if near else "boxes go by their id"
    return f'the flow has no box "{node}"', hint


def _no_branch(node: str, branch: str, branches: Sequence[str]) -> tuple[str, str]:
    there = ", ".join(branches)
    return (
        f'"{node}" has no branch "{branch}"',
        f"its branches are: {there}; an answer that names none is written `say: ...`",
    )
