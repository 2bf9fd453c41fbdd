"""Hooks over tool messages: loops are noticed, and a curl that failed gets a tip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kosong.message import Message, ToolCall
from kosong.tooling import ToolError, ToolOk, ToolResult

from flowstudio.soul.curl_tip import TIP
from flowstudio.soul.hooks import make_default_hooks
from flowstudio.soul.loop_detection import IN_A_ROW, WARNING, LoopDetector, is_similar
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, say, use
from tests.soul.bench import Bench, connect


def shell(command: str, name: str = "Shell") -> ToolCall:
    body = ToolCall.FunctionBody(name=name, arguments=json.dumps({"command": command}))
    return ToolCall(id="1", function=body)


OK = ToolResult(tool_call_id="1", return_value=ToolOk(output="out"))
FAILED = ToolResult(tool_call_id="1", return_value=ToolError(message="no", brief="no"))
MESSAGE = Message(role="tool", tool_call_id="1", content="out")


def warned(detector: LoopDetector, command: str, name: str = "Shell") -> bool:
    return WARNING in detector(shell(command, name), OK, MESSAGE).extract_text()


def test_the_18th_similar_command_in_a_row_is_warned_of_and_no_earlier_one() -> None:
    detector = LoopDetector()
    marks = [warned(detector, f"pytest tests/test_api.py -k case_{n}") for n in range(18)]
    assert marks == [False] * 17 + [True]


def test_after_a_warning_the_count_starts_again() -> None:
    detector = LoopDetector()
    marks = [warned(detector, "pytest tests/test_api.py") for _ in range(IN_A_ROW * 2 + 1)]
    assert [index for index, mark in enumerate(marks) if mark] == [17, 35]


def test_another_command_in_between_starts_the_count_again() -> None:
    detector = LoopDetector()
    commands = ["pytest tests/test_api.py"] * 17 + ["git commit -m done"]
    commands += ["pytest tests/test_api.py"] * 17
    assert not any(warned(detector, command) for command in commands)


@pytest.mark.parametrize(
    ("command", "name"), [("git diff", "Shell"), ("a long enough text", "ReadFile")]
)
def test_short_commands_and_other_tools_are_not_counted(command: str, name: str) -> None:
    detector = LoopDetector()
    assert not any(warned(detector, command, name) for _ in range(40))


def test_a_short_command_in_between_does_not_start_the_count_again() -> None:
    detector = LoopDetector()
    for _ in range(17):
        warned(detector, "pytest tests/test_api.py")
        warned(detector, "ls")
    assert warned(detector, "pytest tests/test_api.py")


def test_only_the_last_18_commands_are_kept() -> None:
    detector = LoopDetector()
    for number in range(50):
        warned(detector, f"{number}" * 12)
    assert len(detector.commands) == 18


@pytest.mark.parametrize(
    ("one", "other", "similar"),
    [
        ("pytest tests/test_a.py", "pytest tests/test_b.py", True),
        ("pytest tests/test_a.py", "git commit -m fix", False),
        # 20 characters of which 17 are the same: the ratio is 0.85 exactly.
        ("a" * 17 + "xyz", "a" * 17 + "uvw", True),
        ("a" * 16 + "wxyz", "a" * 16 + "rstu", False),
    ],
)
def test_commands_are_similar_from_a_ratio_of_85_percent(
    one: str, other: str, similar: bool
) -> None:
    assert is_similar(one, other) is similar


@pytest.mark.parametrize("arguments", ["{", '{"command": 5}', "[]", ""])
def test_arguments_without_a_command_are_passed_over(arguments: str) -> None:
    body = ToolCall.FunctionBody(name="Shell", arguments=arguments)
    assert LoopDetector()(ToolCall(id="1", function=body), OK, MESSAGE) == MESSAGE


def tipped(command: str, result: ToolResult, *, disabled: bool = False) -> bool:
    message = MESSAGE
    for hook in make_default_hooks(disable_curl_tip=disabled):
        message = hook(shell(command), result, message)
    return TIP in message.extract_text()


@pytest.mark.parametrize(
    ("command", "result", "tip"),
    [
        ("curl http://x/y", FAILED, True),
        ("cd a && curl -L http://x/y", FAILED, True),
        ("curl http://x/y", OK, False),
        ("python curler.py", FAILED, False),
        ("./mycurl http://x", FAILED, False),
    ],
)
def test_a_curl_that_failed_gets_the_tip(command: str, result: ToolResult, tip: bool) -> None:
    assert tipped(command, result) is tip


def test_the_tip_can_be_turned_off() -> None:
    assert not tipped("curl http://x/y", FAILED, disabled=True)


def test_the_tip_is_given_once() -> None:
    hooks = make_default_hooks()
    texts: list[str] = []
    for _ in range(2):
        message = MESSAGE
        for hook in hooks:
            message = hook(shell("curl http://x/y"), FAILED, message)
        texts.append(message.extract_text())
    assert [TIP in text for text in texts] == [True, False]


async def test_the_warning_reaches_the_model_in_the_tools_message(tmp_path: Path) -> None:
    command = use(Call("Shell", {"command": "echo again again"}))
    async with openai_server(*[command] * 18, say("I stop.")) as server:
        bench = Bench(await connect(server.base_url), tmp_path, tools=["Shell"], yolo=True)
        await bench.soul.turn("Go")
        assert WARNING not in str(server.requests[17].messages)
        assert WARNING in str(server.requests[18].messages[-1]["content"])


async def test_configuration_turns_the_tip_off(tmp_path: Path) -> None:
    from flowstudio.config import Config

    for disabled in (False, True):
        failing = use(Call("Shell", {"command": "curl --no-such-option http://x"}))
        async with openai_server(failing, say("ok")) as server:
            bench = Bench(
                await connect(server.base_url),
                tmp_path,
                tools=["Shell"],
                yolo=True,
                config=Config(disable_curl_tip=disabled),
            )
            await bench.soul.turn("Go")
            assert (TIP in str(server.requests[1].messages)) is not disabled
