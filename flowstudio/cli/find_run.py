"""The folder of the run that a call names."""

from __future__ import annotations

from pathlib import Path


def find_run(root: Path, wanted: str) -> Path:
    """The folder below `root` of the run `wanted`: its id, the beginning or end of it, or `last`.

    Raises:
        LookupError: there is none, or several could be meant; the message says which.
    """
    try:
        known = sorted(entry.name for entry in root.iterdir() if (entry / "run.json").is_file())
    except OSError:
        known = []
    if not known:
        raise LookupError(f"there are no runs below {root}")
    if wanted == "last":
        return root / known[-1]
    found = [name for name in known if name == wanted]
    found = found or [name for name in known if wanted and name.startswith(wanted)]
    found = found or [name for name in known if wanted and name.endswith(wanted)]
    if not found:
        raise LookupError(f"there is no run {wanted!r}; the last one is {known[-1]}")
    if len(found) > 1:
        more = " …" if len(found) > 4 else ""
        raise LookupError(f"{wanted!r} could be any of {', '.join(found[:4])}{more}")
    return root / found[0]
