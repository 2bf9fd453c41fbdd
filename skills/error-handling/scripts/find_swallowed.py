"""Finds handlers that hide errors, and calls that can wait for ever, in Python files.

Usage: python find_swallowed.py FILE_OR_FOLDER

Reads only. Prints PLACE: what is odd. Ends with 0 if nothing is odd, 1 if something is, 2 if
nothing could be read. A hint, not a verdict: a comment that says why may be all that is missing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

EVERYTHING = frozenset({"Exception", "BaseException"})
TIMED = {
    "urlopen": "timeout",
    "run": "timeout",
    "check_output": "timeout",
    "check_call": "timeout",
    "create_connection": "timeout",
    "get": "timeout",
    "post": "timeout",
    "put": "timeout",
    "delete": "timeout",
    "request": "timeout",
}
"""Calls that wait for somebody else, and what bounds them."""
OWNERS = frozenset({"subprocess", "requests", "socket", "request", "urllib"})
LOGS = frozenset({"exception", "error", "warning", "critical", "print", "warn", "log", "info"})


def name_of(node: ast.expr | None) -> str:
    """The last part of a dotted name, or nothing."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def caught(handler: ast.ExceptHandler) -> set[str]:
    """The names of what it catches."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {name_of(kind) for kind in kinds}


def is_nothing(statement: ast.stmt) -> bool:
    """Whether a statement does nothing with an error: pass, ..., continue, return of a constant."""
    match statement:
        case ast.Pass() | ast.Continue() | ast.Break() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Return(value=None) | ast.Return(value=ast.Constant()):
            return True
        case _:
            return False


def look_at_handler(handler: ast.ExceptHandler) -> Iterator[str]:
    """What is odd about one handler."""
    body = list(walk(handler.body))
    raises = [node for node in body if isinstance(node, ast.Raise)]
    calls = {name_of(node.func) for node in body if isinstance(node, ast.Call)}
    is_wide = handler.type is None or bool(caught(handler) & EVERYTHING)
    if handler.type is None and not raises:
        yield "bare except also catches Ctrl-C and exits"
    elif "BaseException" in caught(handler) and not raises:
        yield "except BaseException also catches Ctrl-C and exits"
    answers = any(isinstance(statement, ast.Return) for statement in handler.body)
    # One named error that is answered with a value is a decision, not a swallowed error.
    if all(map(is_nothing, handler.body)) and (is_wide or not answers):
        what = "anything" if is_wide else ", ".join(sorted(caught(handler)))
        yield f"swallows {what} without a trace"
    elif is_wide and not raises and not calls & LOGS and not is_used(handler, body):
        yield "catches everything and does not tell"
    for node in raises:
        if isinstance(node.exc, ast.Call) and node.cause is None:
            yield f"raises {name_of(node.exc.func) or 'anew'} without `from`: the cause is lost"


def is_used(handler: ast.ExceptHandler, body: list[ast.AST]) -> bool:
    """Whether the caught error's name is used at all."""
    return any(isinstance(node, ast.Name) and node.id == handler.name for node in body)


def look_at_call(call: ast.Call) -> Iterator[str]:
    """A call that waits for somebody else without an end."""
    name = name_of(call.func)
    bound = TIMED.get(name)
    if bound is None or any(key.arg in (bound, None) for key in call.keywords):
        return
    owner = name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if name == "urlopen" or owner in OWNERS:
        yield f"{f'{owner}.' if owner else ''}{name} has no {bound}: it may wait for ever"


def walk(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes below, without recursion; not those of functions and handlers inside."""
    waiting: list[ast.AST] = [*nodes]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ExceptHandler):
            waiting += ast.iter_child_nodes(node)


def look(path: Path) -> list[tuple[int, str]]:
    """What is odd in a file, by line. Raises OSError and SyntaxError."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ExceptHandler):
            found += [(node.lineno, said) for said in look_at_handler(node)]
        elif isinstance(node, ast.Call):
            found += [(node.lineno, said) for said in look_at_call(node)]
        elif isinstance(node, ast.Try) and node.finalbody:
            ends = [one for one in walk(node.finalbody) if isinstance(one, ast.Return)]
            found += [(one.lineno, "return in finally drops the error") for one in ends]
    return sorted(found)


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(arguments[0])
    paths = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    count = read = 0
    for path in paths:
        try:
            found = look(path)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            continue
        read += 1
        count += len(found)
        for number, said in found:
            print(f"{path}:{number}: {said}")
    if not read:
        print("no Python file could be read", file=sys.stderr)
        return 2
    print(f"{read} files, {count} findings")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
