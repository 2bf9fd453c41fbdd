"""Errors of models as sentences: they say what to do and never show a key."""

from __future__ import annotations

from typing import ClassVar

import pytest
from kosong.chat_provider import (
    APIConnectionError,
    APIEmptyResponseError,
    APIStatusError,
    APITimeoutError,
    ChatProviderError,
)

from flowstudio.models import ModelError, explain_error
from flowstudio.models.errors import redact


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (APIStatusError(401, "no"), "refused the key"),
        (APIStatusError(403, "no"), "may not use this model"),
        (APIStatusError(404, "no"), "model's name and the provider's base_url"),
        (APIStatusError(413, "no"), "/compact"),
        (APIStatusError(429, "no"), "Too many requests"),
        (APIStatusError(503, "no"), "failed (503)"),
        (APIStatusError(400, "bad field"), "bad field"),
        (APITimeoutError("x"), "loop.request_timeout"),
        (APIConnectionError("x"), "cannot be reached"),
        (APIEmptyResponseError("x"), "empty answer"),
        (ChatProviderError("odd thing"), "odd thing"),
        (ModelError("Set X."), "Set X."),
        (ValueError("odd thing"), "ValueError: odd thing"),
        (ValueError(), "ValueError"),
    ],
)
def test_each_error_says_what_to_do(error: Exception, told: str) -> None:
    assert told in explain_error(error)


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-abcdef0123456789",
        "sk-ant-api03-AbC_dEf-123456",
        "AIzaSyA1234567890abcdefghijk",
        "gsk-abcdefgh12345678",
        "sk-abcd********wxyz",
    ],
)
@pytest.mark.parametrize("form", ["Incorrect key: {}.", "Authorization: Bearer {}", "?key={}&x=1"])
def test_a_key_is_never_shown(key: str, form: str) -> None:
    said = form.format(key)
    assert key not in redact(said)
    assert key not in explain_error(APIStatusError(401, said))


def test_a_servers_words_are_cut_and_put_on_one_line() -> None:
    told = explain_error(APIStatusError(400, "line\n" * 1000))
    assert "\n" not in told
    assert len(told) < 500


def test_an_account_without_credit_is_told_apart_from_too_many_requests() -> None:
    class Sdk(Exception):
        body: ClassVar = {"error": {"code": "insufficient_quota"}}

    error = APIStatusError(429, "quota")
    error.__cause__ = Sdk()
    assert "no credit" in explain_error(error)


def test_a_key_of_any_form_is_known_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_API_KEY", "correct horse battery")
    monkeypatch.setenv("HOUSE_NAME", "red house")
    told = explain_error(APIStatusError(400, "bad: correct horse battery at red house"))
    assert "horse" not in told
    assert "red house" in told


@pytest.mark.parametrize("text", ["the key-value store", "API key: missing", "a basic idea"])
def test_words_that_are_no_keys_stay(text: str) -> None:
    assert redact(text) == text
