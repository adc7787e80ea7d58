"""How does balancing a pole become a test of pictures?

By drawing the game and asking which way to push. A classifier is taught what a good balancer
does (`lesson`), and then plays by naming pictures (`drive`). What is in a picture is half of
the matter: a single frame does not show how fast things move, so frames that look alike want
different answers, and nobody can be right more often than `ceiling` says. In the mode of two
frames their columns take turns, so that what has moved is seen side by side: a small network
that is taught on halves, one beside the other, balances half as long (`benchmarks/cartpole.py`).

>>> shown = lesson(100, seed=1, frames=2)
>>> shown.images.shape, shown.choices
((100, 32, 32, 1), ('left', 'right'))
"""

from snellen.images.cartpole.drawing import full, pictures
from snellen.images.cartpole.dynamics import balanced, begun, fallen, pushed
from snellen.images.cartpole.lessons import CHOICES, Ceiling, ceiling, drive, lesson, moments, shown

__all__ = [
    "CHOICES",
    "Ceiling",
    "balanced",
    "begun",
    "ceiling",
    "drive",
    "fallen",
    "full",
    "lesson",
    "moments",
    "pictures",
    "pushed",
    "shown",
]
