"""The studio in a real browser: start, pick a flow, run, step, take a branch by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.run.journal import read_journal
from flowstudio.wire import ChoiceMade
from tests.web.kit import CHROMIUM, browser, serving

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

FLOWS = {
    "first": "flowchart TD\n B([BEGIN]) --> one[The first flow] --> E([END])",
    "second": """flowchart TD
B([BEGIN]) --> work[Do the work] --> q{Is it good?}
q -->|yes| E([END])
q -->|no| work""",
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    for name, chart in FLOWS.items():
        folder = tmp_path / ".agents" / "skills" / name
        folder.mkdir(parents=True)
        head = f"---\nname: {name}\ndescription: The {name} one.\ntype: flow\n---\n"
        (folder / "SKILL.md").write_text(f"{head}\n```mermaid\n{chart}\n```\n")
    return tmp_path


async def test_a_flow_is_picked_run_stepped_and_bent_in_the_browser(work: Path) -> None:
    with serving(work, "--seed", "1") as url:
        async with browser() as page:
            await page.open(url)
            await page.shows("The first flow", "rehearsal")  # started
            await page.until_focused()
            await page.press("ctrl+k")
            await page.shows("esc clear")
            await page.press(*"second")
            await page.until(
                lambda: "bug-triage" not in page.text and "second" in page.text, "the filtered list"
            )
            await page.press("Enter")
            await page.shows("Is it good?")  # picked
            # No escape before it: with a letter right behind, that is alt and the letter.
            await page.until(lambda: "esc clear" not in page.text, "the list, not its filter")
            await page.press("n")
            await page.shows("before “work”")  # running
            await page.press("n")
            await page.shows("before “q”")  # stepped
            await page.press("2")
            await page.shows("⇢")  # forced
            await page.press("c")
            await page.shows("reached END")
            assert await page.ask("document.body.classList.contains('-first-byte')")
            assert page.faults == []
            assert all(one.startswith((url, "ws")) for one in page.requests), page.requests
    (folder,) = (work / "flowstudio-home" / "data" / "runs").iterdir()
    bodies = [event.body for event in read_journal(folder / "journal.jsonl").events]
    first = next(body for body in bodies if isinstance(body, ChoiceMade))
    assert (first.branch, first.by, first.forced) == ("no", "user", True)
