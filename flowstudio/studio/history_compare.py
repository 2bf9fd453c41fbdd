"""Two runs on one picture: the way that both went, what only one of them did, and where they first
differ, side by side.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.text import Text
from textual import work
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from flowstudio.studio.commands import bindings_of
from flowstudio.studio.drawn_screen import DrawnScreen, Handler
from flowstudio.studio.marks import GLYPHS, style_of
from flowstudio.text import harmless, shorten

if TYPE_CHECKING:
    from flowstudio.run.compare import Comparison, Difference
    from flowstudio.studio.commands import Scope
    from flowstudio.studio.earlier import Earlier

_LINES = 400
"""Lines of a text that are compared and shown."""


class CompareScreen(DrawnScreen[None]):
    """Shows two runs of a flow on its drawing."""

    SCOPE: ClassVar[Scope] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("compare")]

    DEFAULT_CSS = """
    CompareScreen {
        & #texts { height: 40%; min-height: 5; }
        & #texts > .said { width: 1fr; height: 1fr; max-width: 100%; }
    }
    """

    def __init__(self, one: Path, other: Path) -> None:
        super().__init__()
        self._paths = (one, other)
        self._runs: tuple[Earlier, Earlier] | None = None
        self._at = 0
        self.comparison: Comparison | None = None
        """What is alike and what differs, once both runs were read."""

    def compose_said(self) -> Iterable[Widget]:
        """The two texts below the picture."""
        one, other = (
            VerticalScroll(Static("", markup=False), id=name, classes="said")
            for name in ("one", "other")
        )
        return (Horizontal(one, other, id="texts"),)

    def begin(self) -> None:
        """Read both runs."""
        self.pane.border_title = "Both runs"
        self.pane.show_chart(None, "…")
        self._read()

    @work(exit_on_error=False)
    async def _read(self) -> None:
        from flowstudio.run.compare import compare_runs
        from flowstudio.studio.earlier import Unreadable, read_earlier

        try:
            one, other = [await asyncio.to_thread(read_earlier, path) for path in self._paths]
        except Unreadable as error:
            self.pane.show_chart(None, harmless(str(error)))
            return
        self._runs = (one, other)
        found = await asyncio.to_thread(compare_runs, one.events, other.events)
        self.comparison = found
        self.say_title(self._title(found))
        self.pane.show_chart(other.skill.chart or one.skill.chart, "there is no chart to draw")
        self._show_difference(0)

    def drawn(self) -> None:
        """Lay both ways over the picture."""
        from flowstudio.run.compare_marks import compare_marks
        from flowstudio.run.marks import EdgeIndex

        drawing = self.view.drawing
        if drawing is None or self._runs is None:
            return
        chart = self._runs[1].skill.chart or self._runs[0].skill.chart
        edges = EdgeIndex(tuple(chart.edges) if chart else ())
        self.view.show_marks(compare_marks(edges, self._runs[0].state, self._runs[1].state))
        if self.view.selected is None and self.difference is not None:
            self._select(self.difference)

    def _title(self, found: Comparison) -> Text:
        assert self._runs is not None
        text = Text(no_wrap=True, overflow="ellipsis")
        signs = (("A", "now", "━"), ("B", "forced", "╍"))
        for run, moves, end, sign in zip(self._runs, found.moves, found.ends, signs, strict=True):
            letter, role, line = sign
            text.append(f"{letter} {line} ", style_of(self, role) + style_of(self, "bold"))
            text.append(f"{harmless(run.folder.id)}  {moves} nodes, {end.replace('_', ' ')}")
            text.append("    " if letter == "A" and self.size.width >= 110 else "\n")
        text.append("━ ", style_of(self, "done") + style_of(self, "bold"))
        if found.is_same:
            text.append(f"both: the same path, prompts and answers, {found.common} visits")
        else:
            many = len(found.differences)
            text.append(f"both: the first {found.common} visits are the same; {many} differences")
        return text

    # Differences

    @property
    def difference(self) -> Difference | None:
        """The one that is shown."""
        found = self.comparison.differences if self.comparison else ()
        return found[self._at] if found else None

    def _show_difference(self, step: int) -> None:
        found = self.comparison.differences if self.comparison else ()
        if not found:
            self.query_one("#texts").display = False
            return
        self._at = (self._at + step) % len(found)
        now = found[self._at]
        self._select(now)
        texts = self._texts(now)
        for place, pane in enumerate(self.query("#texts > VerticalScroll").results(VerticalScroll)):
            letter = "AB"[place]
            where = f"visit {now.visit} of {now.node}" if now.node else f"move {now.move}"
            pane.border_title = f"{letter} · {now.aspect}, {shorten(harmless(where), 40)}"
            pane.border_subtitle = f"{self._at + 1} of {len(found)}"
            pane.query_one(Static).update(texts[place])
            pane.scroll_home(animate=False)

    def _select(self, now: Difference) -> None:
        view = self.view
        node = now.node
        if node is None and self._runs is not None:
            visits = self._runs[0].state.visits[: now.move - 1]
            node = visits[-1].node if visits else None
        if node is not None and view.drawing is not None and node in view.drawing.boxes:
            view.select(node)

    def _texts(self, now: Difference) -> tuple[Text, Text]:
        if now.aspect == "path":
            return self._step(now, 0), self._step(now, 1)
        one, other = ((text or "").splitlines()[:_LINES] for text in (now.one, now.other))
        same = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        common = (
            {i for a, _, n in same for i in range(a, a + n)},
            {i for _, b, n in same for i in range(b, b + n)},
        )
        return (
            self._marked(one, common[0], "-", "now", now.one is None),
            self._marked(other, common[1], "+", "forced", now.other is None),
        )

    def _step(self, now: Difference, which: int) -> Text:
        """Where one run went, and what made it go there."""
        assert self._runs is not None
        visits = self._runs[which].state.visits
        role = ("now", "forced")[which]
        node = (now.one, now.other)[which]
        before = visits[now.move - 2] if 2 <= now.move <= len(visits) + 1 else None
        text = Text()
        if before is not None:
            text.append(f"{harmless(before.node)} ", style_of(self, "text"))
            if before.branch is not None:
                glyph = GLYPHS["forced" if before.forced else "chosen"]
                text.append(f"{glyph} {harmless(before.branch)} ", style_of(self, role))
                by = "by hand" if before.forced else f"by the {before.by}"
                text.append(f"{by} ", style_of(self, "muted"))
        text.append(
            "\n▼ " + (harmless(node) if node else "(the run is over)"), style_of(self, role)
        )
        if before is not None and before.answer:
            text.append(f"\n\n{harmless(before.answer.strip())[:4000]}", style_of(self, "muted"))
        return text

    def _marked(
        self, lines: Sequence[str], same: set[int], sign: str, role: str, is_missing: bool
    ) -> Text:
        if is_missing:
            return Text("(none)", style_of(self, "dim"))
        text = Text()
        plain: Style = style_of(self, "muted")
        for place, line in enumerate(lines):
            is_same = place in same
            text.append(
                f"{' ' if is_same else sign} {harmless(line)}\n",
                plain if is_same else style_of(self, role),
            )
        return text

    def commands(self) -> dict[str, Handler]:
        """Those of all drawings, and the way from one difference to the next."""
        return {
            **super().commands(),
            "next": lambda: self._show_difference(1),
            "previous": lambda: self._show_difference(-1),
        }
