"""Lists the functions of Python files with what makes them hard to read, the worst first.

Usage: python measure.py FILE_OR_FOLDER [FUNCTION] [--top N]

Lines of code, depth of nesting, parameters, branches (if, loop, except, and, or, case) and exits.
Reads only. Ends with 0, or 2 if nothing could be read.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
BRANCHES = (*LOOPS, ast.If, ast.IfExp, ast.ExceptHandler, ast.match_case)
APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Measure:
    """One function and its numbers."""

    name: str
    place: str
    lines: int
    depth: int
    parameters: int
    branches: int
    exits: int

    @property
    def weight(self) -> float:
        """How hard it is to follow; only its order means anything."""
        return self.lines / 10 + self.branches + self.depth**2 + max(0, self.parameters - 4) * 2

    def __str__(self) -> str:
        numbers = (self.lines, self.depth, self.parameters, self.branches, self.exits)
        return "".join(f"{one:>9}" for one in numbers) + f"  {self.name}  {self.place}"


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below that run with it: not those of functions and classes inside."""
    return (one for one in ast.iter_child_nodes(node) if not isinstance(one, APART))


def measure(function: Function, name: str, path: Path) -> Measure:
    """The numbers of one function."""
    depth = branches = exits = 0
    waiting: list[tuple[ast.AST, int]] = [(one, 0) for one in function.body]
    while waiting:
        node, level = waiting.pop()
        if isinstance(node, APART):
            continue
        branches += isinstance(node, BRANCHES)
        branches += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        exits += isinstance(node, ast.Return | ast.Raise)
        inner = level + isinstance(node, NESTING)
        depth = max(depth, inner)
        # `elif` is an if in the else of an if: it stands no deeper.
        chained = node.orelse if isinstance(node, ast.If) and is_elif(node) else []
        waiting += [(one, level if one in chained else inner) for one in children(node)]
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    parameters = len(names) - (names[:1] in (["self"], ["cls"]))
    parameters += (given.vararg is not None) + (given.kwarg is not None)
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    place = f"{path}:{function.lineno}"
    return Measure(name, place, lines, depth, parameters, branches, exits)


def is_elif(node: ast.If) -> bool:
    """Whether its else is nothing but another if, in the same column."""
    return (
        len(node.orelse) == 1
        and isinstance(node.orelse[0], ast.If)
        and node.orelse[0].col_offset == node.col_offset
    )


def measure_file(path: Path) -> list[Measure]:
    """All functions of a file. Raises SyntaxError and OSError."""
    found: list[Measure] = []
    waiting: list[tuple[ast.AST, str]] = [(ast.parse(path.read_bytes()), "")]
    while waiting:
        node, above = waiting.pop()
        for one in ast.iter_child_nodes(node):
            inner = above
            if isinstance(one, Function):
                inner = f"{above}{one.name}"
                found.append(measure(one, inner, path))
            elif isinstance(one, ast.ClassDef):
                inner = f"{above}{one.name}"
            waiting.append((one, inner if inner == above else inner + "."))
    return found


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="measure.py")
    parser.add_argument("path", type=Path)
    parser.add_argument("function", nargs="?")
    parser.add_argument("--top", type=int, default=20)
    given = parser.parse_args(arguments)
    paths = sorted(given.path.rglob("*.py")) if given.path.is_dir() else [given.path]
    found: list[Measure] = []
    for path in paths:
        try:
            found += measure_file(path)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            print(f"{path}: {error}", file=sys.stderr)
    if given.function:
        found = [one for one in found if given.function in (one.name, one.name.split(".")[-1])]
    if not found:
        print("no function found", file=sys.stderr)
        return 2
    found.sort(key=lambda one: (-one.weight, one.place))
    print("".join(f"{title:>9}" for title in ("lines", "depth", "params", "branches", "exits")))
    print("\n".join(map(str, found[: given.top])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
