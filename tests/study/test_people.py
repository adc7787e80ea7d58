"""What comes of a study: records and tables of those who count, reasons for the others."""

import csv
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from snellen.core import PEOPLE
from snellen.errors import LogError, Unable
from snellen.log import RunFolder
from snellen.report.page import grade_folder
from snellen.study import entries, people, quality
from snellen.study.design import Rules, read
from snellen.study.store import Store
from snellen.study.walk import Reply, Walk
from study_files import write_study

READ = Reply()


@pytest.fixture
def sqlite(tmp_path, tiny):
    made = Store(f"sqlite:///{tmp_path}/study.db")
    made.write(partial(entries.settle, design=tiny)).result()
    yield made
    made.close()


def attend(store, design, n, answer, *, party="", stop=math.inf, seconds=1.0):
    """Have somebody answer by `answer(page, sitting)`, as far as `stop` replies."""
    who = entries.Newcomer(f"token-{n}", "en", party, "1-x", 1e9)
    number = store.write(partial(entries.enrol, design=design, who=who)).result()
    entry = store.read(partial(entries.find, token=f"token-{n}"))
    walk, before = Walk(design.exam, entry.tasks, entry.seed, design.sessions.rest), 0
    while walk.page.kind != "end" and walk.number < stop:
        question = walk.page.kind == "question"
        reply = Reply(answer(walk.page), seconds, 0) if question else READ
        at = walk.number
        walk.take(reply)
        done, before = (walk.done if walk.done > before else 0), walk.done
        end = (1e9 + 60, f"CODE{n}") if walk.page.kind == "end" else None
        store.write(partial(entries.note, participant=number, number=at, reply=reply, done=done,
                            end=end)).result()  # fmt: skip
    return entry.code


def always(choice):
    return lambda _: choice


def by_luck(seed, share):
    """Guess; `share` of guesses at +."""
    rng = np.random.default_rng(seed)
    return lambda _: int(rng.random() < share)


def test_records_are_filed_under_codes_and_reported_as_people(tiny, sqlite, tmp_path):
    codes = {attend(sqlite, tiny, n, by_luck(n, 0.5)) for n in range(3)}
    folder = RunFolder(tmp_path / "run")
    made = people.export(tiny, sqlite, folder, "snellen study export")
    assert (made.records, made.kept, made.left_out) == (6, 3, {})
    records = folder.records()
    assert {r.subject for r in records} == {f"person-{code}" for code in codes}
    assert len({r.fingerprint for r in records}) == 3
    (graded,) = grade_folder(folder)
    assert [v.subject for v in graded.result.verdicts] == [PEOPLE]
    again = people.export(tiny, sqlite, folder, "snellen study export")
    assert again.records == 6
    assert len(folder.records()) == 6
    assert sum(len(log.read_text().splitlines()) for log in folder.path.glob("log-*")) == 6 + 2


def test_a_person_cannot_be_asked_again(tiny, sqlite):
    attend(sqlite, tiny, 1, always(0))
    (entry,) = sqlite.read(entries.entries)
    someone = people.person(tiny, entry)
    with pytest.raises(Unable, match="took part in a study"):
        someone.answer([])
    other = people.person(tiny, replace(entry, language="es"))
    assert other.fingerprint != someone.fingerprint


def test_sessions_left_in_the_middle_count_only_if_the_rules_say_so(tiny, sqlite, tmp_path):
    left = attend(sqlite, tiny, 1, always(0), stop=20)
    attend(sqlite, tiny, 2, always(0))
    made = people.export(tiny, sqlite, RunFolder(tmp_path / "a"), "")
    assert made.left_out == {left: ["not finished"]}
    everybody = people.export(tiny, sqlite, RunFolder(tmp_path / "b"), "", everybody=True)
    assert everybody.left_out == {}
    rows = read_csv(tmp_path / "b/people/sessions.csv")
    assert [row["left out"] for row in rows] == ["not finished", ""]


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_tables_hold_every_answer_in_the_order_it_was_given(tiny, sqlite, tmp_path):
    attend(sqlite, tiny, 1, by_luck(3, 0.5), seconds=0.75)
    made = people.export(tiny, sqlite, RunFolder(tmp_path / "run"), "")
    answers = read_csv(tmp_path / "run/people/answers.csv")
    assert set(answers[0]) == set(people.COLUMNS)
    (entry,) = sqlite.read(entries.entries)
    said = [r for r in entry.replies if r.choice is not None]
    assert [row["choice"] for row in answers] == ["-+"[r.choice] for r in said]
    assert [int(row["shown"]) for row in answers] == list(range(len(said)))
    assert {row["seconds"] for row in answers} == {"0.7500"}
    toolbox = read_csv(tmp_path / "run/people/model-vs-human.csv")
    assert [row["object_response"] for row in toolbox] == [row["choice"] for row in answers]
    assert list(toolbox[0]) == ["subj", "session", "trial", "rt", "object_response", "category",
                                "condition", "imagename"]  # fmt: skip
    about = people.as_psych_ds(tiny, made, tmp_path / "ds")
    described = json.loads(about.read_text())
    assert [v["name"] for v in described["variableMeasured"]] == list(people.COLUMNS)
    assert read_csv(tmp_path / "ds/data/study-reasoning_data.csv") == answers


