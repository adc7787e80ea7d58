"""A subject that takes a study through its pages answers as it does when it sits directly."""

import asyncio

import numpy as np
import pytest

from snellen import plugins
from snellen.core import PERSON
from snellen.digests import digest
from snellen.errors import SnellenError
from snellen.log import RunFolder
from snellen.sitting import conduct
from snellen.study import entries, people
from snellen.study.design import read
from snellen.study.serving import opened
from snellen.study.simulate import simulate
from snellen.study.store import Store
from study_files import write_study

STUDIES = {
    "reasoning": ({"problems": "1,4", "repeats": 3}, ["each = 2"]),
    "laconic": ({"per_class": 1, "reductions": "colour,crop"}, ["each = 3"]),
    "abstraction": (
        {
            "transformations": "mirrored,moved",
            "levels": "0",
            "repeats": 2,
            "tests": "20",
            "noise": "0",
        },
        [],
    ),
}


class Decided:
    """Knows what it was taught, as bytes; asks for more now and then; is in no hurry."""

    name, gives, fingerprint = "decided", frozenset({"choice", "study"}), "decided"

    def __init__(self, known=()):
        self.known = known

    def study(self, lesson):
        shown = [(self.look(i), int(n)) for i, n in zip(lesson.images, lesson.labels, strict=True)]
        return Decided((*self.known, *shown))

    def answer(self, sheet):
        from snellen.core import Answers

        choice = [self.decide(self.look(i), sheet) for i in sheet.images]
        return Answers(np.array(choice, np.intp), seconds=np.full(len(choice), 1.25))

    def decide(self, seen, sheet):
        if self.known:
            return min(self.known, key=lambda one: (np.abs(one[0] - seen).sum(), one[1]))[1]
        offered = [*sheet.choices, *sheet.instead]  # by name, in whatever order they come
        return min(range(len(offered)), key=lambda n: digest(offered[n], int(seen.sum())))

    @staticmethod
    def look(image):
        """As a page shows it: bytes."""
        fine = image if image.dtype == np.uint8 else np.rint(np.clip(image, 0, 1) * 255)
        return fine.astype(int)


@pytest.mark.parametrize("exam", STUDIES)
def test_a_subject_leaves_the_records_that_it_leaves_by_sitting_directly(exam, tmp_path):
    settings, changes = STUDIES[exam]
    design = read(write_study(tmp_path, exam, settings, *changes))
    store = Store(f"sqlite:///{tmp_path}/study.db")
    with opened(design, store) as link:
        codes = asyncio.run(simulate(link, [Decided(), Decided()], at_once=2))
    assert len(set(codes)) == 2
    assert {e.completion for e in store.read(entries.entries)} == set(codes)
    people.export(design, store, RunFolder(tmp_path / "run"), "test")
    store.close()
    records = RunFolder(tmp_path / "run").records()
    assert len(records) == 2 * design.sessions.each
    for found in records:
        direct = conduct(design.exam, Decided(), found.item)
        assert found.settings == direct.settings
        assert found.fingerprint.startswith(PERSON)
        assert plain(found.measures) == plain(direct.measures)
        assert list(found.trials) == list(direct.trials)
        for name, column in direct.trials.items():
            np.testing.assert_array_equal(found.trials[name], column, err_msg=name)
    assert {r.subject for r in records} == {f"person-{e.code}" for e in entries_of(tmp_path)}
    assert design.exam.grade(records).verdicts


def test_what_machines_left_is_asked_of_people_in_parts_and_told_as_one(tmp_path):
    """The paper's second study: a session of MEPIs, to be classified by people."""
    from snellen.exams.laconic import sets

    exam = plugins.exam("laconic", direction="up", reductions="colour,crop", per_class=1)
    found = [left(exam, item) for item in exam.items()[:10]]
    folder = sets.write(found, tmp_path / "mepis")
    values = {"direction": "", "mepis": str(folder), "mepis_each": "2", "per_class": "1"}
    design = read(write_study(tmp_path, "laconic", values, "each = 3"))
    assert {item["owner"] for item in design.items.values()} == {"nearest"}
    store = Store(f"sqlite:///{tmp_path}/study.db")
    with opened(design, store) as link:
        asyncio.run(simulate(link, [Decided(), Decided()]))
    people.export(design, store, RunFolder(tmp_path / "run"), "test")
    store.close()
    records = RunFolder(tmp_path / "run").records()
    assert sum(len(r.measures["asked"]) for r in records) == sum(
        len(r.trials["choice"]) for r in records
    )
    assert all(r.measures == conduct(design.exam, Decided(), r.item).measures for r in records)
    matrices = [f for f in design.exam.grade(records).figures if f.name.startswith("precision")]
    assert matrices
    assert all(f.row_names == ["people"] for f in matrices)


def left(exam, item):
    """Ask for more five times, then name what it is."""
    from snellen.core import Answers
    from snellen.sitting import Sitting

    sitting, asked = Sitting(exam, item), 0
    while (step := sitting.step) is not None:
        asked += 1
        choice = len(step.choices) if asked < 5 else int(step.truth[0])
        sitting.advance(Answers(np.array([choice])))
    return sitting.record(plugins.subject("nearest"), 1.0)


def entries_of(folder):
    store = Store(f"sqlite:///{folder}/study.db")
    found = store.read(entries.entries)
    store.close()
    return found


def plain(measures):
    import json

    from snellen.core import Attachment
    from snellen.log import jsonable

    bare = {k: v.data.hex() if isinstance(v, Attachment) else v for k, v in measures.items()}
    return json.loads(json.dumps(bare, default=jsonable).replace("NaN", '"nan"'))


def test_the_simulated_person_needs_no_more_than_a_person(tmp_path):
    """It asks for more until it is sure, and takes human time."""
    design = read(write_study(tmp_path, "laconic", {"per_class": 1, "reductions": "resolution"},
                              "each = 2"))  # fmt: skip
    store = Store(f"sqlite:///{tmp_path}/study.db")
    who = [plugins.subject(f"simulated,person={n},slips=0") for n in (1, 2)]
    with opened(design, store) as link:
        asyncio.run(simulate(link, who))
    for entry in store.read(entries.entries):
        said = [reply for reply in entry.replies if reply.choice is not None]
        assert len(said) > 20  # it knows none of the things, and sees each to its end
        assert all(0.3 < reply.seconds < 3 for reply in said)
    store.close()


def test_a_link_that_leads_nowhere_is_told(tiny, tmp_path):
    store = Store(f"sqlite:///{tmp_path}/study.db")
    with opened(tiny, store) as link, pytest.raises(SnellenError, match="answered with 404"):
        asyncio.run(simulate(f"{link}/nowhere", [Decided()]))
    store.close()
