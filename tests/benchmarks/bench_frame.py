"""What a frame of the flow view costs on drawings of 5,000 nodes, in a window of 120x40 cells.

Run by hand: `python tests/benchmarks/bench_frame.py`. Milliseconds of the processor's time, so that
other programs disturb little; the median and the worst of many. *lines* is what the view itself
takes; *frame* adds what Textual makes of it, to the characters for the terminal; *highlight* is a
new current node, with its marks worked out; *focus* a change of the pane in use, in the whole
studio. `layout` says how late the event loop comes to a key while a drawing of that size is laid
out.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from textual.app import App, ComposeResult
from textual.geometry import Region, Size

from flowstudio.flow.chart import Chart
from flowstudio.run.marks import EdgeIndex, make_marks
from flowstudio.run.state import RunState
from flowstudio.studio.flow_layout import Pictures
from flowstudio.studio.flow_view import FlowView
from flowstudio.studio.minimap import Minimap, map_size
from flowstudio.studio.theme import default_theme, role_variables
from tests.drawing.charts import program_chart, sparse_chart

WINDOW = (120, 40)
CASES: dict[str, Chart] = {
    "program 5,000": program_chart(1, 5_000),
    "random 5,000": sparse_chart(1, 5_000, 6_500),
}
GOALS = {"lines": 16.0, "frame": 16.0, "highlight": 3.0}


class Bare(App[None]):
    """Nothing but the view and its map."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return role_variables()

    def on_mount(self) -> None:
        self.register_theme(default_theme())
        self.theme = default_theme().name

    def compose(self) -> ComposeResult:
        yield FlowView()
        yield Minimap()


def timed(action: Callable[[int], object], rounds: int) -> list[float]:
    """Milliseconds of processor time of each round."""
    times: list[float] = []
    for number in range(rounds):
        start = time.process_time()
        action(number)
        times.append(1_000 * (time.process_time() - start))
    return times


def report(chart: str, what: str, times: list[float]) -> None:
    goal = GOALS.get(what)
    print(
        f"{chart:16}{what:>12}{statistics.median(times):9.2f}{max(times):9.2f}"
        f"{f'  < {goal:g}' if goal else ''}"
    )


async def measure(name: str, chart: Chart) -> None:
    """Print the lines of one chart."""
    app = Bare()
    async with app.run_test(size=WINDOW) as pilot:
        view, minimap = app.query_one(FlowView), app.query_one(Minimap)
        pictures = Pictures(chart)
        lag = await lag_during(lambda: pictures.at("title", Size(*WINDOW)))
        print(f"{name:16}{'layout':>12}{statistics.median(lag):9.2f}{max(lag):9.2f}  wall clock")
        picture = pictures.at("title", Size(*WINDOW))
        drawing = picture.drawing
        view.show_drawing(drawing, places=picture.places)
        await pilot.pause()
        compositor = app.screen._compositor
        window = Region(0, 0, *view.size)

        def pan(number: int) -> None:
            # A prime step, so that no part of the drawing is shown twice.
            view.scroll_to(
                number * 1_009 % max(drawing.width - 120, 1),
                number * 7_919 % max(drawing.height - 40, 1),
                animate=False,
                force=True,
            )

        def lines(number: int) -> None:
            pan(number)
            view.render_lines(window)

        def frame(number: int) -> None:
            pan(number + 1)
            view._styles_cache.clear()
            strips = compositor.render_strips()
            for strip in strips:
                strip.render(app.console)

        nodes = list(chart.nodes)
        edges = EdgeIndex(tuple(chart.edges))
        state = RunState(phase="running", done=Counter(nodes[::2]))

        view.center_on(nodes[len(nodes) // 2])
        shown = [box.id for box in picture.places.boxes_in(view.window)]
        view.render_lines(window)

        def highlight(number: int) -> None:
            state.current = shown[number % len(shown)]
            view.show_marks(make_marks(edges, state))
            view.render_lines(window)

        def select(number: int) -> None:
            view.selected = shown[number % len(shown)]
            view.render_lines(window)

        cells = map_size(Size(drawing.width, drawing.height), view.size)
        assert cells is not None

        def small_map(number: int) -> None:
            pan(number)
            minimap.show(drawing, cells, view.window)
            for y in range(cells.height):
                minimap.render_line(y)

        report(name, "lines", timed(lines, 200))
        report(name, "frame", timed(frame, 200))
        report(name, "highlight", timed(highlight, 200))
        report(name, "select", timed(select, 200))
        minimap.display = True
        first = timed(small_map, 1)
        report(name, "first map", first)
        report(name, "map", timed(small_map, 200))


async def lag_during(work: Callable[[], object]) -> list[float]:
    """Milliseconds by which the event loop comes late while a thread works."""
    doing = asyncio.create_task(asyncio.to_thread(work))
    late: list[float] = []
    while not doing.done():
        start = time.perf_counter()
        await asyncio.sleep(0.005)
        late.append(1_000 * (time.perf_counter() - start - 0.005))
    await doing
    return late


async def measure_focus() -> None:
    """Print what a change of the pane in use costs."""
    from flowstudio.studio.app import StudioApp
    from flowstudio.studio.chat_input import ChatInput
    from flowstudio.studio.driver import StudioOptions
    from flowstudio.studio.picture import until
    from flowstudio.studio.screen import StudioScreen

    app = StudioApp(StudioOptions(path=Path(__file__).parents[2] / "skills" / "tour", seed=1))
    async with app.run_test(size=WINDOW) as pilot:
        screen = app.screen
        assert isinstance(screen, StudioScreen)
        await until(pilot, lambda: screen.is_settled, "the flow on the screen")
        times: list[float] = []
        for number in range(20):
            target = screen.query_one(ChatInput) if number % 2 else screen.bench.view
            await pilot.pause()
            start = time.process_time()
            target.focus()
            await pilot.pause()
            times.append(1_000 * (time.process_time() - start))
        report("studio", "focus", times)


def main() -> None:
    """Print one line for each figure."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["FLOWSTUDIO_HOME"] = home
        print(f"{'drawing':16}{'what':>12}{'median':>9}{'worst':>9}  ms")
        for name, chart in CASES.items():
            asyncio.run(measure(name, chart))
        asyncio.run(measure_focus())


if __name__ == "__main__":
    main()
