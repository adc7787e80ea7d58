"""Every registered exam against every registered subject: it sits, or is refused with reasons."""

import pytest

from snellen import plugins, settings
from snellen.errors import BadAnswer, MissingExtra, SnellenError, Unable
from snellen.sitting import admit, conduct
from snellen.testing import check_exam, check_subject

EXAMS = sorted(plugins.registered(plugins.EXAMS))
SUBJECTS = sorted(plugins.registered(plugins.SUBJECTS))


def exam(name):
    cls = plugins.exam_class(name)
    return settings.make(cls, cls.quick, who=name)


@pytest.fixture(scope="session")
def subjects(tmp_path_factory):
    """One subject of each registered kind, real ones made on the spot."""
    from tests_models import specs

    return specs(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", EXAMS)
def test_exam_keeps_its_promises(name):
    check_exam(exam(name))


@pytest.mark.parametrize("who", SUBJECTS)
def test_subject_keeps_its_promises(who, subjects):
    if who == "timm":
        return check_timm(subjects[who])
    return check_subject(plugins.subject(subjects[who]))


@pytest.mark.parametrize("examiner", EXAMS)
@pytest.mark.parametrize("examinee", SUBJECTS)
def test_every_subject_sits_every_exam_or_says_why_not(examiner, examinee, subjects):
    if examinee == "timm":
        return check_timm(subjects[examinee])
    asked, answering = exam(examiner), plugins.subject(subjects[examinee])
    items = asked.items()[:1]
    try:
        admit(asked, answering)
        records = [conduct(asked, answering, item) for item in items]
    except Unable as error:
        assert f"cannot sit '{examiner}'" in str(error)  # noqa: PT017
        assert "; " in str(error)  # noqa: PT017 — it says what to do
        return None
    except BadAnswer as error:  # what it can be asked about is not what the exam asks
        assert f"subject '{answering.name}'" in str(error)  # noqa: PT017
        assert "; " in str(error)  # noqa: PT017
        return None
    assert all(r.measures for r in records)
    asked.grade(records)
    return None


def check_timm(spec):
    """It loads where timm can be imported, and says what is missing where not."""
    try:
        import timm  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="needs the library timm and the torchvision"):
            plugins.subject(spec)
    else:
        with pytest.raises(SnellenError, match="cannot be loaded"):
            plugins.subject("timm:no-such-model")
