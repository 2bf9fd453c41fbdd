"""Tracks between layers: no two lines share a cell, except where they cross straight."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, strategies as st

from flowstudio.drawing.channels import route_channel


def cells(ends: list[tuple[int, int]]) -> dict[tuple[int, int], list[str]]:
    """Which directions the lines take through each cell of the channel."""
    channel = route_channel(ends)
    found: dict[tuple[int, int], list[str]] = defaultdict(list)
    for link, (upper, lower) in enumerate(ends):
        cross, row = upper, 0
        for track, turn in channel.bends.get(link, []):
            for depth in range(row, track):
                found[cross, depth].append("v")
            step = 1 if turn > cross else -1
            found[cross, track].append("corner")
            for place in range(cross + step, turn, step):
                found[place, track].append("h")
            found[turn, track].append("corner")
            cross, row = turn, track + 1
        assert cross == lower
        for depth in range(row, channel.tracks):
            found[cross, depth].append("v")
    return found


@given(
    st.integers(0, 12).flatmap(
        lambda size: st.tuples(
            st.lists(st.integers(0, 14), min_size=size, max_size=size, unique=True),
            st.lists(st.integers(0, 14), min_size=size, max_size=size, unique=True),
        )
    )
)
def test_lines_meet_only_where_they_cross_straight(ends: tuple[list[int], list[int]]) -> None:
    for ways in cells(list(zip(*ends, strict=True))).values():
        assert len(ways) == 1 or sorted(ways) == ["h", "v"]


NEEDED = [
    ([], 0),
    ([(3, 3), (7, 7)], 0),
    ([(0, 5)], 1),
    ([(0, 3), (9, 6)], 1),
    ([(0, 5), (2, 8)], 2),
    ([(0, 5), (5, 9)], 2),
]


@pytest.mark.parametrize(("ends", "tracks"), NEEDED)
def test_a_channel_has_no_more_tracks_than_it_needs(
    ends: list[tuple[int, int]], tracks: int
) -> None:
    assert route_channel(ends).tracks == tracks


def test_two_links_that_change_places_are_led_past_each_other() -> None:
    channel = route_channel([(0, 4), (4, 0)])
    assert channel.tracks == 3
    assert sorted(len(bends) for bends in channel.bends.values()) == [1, 2]


def test_lines_that_need_not_cross_do_not() -> None:
    crossed = list(cells([(0, 10), (2, 12), (4, 14), (30, 20), (32, 22)]).values())
    assert all(len(ways) == 1 for ways in crossed)
