"""Study files for the tests."""

from pathlib import Path

from snellen.study.design import draft

CONTACT = ('contact = ""', 'contact = "A. Lab <lab@example.org>"')


def write_study(folder, exam, settings, *changes, name="study.toml"):
    """Write a study file as `study new` does, with some lines changed."""
    text = draft(exam, settings)
    for old, new in (CONTACT, *changes):
        assert old in text, old
        text = text.replace(old, new)
    path = Path(folder, name)
    path.write_text(text, "utf-8")
    return path
