import textwrap

import numpy as np
import pytest

from snellen import plugins
from snellen.core import Exam, Subject
from snellen.errors import BadSetting, UnknownName, Unloadable


@pytest.fixture
def place(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        textwrap.dedent(
            """
            import numpy as np
            from snellen.subjects.chance import Chance

            def scores(images):
                return np.zeros((len(images), 3))

            class Pupil(Chance):
                name = "pupil"

            def make():
                return Pupil()

            number = 3
            """
        )
    )
    return file


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: plugins.exam("abstracton"), "did you mean 'abstraction'"),
        (lambda: plugins.exam("xyz"), "there are .*abstraction"),
        (lambda: plugins.subject("chanse"), "did you mean 'chance'"),
        (lambda: plugins.subject("xyz"), "file.py:Name"),
    ],
)
def test_a_slip_of_the_pen_is_understood(make, told):
    with pytest.raises(UnknownName, match=told):
        make()


def test_options_are_read_and_misspelt_ones_explained():
    assert plugins.subject("chance,seed=7").fingerprint == "chance-1-7"
    assert plugins.subject("nearest,to=lesson").name == "nearest-to-lesson"
    with pytest.raises(BadSetting, match="did you mean 'seed'"):
        plugins.subject("chance,sede=7")
    with pytest.raises(BadSetting, match="seed: 'many' is not a whole number"):
        plugins.subject("chance,seed=many")
    with pytest.raises(BadSetting, match="size: '0' is not at least 1"):
        plugins.subject("callable:json:dumps,size=0")
    with pytest.raises(BadSetting, match="did you mean 'batch'"):
        plugins.subject("callable:json:dumps,bach=3")


def test_what_stands_at_a_place_says_what_it_is(place):
    assert plugins.subject(f"{place}:Pupil").name == "pupil"
    assert plugins.subject(f"{place}:make").name == "pupil"
    scorer = plugins.subject(f"{place}:scores")
    assert isinstance(scorer, Subject)
    assert scorer.name == "mine.py:scores"
    assert plugins.subject(f"{place}:scores,name=me").name == "me"
    with pytest.raises(Unloadable, match="is a int: neither"):
        plugins.subject(f"{place}:number")


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("nowhere.py:x", "there is no file"),
        ("no_such_module:x", "no module 'no_such_module'"),
        ("{place}:missing", "has no 'missing'; it has .*scores"),
        ("{broken}:x", "cannot be imported: ZeroDivisionError"),
    ],
)
def test_places_that_do_not_exist_are_explained(place, where, told):
    broken = place.with_name("broken.py")
    broken.write_text("1 / 0\n")
    with pytest.raises(Unloadable, match=told):
        plugins.subject(where.format(place=place, broken=broken))


def test_python_objects_are_subjects_too():
    assert plugins.subject(lambda images: np.ones((len(images), 2)), name="ones").name == "ones"
    chance = plugins.subject("chance")
    assert plugins.subject(chance) is chance
    with pytest.raises(Unloadable, match="neither a model"):
        plugins.subject(3)


def test_an_exam_is_made_of_its_settings():
    exam = plugins.exam("abstraction", repeats="2", levels="0,5")
    assert isinstance(exam, Exam)
    assert (exam.repeats, exam.levels) == (2, (0, 5))
    with pytest.raises(Unloadable, match="no exam class: it lacks items"):
        plugins.exam("json:JSONDecoder")
