"""Draws two columns of a CSV file as one chart in SVG.

Usage: python chart.py FILE X Y -o OUT.svg [--kind line|bar|dots] [--title TEXT] [--unit TEXT]

Bars lie, are in the file's order and begin at zero. Lines break where a value is missing. Dots
need numbers for X as well. Ends with 0 and says how many rows have no number, or with 2.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from html import escape
from pathlib import Path
from unicodedata import east_asian_width

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800, 450, 80, 40, 70, 50
INK, STRONG, SOFT = "#333333", "#2b6cb0", "#dddddd"
MOST_BARS, MOST_POINTS = 40, 20_000
Point = tuple[str, float | None]


def number(text: str) -> float | None:
    """The cell as a number; thousands may be set off by commas."""
    try:
        value = float(text.strip().replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None


def read_points(path: Path, x: str, y: str) -> tuple[list[Point], int]:
    """Label and value of each row, and how many values are missing or no numbers."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        file.seek(0)
        reader = csv.DictReader(file, delimiter=max(",;\t|", key=first.count), restval="")
        for name in (x, y):
            if name not in (reader.fieldnames or ()):
                there = ", ".join(reader.fieldnames or ())
                raise ValueError(f"{path.name} has no column {name}; it has {there}")
        points = [(row[x].strip(), number(row[y])) for row in reader]
    return points, sum(value is None for _, value in points)


def ticks(low: float, high: float) -> list[float]:
    """About five round values that enclose low and high."""
    span = high - low or abs(high) or 1.0
    step = 10 ** math.floor(math.log10(span / 4))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= 5)
    start, end = math.floor(low / step), math.ceil(high / step)
    return [n * step for n in range(start, max(end, start + 1) + 1)]


def show(value: float) -> str:
    """A value for people: no tail of digits, thousands set off."""
    return f"{float(f'{value:.6g}'):,.10g}"


def text(x: float, y: float, words: str, anchor: str = "middle", **more: object) -> str:
    """A text element; the words are data and cannot close it."""
    extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    shown = "".join(one for one in words if one.isprintable())
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} fill="{INK}"{extra}>{escape(shown)}</text>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line of the grid."""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{SOFT}"/>'


def shorten(words: str, cells: int) -> str:
    """At most so many cells; a wide character takes two."""
    taken = ""
    for one in words:
        cells -= 2 if east_asian_width(one) in "WF" else 1
        if cells < 1:
            return taken + "…"
        taken += one
    return taken


def draw_bars(points: list[Point]) -> tuple[list[str], int]:
    """Lying bars with their values, and the height that they take."""
    kept = [(label, value) for label, value in points if value is not None]
    marks = ticks(min(0.0, *(v for _, v in kept)), max(0.0, *(v for _, v in kept)))
    left, right, row = 200, WIDTH - 90, 24

    def place(value: float) -> float:
        return left + (value - marks[0]) / (marks[-1] - marks[0]) * (right - left)

    parts: list[str] = []
    for n, (label, value) in enumerate(kept):
        y = TOP + n * row
        start, end = sorted((place(0), place(value)))
        size = f'x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="{row - 7}"'
        parts.append(f'<rect {size} fill="{STRONG}"/>')
        parts.append(text(left - 8, y + 13, shorten(label, 26), "end"))
        parts.append(text(end + 6, y + 13, show(value), "start"))
    bottom = TOP + len(kept) * row
    parts.append(f'<path d="M{place(0):.1f} {TOP - 4}V{bottom}" stroke="{INK}"/>')
    return parts, bottom + 30


def draw_axes(points: list[Point], kind: str) -> tuple[list[str], int]:
    """A line or dots over two axes, and the height that they take."""
    values = [value for _, value in points if value is not None]
    marks = ticks(min(values), max(values))
    xs = [number(label) for label, _ in points] if kind == "dots" else list(range(len(points)))
    known = [x for x in xs if x is not None]
    if kind == "dots" and not known:
        raise ValueError("dots need numbers in both columns")
    x_marks = ticks(min(known), max(known)) if kind == "dots" else [0, max(len(points) - 1, 1)]

    def place(x: float, y: float) -> tuple[float, float]:
        right = (x - x_marks[0]) / (x_marks[-1] - x_marks[0]) * (WIDTH - LEFT - RIGHT)
        up = (y - marks[0]) / (marks[-1] - marks[0]) * (HEIGHT - TOP - BOTTOM)
        return LEFT + right, HEIGHT - BOTTOM - up

    parts: list[str] = []
    for mark in marks:
        y = place(x_marks[0], mark)[1]
        parts += [line(LEFT, y, WIDTH - RIGHT, y), text(LEFT - 8, y + 4, show(mark), "end")]
    if kind == "dots":
        shown = [(mark, show(mark)) for mark in x_marks]
    else:
        step = max(1, math.ceil(len(points) / 8))
        shown = [(n, shorten(points[n][0], 12)) for n in range(0, len(points), step)]
    parts += [text(place(x, 0)[0], HEIGHT - BOTTOM + 20, words) for x, words in shown]
    path, is_drawn = "", False
    for x, (_, value) in zip(xs, points, strict=True):
        if x is None or value is None:
            is_drawn = False
            continue
        right, down = place(x, value)
        path += f"{'L' if is_drawn else 'M'}{right:.1f} {down:.1f}"
        is_drawn = True
        if kind == "dots" or len(points) <= 60:
            parts.append(f'<circle cx="{right:.1f}" cy="{down:.1f}" r="3" fill="{STRONG}"/>')
    if kind == "line":
        parts.append(f'<path d="{path}" fill="none" stroke="{STRONG}" stroke-width="2"/>')
    return parts, HEIGHT


def draw(points: list[Point], kind: str, title: str, unit: str, source: str) -> str:
    """The whole picture. Raises ValueError where there is nothing to draw or too much."""
    if not any(value is not None for _, value in points):
        raise ValueError("no row has a number to draw")
    most = MOST_BARS if kind == "bar" else MOST_POINTS
    if len(points) > most:
        raise ValueError(f"{len(points)} rows are too many for {kind}: sum up to {most} first")
    parts, height = draw_bars(points) if kind == "bar" else draw_axes(points, kind)
    head = [text(20, 28, title, "start", font_size=18, font_weight="bold")]
    head.append(text(20, 50, unit, "start"))
    foot = text(20, height - 6, source, "start", font_size=11)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    style = 'font-family="sans-serif" font-size="13"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>',
            '<rect width="100%" height="100%" fill="white"/>',
            *head,
            *parts,
            foot,
            "</svg>\n",
        ]
    )


def main(arguments: list[str]) -> int:
    """The command."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="chart.py")
    parser.add_argument("file", type=Path)
    parser.add_argument("x")
    parser.add_argument("y")
    parser.add_argument("-o", dest="out", type=Path, required=True)
    parser.add_argument("--kind", choices=("line", "bar", "dots"), default="line")
    parser.add_argument("--title", default="")
    parser.add_argument("--unit", default="")
    given = parser.parse_args(arguments)
    try:
        points, missing = read_points(given.file, given.x, given.y)
        title = given.title or f"{given.y} / {given.x}"
        picture = draw(points, given.kind, title, given.unit or given.y, given.file.name)
        given.out.write_text(picture, encoding="utf-8")
    except (OSError, ValueError, csv.Error) as error:
        print(error, file=sys.stderr)
        return 2
    note = f", {missing} without a number" if missing else ""
    print(f"{given.out}: {given.kind}, {len(points)} rows{note}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
