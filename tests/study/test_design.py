"""A study file says everything beforehand, and what cannot work is refused before people come."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from snellen import plugins
from snellen.cli import main
from snellen.core import HUMAN
from snellen.errors import BadSetting, SnellenError, Unable, Unloadable
from snellen.study import words
from snellen.study.command import study
from snellen.study.design import draft, read
from study_files import write_study

OPEN = [n for n in plugins.registered(plugins.EXAMS) if plugins.exam(n).needs <= HUMAN]


def snellen(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.mark.parametrize("exam", OPEN)
def test_every_exam_that_people_can_sit_has_a_study_that_works_as_it_is(exam, tmp_path):
    design = read(write_study(tmp_path, exam, {}))
    assert design.exam.needs <= HUMAN
    assert len(design.items) >= design.sessions.each
    assert set(words.of_study(design)) == {"en", "es"}


def test_a_plugin_that_says_nothing_of_people_is_served_too(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "adding-an-exam.md"
    text = page.read_text("utf-8").split("```python contrast.py\n")[1].split("```")[0]
    (tmp_path / "contrast.py").write_text(text)
    design = read(write_study(tmp_path, f"{tmp_path}/contrast.py:Contrast", {"pictures": "10"}))
    assert design.sessions.each == 4  # all that there are
    assert design.exam.items()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('contact = ""', "does not say who answers for the study"),
        ("each = 9", "each participant should sit 9 items, and there are 2"),
        ('distinct = ["colour"]', "have no facet 'colour'"),
        ("gold = [{problem = 7}]", "no item of exam 'reasoning' has {'problem': 7}"),
        ("resume_hours = -1", "resume_hours: -1 is not more than 0"),
        ("minutes = 'x'", "minutes: 'x' is not a whole number"),
        ('name = "reasonin"', "did you mean 'reasoning'"),
        ("name = 3", "does not say which exam"),
        ("problems = [77]", "there is no problem 77"),
        ("again = =", "is not TOML"),
    ],
)
def test_what_cannot_work_is_refused_with_the_remedy(line, told, tmp_path):
    path = write_study(tmp_path, "reasoning", {"problems": "1,4"}, line)
    with pytest.raises(SnellenError, match=told):
        read(path)


def test_unknown_tables_and_settings_are_refused(tmp_path):
    path = write_study(tmp_path, "reasoning", {"problems": "1,4"})
    text = path.read_text()
    path.write_text(text + "\n[extra]\n")
    with pytest.raises(BadSetting, match="has a table 'extra'; there are about, consent"):
        read(path)
    path.write_text(text.replace("[rules]", "[rules]\nquick_second = 1"))
    with pytest.raises(BadSetting, match="did you mean 'quick_seconds'"):
        read(path)


def test_an_exam_that_needs_more_than_people_give_is_refused(tmp_path, monkeypatch):
    cls = plugins.exam_class("reasoning")
    path = write_study(tmp_path, "reasoning", {"problems": "1,4"})
    monkeypatch.setattr(cls, "needs", frozenset({"scores"}))
    with pytest.raises(Unable, match=r"people cannot sit 'reasoning': it needs .'scores'"):
        read(path)


def test_another_text_of_consent_or_another_rule_makes_another_study(tmp_path):
    lines = ([], ["version = 2"], ["quick_share = 0.5"], ["each = 1"])
    made = [
        read(write_study(tmp_path, "reasoning", {"problems": "1,4"}, *changed)).digest
        for changed in lines
    ]
    assert len(set(made)) == len(lines)
    told = read(write_study(tmp_path, "reasoning", {"problems": "1,4"}, 'title = "Other"')).digest
    assert told == made[0]


def test_a_language_of_ones_own_is_a_file(tmp_path):
    (tmp_path / "fr.toml").write_text('code = "fr"\nbegin = "Commencer"\n[says]\n"-" = "moins"\n')
    design = read(write_study(tmp_path, "reasoning", {"problems": "1,4"},
                              'languages = ["fr.toml", "en"]'))  # fmt: skip
    french = words.of_study(design)["fr"]
    assert french("begin") == "Commencer"
    assert french.say("-") == "moins"
    assert french("next") == "Go on"  # what it does not say, English does


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("xx", "", "no words for 'xx'; there are en, es"),
        ("none.toml", None, "no file of words"),
        ("bad.toml", "= 3", "is not TOML"),
        ("odd.toml", 'begn = "x"', "a text 'begn' that no page shows"),
    ],
)
def test_a_language_that_cannot_be_read_is_told(name, text, told, tmp_path):
    if text is not None and name.endswith(".toml"):
        (tmp_path / name).write_text(text)
    with pytest.raises((BadSetting, Unloadable), match=told):
        words.spoken(name, folder=tmp_path)


def test_both_languages_say_the_same_things():
    one, other = (words.spoken(code) for code in ("en", "es"))
    assert one.texts.keys() == other.texts.keys()
    for name, text in one.texts.items():
        assert text.count("{") == other.texts[name].count("{"), name
    for exam in OPEN:
        spanish = words.spoken("es", plugins.exam(exam))
        english = words.spoken("en", plugins.exam(exam))
        assert spanish("instructions") != other("instructions")
        assert english("instructions") != one("instructions")


def test_a_study_from_the_command_line(tmp_path):
    file, copy = tmp_path / "s.toml", tmp_path / "copy.db"
    made = snellen("study", "new", "reasoning", "--set", "problems=1", "--set", "repeats=2",
                   "-o", file)  # fmt: skip
    assert made.exit_code == 0, made.output
    assert "fill in contact" in made.output
    again = snellen("study", "new", "reasoning", "-o", file)
    assert "a study is not overwritten" in again.output
    refused = snellen("study", "status", file)
    assert refused.exit_code == 2
    assert "who answers for the study" in refused.output
    file.write_text(file.read_text().replace('contact = ""', 'contact = "a@example.org"'))
    took = snellen("study", "simulate", file, "--participants", 3)
    assert "3 participants took part" in took.output, took.output
    assert "finished   3" in snellen("study", "status", file).output
    told = snellen(
        "study", "export", file, "--into", tmp_path / "run", "--psych-ds", tmp_path / "ds"
    )
    assert "3 records of 3 people" in told.output
    assert snellen("study", "backup", file, copy).exit_code == 0
    status = snellen("study", "status", file, "--store", f"sqlite:///{copy}")
    assert "finished   3" in status.output
    code = (tmp_path / "run/people/sessions.csv").read_text().splitlines()[1].split(",")[0]
    assert snellen("study", "withdraw", file, "nobody").exit_code == 2
    assert "is deleted" in snellen("study", "withdraw", file, code).output
    assert "withdrew   1" in snellen("study", "status", file).output
    report = snellen("report", tmp_path / "run")
    assert "people: The test that people sit was passed in" in report.output


def test_the_page_on_studies_gives_commands_that_are_understood(tmp_path, monkeypatch):
    """With their options; those that need nothing but a study are run as they stand."""
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[2] / "docs" / "studies.md"
    text = page.read_text("utf-8")
    lines = re.findall(r"^\$ snellen study (.+)$", text, re.MULTILINE)
    lines += re.findall(r"`study (new \w+(?: --set \S+)*)`", text)
    assert len(lines) > 8
    for line in lines:
        name, *words = shlex.split(line)
        command = study.commands[name]
        command.make_context(name, words)
    new = next(line for line in lines if line.startswith("new") and "-o" in line)
    assert snellen("study", *shlex.split(new)).exit_code == 0
    file = Path("study.toml")
    file.write_text(file.read_text().replace('contact = ""', 'contact = "a@example.org"'))
    for name in ("status", "backup"):
        line = next(line for line in lines if line.startswith(name))
        assert snellen("study", *shlex.split(line)).exit_code == 0
    for setting in re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \|", text, re.MULTILINE):
        assert all(f"\n{name} = " in file.read_text() for name in setting if name)


def test_a_draft_names_every_setting_with_its_meaning():
    text = draft("laconic", {"reductions": "colour"})
    for part in (
        "[exam.settings]",
        'direction = ["up"]',
        'reductions = ["colour"]',
        "# items that",
    ):
        assert part in text


def test_a_rehearsal_sets_simulated_people_beside_the_machines(tmp_path):
    """What criterion and document promise, in small: one command, one report."""
    done = snellen("study", "rehearse", "reasoning", "--people", 3, "--into", tmp_path, "-w", 1,
                   "--as", "simulated,person={}")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "people: The test that people sit was passed in" in done.output
    assert "synthesis: " in done.output
    assert (tmp_path / "report.html").exists()
    again = snellen("study", "rehearse", "reasoning", "--people", 3, "--into", tmp_path,
                    "--no-report", "-w", 1)  # fmt: skip
    assert again.exit_code == 0, again.output
