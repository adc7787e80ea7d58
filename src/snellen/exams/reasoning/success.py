"""How likely would one who is right so often pass the test that people sit?

People pass who are right so many times running (7) within so many pictures (35): Fleuret
et al. (2011). For one who is right with probability α each time, independently, the run so
far is a Markov chain whose last state is never left; β*(α) is the probability of being in
it at the end (Yihe et al. 2021, equations 1–3).

>>> round(passing(0.5), 4), round(passing(0.9), 4)
(0.1134, 0.9941)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from snellen.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN, PICTURES = 7, 35


def passing(alpha: float, run: int = RUN, pictures: int = PICTURES) -> float:
    """Return β*(α), exactly."""
    states = np.zeros(run + 1)
    states[0] = 1.0
    for _ in range(pictures):
        going = states[:run]
        states = np.concatenate([[(1 - alpha) * going.sum()], alpha * going])
        states[run] += 1 - states.sum()  # who has passed stays so
    return float(states[run])


def passing_interval(alpha: Interval) -> Interval:
    """Carry an interval over: β* rises with α."""
    return Interval(*(passing(min(max(end, 0.0), 1.0)) for end in alpha))


def alpha_of(beta: float) -> float:
    """Return α*(β) = (1 + β)/2 of Stabinger et al. (2016): who fails guesses, the others know."""
    return (1 + beta) / 2


def passed(right: Sequence[bool], run: int = RUN) -> bool:
    """Tell whether a sequence of answers holds a run that is long enough."""
    length = 0
    for one in right:
        length = length + 1 if one else 0
        if length == run:
            return True
    return False
