"""Claim: scenes for a target are found among 20,000 in under 5 ms, in under 4 GB of memory.

20,000 scenes with 500 tags, as in `benchmarks/ontology.py`. What is done once is timed first:
the ontology, the distances of all pairs of keywords, and the scenes made ready. Then 31 scenes
are sought for each of 1,000 targets in every way: CPU ms a search (from a target's words to
names, distances and reasons), and the most memory that the process has held.

    python benchmarks/scene_search.py [scenes]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import sys
import time

import numpy as np
from ontology import KEYWORDS, PICTURES, world

from snellen.exams.background.distance import Distances, Scenes
from snellen.exams.background.ontology import Ontology, thresholds
from snellen.exams.background.search import METHODS, Search, Target, choose

TARGETS, COUNT = 1000, 31


def main() -> None:
    scenes = int(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    start = time.process_time()
    tags = world(scenes)
    start = lap(start, f"{scenes} scenes × {KEYWORDS} tags made up")
    ontology = Ontology.of(tags)
    start = lap(start, "Ontology.of, thresholds found")
    print(thresholds(ontology, tags))
    start = time.process_time()
    distances = Distances.of(ontology)
    start = lap(start, "Distances.of: all pairs of keywords")
    ready = Scenes.of(tags, distances)
    lap(start, "Scenes.of: made ready")
    targets = [
        Target(name, tags.words(name), (tags.words(name)[-1:]))
        for name in tags.pictures[:: max(1, scenes // TARGETS)][:TARGETS]
        if tags.words(name)
    ]
    choose(Search(ready, targets[0]), COUNT)  # what is kept for all searches is made by the first
    away(ready, targets)
    for method in METHODS:
        searches(ready, targets, method)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"most memory held: {held:.2f} GB; wanted: under 4")


def away(ready: Scenes, targets: list[Target]) -> None:
    """Time the distances alone."""
    seconds = [timed(lambda t=target: ready.away(t.words))[0] for target in targets]
    told("distances to all scenes", seconds)


def searches(ready: Scenes, targets: list[Target], method: str) -> None:
    seconds, distances, left = [], [], 0
    for target in targets:
        spent, made = timed(lambda t=target: choose(Search(ready, t), COUNT, method))
        seconds.append(spent)
        distances.append([choice.distance for choice in made])
        left += sum(choice.why.startswith("the nearest left") for choice in made)
    told(f"{COUNT} scenes, {method}", seconds)
    quartiles = np.percentile(np.concatenate(distances), [0, 25, 50, 75, 100])
    print(f"    their distances: {' '.join(f'{q:.2f}' for q in quartiles)} (least … most)")
    if method == "subsets":
        print(f"    {100 * left / sum(map(len, distances)):.1f} % because nothing fitted")


def timed(work):
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def told(what: str, seconds: list[float]) -> None:
    median, late, worst = 1e3 * np.percentile(seconds, [50, 95, 100])
    print(f"{what:32} {median:6.2f} ms median {late:6.2f} ms 95 % {worst:6.2f} ms worst")


def lap(start: float, what: str) -> float:
    print(f"{what:42} {time.process_time() - start:6.2f} s")
    return time.process_time()


if __name__ == "__main__":
    main()
