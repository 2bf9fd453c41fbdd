"""check for other programs, check --fix, convert, explain: what they print and what they write."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from flowstudio.flow import CODES
from flowstudio.flow.codes import CHOICE_TAG
from flowstudio.skill import Skill, load_skill
from tests.cli.shell import CORPUS, LONGEST, Shell

BROKEN = [
    CORPUS / "broken-end-unreachable",
    CORPUS / "broken-unclosed-bracket",
    CORPUS / "broken-unlabelled-branch",
]
LOOSE = """---
name: loose
description: Mermaid itself refuses this one.
type: flow
---

# Words (with brackets) stay <choice>as they are</choice>

```mermaid
flowchart TD
  B([BEGIN]) --> a[Look (carefully) at it]
  %% a comment: x[y (z)]
  a --> c{ "Good?" }
  c -->|<choice>yes</choice>| E([END])
  c -->|no (really)| a
```

```mermaid
flowchart TD
  other[f(x)] -->|<choice>y</choice>| END
```
"""
REPAIRED = (
    LOOSE.replace("a[Look (carefully) at it]", 'a["Look (carefully) at it"]')
    .replace('{ "Good?" }', '{"Good?"}')
    .replace("|<choice>yes</choice>|", "|yes|")
    .replace("|no (really)|", '|"no (really)"|')
)


@pytest.fixture
def loose(shell: Shell) -> Path:
    """A flow skill with four faults that can be repaired."""
    return write(shell.cwd / "loose" / "SKILL.md", LOOSE)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def find_flow(skill: Skill) -> tuple[Any, ...]:
    """What is run, without its places in the file."""
    assert skill.chart is not None
    return dict(skill.chart.nodes), skill.chart.edges, skill.chart.direction


# ---- for other programs -----------------------------------------------------------------------


def test_json_is_the_same_by_either_option(shell: Shell) -> None:
    done = shell.inside("check", *BROKEN, "--format", "json")

    assert done.status == 1
    assert done.json == shell.inside("check", *BROKEN, "--json").json
    assert len(done.json) == 3


def test_github_gets_one_annotation_for_each_finding(shell: Shell) -> None:
    write(shell.cwd / "a: b, 100%.mmd", "flowchart TD\nBEGIN --> a[x\na --> END\n")

    done = shell.inside("check", "a: b, 100%.mmd", "--format", "github")

    assert (done.status, done.err) == (1, "")
    (line,) = done.out.splitlines()
    assert line == (
        "::error file=a%3A b%2C 100%25.mmd,line=2,endLine=2,"
        "title=label-unclosed,col=12,endColumn=12"
        "::the '[' that opens the label of \"a\" is not closed%0Aadd ']' at the end of the line"
    )


def test_github_gets_no_columns_where_a_finding_spans_lines(shell: Shell) -> None:
    write(shell.cwd / "x.mmd", "flowchart TD\nBEGIN --> a --> END\nb[x] -->\nc[y]\n")

    lines = shell.inside("check", "x.mmd", "--format", "github").out.splitlines()

    assert lines
    for line in lines:
        place = dict(re.findall(r"(\w+)=([^,:]*)", line.split("::")[1]))
        assert ("col" in place) == (place["line"] == place["endLine"])


def test_a_line_in_a_message_cannot_make_an_annotation_of_its_own(shell: Shell) -> None:
    write(shell.cwd / "x.d2", 'BEGIN -> a -> END\na -> b: "x\\n::error::gotcha"\n')

    lines = shell.inside("check", "x.d2", "--format", "github").out.splitlines()

    assert lines
    assert all(line.startswith(("::error file=x.d2,", "::warning file=x.d2,")) for line in lines)


def check_sarif(log: Any) -> list[dict[str, Any]]:
    """Hold a log to the rules of SARIF 2.1.0 that concern what we write; gives its results."""
    assert log["version"] == "2.1.0"
    assert urlsplit(log["$schema"]).scheme == "https"
    (run,) = log["runs"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    driver = run["tool"]["driver"]
    assert driver["name"] == "flowstudio"
    assert driver["version"]
    rules = {rule["id"]: rule for rule in driver["rules"]}
    assert len(rules) == len(driver["rules"]), "each rule is described once"
    for rule in rules.values():
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    for result in run["results"]:
        assert set(result) <= {"ruleId", "level", "message", "locations", "relatedLocations"}
        assert result["ruleId"] in rules
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            check_location(location["physicalLocation"])
    return run["results"]


def check_location(place: dict[str, Any]) -> None:
    uri = place["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]+", uri), "a URI is plain ASCII"
    assert urlsplit(uri).scheme in ("", "file")
    region = place["region"]
    assert all(isinstance(value, int) and value >= 1 for value in region.values())
    start = region["startLine"], region["startColumn"]
    assert start <= (region["endLine"], region["endColumn"])


def test_sarif_keeps_its_rules_and_holds_what_json_holds(shell: Shell) -> None:
    done = shell.inside("check", *BROKEN, CORPUS / "bug-triage", "--format", "sarif")

    results = check_sarif(done.json)
    assert done.status == 1
    found = shell.inside("check", *BROKEN, CORPUS / "bug-triage", "--json").json
    assert [(r["ruleId"], r["level"]) for r in results] == [
        (d["code"], d["severity"]) for d in found
    ]
    regions = [r["locations"][0]["physicalLocation"]["region"] for r in results]
    assert regions == [
        {
            "startLine": d["line"],
            "startColumn": d["column"],
            "endLine": d["end_line"],
            "endColumn": d["end_column"],
        }
        for d in found
    ]
    for result, one in zip(results, found, strict=True):
        uri = urlsplit(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        assert unquote(uri.path) == one["path"]
        assert one["message"] in result["message"]["text"]


def test_sarif_names_files_below_this_folder_by_a_relative_uri(shell: Shell) -> None:
    write(shell.cwd / "日 报" / "50% #1.mmd", "flowchart TD\nBEGIN --> a[x\n")

    (result,) = check_sarif(shell.inside("check", "日 报/50% #1.mmd", "--format", "sarif").json)

    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "%E6%97%A5%20%E6%8A%A5/50%25%20%231.mmd"


def test_sarif_shows_the_other_places_of_a_finding(shell: Shell) -> None:
    (result,) = check_sarif(shell.inside("check", BROKEN[0], "--format", "sarif").json)

    related = result["relatedLocations"]
    assert [r["physicalLocation"]["region"]["startLine"] for r in related] == [21, 22]
    assert '"finish"' in related[1]["message"]["text"]


def test_sarif_without_findings_is_a_log_all_the_same(shell: Shell) -> None:
    done = shell.inside("check", CORPUS / "bug-triage", "--format", "sarif")

    assert done.status == 0
    assert check_sarif(done.json) == []


def test_a_file_that_is_named_twice_is_checked_once(shell: Shell, loose: Path) -> None:
    done = shell.inside("check", loose, loose.parent, ".", "--json")

    assert done.json == shell.inside("check", loose, "--json").json


# ---- check --fix ------------------------------------------------------------------------------


def test_fix_shows_the_repair_as_a_diff_and_writes_nothing_unasked(
    shell: Shell, loose: Path
) -> None:
    done = shell.inside("check", "loose", "--fix")

    assert loose.read_bytes() == LOOSE.encode()
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("--- ")
    assert "-  B([BEGIN]) --> a[Look (carefully) at it]" in lines
    assert '+  B([BEGIN]) --> a["Look (carefully) at it"]' in lines
    assert lines[-1] == "1 checked: 0 errors, 4 warnings"
    assert "not written" in done.err


def test_fix_with_yes_writes_the_repair_and_nothing_else(shell: Shell, loose: Path) -> None:
    before = load_skill(loose)

    done = shell.inside("check", "loose", "--fix", "--yes")

    assert loose.read_text(encoding="utf-8") == REPAIRED
    assert done.status == 0
    assert '+  B([BEGIN]) --> a["Look (carefully) at it"]' in done.out
    assert done.out.splitlines()[-1] == "1 checked: all good"
    assert find_flow(load_skill(loose)) == find_flow(before)
    assert sorted(file.name for file in loose.parent.iterdir()) == ["SKILL.md"]


def test_without_fix_nothing_is_repaired(shell: Shell, loose: Path) -> None:
    done = shell.inside("check", "loose", "--yes")

    assert loose.read_bytes() == LOOSE.encode()
    assert "--- " not in done.out


def test_a_second_fix_finds_nothing_to_do(shell: Shell, loose: Path) -> None:
    shell.inside("check", "loose", "--fix", "--yes")
    stamp = loose.stat().st_mtime_ns

    done = shell.inside("check", "loose", "--fix", "--yes")

    assert done.out == "1 checked: all good\n"
    assert loose.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_a_diff_does_not_stand_between_what_a_program_reads(
    shell: Shell, loose: Path, form: str
) -> None:
    done = shell.inside("check", "loose", "--fix", "--format", form)

    assert "+  a --> c{" in done.err
    if form == "github":
        assert all(line.startswith("::warning ") for line in done.out.splitlines())
    else:
        assert done.json


ENCODED = {
    "CRLF": LOOSE.replace("\n", "\r\n").encode(),
    "lone CR": LOOSE.replace("\n", "\r").encode(),
    "mixed line ends": LOOSE.replace("\n  ", "\r\n  ").encode(),
    "no line end at the end": LOOSE.rstrip().encode(),
    "byte order mark": b"\xef\xbb\xbf" + LOOSE.encode(),
    "UTF-16": b"\xff\xfe" + LOOSE.encode("utf-16-le"),
    "GB18030": LOOSE.replace("Look", "看").encode("gb18030"),
    "lines of other kinds": LOOSE.replace("# Words", "# W\u2028o\x0br\x85ds").encode(),
}


@pytest.mark.parametrize("how", ENCODED)
def test_fix_keeps_line_ends_and_encoding(shell: Shell, how: str) -> None:
    file = write(shell.cwd / "loose" / "SKILL.md", ENCODED[how])
    before = load_skill(file)

    shell.inside("check", "loose", "--fix", "--yes")

    after = load_skill(file)
    assert (after.encoding, after.bom) == (before.encoding, before.bom)
    assert find_flow(after) == find_flow(before)
    known = ("loose-syntax", CHOICE_TAG)
    assert [d for d in after.diagnostics if d.code in known] == []
    old, new = re.split(r"(\r\n|\r|\n)", before.source), re.split(r"(\r\n|\r|\n)", after.source)
    assert len(old) == len(new)
    assert sum(a != b for a, b in zip(old, new, strict=True)) == 4


def test_fix_repairs_each_file_of_a_folder_and_each_path(shell: Shell, loose: Path) -> None:
    chart = "flowchart TD\nBEGIN --> a[f(x)] --> END\n"
    more = [
        write(shell.cwd / "lib" / "one" / "SKILL.md", LOOSE.replace("name: loose", "name: one")),
        write(shell.cwd / "lib" / "two.mmd", chart),
        write(shell.cwd / "three.mermaid", chart),
    ]
    good = write(shell.cwd / "lib" / "good.mmd", 'flowchart TD\nBEGIN --> a["ok"] --> END\n')

    done = shell.inside("check", "loose", "lib", "three.mermaid", "--fix", "--yes")

    assert done.out.splitlines()[-1] == "5 checked: all good"
    assert loose.read_text(encoding="utf-8") == REPAIRED
    assert more[0].read_text(encoding="utf-8") == REPAIRED.replace("name: loose", "name: one")
    assert {file.read_text(encoding="utf-8") for file in more[1:]} == {
        'flowchart TD\nBEGIN --> a["f(x)"] --> END\n'
    }
    assert str(good) not in done.out


@pytest.mark.parametrize(
    ("chart", "repaired"),
    [
        ("BEGIN --> a[f(x)] --> END", 'BEGIN --> a["f(x)"] --> END'),
        ("BEGIN --> a[ f(x) ] --> END", 'BEGIN --> a["f(x)"] --> END'),
        ('BEGIN --> a[say "hi" (x)] --> END', 'BEGIN --> a["say #quot;hi#quot; (x)"] --> END'),
        ("BEGIN --> a[[f(x)]]:::hot --> END", 'BEGIN --> a[["f(x)"]]:::hot --> END'),
        (
            'BEGIN --> a{ok?}\na -- f(x) --> END\na -- say "no" --> b --> a',
            'BEGIN --> a{ok?}\na -- f(x) --> END\na -- "say #quot;no#quot;" --> b --> a',
        ),
        (
            "BEGIN --> a{f(x)} -->|<choice>y (1)</choice>| END\na -->|n| a",
            'BEGIN --> a{"f(x)"} -->|"y (1)"| END\na -->|n| a',
        ),
    ],
)
def test_what_can_be_repaired_is(shell: Shell, chart: str, repaired: str) -> None:
    file = write(shell.cwd / "x.mmd", f"flowchart TD\n{chart}\n")
    before = load_skill(file)

    shell.inside("check", file, "--fix", "--yes")

    assert file.read_text(encoding="utf-8") == f"flowchart TD\n{repaired}\n"
    assert find_flow(load_skill(file)) == find_flow(before)


@pytest.mark.parametrize(
    "text",
    [
        "flowchart TD\nBEGIN --> graph-db --> END\n",  # an id may be used elsewhere
        "flowchart TD\nBEGIN --> a --> END\na --> b\n",  # nobody knows the label that is meant
        "flowchart TD\nBEGIN --> a[x\na --> END\n",
        "sequenceDiagram\nA->>B: f(x)\n",
        "no chart at all\n",
        "",
    ],
)
def test_what_can_mean_several_things_is_left_to_the_author(shell: Shell, text: str) -> None:
    file = write(shell.cwd / "x.mmd", text)

    done = shell.inside("check", file, "--fix", "--yes")

    assert file.read_text(encoding="utf-8") == text
    assert "+++" not in done.out


def test_choice_tags_are_unwrapped_in_d2_too(shell: Shell) -> None:
    text = "BEGIN -> a\na -> END: <choice>yes</choice>\na -> a: '<Choice> no </Choice>'\n"
    file = write(shell.cwd / "x.d2", text)

    shell.inside("check", file, "--fix", "--yes")

    repaired = "BEGIN -> a\na -> END: yes\na -> a: 'no'\n"
    assert file.read_text(encoding="utf-8") == repaired


def test_a_skill_yaml_is_repaired_in_its_block(shell: Shell) -> None:
    text = (
        "name: y\ndescription: f(x) [a (b)]\ntype: flow\nflow:\n  format: mermaid\n  content: |\n"
        "    flowchart TD\n    BEGIN --> a[f(x)] --> END\n"
    )
    file = write(shell.cwd / "y" / "skill.yaml", text)

    shell.inside("check", "y", "--fix", "--yes")

    assert file.read_text(encoding="utf-8") == text.replace("a[f(x)]", 'a["f(x)"]')


def test_a_chart_within_quotes_of_yaml_is_not_touched(shell: Shell) -> None:
    text = (
        "name: y\ndescription: d\ntype: flow\nflow:\n  format: mermaid\n"
        '  content: "flowchart TD\\nBEGIN --> a[f(x)] --> END"\n'
    )
    file = write(shell.cwd / "y" / "skill.yaml", text)

    assert shell.inside("check", "y", "--fix", "--yes").status == 0
    assert file.read_text(encoding="utf-8") == text


def test_a_file_that_may_not_be_written_is_reported_and_the_others_are_repaired(
    shell: Shell, loose: Path
) -> None:
    target = write(shell.cwd / "gone" / "SKILL.md", LOOSE.replace("name: loose", "name: gone"))
    folder = target.parent
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        folder.chmod(0o700)
        pytest.skip("the user may write everywhere")
    try:
        done = shell.inside("check", folder, "loose", "--fix", "--yes")
    finally:
        folder.chmod(0o700)

    assert "cannot be written" in done.err
    assert loose.read_text(encoding="utf-8") == REPAIRED


def ask_in_terminal(shell: Shell, answer: bytes) -> tuple[int, str]:
    """`check loose --fix` with a terminal as its standard input, in which `answer` is typed."""
    ours, theirs = pty.openpty()
    try:
        os.write(ours, answer)
        done = subprocess.run(
            [sys.executable, "-m", "flowstudio", "check", "loose", "--fix"],
            cwd=shell.cwd, env=shell.env, stdin=theirs, capture_output=True, timeout=LONGEST,
            check=False,
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode()


@pytest.mark.parametrize("answer", [b"y\n", b"YES\n", b" yes \n"])
def test_fix_asks_in_a_terminal_and_writes_after_a_yes(
    shell: Shell, loose: Path, answer: bytes
) -> None:
    status, out = ask_in_terminal(shell, answer)

    assert (status, loose.read_text(encoding="utf-8")) == (0, REPAIRED)
    assert out.index("+++ ") < out.index("write ") < out.index("[y/N]")


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"yeah\n", b"\x04"])
def test_anything_but_a_yes_writes_nothing(shell: Shell, loose: Path, answer: bytes) -> None:
    status, out = ask_in_terminal(shell, answer)

    assert (status, loose.read_text(encoding="utf-8")) == (0, LOOSE)
    assert "0 errors, 4 warnings" in out


@pytest.mark.parametrize("name", ["bug-triage", "data-cleaning", "charts/dependency-update.d2"])
def test_a_flow_of_the_corpus_needs_no_repair(shell: Shell, name: str) -> None:
    assert shell.inside("check", CORPUS / name, "--fix").out == "1 checked: all good\n"


# ---- convert ----------------------------------------------------------------------------------

CHART = """flowchart LR
    BEGIN([BEGIN]) --> work["Say #quot;hi#quot;<br>twice"]
    work --> ok{Good?}
    ok -->|yes| END([END])
    ok -->|no| work
