"""Claim: after 30,000 steps of practice `dqn` balances CartPole-v0 on most seeds, in 20 seconds.

To balance is to have a mean return of 195 or more of 200; the seconds are of one core.

Each player is judged by 100 games on seeds that it has not practised on, played greedily.
`--plain` leaves out two remedies that its module names: rewards brought to size, and steps of
learning that shrink. No claim is made of them; few seeds tell little. Other worlds, and how long
to practise in them, can be named; their returns are also told as shares of the way from random
play to the reference.

    python benchmarks/dqn.py [--seeds 5] [--plain] [cartpole-v0=30000 taxi=30000 …]
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from snellen.core import Practice
from snellen.subjects.dqn import Dqn
from snellen.worlds import world
from snellen.worlds.playing import held_out, played
from snellen.worlds.scores import normalised

GAMES = 100
ENOUGH, STEPS, SECONDS = 195, 30_000, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds", nargs="*", default=[f"cartpole-v0={STEPS}"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--plain", action="store_true")
    asked = parser.parse_args()
    pupil = Dqn(sized=not asked.plain, fading=not asked.plain)
    for named in asked.worlds:
        name, _, steps = named.partition("=")
        means, seconds = [], []
        for seed in range(asked.seeds):
            start = time.process_time()
            player = pupil.practise(Practice(world(name), int(steps), seed * 1_000_000))
            seconds.append(time.process_time() - start)
            games = played(lambda: world(name), held_out(GAMES), player.act)  # noqa: B023
            means.append(float(games.returns.mean()))
            print(f"{name}, seed {seed}: {means[-1]:.2f} in {seconds[-1]:.1f} CPU s", flush=True)
        shares = [normalised(name, mean) for mean in means]
        print(
            f"{name}: median {np.median(means):.2f}, normalised {np.median(shares):.3f}, after "
            f"{steps} steps; the quickest in {min(seconds):.1f} CPU s, "
            f"{1000 * min(seconds) / int(steps):.2f} ms a step with all that belongs to it"
        )
        if name == "cartpole-v0":
            enough = sum(mean >= ENOUGH for mean in means)
            print(f"{enough} of {asked.seeds} reach {ENOUGH} (claim: most, in {SECONDS} s)")


if __name__ == "__main__":
    main()
