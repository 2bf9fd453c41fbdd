"""Breakpoints outlive the program, and a broken file costs no more than itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowstudio.run.breakpoints import Breakpoint, parse_breakpoint
from flowstudio.run.kept_breakpoints import breakpoints_file, keep_breakpoints, load_breakpoints

POINTS = (
    Breakpoint("a"),
    parse_breakpoint("检查", 'after choice = "No" and visit >= 2'),
)


def test_breakpoints_come_back_as_they_were_kept(tmp_path: Path) -> None:
    flow = tmp_path / "SKILL.md"
    keep_breakpoints(flow, POINTS)
    assert load_breakpoints(flow) == (POINTS, "")


def test_each_flow_has_its_own(tmp_path: Path) -> None:
    one, other = tmp_path / "one" / "SKILL.md", tmp_path / "other" / "SKILL.md"
    keep_breakpoints(one, POINTS)
    keep_breakpoints(other, POINTS[:1])
    assert load_breakpoints(one)[0] == POINTS
    assert load_breakpoints(other)[0] == POINTS[:1]
    assert breakpoints_file(one).name.startswith("one-")


def test_a_flow_without_breakpoints_leaves_no_file(tmp_path: Path) -> None:
    flow = tmp_path / "flow.mmd"
    assert load_breakpoints(flow) == ((), "")
    keep_breakpoints(flow, POINTS)
    keep_breakpoints(flow, ())
    assert not breakpoints_file(flow).exists()
    keep_breakpoints(flow, ())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"x"', '{"format": 2, "breakpoints": []}', '{"format": 1}', "\0\xff"],
)
def test_a_broken_file_is_said_and_not_fatal(tmp_path: Path, text: str) -> None:
    flow = tmp_path / "flow.mmd"
    keep_breakpoints(flow, POINTS)
    breakpoints_file(flow).write_bytes(text.encode("latin-1"))
    points, problem = load_breakpoints(flow)
    assert points == ()
    assert str(breakpoints_file(flow)) in problem
    keep_breakpoints(flow, POINTS)
    assert load_breakpoints(flow) == (POINTS, "")


def test_one_broken_breakpoint_costs_itself_alone(tmp_path: Path) -> None:
    flow = tmp_path / "flow.mmd"
    keep_breakpoints(flow, POINTS)
    record = json.loads(breakpoints_file(flow).read_text(encoding="utf-8"))
    record["breakpoints"].insert(1, {"node": "b", "break": "vist > 2"})
    breakpoints_file(flow).write_text(json.dumps(record), encoding="utf-8")
    points, problem = load_breakpoints(flow)
    assert points == POINTS
    assert "“vist > 2”: column 1" in problem


def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    flow = tmp_path / "flow.mmd"
    breakpoints_file(flow).mkdir(parents=True)
    points, problem = load_breakpoints(flow)
    assert points == ()
    assert "not read" in problem
