"""Answers to the agent's questions, given beforehand: `--answers FILE` of a run without a screen.

A YAML file, or JSON Lines:

    - "the first question's answer"            # in order
    - {question: "which branch", answer: main} # whenever the question fits, as often as it comes

`question` is a regular expression, searched anywhere in the question, upper or lower case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

_LONGEST_QUESTION = 10_000


class AnswersError(Exception):
    """A file of answers cannot be used; the message says where and why."""


@dataclass(slots=True)
class Answers:
    """Answers that wait for their questions."""

    patterns: list[tuple[re.Pattern[str], str]] = field(
        default_factory=list[tuple[re.Pattern[str], str]]
    )
    in_order: list[str] = field(default_factory=list[str])

    def find(self, question: str) -> str | None:
        """The answer to a question: the first whose pattern fits, else the next in order."""
        for pattern, answer in self.patterns:
            if pattern.search(question[:_LONGEST_QUESTION]):
                return answer
        return self.in_order.pop(0) if self.in_order else None


def load_answers(path: Path) -> Answers:
    """Read a file of answers.

    Raises:
        AnswersError: it cannot be read, or an entry is no answer.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise AnswersError(f"{path}: the answers cannot be read: {error}") from error
    entries = _read_lines(path, text) if path.suffix == ".jsonl" else _read_yaml(path, text)
    answers = Answers()
    for number, entry in enumerate(entries, 1):
        _take(answers, entry, f"{path}: answer {number}")
    return answers


def _read_lines(path: Path, text: str) -> Iterable[object]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise AnswersError(f"{path}:{number}: no JSON: {error}") from error


def _read_yaml(path: Path, text: str) -> Iterable[object]:
    try:
        raw: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise AnswersError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from error
    if isinstance(raw, dict):
        pairs = cast("dict[object, object]", raw).items()
        return [{"question": question, "answer": answer} for question, answer in pairs]
    if isinstance(raw, list):
        return cast("list[object]", raw)
    raise AnswersError(f"{path}: answers are a list, or a mapping of question to answer")


def _take(answers: Answers, entry: object, where: str) -> None:
    if isinstance(entry, dict):
        fields = cast("dict[str, Any]", entry)
        if set(fields) != {"question", "answer"} or not _is_plain(fields["answer"]):
            raise AnswersError(f"{where}: must have `question` and `answer`, and nothing else")
        try:
            pattern = re.compile(str(fields["question"]), re.IGNORECASE)
        except re.error as error:
            raise AnswersError(f"{where}: `question` is no regular expression: {error}") from error
        answers.patterns.append((pattern, _as_text(fields["answer"])))
    elif _is_plain(entry):
        answers.in_order.append(_as_text(entry))
    else:
        raise AnswersError(f"{where}: must be text, or a mapping with `question` and `answer`")


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float)


def _as_text(value: object) -> str:
    # YAML reads yes and no as truth values; a person who writes them means the words.
    match value:
        case True:
            return "yes"
        case False:
            return "no"
        case _:
            return str(value)
