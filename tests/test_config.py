"""Settings: what is wrong in the file costs itself alone, is said, and never stops the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowstudio import paths
from flowstudio.config import Config, load_config
from flowstudio.paths import config_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


def test_without_a_file_the_defaults_hold(file: Path) -> None:
    loaded = load_config(file)
    assert (loaded.config, loaded.problems, loaded.path) == (Config(), (), file)


@pytest.mark.parametrize("text", ["", "# nothing but words\n", "---\n", "\ufeff"])
def test_an_empty_file_is_the_defaults(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    assert load_config(file).config == Config()
    assert load_config(file).problems == ()


def test_a_whole_configuration_is_read(file: Path) -> None:
    file.write_text(
        """
model: fast
providers:
  mine: {type: openai, base_url: "http://127.0.0.1:8000/v1", key_env: MY_KEY}
models:
  fast: {provider: mine, model: small-1, context_size: 32000, capabilities: [thinking]}
skills_dirs: [more/skills]
theme: studio-light
yolo: true
loop: {max_choice_retries: 1, request_timeout: 2.5}
""",
        encoding="utf-8",
    )
    loaded = load_config(file)
    assert loaded.problems == ()
    config = loaded.config
    assert (config.model, config.theme, config.yolo) == ("fast", "studio-light", True)
    assert config.providers["mine"].key_env == "MY_KEY"
    assert config.models["fast"].context_size == 32000
    assert config.skills_dirs == [Path("more/skills")]
    assert (config.loop.max_choice_retries, config.loop.max_retries_per_step) == (1, 3)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("theme: dark\nyolo: perhaps", "yolo: Input should be a valid boolean"),
        ("theme: dark\nunheard_of: 1", "unheard_of: Extra inputs are not permitted"),
        ("theme: dark\nloop: {max_choice_retries: -1}", "loop.max_choice_retries:"),
        (
            "theme: dark\nmodels: {a: {provider: x}}",
            "models.a: Value error, give `model`, or `path`",
        ),
        ("theme: dark\nproviders: {a: {type: carrier-pigeon}}", "providers.a.type:"),
        ("theme: dark\nproviders: {a: {api_key: sk-1}}", "providers.a.api_key: Extra inputs"),
        ("theme: dark\nyes: 1", "True: the name of a setting must be text"),
        ("theme: dark\n7: 1", "7: the name of a setting must be text"),
        ("theme: dark\n~: 1", "None: the name of a setting must be text"),
        ("theme: dark\nloop: {1: 2}", "loop.1:"),
    ],
)
def test_a_wrong_setting_costs_itself_and_is_said_with_its_place(
    file: Path, text: str, where: str
) -> None:
    file.write_text(text)
    loaded = load_config(file)
    assert loaded.config.theme == "dark"
    assert len(loaded.problems) == 1
    assert loaded.problems[0].startswith(f"{file}: {where}")


@pytest.mark.parametrize("word", ["on", "off", "auto"])
def test_the_sandbox_is_set_by_plain_words(file: Path, word: str) -> None:
    """YAML reads `on` and `off` as true and false."""
    file.write_text(f"sandbox: {word}")
    loaded = load_config(file)
    assert (loaded.config.sandbox, loaded.problems) == (word, ())


def test_several_wrong_settings_are_all_said(file: Path) -> None:
    file.write_text("yolo: perhaps\ntheme: dark\nloop: {max_choice_retries: -1, x: 1}\nno: 2")
    loaded = load_config(file)
    assert loaded.config == Config(theme="dark")
    assert len(loaded.problems) == 4


@pytest.mark.parametrize(
    "content",
    [
        b"a: [1",
        b"- just\n- a list",
        b"only words",
        b"\xff\xfe\x00\x01\x80",
        b"theme: 2024-13-45",
        b"theme: 0b_",
        b"theme: !!python/object:os.system {}",
        b"{[a]: b}",
        b"[" * 5000,
        b"a: *nowhere",
        b"a: \x00",
    ],
)
def test_a_file_that_cannot_be_read_gives_the_defaults_and_a_sentence(
    file: Path, content: bytes
) -> None:
    file.write_bytes(content)
    loaded = load_config(file)
    assert loaded.config == Config()
    assert len(loaded.problems) == 1
    assert loaded.problems[0].startswith(f"{file}: ")
    assert "\n" not in loaded.problems[0]


def test_a_folder_in_place_of_the_file_is_said(tmp_path: Path) -> None:
    loaded = load_config(tmp_path)
    assert loaded.config == Config()
    assert "not read" in loaded.problems[0]


def test_the_file_lies_below_flowstudio_home_or_where_its_own_variable_says(
    studio_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config_file() == studio_home / "config" / "config.yaml"
    monkeypatch.setenv("FLOWSTUDIO_CONFIG", "elsewhere.yaml")
    assert config_file() == Path("elsewhere.yaml")


def test_all_that_is_written_lies_below_flowstudio_home(studio_home: Path) -> None:
    places = (paths.config_dir(), paths.data_dir(), paths.runs_dir(), paths.state_file())
    assert all(place.is_relative_to(studio_home) for place in places)


def test_bundled_folders_are_found() -> None:
    assert (paths.bundled("skills") / "tour" / "SKILL.md").is_file()
    assert paths.bundled("themes").is_dir()


@pytest.mark.parametrize(
    ("path", "base", "shown"),
    [
        ("work/a/b", "work", "a/b"),
        ("other/b", "work", "other/b"),
        ("home/x/y", None, "~/x/y"),
        ("home/x/y", "home/x", "y"),
    ],
)
def test_paths_are_shown_short(
    monkeypatch: pytest.MonkeyPatch, path: str, base: str | None, shown: str
) -> None:
    monkeypatch.setattr(paths, "home", lambda: Path("home"))
    assert paths.show_path(Path(path), Path(base) if base else None) == shown
