"""What is wrong with a script, in sentences: each with the line and column of what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast

import yaml

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

type Loc = Sequence[int | str]
"""A place in the file: keys, and positions in lists from 0."""

_SHOULD: dict[str, str] = {
    "tuple_type": "must be a list",
    "string_type": "must be a text: put it in quotes",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "too_short": "must not be empty",
}
"""What stands behind the name of a field, by the kind of its fault."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of mapping in a script."""

    name: str
    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class Faults:
    """Explains the faults of one file."""

    path: object
    root: object
    """What YAML composed of it."""
    parts: Sequence[Part]
    """The mappings, by how many lists they stand in."""

    def explain(self, errors: Iterable[ErrorDetails]) -> Iterator[str]:
        """A sentence for each fault, in the order of the file."""
        errors = list(errors)
        mistyped = {
            (*one["loc"][:-1], near)
            for one in errors
            if one["type"] == "extra_forbidden" and (near := self._nearest(one["loc"]))
        }
        found: list[tuple[tuple[int, int], str]] = []
        for one in errors:
            loc = one["loc"]
            if one["type"] == "missing" and loc in mistyped:
                continue  # it is there, by a wrong name
            if any(len(two["loc"]) > len(loc) and two["loc"][: len(loc)] == loc for two in errors):
                continue  # an entry with a fault was not counted, or the like
            place = self.place(loc, of_key=one["type"] in ("extra_forbidden", "invalid_key"))
            found.append((place, self._say(one, loc)))
        for (line, column), said in sorted(found):
            yield f"{self.path}:{line}:{column}: {said}"

    def place(self, loc: Loc, *, of_key: bool = False) -> tuple[int, int]:
        """Line and column, from 1, of the deepest part of `loc` that the file has; with `of_key`
        those of the last key, and not of what stands behind it."""
        node, mark = self.root, cast("yaml.Node", self.root).start_mark
        for at, part in enumerate(loc):
            key, node = _step(node, part)
            if node is None:
                break
            is_wanted = of_key and at == len(loc) - 1
            mark = (key if is_wanted and key is not None else node).start_mark
        return mark.line + 1, mark.column + 1

    def _say(self, error: ErrorDetails, loc: Loc) -> str:
        name = next((str(part) for part in reversed(loc) if isinstance(part, str)), "")
        part = self._part(loc)
        match error["type"]:
            case "extra_forbidden":
                near = self._nearest(loc)
                hint = f"did you mean “{near}”?" if near else f"it may have {', '.join(part.keys)}"
                return f"{part.name} has no key “{loc[-1]}”; {hint}"
            case "missing":
                return f"{part.name} needs the key “{name}”"
            case "model_type" | "dict_type":
                inner = self.parts[min(_depth(loc), len(self.parts) - 1)]
                return f"each entry of “{name}” is a mapping of {', '.join(inner.keys)}"
            case "greater_than_equal":
                least = error.get("ctx", {}).get("ge")
                return f"“{name}” must be at least {least}"
            case "invalid_key":
                return "to YAML this key is no text: put it in quotes"
            case kind if kind in _SHOULD:
                return f"“{name}” {_SHOULD[kind]}"
            case _:
                return f"“{name}”: {error['msg'][:1].lower()}{error['msg'][1:]}"

    def _part(self, loc: Loc) -> Part:
        return self.parts[min(_depth(loc[:-1]), len(self.parts) - 1)]

    def _nearest(self, loc: Loc) -> str:
        near = get_close_matches(str(loc[-1]), self._part(loc).keys, n=1)
        return near[0] if near else ""


def _depth(loc: Loc) -> int:
    return sum(isinstance(part, int) for part in loc)


def _step(node: object, part: int | str) -> tuple[yaml.Node | None, yaml.Node | None]:
    """The key and the value that `part` leads to; None where it leads nowhere."""
    if isinstance(node, yaml.MappingNode):
        for key, value in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            is_meant = key.value == part if isinstance(part, str) else not key.tag.endswith(":str")
            if is_meant:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        items = cast("list[yaml.Node]", node.value)
        if part < len(items):
            return None, items[part]
    return None, None
