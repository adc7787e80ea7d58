"""Checked by mypy, never run: what is built in has the shapes that core asks for."""

from snellen.core import Exam, Figure, Subject
from snellen.exams.abstraction import Abstraction
from snellen.figures import Curves, Dots, Gallery, Matrix, Table
from snellen.subjects.chance import Chance
from snellen.subjects.classifier import Classifier, Learner
from snellen.subjects.nearest import Nearest
from snellen.subjects.simulated import Simulated

exams: list[Exam] = [Abstraction()]
subjects: list[Subject] = [Chance(), Nearest(), Simulated()]


def models(frozen: Classifier, pupil: Learner) -> list[Subject]:
    return [frozen, pupil]


def figures(a: Table, b: Dots, c: Curves, d: Matrix, e: Gallery) -> list[Figure]:
    return [a, b, c, d, e]
