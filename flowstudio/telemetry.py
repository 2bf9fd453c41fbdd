"""Spans for OpenTelemetry, made from the events of a wire. Off unless the environment asks for it.

One trace a run: the run, below it each visit, below that each call to the model and each tool. The
names of attributes are those of the conventions for generative AI (`gen_ai.*`). Prompts, answers
and what tools were given and gave are left out unless
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`.

The extra `otel` brings the packages. Spans go where `OTEL_EXPORTER_OTLP_ENDPOINT` (or
`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`) says, as OTLP over HTTP; `OTEL_SDK_DISABLED=true` leaves it
off. All other variables of the SDK count too (`OTEL_SERVICE_NAME`, `OTEL_EXPORTER_OTLP_HEADERS`).
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flowstudio import __version__
from flowstudio.wire import (
    ChoiceMade,
    Event,
    NodeEntered,
    NodeLeft,
    Notice,
    PromptSent,
    Retried,
    RunEnded,
    RunPaused,
    RunReopened,
    RunResumed,
    RunStarted,
    StepBegan,
    StepInterrupted,
    Text,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    Wire,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
MISSING = (
    "Spans are asked for (OTEL_EXPORTER_OTLP_ENDPOINT), but the packages are not installed: "
    "pip install 'flowstudio[otel]'."
)
_BAD_ENDS = frozenset({"model_failed", "choice_failed", "dead_end", "disk", "failed"})
_FLUSH_MILLIS = 3000


def is_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the environment names an endpoint, and does not switch the SDK off."""
    env = os.environ if environ is None else environ
    if env.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return any(env.get(name) for name in ENDPOINTS)


def start_telemetry(wire: Wire, provider: TracerProvider | None = None) -> Callable[[], None]:
    """Make spans of the wire's events from now on; call what comes back at the end.

    Ends the spans that are open and waits for what is not sent yet, 3 s at most. Does nothing where
    no endpoint is named.

    Args:
        provider: where the spans go, instead of the endpoint of the environment.

    Raises:
        ImportError: the packages are not installed (`MISSING` says so to the user).
    """
    if provider is None:
        if not is_wanted():
            return lambda: None
        provider = _make_provider()
    spans = Spans(
        provider.get_tracer("flowstudio", __version__),
        with_content=os.environ.get(CONTENT, "").lower() == "true",
    )
    leave = wire.subscribe(spans.take)

    def stop() -> None:
        leave()
        spans.close()
        provider.force_flush(_FLUSH_MILLIS)
        provider.shutdown()

    return stop


@contextmanager
def traced(wire: Wire) -> Generator[None]:
    """Make spans meanwhile, if the environment asks for them; without the packages, a notice."""
    try:
        stop = start_telemetry(wire)
    except ImportError:
        wire.emit(Notice(MISSING, "warning"))
        yield
        return
    try:
        yield
    finally:
        stop()


def trace_to_the_end(wire: Wire) -> str:
    """Make spans until the program ends; for front ends whose wire lives as long as they do.

    Gives a sentence on why it cannot be done; empty where it is, or nobody asks for it.
    """
    try:
        atexit.register(start_telemetry(wire))
    except ImportError:
        return MISSING
    return ""


