"""The text of a block string, without what belongs to the layout of the file."""

from __future__ import annotations


def trim_block(text: str) -> str:
    """`text` as D2 reads it: the last line goes where it is blank, and the common indentation.

    A tab counts as two spaces. A line without indentation keeps every line as it is.
    """
    return _trim_indent(_trim_last_line(text))


def _trim_last_line(text: str) -> str:
    head, newline, last = text.rpartition("\n")
    last = last.rstrip()
    return head + newline + last if last else head


def _trim_indent(text: str) -> str:
    lines = text.split("\n")
    common: int | None = None
    for line in lines:
        if not line:
            continue
        body = line.lstrip()
        width = _width(line[: len(line) - len(body)])
        if not width:
            return text
        if body and (common is None or width < common):
            common = width
    if common is None:
        return text
    return "\n".join(_cut(line, common) for line in lines)


def _width(indent: str) -> int:
    return len(indent) + indent.count("\t")


def _cut(line: str, width: int) -> str:
    """`line` without indentation of that width; where a tab steps over it, without all of it."""
    done = 0
    for at, char in enumerate(line):
        if done == width or not char.isspace():
            return line[at:]
        done += 2 if char == "\t" else 1
    return ""
