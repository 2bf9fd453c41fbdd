"""What an agent writes into a folder of skills: a change to the library, by its risk.

    a tool writes ─▶ the risk's level ─▶ silent: written    queued: waits    above: asked at once
                                               │                  │                 │
                                               └─── on record, with its diff, can be undone ───┘

The user answers in one place, that of the tools (`Approval`), and never twice for one write. With
`--yolo` all is written at once, and is on record all the same. What is bundled is never written:
the change is made to a copy of the skill in the user's own folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flowstudio.mindflow.changes import Change, FileChange
from flowstudio.mindflow.database import Database, DatabaseError
from flowstudio.mindflow.library_places import Place, find_place, own_root
from flowstudio.mindflow.queue import QueueError, ReviewQueue
from flowstudio.soul.approval import ToolRejectedError
from flowstudio.soul.tools.changing import Claimed
from flowstudio.soul.tools.toolbox import ToolFailure

if TYPE_CHECKING:
    from flowstudio.mindflow.queue import Queued
    from flowstudio.soul import Runtime
    from flowstudio.soul.tools.changing import ClaimsWrites

    def _is_claim(writes: LibraryWrites) -> ClaimsWrites:  # pyright: ignore[reportUnusedFunction]
        return writes


class LibraryWrites:
    """Takes the writes of a session's agent that go to the library.

    Args:
        runtime: its work folder and the place where the user is asked.
        extra_dirs: folders of skills beside the usual ones.
        open_database: where changes are kept.
    """

    def __init__(
        self,
        runtime: Runtime,
        extra_dirs: Iterable[Path] = (),
        open_database: Callable[[], Database] = Database,
    ) -> None:
        self._runtime = runtime
        self._extra_dirs = tuple(extra_dirs)
        self._open_database = open_database

    async def take(self, tool: str, path: Path, before: str | None, after: str) -> Claimed | None:
        """Carry out a write to the library; None where the file is no part of it.

        Raises:
            ToolFailure: the user said no, now or earlier, or it cannot be written.
        """
        place = find_place(path, self._runtime.work_dir, self._extra_dirs)
        if place is None:
            return None
        if before == after:
            return Claimed(f"{path} holds this text already.")
        change = _copy_first(place, before, after) if place.is_bundled else None
        change = change or Change(
            place.kind,
            place.reach,
            place.title,
            f"The agent wrote it with {tool}.",
            (FileChange(path, place.root, before, after),),
        )
        try:
            with self._open_database() as database:
                return await self._decide(ReviewQueue(database), change)
        except QueueError as error:  # another process, or the user, was quicker
            raise ToolFailure(f"It is not written: {error}.") from error
        except DatabaseError as error:
            if place.is_bundled:
                raise ToolFailure(f"{path} comes with the program. {error}") from error
            return None  # asked for like any other file

    async def _decide(self, queue: ReviewQueue, change: Change) -> Claimed:
        """Write it, let it wait, or ask, as its risk and the session's policy say."""
        approval = self._runtime.approval
        queue.settle()
        if approval.yolo or approval.policy == "allow":
            return _result(queue.write(change, "yolo"))
        if waits := _waiting_for(queue, change):
            raise ToolFailure(
                f"A change to {change.files[0].path} waits for the user's answer already (change "
                f"{waits.id}). It is not made yet; go on without it and do not write it again."
            )
        if approval.policy == "reject":
            # Nobody is there to be asked, or to see what is done silently: all of it waits.
            return _result(queue.add(change, anew=True)[0])
        one = (await queue.propose(change, approval, anew=True)).queued
        if one.state == "rejected":
            raise ToolFailure.of(ToolRejectedError(one.note))
        return _result(one)


def _result(one: Queued) -> Claimed:
    """What became of a change, for the model, and the files that were written."""
    title, files = one.change.title, one.change.files
    match one.state:
        case "approved":
            written = tuple((file.path, file.before, file.after or "") for file in files)
            paths = ", ".join(str(file.path) for file in files)
            said = f"Written, as change {one.id} to the library: {paths}."
            return Claimed(said, f"written: {title}", written)
        case "conflict":
            raise ToolFailure(f"{title} could not be written: {one.note}.")
        case _:
            said = (
                f"This is a change to the library ({title}), and waits for the user's answer as "
                f"change {one.id}. It is not made yet: go on without it, and say so in the end."
            )
            return Claimed(said, f"waits for your answer: {title}")


def _waiting_for(queue: ReviewQueue, change: Change) -> Queued | None:
    """Another change that waits and is about one of the same files."""
    wanted = {file.path for file in change.files}
    for one in queue.pending():
        same = one.change.fingerprint == change.fingerprint
        if not same and any(file.path in wanted for file in one.change.files):
            return one
    return None


def _copy_first(place: Place, before: str | None, after: str) -> Change:
    """The change to a bundled file, made to a copy of its skill in the user's own folder.

    Raises:
        ToolFailure: there is a copy already, or the skill cannot be copied.
    """
    mine = own_root()
    inner = place.path.relative_to(place.root)
    # What stands beside the skills counts file by file, in the order of the folders.
    own = Path(inner.parts[0]) if place.skill else inner
    unit, source = mine / own, place.root / own
    if unit.exists():
        raise ToolFailure(
            f"{place.path} comes with the program and is never written. The user's own copy of it "
            f"is {unit}: read that and change it there."
        )
    try:
        found = _files_of(source)
        texts = {path: path.read_bytes().decode() for path in found}
    except (OSError, UnicodeDecodeError) as error:
        raise ToolFailure(f"{source} cannot be copied to be changed: {error}.") from error
    files = [
        FileChange(mine / path.relative_to(place.root), mine, None, text)
        for path, text in texts.items()
        if path != place.path
    ]
    changed = FileChange(mine / inner, mine, None, after)
    if not source.exists():
        why = f"The program's own folder is never written, so it goes to {mine}."
        return Change(place.kind, "global", place.title, why, (changed,))
    what = place.skill or inner.as_posix()
    return Change(
        # Beside a new file comes a copy that takes the skill's place.
        "skill_update" if place.kind == "artifact_add" else place.kind,
        "global",
        f"a copy of {what} for you, which {'adds' if before is None else 'changes'} {inner.name}",
        f"{what} comes with the program, so a copy of it in {mine} is changed instead.",
        (changed, *files),
    )


def _files_of(folder: Path) -> Sequence[Path]:
    """The files of a skill's folder, without caches and hidden ones; none where it is no folder."""
    if not folder.is_dir():
        return ()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(
            part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts
        )
    )
