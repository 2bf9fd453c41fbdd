"""Text from a model, a file or a shell, made harmless for a terminal.

Such text is data: no escape sequence, no control character and no direction mark in it may act on
the terminal that shows it. They are shown as visible signs instead.
"""

from __future__ import annotations

import re

_DIRECTION_MARKS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TABLE: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if code not in (9, 10)},
    **dict.fromkeys((*range(0x80, 0xA0), *_DIRECTION_MARKS), "�"),
    0x7F: 0x2421,
    0x0D: "",
    0x2028: "\n",
    0x2029: "\n",
}
_CHINESE = "\u2e80-\u303f\u3400-\u9fff\uff00-\uffef"
_IN_BOTH = re.compile(rf"\s*(.*[{_CHINESE}])\s*([^{_CHINESE}]*)", re.DOTALL)
_A_SENTENCE = 4
"""Words that are more than a name within the other language."""
_ESCAPED_IN_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    """`text` with everything that could disturb a terminal made visible; lines and tabs stay."""
    return text.translate(_TABLE)


def to_json(value: object, *, indent: int | None = None, encoding: str = "utf-8") -> str:
    """`value` as JSON that reads well and that any terminal, pipe and file can take.

    Nothing is lost: control characters, direction marks, halves of surrogate pairs, and whatever
    `encoding` has no sign for are written as `\\uXXXX`.
    """
    import json  # what is only shown needs none of it

    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def first_line(text: str) -> str:
    """The first line that holds anything, trimmed."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def shorten(text: str, length: int) -> str:
    """The text on one line, at most `length` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: max(length - 1, 0)].rstrip() + "…"


def in_tongue_of(reader: str, text: str) -> str:
    """The half of `text` in the language in which `reader` is written, where it is in two.

    That is so for a Chinese text behind which an English one of some words stands.
    """
    halves = _IN_BOTH.fullmatch(text)
    if halves is None or len(halves[2].split()) < _A_SENTENCE:
        return text
    return halves[1 if re.search(f"[{_CHINESE}]", reader) else 2]


def count(number: int) -> str:
    """A count for people: 950, 12.3k, 4.1M."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1_000_000:.1f}M"


def duration(seconds: float) -> str:
    """A length of time for people: 0.4s, 12s, 3m05, 2h10."""
    if seconds < 10:
        return f"{seconds:.1f}s"
    if seconds < 60:
        return f"{seconds:.0f}s"
    minutes = int(seconds) // 60
    return (
        f"{minutes}m{int(seconds) % 60:02}"
        if minutes < 60
        else f"{minutes // 60}h{minutes % 60:02}"
    )
