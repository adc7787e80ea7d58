"""Study files for the tests."""

import re
from pathlib import Path

from snellen.study.design import draft

CONTACT = "A. Lab <lab@example.org>"


def write_study(folder, exam, settings, *lines, name="study.toml"):
    """Write a study file as `study new` does, with some lines in place of its own."""
    text = draft(exam, settings, CONTACT)
    for line in lines:
        text, found = re.subn(rf"^{line.split(' = ')[0]} = .*$", line, text, flags=re.MULTILINE)
        assert found == 1, line
    path = Path(folder, name)
    path.write_text(text, "utf-8")
    return path
