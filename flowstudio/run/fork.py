"""A new run that begins as the copy of an earlier one's beginning. A rewind is a fork.

Journal and conversation are copied byte for byte up to the visit at which the two part, so each
position in them means the same in both. The parent is only read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from flowstudio.flow.choice import match_choice
from flowstudio.run.folder import (
    AnsweredBy,
    RunFolder,
    new_folder,
    open_run,
    stamp_now,
    write_header,
)
from flowstudio.run.journal import JournalWriter, Tail
from flowstudio.run.resume import (
    ResumeRefused,
    find_position,
    read_journal_for_resume,
)
from flowstudio.run.sources import recorded_source
from flowstudio.soul.context import ContextError, copy_beginning
from flowstudio.soul.undo import UndoError, UndoLog, Write
from flowstudio.wire import Event, NodeEntered, RunForked, Wire


class NoSuchVisit(ResumeRefused):
    """The run has no visit like the one that was named."""


def find_move(path: Path, visit: str) -> int:
    """The move of a visit: `7` is the seventh node entered (BEGIN is 1), `q:2` visit 2 of q.

    Raises:
        NoSuchVisit: the run has none such.
        what `resume_plan` raises.
    """
    events, _ = read_journal_for_resume(open_run(path).journal, all_visits=True)
    entered = [event for _, event in events if isinstance(event.body, NodeEntered)]
    if visit.isdecimal():
        if not any(_move(event) == int(visit) for event in entered):
            last = max((_move(event) for event in entered), default=0)
            raise NoSuchVisit(f"the run has no move {visit}: it entered {last} nodes")
        return int(visit)
    node, colon, number = visit.rpartition(":")
    if not colon or not number.isdecimal():
        node, number = visit, ""
    found = [event for event in entered if event.node == node]
    if not found:
        raise NoSuchVisit(f"the run never entered “{node}”; a visit is a move (7) or NODE:N (q:2)")
    if not number:
        return _move(found[-1])
    for event in found:
        if event.visit == int(number):
            return _move(event)
    raise NoSuchVisit(f"the run entered “{node}” {len(found)} times, so it has no visit {number}")


def fork_run(
    path: Path,
    move: int,
    *,
    root: Path | None = None,
    branch: str | None = None,
    prompt: str | None = None,
    answered_by: AnsweredBy | None = None,
) -> RunFolder:
    """Make a new run that stands before the visit of move `move` of the run in `path`.

    Args:
        root: where the new folder goes; beside the parent's if left out.
        branch: to be taken at that visit, whatever the model says.
        prompt: to be sent there instead of the node's label.
        answered_by: who answers in the new run; whoever did in its parent if left out.

    Raises:
        NoSuchVisit: the run never entered so many nodes.
        ResumeRefused: the node has no such branch, or the conversation is damaged.
        what `resume_plan` raises.
    """
    parent = open_run(path)
    events, _ = read_journal_for_resume(parent.journal, all_visits=True)
    at = _find_place(events, move)
    offset, entered = events[at]
    position = find_position([event for _, event in events[:at]])
    if branch is not None:
        branch = _require_branch(parent, entered, branch)
    with parent.journal.open("rb") as file:
        beginning = file.read(offset)
    folder = new_folder(root or path.parent)
    try:
        copy_beginning(parent.context, folder / "context.jsonl", position.context)
        UndoLog(parent.undo).copy_beginning(folder / "undo", position.context)
        _copy_flows(parent, folder, position.revision)
        journal = folder / "journal.jsonl"
        with journal.open("xb") as file:
            file.write(beginning)
            file.flush()
            os.fsync(file.fileno())
        _say_forked(
            journal,
            Tail(beginning.count(b"\n"), offset, 0, 0),
            folder.name,
            RunForked(parent.id, move, branch, prompt),
        )
        header = replace(
            parent.header, id=folder.name, created=stamp_now(), parent=parent.id, parent_move=move
        )
        if answered_by is not None:
            header = replace(
                header,
                model=answered_by.model,
                seed=answered_by.seed,
                script=answered_by.script,
            )
        # The header comes last: what has one is whole.
        write_header(folder, header)
    except (OSError, ContextError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, ContextError):
            raise ResumeRefused(str(error)) from error
        raise
    return RunFolder(folder, header)


def writes_since(path: Path, move: int) -> tuple[Write, ...]:
    """What tools wrote at and after the visit of a move, newest first; a fork there may undo it.

    Raises:
        what `fork_run` raises.
    """
    folder = open_run(path)
    events, _ = read_journal_for_resume(folder.journal, all_visits=True)
    position = find_position([event for _, event in events[: _find_place(events, move)]])
    return UndoLog(folder.undo).since(position.context)


def undo_writes(path: Path, writes: Sequence[Write]) -> list[str]:
    """Put back what stood in the files before the writes of a run, all or nothing.

    The run's own folder is left as it is: a fork never changes its parent. Gives a sentence for
    each write.

    Raises:
        UndoError: some of the files were changed since, or cannot be written.
    """
    log = UndoLog(open_run(path).undo)
    if conflicts := log.find_conflicts(writes):
        raise UndoError("\n".join(conflicts))
    return [log.put_back(write) for write in writes]


def _find_place(events: list[tuple[int, Event]], move: int) -> int:
    """Where the visit begins; the last time, if it was broken off and run again."""
    for index in reversed(range(len(events))):
        if _move(events[index][1]) == move:
            return index
    last = max((_move(event) for _, event in events), default=0)
    raise NoSuchVisit(f"the run has no move {move}: it entered {last} nodes")


def _move(event: Event) -> int:
    return event.body.move if isinstance(event.body, NodeEntered) else 0


def _require_branch(parent: RunFolder, entered: Event, branch: str) -> str:
    """The label that `branch` means at a visit."""
    revision = entered.body.revision if isinstance(entered.body, NodeEntered) else 1
    source = recorded_source(parent, revision)
    node = entered.node or ""
    if source.flow is None:
        raise ResumeRefused(f"the recorded flow cannot be read: {source.problem}")
    labels = [edge.label for edge in source.flow.outgoing.get(node, []) if edge.label]
    if len(labels) < 2:
        raise ResumeRefused(f"“{node}” has a single exit: nothing to choose")
    found = match_choice(branch, labels)
    if found is None:
        raise ResumeRefused(f"“{node}” has no branch “{branch}”; it has: {', '.join(labels)}")
    return found


def _copy_flows(parent: RunFolder, folder: Path, revision: int) -> None:
    target = folder / "flow"
    target.mkdir()
    for file in sorted((parent.path / "flow").glob("[0-9]*-*")):
        if int(file.name.partition("-")[0]) <= revision:
            shutil.copyfile(file, target / file.name)


def _say_forked(journal: Path, tail: Tail, run: str, body: RunForked) -> None:
    writer = JournalWriter(journal, after=tail)
    try:
        wire = Wire(run)
        wire.subscribe(writer)
        wire.emit(body)
    finally:
        writer.close()