"""


def test_convert_writes_the_other_language(shell: Shell) -> None:
    write(shell.cwd / "x.mmd", CHART)

    done = shell.inside("convert", "x.mmd")

    assert (done.status, done.err) == (0, "")
    assert done.out == (
        'direction: right\nBEGIN: "BEGIN"\nwork: |md\n  Say "hi"\n  twice\n|\nok: "Good?"\n'
        'END: "END"\nBEGIN -> work\nwork -> ok\nok -> END: "yes"\nok -> work: "no"\n'
    )


def test_converted_there_and_back_is_the_same_flow(shell: Shell) -> None:
    write(shell.cwd / "x.mmd", CHART)

    shell.inside("convert", "x.mmd", "-o", "x.d2")
    shell.inside("convert", "x.d2", "--to", "mermaid", "-o", "back.mmd")

    flows = [find_flow(load_skill(shell.cwd / name)) for name in ("x.mmd", "x.d2", "back.mmd")]
    assert flows[0] == flows[1] == flows[2]


def test_to_its_own_language_a_chart_is_tidied(shell: Shell) -> None:
    write(shell.cwd / "x.mmd", "graph TD;BEGIN-->a[f(x)]-->END;classDef hot fill:#f00")

    done = shell.inside("convert", "x.mmd", "--to", "mermaid")

    assert done.out == (
        'flowchart TD\n    BEGIN(["BEGIN"])\n    a["f(x)"]\n    END(["END"])\n'
        "    BEGIN --> a\n    a --> END\n"
    )


def test_convert_finds_a_skill_by_its_name(shell: Shell) -> None:
    done = shell.inside("convert", "csv-profile-flow", "--skills-dir", CORPUS)
    assert (done.status, done.out) == (2, "")

    done = shell.inside("convert", "bug-triage", "--skills-dir", CORPUS)
    assert done.status == 0
    assert done.out.startswith("flowchart ")


@pytest.mark.parametrize("name", ["weekly-review", "x.mmd", "y.mmd", "nowhere.d2"])
def test_what_holds_no_chart_is_not_converted(shell: Shell, name: str) -> None:
    write(shell.cwd / "x.mmd", "sequenceDiagram\nA->>B: hi\n")
    write(shell.cwd / "y.mmd", "")
    path = CORPUS / name if (CORPUS / name).exists() else Path(name)

    done = shell.inside("convert", path)

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(("flowstudio: ", "x.mmd:", "y.mmd:"))


def test_a_chart_with_an_error_is_not_converted_to_another_flow(shell: Shell) -> None:
    done = shell.inside("convert", BROKEN[1])

    assert (done.status, done.out) == (2, "")
    assert "label-unclosed" in done.err


def test_convert_into_what_is_no_file_is_a_wrong_call(shell: Shell) -> None:
    write(shell.cwd / "x.mmd", CHART)

    done = shell.inside("convert", "x.mmd", "-o", "no/such/folder/x.d2")

    assert (done.status, done.out) == (2, "")
    assert "No such file or directory" in done.err


# ---- explain ----------------------------------------------------------------------------------


def test_explain_knows_every_code_that_check_can_print(shell: Shell) -> None:
    listed = [line.split() for line in shell.inside("explain").out.splitlines()]

    assert [name for name, _ in listed] == [
        code.name for code in sorted(CODES.values(), key=lambda code: (code.severity, code.name))
    ] or len(listed) > len(CODES)
    assert {severity for _, severity in listed} == {"error", "warning"}
    printed = shell.inside("check", *BROKEN, "--json").json
    assert {one["code"] for one in printed} <= {name for name, _ in listed}
    assert len(listed) > 50


@pytest.mark.parametrize("code", ["choice-tag", "d2-glob-unread", "yaml-syntax"])
def test_explain_fits_a_narrow_terminal(shell: Shell, code: str) -> None:
    done = shell.inside("explain", code)

    assert done.status == 0
    assert done.out.startswith(f"{code} (")
    assert max(map(len, done.out.splitlines())) <= 80
