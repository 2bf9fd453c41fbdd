"""One walk through a flow: runner, control, journal, and the session that holds them."""

from typing import TYPE_CHECKING

from flowstudio.lazy import names_of

if TYPE_CHECKING:
    from flowstudio.run.control import (
        RunControl as RunControl,
    )
    from flowstudio.run.folder import (
        RunFolder as RunFolder,
        create_run as create_run,
        open_run as open_run,
    )
    from flowstudio.run.fork import (
        fork_run as fork_run,
    )
    from flowstudio.run.history import (
        RunSummary as RunSummary,
        find_run as find_run,
        list_runs as list_runs,
    )
    from flowstudio.run.journal import (
        Journal as Journal,
        JournalDamaged as JournalDamaged,
        JournalWriter as JournalWriter,
        read_journal as read_journal,
    )
    from flowstudio.run.resume import (
        ResumePlan as ResumePlan,
        ResumeRefused as ResumeRefused,
        resume_plan as resume_plan,
    )
    from flowstudio.run.runner import (
        FlowRunner as FlowRunner,
        RunOutcome as RunOutcome,
    )
    from flowstudio.run.session import (
        RunRequest as RunRequest,
        Session as Session,
    )
    from flowstudio.run.state import (
        RunState as RunState,
        Visit as Visit,
    )

__getattr__ = names_of(
    __name__,
    {
        "RunControl": "control",
        "RunFolder": "folder",
        "create_run": "folder",
        "open_run": "folder",
        "Journal": "journal",
        "JournalDamaged": "journal",
        "JournalWriter": "journal",
        "read_journal": "journal",
        "ResumePlan": "resume",
        "ResumeRefused": "resume",
        "RunSummary": "history",
        "find_run": "history",
        "fork_run": "fork",
        "list_runs": "history",
        "resume_plan": "resume",
        "FlowRunner": "runner",
        "RunOutcome": "runner",
        "RunRequest": "session",
        "Session": "session",
        "RunState": "state",
        "Visit": "state",
    },
)
