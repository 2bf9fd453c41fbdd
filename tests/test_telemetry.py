"""Spans for OpenTelemetry: one trace a run, without words unless they are asked for."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from flowstudio.telemetry import CONTENT, is_wanted, start_telemetry
from flowstudio.wire import (
    Body,
    ChoiceMade,
    NodeEntered,
    NodeLeft,
    PromptSent,
    Retried,
    RunEnded,
    RunStarted,
    StepBegan,
    StepInterrupted,
    Text,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    Wire,
)
from tests.cli.shell import Shell
from tests.servers.openai_server import openai_server
from tests.servers.scripted import Call, in_thread, say, use

SECRET = "the secret word"

RUN: list[tuple[Body, str | None]] = [
    (RunStarted("review", None, 1, "m", SECRET, 10), None),
    (NodeEntered(1, "decision", "Good?", 1), "check"),
    (PromptSent(SECRET), "check"),
    (StepBegan(1), "check"),
    (Retried("too many", 1.5, 1, 3), "check"),
    (Text(SECRET), "check"),
    (TokensUsed("model-1", 100, 40, 7, 0.5, 0.25, "step", "tool_calls"), "check"),
    (ToolCalled("call_1", "Shell", SECRET), "check"),
    (ToolReturned("call_1", "Shell", False, "no", SECRET, 0.1), "check"),
    (TokensUsed("model-1", 50, 0, 5, 0.2, None, "summary"), "check"),
    (StepBegan(2), "check"),
    (TokensUsed("model-1", 110, 0, 3, 0.5), "check"),
    (ChoiceMade("yes", "model"), "check"),
    (NodeLeft("END", "yes", "model", SECRET, 220, 1.0), "check"),
    (RunEnded("reached_end", "done", 1), None),
]


def trace(said: list[tuple[Body, str | None]]) -> list[ReadableSpan]:
    """The spans of these events, said one second apart."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    seconds = iter(range(1000, 2000))
    wire = Wire("run-7", now=lambda: float(next(seconds)))
    stop = start_telemetry(wire, provider)
    for body, node in said:
        if node is None:
            wire.emit(body)
        else:
            with wire.visiting(node, 1):
                wire.emit(body)
    spans = exporter.get_finished_spans()
    stop()
    return [*spans, *exporter.get_finished_spans()[len(spans) :]]


def by_name(spans: list[ReadableSpan]) -> dict[str, list[ReadableSpan]]:
    found: dict[str, list[ReadableSpan]] = {}
    for span in spans:
        found.setdefault(span.name, []).append(span)
    return found


def test_a_run_is_one_trace_of_visits_calls_and_tools() -> None:
    spans = trace(RUN)
    names = by_name(spans)
    assert {name: len(found) for name, found in names.items()} == {
        "invoke_workflow review": 1,
        "visit check": 1,
        "chat model-1": 3,
        "execute_tool Shell": 1,
    }
    (run,) = names["invoke_workflow review"]
    (visit,) = names["visit check"]
    assert run.parent is None
    assert visit.parent == run.get_span_context()
    for span in (*names["chat model-1"], *names["execute_tool Shell"]):
        assert span.parent == visit.get_span_context()
    assert len({span.context.trace_id for span in spans if span.context}) == 1


def test_a_call_tells_its_model_tokens_finish_and_cost() -> None:
    first = by_name(trace(RUN))["chat model-1"][0]
    assert dict(first.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "model-1",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "flowstudio.step": 1,
        "flowstudio.purpose": "step",
        "flowstudio.cost": 0.25,
    }
    assert [event.name for event in first.events] == ["retried"]
    assert (first.start_time, first.end_time) == (1003 * 10**9, 1006 * 10**9)


def test_the_run_and_its_visit_tell_how_they_went() -> None:
    names = by_name(trace(RUN))
    run = names["invoke_workflow review"][0].attributes or {}
    assert (run["gen_ai.conversation.id"], run["flowstudio.run.end"]) == ("run-7", "reached_end")
    visit = names["visit check"][0].attributes or {}
    assert (visit["flowstudio.choice"], visit["flowstudio.tokens"]) == ("yes", 220)
    tool = names["execute_tool Shell"][0]
    assert not tool.status.is_ok
    assert (tool.attributes or {})["gen_ai.tool.name"] == "Shell"


@pytest.mark.parametrize(("asked", "told"), [("", False), ("false", False), ("true", True)])
def test_words_are_in_no_span_unless_they_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, asked: str, told: bool
) -> None:
    monkeypatch.setenv(CONTENT, asked)
    assert (SECRET in "".join(span.to_json() for span in trace(RUN))) == told


def test_what_is_open_when_all_ends_is_ended() -> None:
    spans = trace(RUN[:8])
    assert sorted(span.name for span in spans) == [
        "chat model-1",
        "execute_tool Shell",
        "invoke_workflow review",
        "visit check",
    ]


def test_a_run_that_failed_is_an_error() -> None:
    broken = [*RUN[:4], (StepInterrupted("no network"), "check")]
    names = by_name(trace([*broken, (RunEnded("model_failed", "no network", 1), None)]))
    assert not names["chat"][0].status.is_ok
    assert not names["invoke_workflow review"][0].status.is_ok


def test_events_in_no_order_at_all_raise_nothing() -> None:
    assert [span.end_time is not None for span in trace(RUN[::-1])]


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, False),
    ],
)
def test_it_is_off_unless_an_endpoint_is_named(environ: dict[str, str], wanted: bool) -> None:
    assert is_wanted(environ) == wanted


@pytest.fixture
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A receiver of OTLP over HTTP, and what it received."""
    received: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                received.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    server.server_close()
    thread.join()


CHART = "flowchart TD\nB([BEGIN]) --> a[Look around] --> E([END])\n"


def test_a_real_run_sends_its_spans_to_the_endpoint(
    tmp_path: Path, collector: tuple[str, list[ExportTraceServiceRequest]]
) -> None:
    url, received = collector
    (tmp_path / "one.mmd").write_text(CHART)
    shell = Shell(tmp_path)
    answers = [use(Call("Think", {"thought": "hm"})), say("Done.", tokens=(120, 5))]
    with in_thread(lambda: openai_server(*answers)) as server:
        env = {
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_MODEL": "model-1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
        }
        done = shell("run", "one.mmd", "--trust", env=env)
    assert done.status == 0, done.err
    spans = [
        span
        for request in received
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert sorted(span.name for span in spans) == [
        "chat model-1",
        "chat model-1",
        "execute_tool Think",
        "invoke_workflow one",
        "visit B",
        "visit E",
        "visit a",
    ]
    assert "Look around" not in str(received)
