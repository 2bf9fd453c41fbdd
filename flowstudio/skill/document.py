"""YAML as authors write it in front matter and skill.yaml: values, and where each of them stands.

PyYAML reads it (its C reader, some ten times faster, where it was built in). Guarded against texts
that are made to break readers: deep nesting overflows the stack of the C reader, aliases and merge
keys can blow a few lines up to gigabytes. No skill needs any of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import yaml

from flowstudio.flow.diagnostics import Diagnostic, finding
from flowstudio.skill import codes

if TYPE_CHECKING:
    from flowstudio.flow.source import Source

DEEPEST = 32
"""Levels of nesting that are read."""
MOST_ALIASES = 16

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_YAML: Any = yaml
"""Its types are unknown to the checker."""
_ROUGH = re.compile(r"^(name|description|type)[ \t]*:[ \t]+(\S[^\r\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a scalar stands, in character offsets of the whole text, quotes included."""

    start: int
    end: int
    raw: str
    """The value as text, before YAML makes a number or a date of it."""
    style: str | None
    """`|`, `>`, `'`, `"`; None for a plain scalar, and for what is no scalar."""
    is_scalar: bool = True


@dataclass(frozen=True, slots=True)
class Document:
    """The fields of one YAML mapping."""

    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    places: Mapping[tuple[str, ...], Place] = field(default_factory=dict[tuple[str, ...], Place])
    """The values of the top level and of the mappings right below it, by their path of keys."""
    findings: tuple[Diagnostic, ...] = ()


def read_yaml(text: str, base: int, source: Source) -> Document:
    """Read `text`, which stands at offset `base` of `source`. Never raises.

    Where YAML cannot be read, the name, the description and the type are taken line by line, so
    that the skill stays in its place while its author types.
    """
    try:
        _check(text)
        root, values = _load(text)
    except yaml.YAMLError as error:
        return Document(_roughly(text), {}, (_explain(error, text, base, source),))
    except (RecursionError, ValueError) as error:
        # A ValueError comes from values that look like a date and are none, such as 2026-02-31.
        said = finding(
            codes.YAML_SHAPE,
            f"a value cannot be read: {error}",
            source.span(base, base),
            "put it into quotes",
        )
        return Document(_roughly(text), {}, (said,))
    if root is None:
        return Document()
    if not isinstance(root, yaml.MappingNode) or not isinstance(values, dict):
        said = finding(
            codes.YAML_SHAPE,
            "this is not a list of fields",
            source.span(base + root.start_mark.index, base + root.end_mark.index),
            "write one field a line, such as name: code-review",
        )
        return Document({}, {}, (said,))
    places: dict[tuple[str, ...], Place] = {}
    findings: list[Diagnostic] = []
    _place(root, (), base, source, places, findings)
    pairs = cast("dict[object, Any]", values).items()
    return Document({str(key): value for key, value in pairs}, places, tuple(findings))


def _load(text: str) -> tuple[yaml.Node | None, object]:
    loader = _LOADER(text)
    try:
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    finally:
        loader.dispose()


def _check(text: str) -> None:
    """Raise for texts that would overflow the stack or the memory."""
    depth = aliases = 0
    events = cast("Iterator[yaml.Event]", _YAML.parse(text, Loader=_LOADER))
    for event in events:
        match event:
            case yaml.CollectionStartEvent():
                depth += 1
                if depth > DEEPEST:
                    raise _TooMuch(f"more than {DEEPEST} levels of nesting", event.start_mark)
            case yaml.CollectionEndEvent():
                depth -= 1
            case yaml.AliasEvent():
                aliases += 1
                if aliases > MOST_ALIASES:
                    raise _TooMuch(f"more than {MOST_ALIASES} aliases", event.start_mark)
            case yaml.ScalarEvent(value="<<"):
                raise _TooMuch("a merge key (<<)", event.start_mark)
            case _:
                pass


class _TooMuch(yaml.MarkedYAMLError):
    def __init__(self, what: str, mark: yaml.Mark) -> None:
        super().__init__(problem=what, problem_mark=mark)


def _place(
    node: yaml.MappingNode,
    path: tuple[str, ...],
    base: int,
    source: Source,
    places: dict[tuple[str, ...], Place],
    findings: list[Diagnostic],
) -> None:
    for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
        if not isinstance(key, yaml.ScalarNode):
            continue
        where = (*path, str(key.value))
        start, end = base + value.start_mark.index, base + value.end_mark.index
        if where in places:
            said = finding(
                codes.KEY_REPEATED,
                f'the field "{key.value}" is given twice; the last one stands',
                source.span(base + key.start_mark.index, base + key.end_mark.index),
                "remove one of them",
            )
            findings.append(said)
        if isinstance(value, yaml.ScalarNode):
            places[where] = Place(start, end, str(value.value), value.style)
            continue
        places[where] = Place(start, end, "", None, is_scalar=False)
        if isinstance(value, yaml.MappingNode) and not path:
            _place(value, where, base, source, places, findings)


def _roughly(text: str) -> dict[str, Any]:
    return {
        found[1]: found[2].partition(" #")[0].strip().strip("\"'")
        for found in _ROUGH.finditer(text)
    }


def _explain(error: yaml.YAMLError, text: str, base: int, source: Source) -> Diagnostic:
    if isinstance(error, _TooMuch) and error.problem_mark:
        at = base + error.problem_mark.index
        message = f"{error.problem} in a skill's YAML is not read"
        return finding(codes.YAML_SHAPE, message, source.span(at, at), "write it out flat")
    problem = ""
    at = 0
    if isinstance(error, yaml.MarkedYAMLError) and (mark := error.problem_mark):
        problem = " ".join((error.problem or "").split())
        at = mark.index
    elif (position := getattr(error, "position", None)) is not None:
        # The C reader counts bytes here. A control character is easily found by looking for it.
        strange = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", text)
        at = strange.start() if strange else min(int(position), len(text))
        problem = "a control character"
    at = min(at, len(text))
    line_start = text.rfind("\n", 0, at) + 1
    line = text[line_start : text.find("\n", at) if "\n" in text[at:] else len(text)]
    message = f"the YAML cannot be read: {problem}" if problem else "the YAML cannot be read"
    return finding(
        codes.YAML_SYNTAX,
        message,
        source.span(base + at, base + min(at + 1, len(text))),
        _hint(problem, line.strip()),
    )


def _hint(problem: str, line: str) -> str:
    if "mapping values" in problem:
        key, _, value = line.partition(":")
        return f'put the value into quotes: {key}: "{value.strip()}"'
    if "cannot start any token" in problem or "tab character" in problem:
        return "indent with spaces, not tabs; put a value that begins with @, ` or % into quotes"
    if "alias" in problem or "anchor" in problem:
        return "put a value that begins with * or & into quotes"
    if "control" in problem:
        return "remove the invisible character"
    if "tag" in problem:
        return "put a value that begins with ! into quotes"
    return "write one field a line, such as name: code-review, and put unusual values into quotes"
