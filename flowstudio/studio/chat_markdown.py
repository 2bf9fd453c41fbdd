"""Markdown as lines of the chat: headings, lists, quotes, tables, code, links.

Text in, lines out; nothing here knows of a terminal. The text is a model's: no markup but
Markdown's counts in it, and HTML is shown as it was written. A line end in a paragraph stays one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from flowstudio.studio.chat_code import code_lines
from flowstudio.studio.chat_lines import Line, Piece, plain, wrap
from flowstudio.studio.chat_table import Side, table_lines

_FINDS = re.compile(
    r"(?P<choice><choice>[^<]*</choice>)|(?P<url>https?://[^\s<>()]+[^\s<>().,;:!?'\"])"
)
_SAFE = re.compile(r"(https?://|mailto:)[\x21-\x7e]+\Z")
_HALF_FENCE = re.compile(
    r"(?:\A|\n)[ ]{0,3}(?:`{1,2}|~{1,2}|[-=*+_]{1,2}|\d{1,3}[.)]?|#{1,6})[ ]*\Z"
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_DEEPEST = 12
"""Levels of lists and quotes that are moved in."""
_NARROWEST = 12


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False})
    # A line of dashes under a text is a rule in what models write, and a list half come.
    return reader.enable(["table", "strikethrough"]).disable("lheading")


def markdown_lines(text: str, width: int, *, is_live: bool = False) -> list[Line]:
    """A text as lines of at most `width` cells; `is_live` where more of it will come."""
    if is_live:
        text = calm(text)
    tree = SyntaxTreeNode(_reader().parse(text))
    return list(_blocks(tree.children, max(width, _NARROWEST)))


def calm(text: str) -> str:
    """A text that still grows, without what would look otherwise once the next word has come:
    marks that are half come are left out, and open ones are closed."""
    if open_fence(text) is not None:
        return text
    half = _HALF_FENCE.search(text)
    if half:
        text = text[: half.start()]
    start = text.rfind("\n\n") + 1
    last = text[start:]
    if last.count("`") % 2:
        return text + "`" if not text.endswith("`") else text[:-1]
    if last.count("**") % 2:
        return text[:-2] if text.endswith("**") else text.rstrip("*") + "**"
    return text


def open_fence(text: str) -> str | None:
    """The first line of a block of code that is not closed; None where none is open."""
    fence: str | None = None
    mark = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if fence is None:
            if found[1][0] == "`" and "`" in found[2]:
                continue  # code in a line
            fence, mark = line.strip(), found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            fence = None
    return fence


def last_block(text: str) -> tuple[int, int] | None:
    """Where the last block begins that a text can be parted at, as a place in it, and the empty
    rows before it: the last of several blocks, else the last item of a list; None for neither."""
    tokens = _reader().parse(text)
    tops = [one for one in tokens if one.level == 0 and one.nesting >= 0 and one.map is not None]
    rows = 1
    if len(tops) == 1:
        tops = [one for one in tokens if one.level == 1 and one.type == "list_item_open"]
        inside = [one for one in tokens if one.level == 2 and one.type == "paragraph_open"]
        rows = 0 if all(one.hidden for one in inside) else 1
    if len(tops) < 2 or tops[-1].map is None:
        return None
    place = 0
    for _ in range(tops[-1].map[0]):
        place = text.index("\n", place) + 1
    return (place, rows) if place else None


# Blocks


def _blocks(
    nodes: Sequence[SyntaxTreeNode], width: int, depth: int = 0, *, is_tight: bool = False
) -> Iterator[Line]:
    for number, node in enumerate(nodes):
        if number and not is_tight:
            yield []
        yield from _block(node, width, depth)


def _block(node: SyntaxTreeNode, width: int, depth: int) -> Iterator[Line]:
    match node.type:
        case "heading":
            role = "accent bold" if node.tag in ("h1", "h2") else "text bold"
            yield from _folded(_inline(node, role), width)
        case "paragraph":
            yield from _folded(_inline(node, "text"), width)
        case "bullet_list" | "ordered_list":
            yield from _list(node, width, depth)
        case "blockquote":
            inner = _blocks(node.children, _inner(width, 2), depth + 1)
            for line in inner:
                yield [("▎ ", "dim"), *((text, _quoted(role)) for text, role in line)]
        case "fence" | "code_block":
            language = node.info.split()[0] if node.info.split() else ""
            yield from code_lines(node.content.rstrip("\n"), language, width)
        case "hr":
            yield [("─" * width, "line")]
        case "table":
            yield from _table(node, width)
        case _:
            yield from _folded([[(node.content or "", "text")]], width)


def _inner(width: int, taken: int) -> int:
    return max(width - taken, _NARROWEST)


def _quoted(role: str) -> str:
    return role.replace("text", "muted", 1) if role.startswith("text") else role


def _list(node: SyntaxTreeNode, width: int, depth: int) -> Iterator[Line]:
    is_tight = all(
        child.hidden
        for item in node.children
        for child in item.children
        if child.type == "paragraph"
    )
    for number, item in enumerate(node.children):
        if number and not is_tight:
            yield []
        sign = f"{item.info or number + 1}. " if node.type == "ordered_list" else "• "
        move = len(sign) if depth < _DEEPEST else 0
        lines = _blocks(item.children, _inner(width, move), depth + 1, is_tight=is_tight)
        nothing: Line = []
        first = next(lines, nothing)
        yield [(sign, "muted"), *first]
        for line in lines:
            yield [(" " * move, "text"), *line] if line else []


def _table(node: SyntaxTreeNode, width: int) -> list[Line]:
    rows = [
        [[piece for line in _inline(cell, "text") for piece in line] for cell in row.children]
        for part in node.children
        for row in part.children
    ]
    head = [[(text, f"{role} bold") for text, role in cell] for cell in rows[0]] if rows else []
    return table_lines(head, rows[1:], width, _sides(node))


def _sides(node: SyntaxTreeNode) -> list[Side]:
    """Where the row of dashes says that each column stands: `---:` at the right, `:---:` amid."""
    cells = node.children[0].children[0].children
    return [_side(str(cell.attrs.get("style", ""))) for cell in cells]


def _side(style: str) -> Side:
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"


def _folded(lines: Sequence[Line], width: int) -> Iterator[Line]:
    for line in lines:
        yield from wrap(line, width)


# Text in a line


def _inline(node: SyntaxTreeNode, role: str) -> list[Line]:
    """What stands in a block, as lines that are not folded yet."""
    lines: list[Line] = [[]]
    for child in node.children:
        for part in child.children:
            _pieces(part, role, lines)
    return lines


def _pieces(node: SyntaxTreeNode, role: str, lines: list[Line]) -> None:
    match node.type:
        case "text":
            lines[-1] += _found(node.content, role)
        case "softbreak" | "hardbreak":
            lines.append([])
        case "code_inline":
            lines[-1].append((node.content, "done"))
        case "strong":
            _all(node, f"{role} bold", lines)
        case "em":
            _all(node, f"{role} italic", lines)
        case "s":
            _all(node, f"{role} strike", lines)
        case "link":
            _link(node, role, lines)
        case "image":
            alt = node.content or "picture"
            lines[-1].append((f"[{alt}] ", role))
            lines[-1].append(_address(str(node.attrs.get("src", ""))))
        case _:
            lines[-1].append((node.content or "", role))


def _all(node: SyntaxTreeNode, role: str, lines: list[Line]) -> None:
    for child in node.children:
        _pieces(child, role, lines)


def _link(node: SyntaxTreeNode, role: str, lines: list[Line]) -> None:
    """A link's words, then where it leads: nobody has to trust the words."""
    address = str(node.attrs.get("href", ""))
    inner: list[Line] = [[]]
    _all(node, f"{role} underline", inner)
    words = "".join(plain(line) for line in inner)
    if words.strip() in (address, address.removeprefix("mailto:")):
        lines[-1].append(_address(address))
        return
    lines[-1] += inner[0]
    lines += inner[1:]
    if address:
        lines[-1] += [(" (", "dim"), _address(address, "dim"), (")", "dim")]


def _address(address: str, role: str = "accent") -> Piece:
    link = f" link={address}" if _SAFE.match(address) else ""
    return (address, f"{role} underline{link}")


def _found(text: str, role: str) -> Iterator[Piece]:
    """A text, the choices and addresses in it told apart."""
    place = 0
    for found in _FINDS.finditer(text):
        if found.start() > place:
            yield text[place : found.start()], role
        yield (found[0], "dim") if found.lastgroup == "choice" else _address(found[0])
        place = found.end()
    if place < len(text):
        yield text[place:], role
