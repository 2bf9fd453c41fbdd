"""`flowstudio draw`: a flow as a picture, as Mermaid or as D2, with a run's path if asked for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from flowstudio.cli.find import find_skill
from flowstudio.cli.output import can_show, fail, print_diagnostics, say, write_out
from flowstudio.drawing import LIGHT, Drawing, Glyphs, Marks, Palette, draw_marked
from flowstudio.drawing.lines import text_lines
from flowstudio.drawing.marks import legend
from flowstudio.flow.chart import Chart
from flowstudio.flow.model import Flow

if TYPE_CHECKING:
    from flowstudio.cli.drawn_run import DrawnRun

type Form = Literal["text", "ascii", "svg", "mermaid", "d2"]

FORMS: dict[str, Form] = {
    ".txt": "text",
    ".svg": "svg",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".d2": "d2",
}
"""The format that a file's name asks for."""
_SIGNS = "─│┌▶╍✓"


def draw(args: argparse.Namespace) -> int:
    """`flowstudio draw`"""
    if args.width is not None and args.width < 1:
        return fail(f"--width {args.width}: must be 1 or more", "")
    form = _find_form(args)
    palettes = (Palette(), None)
    if args.theme or form == "svg" or args.run or args.color == "always" or sys.stdout.isatty():
        palettes = _find_palettes(args.theme)
    if palettes is None:
        return 2
    run: DrawnRun | None = None
    if args.run is not None:
        from flowstudio.cli.drawn_run import DrawnRun, RunUnreadable

        try:
            run = DrawnRun.open(args.run)
            found = _find_chart(args) if args.path else (run.recorded_flow(), None, "")
        except RunUnreadable as error:
            return fail(str(error), "")
    elif args.path is None:
        return fail("nothing to draw", "name a skill or a chart, or a run with --run ID")
    else:
        found = _find_chart(args)
    if found is None:
        return 2
    chart, file, name = found
    if run is not None:
        file = file or (Path(run.folder.header.path) if run.folder.header.path else None)
        name = name or run.folder.header.flow
    marks = run.marks(chart, file) if run else Marks()
    notes = run.notes(chart, marks) if run else []
    palette, other = palettes
    if form in ("mermaid", "d2"):
        return write_out(_write_source(chart, form, marks, palette, notes), args.output)
    glyphs: Glyphs = "ascii" if form == "ascii" else "unicode"
    drawing = draw_marked(
        chart, marks, direction=args.direction, zoom=args.zoom, width=args.width, glyphs=glyphs
    )
    if signs := legend(marks, glyphs, args.zoom):
        notes.append(signs)
    if form == "svg":
        svg = drawing.svg(
            palette=palette,
            other=other,
            marks=marks,
            title=name,
            describe=_describe(chart),
            notes=notes,
        )
        return write_out(svg, args.output)
    return _write_text(args, drawing, marks, palette, notes, glyphs)


def _find_chart(args: argparse.Namespace) -> tuple[Chart | Flow, Path | None, str] | None:
    """The chart of PATH with its file and name; None where there is none, after saying so."""
    skill = find_skill(args.path, args.skills_dir)
    if skill is None:
        return None
    if skill.chart is None or not skill.chart.nodes:
        print_diagnostics(skill.diagnostics, {skill.path: skill.source}, file=sys.stderr)
        fail(f"{skill.path} holds no chart that could be drawn", "")
        return None
    if unread := [d for d in skill.chart.errors if _is_unread(d.code)]:
        # The picture shows what could be read; that something is missing must be said.
        print_diagnostics(unread, {skill.path: skill.source}, file=sys.stderr)
    return skill.chart, skill.path, skill.name


def _is_unread(code: str) -> bool:
    from flowstudio.flow import CODES

    return CODES[code].parse


def _find_form(args: argparse.Namespace) -> Form:
    """What is asked for by --format, --ascii, or the name of the file to write."""
    if args.format:
        return "ascii" if args.format == "text" and args.ascii else cast("Form", args.format)
    form = FORMS.get(args.output.suffix.lower(), "text") if args.output else "text"
    if form == "text" and args.ascii:
        return "ascii"
    if form == "text" and args.output is None and not can_show(_SIGNS):
        say(
            "flowstudio: drawn in ASCII, since the output's encoding "
            f"({sys.stdout.encoding}) has no lines",
            file=sys.stderr,
        )
        return "ascii"
    return form


def _find_palettes(wanted: str | None) -> tuple[Palette, Palette | None] | None:
    """The colours of a theme, and those for bright screens where `auto` is asked for.

    Where none is asked for, the configuration's; None where there is none of that name.
    """
    if wanted == "auto":
        return Palette(), LIGHT
    from flowstudio.theme import DEFAULT, find_themes

    chosen = wanted or _configured_theme() or DEFAULT
    if chosen == DEFAULT:
        return Palette(), None
    themes = find_themes()
    theme = themes.named(chosen)
    if theme is None and wanted is None:
        return Palette(), None
    if theme is None:
        for problem in themes.problems:
            say(f"flowstudio: {problem}", file=sys.stderr)
        known = ", ".join(["auto", *(one.name for one in themes.themes)])
        fail(f"there is no theme {wanted!r}", f"the themes are {known}")
        return None
    return Palette.of_roles(theme.roles), None


def _configured_theme() -> str | None:
    from flowstudio.config import load_config

    return load_config().config.theme


def _write_source(
    chart: Chart | Flow, form: Form, marks: Marks, palette: Palette, notes: list[str]
) -> str:
    from flowstudio.drawing.source import d2_source, mermaid_source

    write, comment = (d2_source, "# ") if form == "d2" else (mermaid_source, "    %% ")
    lines = ["".join(f"{comment}{' '.join(note.split())}\n") for note in notes]
    return write(chart, marks, palette) + "".join(lines)


def _write_text(
    args: argparse.Namespace,
    drawing: Drawing,
    marks: Marks,
    palette: Palette,
    notes: list[str],
    glyphs: Glyphs,
) -> int:
    from flowstudio.cli.colour import find_paint

    paint = find_paint(args.color, palette, to_file=args.output is not None)
    encoding = "utf-8" if args.output else sys.stdout.encoding or "utf-8"
    lines = list(text_lines(drawing, marks, paint=paint, encoding=encoding))
    if glyphs == "ascii":
        # The sign for what was cut off is ours; all else in a label is the author's.
        lines = [line.replace("…", "~") for line in lines]
    if notes:
        lines += ["", *notes]
    text = "".join(f"{line}\n" for line in lines)
    if args.output is not None or paint is None:
        return write_out(text, args.output)
    # Labels were made harmless when they were measured; the escapes are our own.
    sys.stdout.write(text)
    return 0


def _describe(chart: Chart | Flow) -> str:
    """The flow in words, for those to whom the picture is read out."""
    from flowstudio.flow.outline import outline

    head = f"A flow of {len(chart.nodes)} nodes and {len(list(chart.edges))} edges."
    if len(chart.nodes) > 60:
        return head
    return "\n".join([head, *outline(chart)])
