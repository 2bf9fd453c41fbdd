"""The session behind the chat: opens it, shows what is said, and takes what the user types.

The desk owns no widget. It acts on the driver, and speaks to the user through the screen.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from flowstudio.studio.driver import CommandRefused, Driver
from flowstudio.text import harmless

if TYPE_CHECKING:
    from flowstudio.skill import Skill
    from flowstudio.soul.slash import SlashCommand
    from flowstudio.studio.chat_feed import ChatFeed
    from flowstudio.studio.earlier import Earlier
    from flowstudio.studio.screen import StudioScreen
    from flowstudio.wire import Event

_PATIENCE = 2.0
"""Seconds that the session waits for the picture of a flow, which may be a very large one."""


class TalkDesk:
    """Brings up whoever answers, and passes on what is said to and fro."""

    def __init__(self, screen: StudioScreen, driver: Driver) -> None:
        self._screen = screen
        self._driver = driver
        self._feed: ChatFeed | None = None

    # The session

    def open(self) -> None:
        """Read the settings and open the session, in the background."""
        self._screen.run_worker(self._open(), group="session", exit_on_error=False)

    async def _open(self) -> None:
        screen = self._screen
        # The imports take the longest, and nothing of them is needed for the picture.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(screen.drawn.wait(), _PATIENCE)
        from flowstudio.config import load_config

        loaded = await asyncio.to_thread(load_config)
        for problem in loaded.problems:
            screen.notify(harmless(problem), severity="warning", markup=False, timeout=10)
        cast("Any", screen.app).take_config(loaded.config)
        await asyncio.to_thread(importlib.import_module, "flowstudio.studio.setup")
        await screen.library.found.wait()
        await self._driver.open(loaded.config, screen.library.work_dir, screen.library.skills)
        session = self._driver.session
        assert session is not None
        session.runtime.skills = screen.library.skills
        session.add_commands(self._flow_commands)
        screen.top.model = self._driver.model_name
        screen.top.currency = loaded.config.currency
        self.offer_commands()
        screen.past.offer()
        screen.first.greet()
        if screen.options.attach is not None:
            screen.attaching.attach(screen.options.attach)

    # What is said

    @property
    def feed(self) -> ChatFeed:
        """What turns events into entries of the chat."""
        if self._feed is None:
            from flowstudio.studio.chat_feed import ChatFeed

            self._feed = ChatFeed(self._screen.chat_pane.log_view)
        return self._feed

    def hear(self, event: Event) -> None:
        """One event of the wire."""
        self.feed.consume(event)

    def show_earlier(self, earlier: Earlier) -> None:
        """A run goes on: show the end of what it has done so far."""
        from flowstudio.studio.retelling import retell

        self.feed.forget()
        for event in retell(earlier.events, is_on=earlier.is_on):
            self.feed.consume(event)

    # What is typed

    def take(self, text: str) -> None:
        """A line was sent: an answer to a question, a command, or talk."""
        try:
            if self._driver.answer_question(text) or not text:
                return
        except CommandRefused as refused:
            self._screen.desk.refuse(refused)
            return
        if text in ("/clear", "/reset"):
            self.feed.forget()
        else:
            self.feed.say_user(text)
        said = self._screen.desk.guard(self._driver.say(text))
        self._screen.run_worker(said, group="talk", exit_on_error=False)

    # Slash commands

    def offer_commands(self) -> None:
        """Let the chat complete the slash commands that there are now."""
        session = self._driver.session
        if session is not None:
            commands = session.soul.available_slash_commands
            self._screen.chat_pane.set_commands([(f"/{c.name}", c.description) for c in commands])

    def _flow_commands(self) -> Iterable[SlashCommand]:
        from flowstudio.studio.flow_commands import flow_commands

        return flow_commands(self._screen.library.skills, self._select_and_run, self._loop)

    def _select_and_run(self, asked: Skill | None, text: str) -> None:
        skill = asked or self._screen.skill
        if skill is None:
            return
        self._screen.stock.select(skill)
        run = self._screen.desk.ask_and_run
        self._screen.call_after_refresh(run, skill, text or None, stepping=False)

    def _loop(self, text: str) -> None:
        # Once the command is over: the agent counts as busy until then.
        self._screen.call_after_refresh(self._screen.desk.ask_loop, text)
