"""Compares the structure of a Markdown text with that of its translation.

Usage: python compare.py ORIGINAL TRANSLATION

Headings (by level), list items, table rows, quotes and images must be as many; code blocks
(comments aside), inline code, link addresses and numbers must be the same. Prints one line for each
difference. Ends with 0 if there is none, 1 if there are some, 2 if a file cannot be read.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
COMMENT = re.compile(r"(?:^|\s)(?:#|//|--\s).*$")
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[[^\[\]]*\]\(([^()\s]+)")
BARE_LINK = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'*+,;=%-]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SHAPES = {
    "table rows": re.compile(r"^\s*\|"),
    "list items": re.compile(r"^\s*(?:[-*+]|\d+[.)])\s"),
    "quoted lines": re.compile(r"^\s*>"),
}


@dataclass(slots=True)
class Outline:
    """What can be counted in a Markdown text."""

    counts: Counter[str] = field(default_factory=Counter[str])
    blocks: list[str] = field(default_factory=list[str])
    same: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])


def outline(text: str) -> Outline:
    """Read a Markdown text; comments in HTML do not count."""
    result = Outline()
    prose: list[str] = []
    block: list[str] = []
    fence = ""
    for line in HTML_COMMENT.sub("", text.replace("\r\n", "\n")).split("\n"):
        found = FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line.strip(" `~"):
                result.blocks.append("\n".join(block))
                fence = ""
            else:
                block.append(COMMENT.sub("", line).rstrip())
        elif found:
            fence, block = found[1], []
        else:
            prose.append(line)
    if fence:
        result.blocks.append("\n".join(block))
    for line in prose:
        if heading := re.match(r"^ {0,3}(#{1,6})\s", line):
            result.counts[f"headings of level {len(heading[1])}"] += 1
        for name, shape in SHAPES.items():
            result.counts[name] += bool(shape.match(line))
    body = "\n".join(prose)
    result.counts["images"] = body.count("![")
    result.same["inline code"] = Counter(found[2] for found in INLINE_CODE.finditer(body))
    body = INLINE_CODE.sub(" ", body)
    links = LINK.findall(body)
    body = LINK.sub(" ", body)
    # A full stop behind a bare address ends the sentence, and looks different in Chinese.
    links += [link.rstrip(".,;:!?'") for link in BARE_LINK.findall(body)]
    result.same["link"] = Counter(links)
    body = BARE_LINK.sub(" ", body)
    body = re.sub(r"(?m)^\s*\d+[.)]\s", " ", body)
    result.same["number"] = Counter(number.replace(",", "") for number in NUMBER.findall(body))
    return result


def differences(original: str, translation: str) -> list[str]:
    """One sentence for each difference; empty if the texts are built alike."""
    left, right = outline(original), outline(translation)
    found = [
        f"{name}: {left.counts[name]} in the original, {right.counts[name]} in the translation"
        for name in sorted(left.counts.keys() | right.counts.keys())
        if left.counts[name] != right.counts[name]
    ]
    if len(left.blocks) != len(right.blocks):
        blocks = f"{len(left.blocks)} in the original, {len(right.blocks)} in the translation"
        found.append(f"code blocks: {blocks}")
    else:
        pairs = zip(left.blocks, right.blocks, strict=True)
        found += [
            f"code block {number} is not the same"
            for number, (a, b) in enumerate(pairs, 1)
            if a != b
        ]
    for name in left.same:
        missing, extra = left.same[name] - right.same[name], right.same[name] - left.same[name]
        found += [f"{name} missing ({times}x): {what}" for what, times in sorted(missing.items())]
        found += [f"{name} added ({times}x): {what}" for what, times in sorted(extra.items())]
    return found


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        original, translation = (Path(name).read_text(encoding="utf-8-sig") for name in arguments)
    except (OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    found = differences(original, translation)
    print("\n".join(found) if found else "The structure is the same.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