def _make_provider() -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME", "flowstudio")
    resource = Resource.create({SERVICE_NAME: name, "service.version": __version__})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Spans:
    """A consumer of one wire. An event that fits nothing open is passed over: it never raises."""

    def __init__(self, tracer: Tracer, *, with_content: bool = False) -> None:
        self._tracer = tracer
        self._with_content = with_content
        self._run: Span | None = None
        self._visit: Span | None = None
        self._step: Span | None = None
        self._tools: dict[str, Span] = {}
        self._text: list[str] = []
        self._last = 0

    def take(self, event: Event) -> None:
        """Open, close or mark the spans that the event is about."""
        at = self._last = int(event.time * 1e9)
        match event.body:
            case RunStarted(flow=flow, model=model, input=input):
                self._begin_run(event.run, flow, model, at)
                self._note(self._run, "flowstudio.run.input", input)
            case RunReopened(model=model):
                self._begin_run(event.run, "", model, at)
            case NodeEntered(kind=kind, move=move):
                self._end_visit(at)
                self._visit = self._open(f"visit {event.node}", self._run, at)
                self._visit.set_attributes(
                    {
                        "flowstudio.node.id": event.node or "",
                        "flowstudio.node.kind": kind,
                        "flowstudio.visit": event.visit or 0,
                        "flowstudio.move": move,
                    }
                )
            case PromptSent(prompt=prompt):
                self._note(self._visit, "flowstudio.prompt", prompt)
            case StepBegan(step=step):
                self._end_step(at)
                self._step = self._open("chat", self._visit or self._run, at)
                self._step.set_attributes(
                    {"gen_ai.operation.name": "chat", "flowstudio.step": step}
                )
            case Text(text=text) if self._with_content:
                self._text.append(text)
            case TokensUsed() as used:
                self._finish_step(used, at)
            case Retried(reason=reason, wait=wait):
                self._text.clear()
                _mark(self._step, "retried", at, reason=reason, wait=wait)
            case StepInterrupted(reason=reason):
                _fail(self._step, reason)
                self._end_step(at)
            case ToolCalled(id=id, name=name, arguments=arguments):
                self._end_step(at)
                span = self._open(f"execute_tool {name}", self._visit or self._run, at)
                span.set_attributes(
                    {
                        "gen_ai.operation.name": "execute_tool",
                        "gen_ai.tool.name": name,
                        "gen_ai.tool.call.id": id,
                    }
                )
                self._note(span, "gen_ai.tool.call.arguments", arguments)
                self._tools[id] = span
            case ToolReturned(id=id, ok=ok, output=output):
                if span := self._tools.pop(id, None):
                    self._note(span, "gen_ai.tool.call.result", output)
                    if not ok:
                        _fail(span, "the tool failed")
                    span.end(at)
            case ChoiceMade(branch=branch, by=by):
                if self._visit:
                    self._visit.set_attributes(
                        {"flowstudio.choice": branch, "flowstudio.choice.by": by}
                    )
            case NodeLeft(tokens=tokens, answer=answer):
                if self._visit:
                    self._visit.set_attribute("flowstudio.tokens", tokens)
                self._note(self._visit, "flowstudio.answer", answer)
                self._end_visit(at)
            case RunPaused(why=why):
                _mark(self._visit or self._run, "paused", at, why=why)
            case RunResumed(command=command):
                _mark(self._visit or self._run, "resumed", at, command=command)
            case RunEnded(reason=reason, moves=moves):
                if self._run:
                    self._run.set_attributes(
                        {"flowstudio.run.end": reason, "flowstudio.run.moves": moves}
                    )
                    if reason in _BAD_ENDS:
                        _fail(self._run, reason)
                self._end_run(at)
            case _:
                pass

    def close(self) -> None:
        """End what is open."""
        self._end_run(self._last)

    def _begin_run(self, run: str, flow: str, model: str, at: int) -> None:
        self._end_run(at)
        self._run = self._open(f"invoke_workflow {flow}".rstrip(), None, at)
        self._run.set_attributes(
            {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.workflow.name": flow,
                "gen_ai.conversation.id": run,
                "flowstudio.model": model,
            }
        )

    def _finish_step(self, used: TokensUsed, at: int) -> None:
        # A summary's call stands between the steps' own; it gets a span of its own.
        is_step = used.purpose == "step" and self._step is not None
        span = self._step if is_step else None
        if span is None:
            began = at - int(used.seconds * 1e9)
            span = self._open("chat", self._visit or self._run, began)
        span.update_name(f"chat {used.model}")
        values: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": used.model,
            "gen_ai.usage.input_tokens": used.input,
            "gen_ai.usage.output_tokens": used.output,
            "gen_ai.usage.cache_read.input_tokens": used.cached,
            "gen_ai.response.finish_reasons": (used.finish,),
            "flowstudio.purpose": used.purpose,
        }
        if used.cost is not None:
            values["flowstudio.cost"] = used.cost
        span.set_attributes(values)
        if is_step:
            self._end_step(at)
        else:
            span.end(at)

    def _open(self, name: str, parent: Span | None, at: int) -> Span:
        from opentelemetry import trace
        from opentelemetry.context import Context

        # Not the context in force: what else is traced in this process is no part of the run.
        context = trace.set_span_in_context(parent, Context()) if parent else Context()
        return self._tracer.start_span(name, context, start_time=at)

    def _note(self, span: Span | None, key: str, text: str) -> None:
        """An attribute that is content: left out unless it was asked for."""
        if span is not None and self._with_content:
            span.set_attribute(key, text.encode(errors="replace").decode())

    def _end_step(self, at: int) -> None:
        if self._step is not None:
            self._note(self._step, "flowstudio.text", "".join(self._text))
            self._step.end(at)
        self._step = None
        self._text.clear()

    def _end_visit(self, at: int) -> None:
        self._end_step(at)
        for span in self._tools.values():
            span.end(at)
        self._tools.clear()
        if self._visit is not None:
            self._visit.end(at)
        self._visit = None

    def _end_run(self, at: int) -> None:
        self._end_visit(at)
        if self._run is not None:
            self._run.end(at)
        self._run = None


def _mark(span: Span | None, name: str, at: int, **values: str | float) -> None:
    if span is not None:
        span.add_event(name, values, at)


def _fail(span: Span | None, reason: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    if span is not None:
        span.set_status(Status(StatusCode.ERROR, reason))
        span.set_attribute("error.type", reason.split(" ")[0] if " " not in reason else "error")