def test_a_run_that_holds_somebody_who_withdrew_is_not_added_to(tiny, sqlite, tmp_path):
    code = attend(sqlite, tiny, 1, always(0))
    people.export(tiny, sqlite, RunFolder(tmp_path / "run"), "")
    sqlite.write(partial(entries.withdraw, code=code)).result()
    with pytest.raises(LogError, match=f"person-{code}, who withdrew.*delete that folder"):
        people.export(tiny, sqlite, RunFolder(tmp_path / "run"), "")


def test_two_deviations_below_the_control_group_is_out(tmp_path, sqlite):
    """The threshold of the paper: .875 − 2 × .061 = .753."""
    design = read(write_study(
        tmp_path, "reasoning", {"problems": "1", "repeats": 20}, "each = 1",
        "control_deviations = 2.0",
    ))  # fmt: skip
    for n, share in enumerate((0.5, 0.4, 0.6)):
        attend(sqlite, design, n, by_luck(n, share), party="control")
    worst = attend(sqlite, design, 8, wrong(design))
    everyone = [quality.session(design, e) for e in sqlite.read(entries.entries)]
    shares = [s.right for s in everyone[:3]]
    least = quality.threshold(design.rules, everyone)
    assert least == pytest.approx(np.mean(shares) - 2 * np.std(shares, ddof=1))
    made = people.export(design, sqlite, RunFolder(tmp_path / "run"), "")
    assert made.left_out == {worst: ["below the control group"]}
    assert quality.threshold(design.rules, everyone[1:]) == -math.inf  # two tell nothing
    assert quality.threshold(Rules(), everyone) == -math.inf
    published = 0.875 - 2 * 0.061
    assert round(published, 3) == 0.753


def wrong(design):
    """Answer wrongly throughout, by looking up what is right."""
    from snellen.sitting import Sitting

    known = {}
    for item in design.items.values():
        sitting = Sitting(design.exam, item)
        sitting.advance()
        for step in sheets(sitting):
            known[step.images.tobytes()] = int(step.truth[0])
    return lambda page: 1 - known[page.picture.image[None].tobytes()]


def sheets(sitting):
    from snellen.core import Answers, Sheet

    while (step := sitting.step) is not None:
        if isinstance(step, Sheet):
            yield step
            sitting.advance(Answers(1 - step.truth))
        else:
            sitting.advance()


def test_quick_careless_and_inconsistent_sessions_are_flagged_with_the_reason(tmp_path, sqlite):
    design = read(write_study(
        tmp_path, "reasoning", {"problems": "1,4", "repeats": 2},
        "each = 1", "gold = [{problem = 1, repeat = 0}]",
        "distinct = []", "again = 1",
        "gold_right = 0.9", "again_same = 0.9",
    ))  # fmt: skip
    quick = attend(sqlite, design, 1, always(0), seconds=0.1)
    odd = attend(sqlite, design, 2, by_luck(0, 0.5))
    made = people.export(design, sqlite, RunFolder(tmp_path / "run"), "")
    assert made.left_out[quick] == ["too quick", "gold items wrong"]
    assert made.left_out[odd] == ["gold items wrong", "not consistent"]
    sessions = {s.entry.code: s for s in map(partial(quality.session, design),
                                             sqlite.read(entries.entries))}  # fmt: skip
    assert sessions[quick].same == 1.0
    assert sessions[quick].quick(0.25) == 1.0
    assert sessions[odd].quick(0.25) == 0.0
    rows = read_csv(tmp_path / "run/people/sessions.csv")
    assert len(rows) == 2  # flagged, not deleted


def test_what_the_experimenter_sees_adds_up(tiny, sqlite):
    for n in range(3):
        attend(sqlite, tiny, n, always(n % 2), stop=math.inf if n else 5)
    found = quality.overview(tiny, sqlite)
    replies = sum(len(e.replies) for e in sqlite.read(entries.entries))
    assert found.counts == {"began": 3, "finished": 2, "withdrew": 0, "replies": replies}
    assert sum(found.items.values()) == 4
    assert len(found.sessions) == 2
    assert found.sessions[0]["median seconds"] == "1.00"
