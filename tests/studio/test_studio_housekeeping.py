"""Full collections of garbage stop everything for a tenth of a second: they wait for a moment in
which nobody waits for a key."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from time import monotonic

import pytest

from flowstudio.studio import housekeeping
from flowstudio.studio.housekeeping import Housekeeping

_DUE = 3
_OVERDUE = 9


@pytest.fixture
def full() -> Iterator[list[float]]:
    """When each full collection came."""
    seen: list[float] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            seen.append(monotonic())

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "REST", 0.05)
    monkeypatch.setattr(housekeeping, "_DUE", _DUE)
    monkeypatch.setattr(housekeeping, "_OVERDUE", _OVERDUE)


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def allocate(times: int) -> None:
    """As if so much was made that Python collected its middle generation so many times."""
    for _ in range(times):
        gc.collect(1)


def test_python_itself_collects_all_no_more_and_does_so_again_afterwards() -> None:
    async def session() -> None:
        before = gc.get_threshold()
        house = Housekeeping()
        house.begin()
        house.begin()
        assert gc.get_threshold()[2] > 100_000
        assert gc.get_threshold()[:2] == before[:2]
        await until(lambda: house.has_frozen)
        assert gc.get_freeze_count() > 0
        house.end()
        house.end()
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() == 0

    asyncio.run(session())


def test_garbage_goes_once_the_hands_rest_and_not_before(full: list[float]) -> None:
    async def session() -> None:
        house = Housekeeping()
        house.begin()
        await until(lambda: house.has_frozen)
        full.clear()
        allocate(_DUE - 1)
        house.touch()
        touched = monotonic()
        allocate(1)
        await until(lambda: bool(full))
        assert full[0] - touched >= housekeeping.REST
        house.end()

    asyncio.run(session())


def test_all_is_looked_through_once_however_much_is_made_meanwhile(full: list[float]) -> None:
    async def session() -> None:
        house = Housekeeping()
        house.begin()
        await until(lambda: house.has_frozen)
        full.clear()
        house.touch()
        for _ in range(_DUE):
            gc.collect(1)
            for _ in range(5):
                gc.collect(0)
        gc.disable()  # what the test itself makes does not count
        try:
            await until(lambda: bool(full))
            await asyncio.sleep(3 * housekeeping.REST)
        finally:
            gc.enable()
        assert len(full) == 1
        house.end()

    asyncio.run(session())


def test_whoever_made_it_due_is_not_kept_for_it() -> None:
    class Widget:
        """Something that works in a context of its own."""

    async def session() -> None:
        house = Housekeeping()
        house.begin()
        await until(lambda: house.has_frozen)
        house.touch()
        at_work: ContextVar[Widget] = ContextVar("at_work")
        context, widget = copy_context(), Widget()
        context.run(at_work.set, widget)
        context.run(allocate, _DUE)
        seen = weakref.ref(widget)
        del context, widget
        assert seen() is None
        house.end()

    asyncio.run(session())


def test_who_never_rests_is_stopped_in_the_end(
    full: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def session() -> None:
        house = Housekeeping()
        house.begin()
        await until(lambda: house.has_frozen)
        full.clear()
        monkeypatch.setattr(housekeeping, "REST", 0.01)
        allocate(_OVERDUE)
        while not full:
            house.touch()
            await asyncio.sleep(0)
        house.end()

    asyncio.run(asyncio.wait_for(session(), 20))


def test_where_nothing_is_made_nothing_is_done(full: list[float]) -> None:
    async def session() -> None:
        house = Housekeeping()
        house.begin()
        await until(lambda: house.has_frozen)
        full.clear()
        rounds = 0
        gc.disable()  # what the test itself makes does not count
        try:
            begin = monotonic()
            while monotonic() - begin < 3 * housekeeping.REST:
                await asyncio.sleep(0.01)
                rounds += 1
        finally:
            gc.enable()
        assert rounds
        assert not full
        house.end()

    asyncio.run(session())
