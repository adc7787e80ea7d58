"""Claim: one core paints at least 500 scenes a second at 64 pixels, without compiled code.

Composites are a scene and an object, and are printed beside them; other sides for the record.
CPU time, the best of several rounds, for others may use the machine as well.

    python benchmarks/scenery.py
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from snellen.images.scenery import draw_scenes, world
from snellen.seeds import Seed

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
CLAIM = 500


def rate(draw: Callable[[Seed, int], object], count: int) -> float:
    draw(Seed("warm"), 36)
    seconds = []
    for turn in range(ROUNDS):
        start = time.process_time()
        draw(Seed("benchmark", turn), count)
        seconds.append(time.process_time() - start)
    return count / min(seconds)


for side, count in ((48, 400), (64, 400), (128, 200), (224, 80)):
    scenes = rate(lambda seed, n, side=side: draw_scenes(seed, n, side), count)
    composites = rate(lambda seed, n, side=side: world(seed, n, rho=0.95, side=side), count)
    print(f"side {side}: {scenes:,.0f} scenes and {composites:,.0f} composites a second", end="")
    print(f"; claim of {CLAIM}: {'holds' if scenes >= CLAIM else 'missed'}" * (side == 64))
