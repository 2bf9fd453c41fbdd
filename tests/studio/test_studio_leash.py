"""The studio holds the agent on its leash: trust before a run, a diff before a write, undo."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio.skill.trust import TrustStore
from flowstudio.studio.chat_card import ApprovalCard
from flowstudio.studio.dialogs import TrustDialog
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, Reply, say, use
from tests.studio.kit import choose, open_studio


def configure(home: Path, url: str) -> None:
    config = home / "flowstudio" / "config" / "config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        "model: local\n"
        f"providers: {{here: {{type: openai, base_url: '{url}'}}}}\n"
        "models: {local: {provider: here, model: scripted}}\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize("key", ["y", "escape"])
async def test_a_folder_that_is_not_trusted_is_asked_about_once(
    work: Path, home: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLOWSTUDIO_TRUST")
    async with openai_server(say("Once"), say(choose("yes"))) as server:
        configure(home, server.base_url)
        async with open_studio(work) as studio:
            await studio.press("r")
            await studio.until(lambda: isinstance(studio.app.screen, TrustDialog), "the question")
            await studio.press(key)
            if key == "y":
                await studio.ended()
                assert TrustStore.of_user().trusts(work)
            else:
                await studio.until(lambda: studio.app.screen is studio.main, "the main screen")
                assert not TrustStore.of_user().trusts(work)
                assert server.requests == []


async def test_a_write_is_shown_as_a_diff_and_can_be_taken_back(work: Path, home: Path) -> None:
    (work / "a.txt").write_text("one\ntwo\n")
    edit: Reply = use(
        Call("StrReplaceFile", {"path": "a.txt", "edits": [{"old": "two", "new": "zwei"}]})
    )
    async with openai_server(edit, say("Done.")) as server:
        configure(home, server.base_url)
        async with open_studio(work) as studio:
            await studio.type("change it")
            await studio.until(lambda: studio.chat.query(ApprovalCard), "the request")
            await studio.until(lambda: "+zwei" in studio.text, "the diff")
            assert "-two" in studio.text
            assert (work / "a.txt").read_text() == "one\ntwo\n"
            studio.chat.query_one(ApprovalCard).action_answer("allow")
            await studio.until(lambda: "Done." in studio.chat_text, "the answer")
            assert (work / "a.txt").read_text() == "one\nzwei\n"
            await studio.type("/undo")
            await studio.until(lambda: "Taken back" in studio.chat_text, "the undoing")
    assert (work / "a.txt").read_text() == "one\ntwo\n"
