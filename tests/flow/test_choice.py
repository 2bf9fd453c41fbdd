"""Choosing a branch: the prompt, and answers as models really give them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from flowstudio.flow.choice import choice_prompt, match_choice, parse_choice, retry_prompt

YES_NO = ("yes", "no")
REVIEW = ("approved", "needs work", "No, ask the reporter")
CHINESE = ("通过", "有错译", "原文本身有歧义", "中译英（简体）")


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("<choice>yes</choice>", "yes"),
        ("<choice> yes </choice>", "yes"),
        ("<choice>\nyes\n</choice>", "yes"),
        ("I looked at it.\n\n<choice>no</choice>", "no"),
        ("<choice>no</choice>\nBecause the tests fail.", "no"),
        ("First I thought <choice>yes</choice>, but it is <choice>no</choice>.", "no"),
        ("<choice>yes</choice><choice>no</choice>", "no"),
        ("<think>maybe <choice>yes</choice>?</think>\n<choice>no</choice>", "no"),
        ("<think><choice>yes</choice></think>", "yes"),
        ("**<choice>yes</choice>**", "yes"),
        ("<choice>**yes**</choice>", "**yes**"),
        ("`<choice>yes</choice>`", "yes"),
        ("```\n<choice>yes</choice>\n```", "yes"),
        ("```xml\n<choice>yes</choice>\n```\n", "yes"),
        ("> <choice>yes</choice>", "yes"),
        ("- <choice>yes</choice>", "yes"),
        ("选择：<choice>通过</choice>。", "通过"),
        ("<choice>有错译</choice>（见上）", "有错译"),
        ("<choice>no, ask the reporter</choice>", "no, ask the reporter"),
        ("<choice></choice>", ""),
        ("<choice>  </choice>", ""),
        ("<choice>yes</choice> <choice></choice>", ""),
        ("<choice>{yes}</choice>", "{yes}"),
        ("<choice>a > b</choice>", "a > b"),
        ("Reply with <choice>...</choice>: <choice>yes</choice>", "yes"),
        ("<choice><choice>yes</choice></choice>", "yes"),
        ("<choice>no <choice>yes</choice>", "yes"),
        ("<choice>yes</choice> and <choice>open", "yes"),
        ("", None),
        ("yes", None),
        ("<choice>yes", None),
        ("yes</choice>", None),
        ("<choice>a <b</choice>", None),
        ("<choice>yes</chioce>", None),
        ("<Choice>yes</Choice>", None),
        ("< choice >yes</ choice >", None),
        ("<choice/>", None),
        ("&lt;choice&gt;yes&lt;/choice&gt;", None),
        ("＜choice＞yes＜/choice＞", None),
    ],
)
def test_the_last_choice_tag_of_a_reply_is_taken_and_trimmed(reply: str, value: str | None) -> None:
    assert parse_choice(reply) == value


@pytest.mark.parametrize(
    ("answer", "labels", "branch"),
    [
        # literally
        ("yes", YES_NO, "yes"),
        (" no\n", YES_NO, "no"),
        ("No, ask the reporter", REVIEW, "No, ask the reporter"),
        ("通过", CHINESE, "通过"),
        # case
        ("YES", YES_NO, "yes"),
        ("Yes", YES_NO, "yes"),
        ("Approved", REVIEW, "approved"),
        ("no, ask the reporter", REVIEW, "No, ask the reporter"),
        ("STRASSE", ("straße", "weg"), "straße"),
        # space
        ("needs  work", REVIEW, "needs work"),
        ("needs\nwork", REVIEW, "needs work"),
        ("needswork", REVIEW, "needs work"),
        ("needs\u00a0work", REVIEW, "needs work"),
        ("needs\u3000work", REVIEW, "needs work"),
        ("有 错译", CHINESE, "有错译"),
        ("yes\u200b", YES_NO, "yes"),
        ("\ufeffyes", YES_NO, "yes"),
        # quotes
        ('"yes"', YES_NO, "yes"),
        ("'yes'", YES_NO, "yes"),
        ("`yes`", YES_NO, "yes"),
        ("“yes”", YES_NO, "yes"),
        ("‘yes’", YES_NO, "yes"),
        ("«yes»", YES_NO, "yes"),
        ("“通过”", CHINESE, "通过"),
        ("「通过」", CHINESE, "通过"),
        ("『通过』", CHINESE, "通过"),
        ("《通过》", CHINESE, "通过"),
        ("It’s done", ("it's done", "not yet"), "it's done"),
        # a final full stop
        ("yes.", YES_NO, "yes"),
        ('"yes".', YES_NO, "yes"),
        ('"yes."', YES_NO, "yes"),
        ("通过。", CHINESE, "通过"),
        ("“通过。”", CHINESE, "通过"),
        ("通过｡", CHINESE, "通过"),
        ("yes", ("yes.", "no."), "yes."),
        # emphasis
        ("**yes**", YES_NO, "yes"),
        ("__yes__", YES_NO, "yes"),
        ("*yes*.", YES_NO, "yes"),
        ("**yes.**", YES_NO, "yes"),
        ("**`yes`**", YES_NO, "yes"),
        # full-width forms
        ("ｙｅｓ", YES_NO, "yes"),
        ("No，ask the reporter", REVIEW, "No, ask the reporter"),
        ("中译英(简体)", CHINESE, "中译英（简体）"),
        ("ＹＥＳ．", YES_NO, "yes"),
        ("step 2", ("step １", "step ２"), "step ２"),
        # the exact label wins over one that is merely alike
        ("Yes", ("yes", "Yes"), "Yes"),
        ("ab", ("a b", "ab"), "ab"),
        ("1.", ("1", "1."), "1."),
        ("*", ("*", "**"), "*"),
        # nothing that leaves exactly one branch
        ("YES", ("yes", "Yes"), None),
        ("A B", ("a b", "ab"), None),
        ("maybe", YES_NO, None),
        ("yes or no", YES_NO, None),
        ("yes, approved", REVIEW, None),
        ("yes!", YES_NO, None),
        ("y", YES_NO, None),
        ("needs_work", REVIEW, None),
        ("wait...", ("wait", "go"), None),
        ("是", YES_NO, None),
        ("", YES_NO, None),
        ("   ", YES_NO, None),
        ("...", YES_NO, None),
        ('""', YES_NO, None),
        ("", ("", "x"), ""),
        ("***", ("*", "_"), None),
        (None, YES_NO, None),
        ("yes", (), None),
    ],
)
def test_an_answer_is_matched_literally_and_else_where_it_leaves_one_branch(
    answer: str | None, labels: tuple[str, ...], branch: str | None
) -> None:
    assert match_choice(answer, labels) == branch


@given(st.text(), st.lists(st.text(), max_size=5))
def test_a_match_is_always_one_of_the_labels(answer: str, labels: list[str]) -> None:
    assert match_choice(answer, labels) in (None, *labels)


@given(st.text(st.characters(exclude_characters="<")))
def test_what_a_model_puts_in_a_tag_comes_back_trimmed(value: str) -> None:
    assert parse_choice(f"so\n<choice>{value}</choice>.") == value.strip()


def test_the_prompt_of_a_decision_lists_its_branches_and_asks_for_the_tag() -> None:
    assert choice_prompt("Does it work?", ["yes", "no"]) == (
        "Does it work?\n"
        "\n"
        "Available branches:\n"
        "- yes\n"
        "- no\n"
        "\n"
        "Reply with a choice using <choice>...</choice>."
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "Your last reply held no <choice>...</choice>."),
        (" ", "The <choice>...</choice> in your last reply was empty."),
        ("maybe", 'Your last reply chose "maybe", which is not one of the branches.'),
        ("YES", 'Your last reply chose "YES", which could mean any of "yes", "Yes".'),
        (
            "x" * 300,
            f'Your last reply chose "{"x" * 200}…", which is not one of the branches.',
        ),
    ],
)
def test_a_retry_repeats_the_prompt_and_says_what_was_wrong_and_what_is_allowed(
    answer: str | None, reason: str
) -> None:
    branches = ["yes", "Yes"]

    assert retry_prompt("Does it work?", branches, answer) == (
        f"{choice_prompt('Does it work?', branches)}\n"
        "\n"
        f"{reason}\n"
        "End your reply with exactly one of these lines:\n"
        "<choice>yes</choice>\n"
        "<choice>Yes</choice>"
    )
