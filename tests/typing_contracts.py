"""Checked by mypy, never run: what is built in has the shapes that core asks for."""

from snellen.core import Exam, Figure, Player, Subject, World
from snellen.exams.abstraction import Abstraction
from snellen.figures import Curves, Dots, Gallery, Matrix, Table
from snellen.subjects.chance import Chance
from snellen.subjects.classifier import Classifier, Learner
from snellen.subjects.dqn import Dqn
from snellen.subjects.nearest import Nearest
from snellen.subjects.simulated import Simulated
from snellen.worlds.changed import flawed
from snellen.worlds.gym import Gym
from snellen.worlds.merged import Merged
from snellen.worlds.scores import scaled
from snellen.worlds.toys import NChain, Roulette

exams: list[Exam] = [Abstraction()]
subjects: list[Subject] = [Chance(), Dqn(), Nearest(), Simulated()]
players: list[Player] = [Chance(), Dqn()]
worlds: list[World] = [NChain(), Roulette(), Gym("taxi")]
made_of_worlds: list[World] = [Merged(NChain(), Roulette()), flawed(NChain()), scaled(NChain())]


def models(frozen: Classifier, pupil: Learner) -> list[Subject]:
    return [frozen, pupil]


def figures(a: Table, b: Dots, c: Curves, d: Matrix, e: Gallery) -> list[Figure]:
    return [a, b, c, d, e]
