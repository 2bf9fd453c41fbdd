"""Texts in panes: painted anew where they change, in the theme in force, in the rows they need."""

from __future__ import annotations

from rich.text import Text
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.visual import VisualType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowstudio.studio.row_list import RowList
from flowstudio.studio.shown import Shown


class Noting(Static):
    """Notes what it is given to show, and whether the screen is laid out for it."""

    def __init__(self, *, id: str, markup: bool) -> None:
        super().__init__(id=id, markup=markup)
        self.given: list[tuple[str, bool]] = []

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        self.given.append((str(content), layout))
        super().update(content, layout=layout)


class Bare(App[None]):
    """A text, and a list below it."""

    CSS = """
    #pane { height: auto; max-height: 8; }
    #text { height: auto; }
    #list { height: 1fr; border: none; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="pane"):
            yield Noting(id="text", markup=False)
        yield RowList(id="list", markup=False, compact=True)


async def test_a_text_takes_as_many_rows_as_it_needs_and_is_painted_only_where_it_changes() -> None:
    app = Bare()
    async with app.run_test(size=(20, 12)) as pilot:
        static, shown = app.query_one(Noting), Shown()
        given = static.given
        for text, rows in (("one", 1), ("two", 1), ("a longer text that is folded", 2), ("one", 1)):
            shown.show(static, Text(text))
            shown.show(static, Text(text))
            await pilot.pause()
            assert static.size.height == rows
        # The same words in the same width need no other layout; the same text no paint.
        assert given[1:] == [
            ("two", False),
            ("a longer text that is folded", True),
            ("one", True),
        ]
        shown.show(static, Text("one", "bold"))
        assert len(given) == 5
        app.theme = "textual-light"
        shown.show(static, Text("one", "bold"))
        assert len(given) == 6


async def test_a_list_of_rows_scrolls_and_chooses_as_textuals_own_does() -> None:
    app = Bare()
    async with app.run_test(size=(20, 12)) as pilot:
        listing = app.query_one("#list", OptionList)
        listing.add_options([Option(f"row {number}", id=f"r{number}") for number in range(500)])
        listing.focus()
        await pilot.press("end")
        await pilot.pause()
        assert listing.highlighted == 499
        assert listing.max_scroll_y == 500 - listing.size.height
        assert listing.scroll_offset.y == listing.max_scroll_y
        assert listing.show_vertical_scrollbar
        shown = [listing.render_line(y).text.strip() for y in range(listing.size.height)]
        assert shown[-1] == "row 499"
        listing.clear_options()
        listing.add_options([Option("only", id="only")])
        await pilot.pause()
        assert not listing.show_vertical_scrollbar
        assert listing.scroll_offset.y == 0
        await pilot.press("down")
        assert listing.highlighted == 0
