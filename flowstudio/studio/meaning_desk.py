"""Finds skills by meaning for the list of skills: asks the finder aside, and notes what is said.

The desk owns no widget. Nothing is opened or imported before the first question, and no thread that
it starts holds up the end of the studio.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from flowstudio.studio.aside import aside
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.mindflow.finder import Finder
    from flowstudio.mindflow.model import History
    from flowstudio.mindflow.search import Answer
    from flowstudio.skill import Catalogue
    from flowstudio.studio.run_desk import Handler
    from flowstudio.studio.screen import StudioScreen
    from flowstudio.studio.skills_pane import SkillsPane


class MeaningDesk:
    """Questions to the finder, one at a time: a new one takes the place of the one before."""

    def __init__(self, screen: StudioScreen, pane: Callable[[], SkillsPane]) -> None:
        self._screen = screen
        self._pane = pane
        self._finder: Finder | None = None
        self._known: Catalogue | None = None
        """What the finder's library was read from."""
        self._histories: dict[str, History] = {}
        self._guard = threading.Lock()
        """Held while the finder is opened: only one is."""
        self._text = ""
        self._rejected: list[str] = []
        self._is_over = False

    def commands(self) -> dict[str, Handler]:
        """The commands that the desk carries out, by the id in the table of commands."""
        return {"view.not_this": self.reject}

    def ask(self, text: str) -> None:
        """Find the skills for these words; the pane shows them when they come."""
        if text != self._text:
            self._text, self._rejected = text, []
        self._start(text)

    def reject(self) -> None:
        """“Not this one”: note it, and bring the next ones."""
        name = self._pane().found_name
        if name is None:
            said = "First search: / and a sentence that says what you want to do"
            self._screen.notify(said, markup=False, timeout=4)
            return
        self._rejected.append(name)
        self._note(self._text, rejected=name)
        self._start(self._text)

    def take(self, name: str, *, is_choice: bool) -> None:
        """The user opened a skill that was found; `is_choice` where others were on offer too."""
        if is_choice or self._rejected:
            self._note(self._text, chosen=name)

    def leave(self) -> None:
        """The studio ends: let go of the index, without waiting for what it is at."""
        self._is_over = True
        if self._finder is not None:
            threading.Thread(target=self._finder.close, daemon=True).start()

    # Asking

    def _start(self, text: str) -> None:
        asked = self._find(text, tuple(self._rejected))
        self._screen.run_worker(asked, group="meaning", exclusive=True, exit_on_error=False)

    async def _find(self, text: str, rejected: tuple[str, ...]) -> None:
        catalogue = self._screen.library.catalogue
        if catalogue is None:
            return
        answer, is_ready = await aside(lambda: self._answer(catalogue, text, rejected))
        self._pane().show_answer(text, answer)
        if is_ready:
            return
        # Words alone were compared, since the vectors are still being made.
        await aside(self._wait)
        answer, _ = await aside(lambda: self._answer(catalogue, text, rejected))
        self._pane().show_answer(text, answer)

    def _answer(
        self, catalogue: Catalogue, text: str, rejected: tuple[str, ...]
    ) -> tuple[Answer, bool]:
        """What is found, and whether the index was whole by then."""
        from flowstudio.mindflow.context import Context

        with self._guard:
            finder = self._finder = self._finder or self._open()
            if self._is_over:
                finder.close()
            topics = self._recall()
            if catalogue is not self._known:
                from flowstudio.mindflow.library import read_library

                finder.update(read_library(catalogue))
                self._known = catalogue
        is_ready = finder.is_ready
        return finder.find(text, Context.of(topics), rejected), is_ready

    def _wait(self) -> None:
        if self._finder is not None:
            self._finder.wait()

    def _open(self) -> Finder:
        from flowstudio.config import load_config
        from flowstudio.mindflow.opening import open_finder

        settings = load_config().config.search
        return open_finder(settings, self._screen.library.work_dir, lambda: self._histories)

    def _recall(self) -> tuple[str, ...]:
        """Bring up what is recorded of use; gives the recent topics."""
        from flowstudio.mindflow.database import Database, DatabaseError, database_file
        from flowstudio.mindflow.feedback import FeedbackLog
        from flowstudio.mindflow.usage import UsageLog

        if not database_file().exists():
            return ()
        try:
            with Database() as database:
                self._histories = UsageLog(database).histories()
                return FeedbackLog(database).recent_topics()
        except DatabaseError:
            return ()  # skills are found without it; whoever writes there says what is wrong

    # Noting

    def _note(self, text: str, *, rejected: str = "", chosen: str = "") -> None:
        self._screen.run_worker(
            self._record(text, rejected, chosen), group="feedback", exit_on_error=False
        )

    async def _record(self, text: str, rejected: str, chosen: str) -> None:
        problem = await aside(lambda: _write(text, rejected, chosen))
        if problem:
            self._screen.notify(harmless(problem), severity="warning", markup=False)


def _write(text: str, rejected: str, chosen: str) -> str:
    """Record the feedback; says what went wrong, or nothing."""
    from flowstudio.mindflow.database import Database, DatabaseError
    from flowstudio.mindflow.feedback import FeedbackLog

    try:
        with Database() as database:
            log = FeedbackLog(database)
            if rejected:
                log.reject(text, rejected)
            if chosen:
                log.choose(text, chosen)
                log.add_topics(text)
    except DatabaseError as error:
        return f"{error} It is not noted."
    return ""
