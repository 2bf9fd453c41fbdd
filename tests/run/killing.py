"""Processes of the real program that are killed, and a model that counts what it is asked.

To start Python and import the providers takes two seconds, and a killer wants hundreds of
processes. So one process imports it all and forks a child for each call; the child runs the
program's own `main` and is as dead after SIGKILL as any other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cli.shell import Shell
from tests.servers.openai_server import encode
from tests.servers.scripted import Call, Reply, Request, ScriptedServer, say, text_of, use

KEY = "sk-scripted-0123456789abcdef"

_NURSERY = """
import json, os, sys
import flowstudio.cli.resume, flowstudio.cli.run, flowstudio.run.session, flowstudio.soul.tools
import flowstudio.cli
import kosong.contrib.chat_provider.openai_legacy
for line in sys.stdin:
    argv, out = json.loads(line)
    child = os.fork()
    if child == 0:
        file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
        os.dup2(file, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status = 70
        try:
            status = flowstudio.cli.main(argv)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """Starts processes of the program, one at a time."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.out = shell.cwd / "out.txt"
        self._process = subprocess.Popen(
            [sys.executable, "-c", _NURSERY],
            cwd=shell.cwd,
            env=shell.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, *argv: str | Path) -> int:
        """Start `flowstudio ARGV...` and give its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps([[str(part) for part in argv], str(self.out)])
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def wait(self) -> int:
        """Its exit status; -9 where it was killed."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def run(self, *argv: str | Path) -> int:
        """Start it and wait."""
        self.start(*argv)
        return self.wait()

    def kill(self, process: int) -> None:
        """SIGKILL, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


@contextmanager
def nursery(shell: Shell) -> Iterator[Nursery]:
    one = Nursery(shell)
    try:
        yield one
    finally:
        one.close()


CHART = """flowchart TD
B([BEGIN]) --> a[work on it] --> t[note it in the log] --> q{good?}
q -->|yes| z[sum up] --> E([END])
q -->|no| a
"""
PATH = ["B", "a", "t", "q", "a", "t", "q", "z", "E"]
LAPS = 2


def prompts_in(request: Request) -> list[str]:
    """What the user was made to say so far, the prompt that is asked last."""
    texts = [text_of(one) for one in request.messages if one["role"] == "user"]
    return [text for text in texts if not text.startswith("<system>")]


class _Endless(list[Reply]):
    """A script without an end: each reply follows from the conversation alone."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []

    def __bool__(self) -> bool:
        return True

    def pop(self, _: object = -1) -> Reply:  # type: ignore[override]
        request = self.requests[-1]
        number = len(prompts_in(request))
        last = request.messages[-1]
        if last["role"] == "tool":
            return say(f"Noted at prompt {number}.")
        asked = text_of(last)
        if asked.startswith("note it"):
            return use(Call("Shell", {"command": "echo did >> effects.txt"}))
        if asked.startswith("good?"):
            lap = sum(text.startswith("good?") for text in prompts_in(request))
            branch = "yes" if lap == LAPS else "no"
            return say(f"Prompt {number}.\n\n", f"<choice>{branch}</choice>")
        return say("Answer to ", f"prompt {number}.")


def endless_server() -> ScriptedServer:
    """A model that goes on for ever, and keeps each request."""
    server = ScriptedServer(encode, "/v1")
    endless = _Endless()
    server.replies = endless
    endless.requests = server.requests
    return server


@contextmanager
def configured(shell: Shell, base_url: str) -> Iterator[None]:
    """Let `--model killed` be the model at this address."""
    shell.configure(
        f"""
providers: {{it: {{type: openai, base_url: "{base_url}", key_env: IT_KEY}}}}
models: {{killed: {{provider: it, model: scripted-1}}}}
"""
    )
    shell.env["IT_KEY"] = KEY
    yield
