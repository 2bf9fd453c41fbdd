"""`flowstudio library stats`: what use and feedback say of the skills."""

from __future__ import annotations

import argparse
import sys
import time

from flowstudio.cli.output import fail, print_json, say
from flowstudio.mindflow.database import Database, DatabaseError, database_file
from flowstudio.mindflow.feedback import FeedbackLog
from flowstudio.mindflow.queue import ReviewQueue
from flowstudio.mindflow.usage import UsageLog
from flowstudio.text import duration, shorten


def stats(args: argparse.Namespace) -> int:
    """`flowstudio library stats`"""
    try:
        with Database() as database:
            if database.repaired:
                say(f"flowstudio: {database.repaired}", file=sys.stderr)
            uses = UsageLog(database).of_skills()
            feedback = FeedbackLog(database)
            counts = feedback.counts()
            topics = feedback.recent_topics()
            pending = ReviewQueue(database).pending()
    except DatabaseError as error:
        return fail(str(error), "")
    used = {one.skill: one for one in uses}
    names = [*used, *(name for name in counts if name not in used)]
    if args.json:
        print_json(
            {
                "file": str(database_file()),
                "skills": [
                    {
                        "skill": name,
                        "used": used[name].history.usage_count if name in used else 0,
                        "done": used[name].done if name in used else 0,
                        "partial": used[name].partial if name in used else 0,
                        "failed": used[name].failed if name in used else 0,
                        "success_rate": (
                            round(used[name].history.success_rate, 4) if name in used else None
                        ),
                        "mean_seconds": round(used[name].seconds, 3) if name in used else None,
                        "last_used": round(used[name].last, 3) if name in used else None,
                        "last_failure": used[name].last_why if name in used else "",
                        "chosen": counts.get(name, (0, 0))[0],
                        "rejected": counts.get(name, (0, 0))[1],
                    }
                    for name in names
                ],
                "recent_topics": list(topics),
                "changes_waiting": len(pending),
            },
            indent=2,
        )
        return 0
    if not names:
        say("no skill was used yet, and nothing was said about what was found")
        say(
            "  /skill:NAME in the studio uses one; flowstudio find WORDS --choose NAME says it fits"
        )
    width = max((len(name) for name in names), default=0)
    if names:
        say(f"{'skill':<{width}}  used  success  chosen  not this  time   last")
    now = time.time()
    for name in names:
        chosen, rejected = counts.get(name, (0, 0))
        one = used.get(name)
        if one is None:
            say(f"{name:<{width}}     0        -  {chosen:>6}  {rejected:>8}      -  -")
            continue
        history = one.history
        say(
            f"{name:<{width}}  {history.usage_count:>4}  {history.success_rate:>7.0%}  "
            f"{chosen:>6}  {rejected:>8}  {duration(one.seconds):>5}  "
            f"{duration(max(now - one.last, 0))} ago"
        )
        if one.last_why:
            say(f"{'':<{width}}  failed last: {shorten(one.last_why, 80)}")
    if topics:
        say(f"\nrecent topics: {', '.join(topics)}")
    if pending:
        say(f"\n{len(pending)} changes wait: flowstudio library review")
    return 0
