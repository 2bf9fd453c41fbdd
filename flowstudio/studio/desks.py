"""Makes the desks of the main screen, once its frame is painted.

A desk owns one subject of the studio and no widget. None is needed for the first picture, so none
is imported before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowstudio.studio.attach_desk import AttachDesk
from flowstudio.studio.author_desk import AuthorDesk
from flowstudio.studio.copy_desk import CopyDesk
from flowstudio.studio.history_desk import HistoryDesk
from flowstudio.studio.library import Library
from flowstudio.studio.library_desk import LibraryDesk
from flowstudio.studio.meaning_desk import MeaningDesk
from flowstudio.studio.notify_desk import NotifyDesk
from flowstudio.studio.planning_desk import PlanningDesk
from flowstudio.studio.run_desk import RunDesk
from flowstudio.studio.talk_desk import TalkDesk
from flowstudio.studio.view_desk import ViewDesk
from flowstudio.studio.welcome_desk import WelcomeDesk

if TYPE_CHECKING:
    from flowstudio.studio.screen import StudioScreen


def set_up(screen: StudioScreen) -> None:
    """Give the screen its desks and its library."""
    driver = screen.driver
    screen.library = Library(screen.options.path, screen.options.skills_dirs)
    screen.desk = RunDesk(screen, driver, screen.show_news)
    screen.past = HistoryDesk(screen, driver, screen.desk)
    screen.attaching = AttachDesk(screen, driver, screen.desk)
    screen.signs = NotifyDesk(screen)
    screen.first = WelcomeDesk(screen, driver, screen.desk, screen.give)
    screen.author = AuthorDesk(screen, driver)
    screen.meaning = MeaningDesk(screen, lambda: screen.browser)
    screen.talk = TalkDesk(screen, driver)
    screen.looking = ViewDesk(screen)
    screen.copying = CopyDesk(screen)
    screen.stock = LibraryDesk(screen, driver)
    screen.planning = PlanningDesk(screen)
    driver.on_earlier = screen.talk.show_earlier
    driver.on_loop = lambda text, rounds: screen.call_later(screen.desk.run_loop, text, rounds)
