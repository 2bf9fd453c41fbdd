"""What it costs to keep a run: a visit's records, and taking up a run of 10,000 visits.

    python tests/benchmarks/bench_journal.py [FOLDER]

FOLDER is where files are written (default: a temporary one); its disk is what is measured. The
floor of a visit is one bare append with fdatasync of as many bytes. Each figure is a median; the
disk's own figures vary, so look at the ratio.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from kosong.message import Message

from flowstudio.run.folder import create_run
from flowstudio.run.history import summarise
from flowstudio.run.journal import JournalWriter, read_journal
from flowstudio.run.resume import resume_plan
from flowstudio.soul import Context
from flowstudio.wire import (
    Body,
    NodeEntered,
    NodeLeft,
    PromptSent,
    RunStarted,
    StatusChanged,
    StepBegan,
    Text,
    Wire,
)

VISITS = 300
LONG = 10_000
CHART = "flowchart TD\n B([BEGIN]) --> a[work] --> q{good?}\n q -->|no| a\n q -->|yes| E([END])\n"


def visit(number: int, position: int) -> list[Body]:
    """What one visit says."""
    node = "a" if number % 2 else "q"
    branch = None if node == "a" else "no"
    answer = f"Answer {number}: the retry change looks right, the tests pass, nothing is left. " * 2
    return [
        NodeEntered(number + 1, "task", "work", 1),
        PromptSent("Look at the change and say whether it is right."),
        StepBegan(1),
        Text(answer),
        StatusChanged(1000 + number, 0.1),
        NodeLeft(
            "q" if node == "a" else "a", branch, "model", answer, 120, 1.5, 1, False, position
        ),
    ]


def median(act: Callable[[int], object], rounds: int) -> float:
    """The median seconds of a call."""
    times: list[float] = []
    for number in range(rounds):
        began = time.perf_counter()
        act(number)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def cost_of_a_visit(place: Path) -> None:
    wire = Wire("run-1")
    journal = JournalWriter(place / "journal.jsonl")
    wire.subscribe(journal)
    wire.emit(RunStarted("flow", None, 1, "model", "", 1000))
    context = Context(place / "context.jsonl")

    def record(number: int) -> None:
        for body in visit(number, 0):
            wire.emit(body)

    def record_both(number: int) -> None:
        context.append_message(Message(role="user", content="Look at the change."))
        context.append_step(Message(role="assistant", content="It looks right. " * 10), [], 100)
        context.sync()
        record(number)

    before = (place / "journal.jsonl").stat().st_size
    journaled = median(record, VISITS)
    size = ((place / "journal.jsonl").stat().st_size - before) // VISITS
    both = median(record_both, VISITS)
    bare_file = os.open(place / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    line = b"x" * (size - 1) + b"\n"

    def append(_: int) -> None:
        os.write(bare_file, line)
        getattr(os, "fdatasync", os.fsync)(bare_file)

    bare = median(append, VISITS)
    again = median(record, VISITS)
    journaled = min(journaled, again)
    print(f"a visit's records, {size} bytes, one fsync: {journaled * 1e3:.2f} ms")
    print(f"bare append of {size} bytes and fdatasync:  {bare * 1e3:.2f} ms")
    print(f"ratio: {journaled / bare:.2f}")
    print(f"with the conversation synced before it:     {both * 1e3:.2f} ms ({both / bare:.2f})")


def resume_of_many(place: Path) -> None:
    file = place / "flow.mmd"
    file.write_text(CHART)
    run = create_run(place / "runs", flow="flow", path=file, model="m", input="", work_dir=place)
    run.keep_revision(1, "flow.mmd", CHART)
    context = Context(run.context)
    wire = Wire(run.id)
    journal = JournalWriter(run.journal, sync=False)
    wire.subscribe(journal)
    wire.emit(RunStarted("flow", str(file), 1, "m", "", 10**6))
    for number in range(1, LONG + 1):
        node = "a" if number % 2 else "q"
        context.checkpoint()
        context.append_message(Message(role="user", content="Look at the change and say."))
        context.append_step(Message(role="assistant", content="It is right. " * 12), [], 100)
        with wire.visiting(node, (number + 1) // 2):
            for body in visit(number, context.position):
                wire.emit(body)
    journal.close()
    context.sync()
    size = run.journal.stat().st_size / 1e6
    print(
        f"\n{LONG} visits: journal {size:.1f} MB, context {run.context.stat().st_size / 1e6:.1f} MB"
    )
    for name, act in (
        ("what the list shows of it", lambda: summarise(run.path)),
        ("the plan: check all records, find the position", lambda: resume_plan(run.path)),
        ("the conversation", lambda: Context(run.context)),
        ("all events, for a picture or a replay", lambda: read_journal(run.journal)),
    ):
        wall, cpu = min(_time(act) for _ in range(5))
        print(f"  {wall:.2f} s ({cpu:.2f} s of the processor)  {name}")

    def resume() -> None:
        plan = resume_plan(run.path)
        plan.start(plan.source(None))
        Context(run.context, at=plan.position.context)
        JournalWriter(run.journal, after=plan.tail).close()

    wall, cpu = min(_time(resume) for _ in range(5))
    print(f"resume until the first prompt: {wall:.2f} s ({cpu:.2f} s of the processor), goal 1 s")


def _time(act: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    place = Path(tempfile.mkdtemp(dir=sys.argv[1] if len(sys.argv) > 1 else None))
    try:
        cost_of_a_visit(place)
        resume_of_many(place)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
