"""Breaks one line of a Python file, runs a command, and puts the line back.

Usage: python bite.py FILE LINE [--drop] -- COMMAND...

Without `--drop` the first thing on the line that can be turned round is turned round (`<` and `<=`,
`==` and `!=`, `and` and `or`, `+` and `-`, `True` and `False`, a number); a line that holds nothing
of the kind is replaced by `pass`, and with `--drop` every line is. Strings and comments are left.

The command is run first as things are and has to pass. Ends with 0 if it then failed on the broken
line (the tests bite), 1 if it passed (they did not notice), 2 if nothing could be learned.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tokenize
from pathlib import Path

TURNED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "and": "or", "or": "and", "True": "False", "False": "True", "not": "",
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "+", "+=": "-=", "-=": "+=",
}  # fmt: skip


def turned(token: tokenize.TokenInfo) -> str | None:
    """The opposite of a token, or None where it has none."""
    if token.type == tokenize.NUMBER:
        return f"({token.string} + 1)"
    if token.type in (tokenize.OP, tokenize.NAME):
        return TURNED.get(token.string)
    return None


def compiles(source: str) -> bool:
    """True if the text is a Python module."""
    try:
        compile(source, "broken", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def candidates(source: str, number: int, *, drop: bool) -> list[str]:
    """The texts to try in place of line `number` (from 1), best first; they need not compile."""
    lines = io.StringIO(source).readlines()
    line = lines[number - 1]
    found: list[str] = []
    if not drop:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            other = turned(token) if token.start[0] == number == token.end[0] else None
            if other is not None:
                found.append(line[: token.start[1]] + other + line[token.end[1] :])
    body = line.lstrip()
    ending = line[len(line.rstrip("\r\n")) :]
    found.append(line[: len(line) - len(body)] + "pass" + ending)
    return found


def broken(source: str, number: int, *, drop: bool) -> tuple[str, str] | None:
    """The source with line `number` broken, and the new line; None if nothing compiles."""
    lines = io.StringIO(source).readlines()
    if not 1 <= number <= len(lines) or not lines[number - 1].strip():
        return None
    for candidate in candidates(source, number, drop=drop):
        text = "".join([*lines[: number - 1], candidate, *lines[number:]])
        if candidate != lines[number - 1] and compiles(text):
            return text, candidate.strip()
    return None


def passes(command: list[str]) -> bool:
    """Run the command; True if it ends with 0. It leaves no byte code of the broken line behind."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, check=False, env=environment).returncode == 0


def passes_when_broken(path: Path, text: str, command: list[str]) -> bool:
    """Run the command with `text` in the file; the file is as before afterwards, time included."""
    original, times = path.read_bytes(), path.stat()
    try:
        path.write_bytes(text.encode("utf-8"))
        # Byte code is told to be stale by the file's time in seconds: make sure that it differs.
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10_000_000_000))
        return passes(command)
    finally:
        path.write_bytes(original)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def bite(path: Path, number: int, command: list[str], *, drop: bool) -> int:
    """Try it; gives the exit code and prints what happened."""
    source = path.read_bytes().decode("utf-8-sig")
    if not compiles(source):
        print(f"{path} is not a Python module as it stands", file=sys.stderr)
        return 2
    change = broken(source, number, drop=drop)
    if change is None:
        print(f"{path}:{number} cannot be broken; choose another line", file=sys.stderr)
        return 2
    if not passes(command):
        print("The command fails before anything is broken.", file=sys.stderr)
        return 2
    text, line = change
    print(f"{path}:{number} is now: {line}", flush=True)
    if passes_when_broken(path, text, command):
        print("The command passed: nothing noticed.")
        return 1
    print("The command failed: it bites.")
    return 0


def main(arguments: list[str]) -> int:
    """The command."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options, command = arguments[:cut], arguments[cut + 1 :]
    places = [option for option in options if option != "--drop"]
    if len(places) != 2 or not places[1].isdecimal() or not command:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return bite(Path(places[0]), int(places[1]), command, drop="--drop" in options)
    except (OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
