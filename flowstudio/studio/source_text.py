"""A file's text as an editor shows it, and back: nothing that was not edited changes a byte."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_END = re.compile(r"\r\n|\r|\n")
_ODD = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Signs at which an editor would break the line, and a reader of skills does not."""
_HIDE = {ord(sign): 0xF0000 + ord(sign) for sign in _ODD}
_SHOW_AGAIN = {hidden: sign for sign, hidden in _HIDE.items()}
_SEEN = {
    **{code: 0x2400 + code for code in range(32) if code != 9},
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "�"),
    **{hidden: ("␤" if sign >= 0x80 else chr(0x2400 + sign)) for sign, hidden in _HIDE.items()},
    0x7F: 0x2421,
}


def to_lines(source: str) -> str:
    """The file's text with LF as the end of each line. Places stay the same, line and column."""
    return _END.sub("\n", source).translate(_HIDE)


def to_source(text: str, before: str) -> str:
    """The edited text with the line ends of the file that it was made from, `before`.

    Where a file has line ends of several kinds, each line that was kept keeps its own, and a new
    line gets the most frequent.
    """
    text = text.translate(_SHOW_AGAIN)
    ends = _END.findall(before)
    if not ends or set(ends) == {"\n"}:
        return text
    usual = max(("\n", "\r\n", "\r"), key=ends.count)
    if len(set(ends)) == 1:
        return text.replace("\n", usual)
    old, new = _END.split(before), text.split("\n")
    kept = dict[int, str]()
    for a, b, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        kept.update((b + i, ends[a + i]) for i in range(size) if a + i < len(ends))
    pieces: list[str] = []
    for number, line in enumerate(new):
        pieces += [line, kept.get(number, usual)]
    return "".join(pieces[:-1])


def visible(line: str) -> str:
    """A line as it may be shown: control signs made visible, as many characters as before."""
    return line.translate(_SEEN)


def changed_part(before: str, after: str) -> tuple[int, int, str]:
    """`before[start:end]` is to be replaced by the text: the smallest such change."""
    shortest, start = min(len(before), len(after)), 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, len(before) - end, after[start : len(after) - end]
