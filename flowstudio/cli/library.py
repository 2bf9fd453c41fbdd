"""`flowstudio find` and `flowstudio library graph`: which skill serves, and what it hangs on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowstudio.cli.output import fail, print_json, say, write_out
from flowstudio.config import load_config
from flowstudio.mindflow.context import MOST_TOPICS, Context
from flowstudio.mindflow.finder import Finder
from flowstudio.mindflow.graph import GraphDown, Node, Snapshot, Surroundings, snapshot
from flowstudio.mindflow.library import read_library
from flowstudio.mindflow.opening import open_finder, open_graph
from flowstudio.skill import configured_dirs, discover
from flowstudio.text import in_tongue_of, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowstudio.mindflow.model import History, Library
    from flowstudio.mindflow.search import Answer, Candidate

_WIDTH = 76
"""Characters of a description that are shown."""


def find(args: argparse.Namespace) -> int:
    """`flowstudio find`"""
    query = " ".join(args.words).strip()
    if not query:
        return fail("there is nothing to look for", "say what you want to do")
    if args.top < 1:
        return fail(f"--top {args.top}: must be 1 or more", "")
    library, notes = _read(args)
    for at, name in enumerate(args.reject):
        if (known := _find_name(name, library)) is None:
            return _fail_unknown(name, library)
        args.reject[at] = known
    chosen = _find_name(args.choose, library) if args.choose else None
    if args.choose and chosen is None:
        return _fail_unknown(args.choose, library)
    histories, recorded = _recorded(notes)
    topics: Sequence[str] = args.context or recorded
    context = Context.of(topics[-MOST_TOPICS:], args.project)
    with open_finder(load_config().config.search, Path.cwd(), lambda: histories) as finder:
        answer = _ask(finder, library, query, context, args)
    # Only now: a query is no context of its own.
    _record_feedback(query, args.reject, chosen, notes)
    for note in (*notes, *answer.notes):
        say(f"flowstudio: {note}", file=sys.stderr)
    if args.json:
        print_json(_record(answer), indent=2)
    else:
        _print(answer)
    return 1 if answer.verdict == "nothing" else 0


def _ask(
    finder: Finder, library: Library, query: str, context: Context, args: argparse.Namespace
) -> Answer:
    finder.update(library)
    finder.wait()
    return finder.find(query, context, args.reject, args.top)


def _read(args: argparse.Namespace) -> tuple[Library, list[str]]:
    catalogue = discover(Path.cwd(), extra_dirs=configured_dirs(args.skills_dir), charts=False)
    library = read_library(catalogue)
    return library, [str(d) for d in library.findings if d.path]


def _recorded(notes: list[str]) -> tuple[dict[str, History], tuple[str, ...]]:
    """What is recorded of use, and the recent topics; nothing where nothing was recorded."""
    from flowstudio.mindflow.database import Database, DatabaseError, database_file
    from flowstudio.mindflow.feedback import FeedbackLog
    from flowstudio.mindflow.usage import UsageLog

    if not database_file().exists():
        return {}, ()
    try:
        with Database() as database:
            return UsageLog(database).histories(), FeedbackLog(database).recent_topics()
    except DatabaseError as error:
        notes.append(f"{error} Skills are found without it.")
        return {}, ()


def _record_feedback(
    query: str, rejected: Sequence[str], chosen: str | None, notes: list[str]
) -> None:
    """Note what the user says of the finds: what is learned from use begins here."""
    if not rejected and chosen is None:
        return
    from flowstudio.mindflow.database import Database, DatabaseError
    from flowstudio.mindflow.feedback import FeedbackLog

    try:
        with Database() as database:
            log = FeedbackLog(database)
            for name in rejected:
                log.reject(query, name)
            if chosen is not None:
                log.choose(query, chosen)
            log.add_topics(query)
    except DatabaseError as error:
        notes.append(f"{error} It is not noted.")


def _print(answer: Answer) -> None:
    match answer.verdict:
        case "nothing":
            say(
                "No skill here seems to fit. The nearest:"
                if answer.candidates
                else "No skill fits."
            )
        case "choose":
            say("Which one do you mean?")
        case "best":
            pass
    shown = answer.candidates[:1] if answer.verdict == "best" else answer.candidates
    for at, one in enumerate(shown, 1):
        mark = "" if answer.verdict == "best" else f"{at}. "
        say(f"{mark}{one.skill.name}  {one.total:.2f}")
        if one.skill.description:
            about = in_tongue_of(answer.query, one.skill.description)
            say(f"     {shorten(about, _WIDTH)}")
        for reason in one.why():
            say(f"     · {reason}")
    if answer.verdict == "best" and len(answer.candidates) > 1:
        others = ", ".join(f"{one.skill.name} {one.total:.2f}" for one in answer.candidates[1:])
        say(f"\nnot so near: {others}")
        say(f"not this one?  --reject {answer.candidates[0].skill.name}")


def _record(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query,
        "verdict": answer.verdict,
        "gap": round(answer.gap, 4),
        "by": answer.by,
        "notes": list(answer.notes),
        "candidates": [_candidate_record(one) for one in answer.candidates],
    }


def _candidate_record(one: Candidate) -> dict[str, Any]:
    skill = one.skill
    return {
        "name": skill.name,
        "description": skill.description,
        "path": str(skill.skill.path) if skill.skill else None,
        "total": round(one.total, 4),
        "similarity": round(one.similarity, 4),
        "share": round(one.share, 4),
        "score": {
            "value": round(one.score.value, 4),
            "methodologies": round(one.score.base, 4),
            "parts": [
                {
                    "id": part.methodology.id,
                    "weight": part.methodology.weight,
                    "compliance": part.compliance,
                    "given": part.is_given,
                }
                for part in one.score.parts
            ],
            "usage_count": one.score.history.usage_count,
            "success_rate": one.score.history.success_rate,
        },
        "boost": {
            "value": round(one.boost.value, 4),
            "topics": list(one.boost.topics),
            "project": one.boost.project or None,
        },
        "relation": one.relation or None,
        "related_to": one.related_to or None,
        "why": list(one.why()),
    }


# ---- the graph ------------------------------------------------------------------------------


def show_graph(args: argparse.Namespace) -> int:
    """`flowstudio library graph`"""
    if args.hops < 0:
        return fail(f"--hops {args.hops}: must be 0 or more", "")
    library, notes = _read(args)
    if args.skill is not None:
        if (known := _find_name(args.skill, library)) is None:
            return _fail_unknown(args.skill, library)
        args.skill = known
    whole = snapshot(library)
    try:
        around = _surroundings(args, whole, notes)
    except GraphDown as error:
        return fail(str(error), "")
    if not args.json or args.only:
        # Nearly every skill has a line to each methodology: drawn, they would hide all others.
        drawn = ("skill", "state", "artifact") if args.skill else ("skill", "state")
        around = _restrict(around, args.only or drawn, args.skill)
    for note in notes:
        say(f"flowstudio: {note}", file=sys.stderr)
    if args.json:
        print_json(_graph_record(around), indent=2)
        return 0
    return _draw(args, around)


def _find_name(name: str, library: Library) -> str | None:
    """The name as its skill writes it; case does not count."""
    if name in library.skills:
        return name
    from flowstudio.skill.skill import fold_name

    wanted = fold_name(name)
    return next((one for one in library.skills if fold_name(one) == wanted), None)


def _fail_unknown(name: str, library: Library) -> int:
    from difflib import get_close_matches

    near = " or ".join(get_close_matches(name, list(library.skills), 3))
    hint = f"did you mean {near}?" if near else "flowstudio list shows them all"
    return fail(f"there is no skill {name!r} here", hint)


def _surroundings(args: argparse.Namespace, whole: Snapshot, notes: list[str]) -> Surroundings:
    if args.skill is None:
        return Surroundings(dict.fromkeys(whole.nodes, 0), whole.edges)
    store, said = open_graph(load_config().config.search, Path.cwd())
    notes += said
    try:
        store.load(whole)
        return store.within(Node("skill", args.skill), args.hops)
    finally:
        store.close()


def _restrict(around: Surroundings, kinds: Sequence[str], skill: str | None) -> Surroundings:
    kept = {
        node: distance
        for node, distance in around.distances.items()
        if node.kind in kinds or node == ("skill", skill)
    }
    edges = tuple(edge for edge in around.edges if edge.src in kept and edge.dst in kept)
    return Surroundings(kept, edges)


def _draw(args: argparse.Namespace, around: Surroundings) -> int:
    from flowstudio.cli.output import can_show
    from flowstudio.drawing import draw
    from flowstudio.mindflow.graph_chart import chart_of

    endings = {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}
    ending = args.output.suffix.lower() if args.output else ""
    form = args.format or endings.get(ending, "text")
    chart = chart_of(around)
    if form == "mermaid":
        from flowstudio.flow.convert import write_mermaid

        return write_out(write_mermaid(chart), args.output)
    is_plain = form == "text" and args.output is None and not can_show("─│┌▶")
    drawing = draw(chart, zoom="title", glyphs="ascii" if is_plain else "unicode")
    if form == "svg":
        title = args.skill or "library"
        return write_out(drawing.svg(title=title), args.output)
    return write_out(f"{drawing.text()}\n", args.output)


def _graph_record(around: Surroundings) -> dict[str, Any]:
    return {
        "nodes": [
            {"kind": node.kind, "id": node.id, "distance": distance}
            for node, distance in around.distances.items()
        ],
        "edges": [
            {
                "kind": edge.kind,
                "src": {"kind": edge.src.kind, "id": edge.src.id},
                "dst": {"kind": edge.dst.kind, "id": edge.dst.id},
                "weight": edge.weight,
            }
            for edge in around.edges
        ],
    }
