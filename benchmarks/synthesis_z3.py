"""Claim: the synthesizer on Z3 is as good and as bad as the paper's, and no slower.

For each problem and repeat, the program of each category is made of 3 parsings and the two
are told apart by them on 47 + 47 others, as by Yihe et al. (2021, Table 6, corrected parsings).
Beside α stands theirs, recovered from their success rates; `≥.96` is all that those of the
solved problems say. What the time limit of a check leaves open counts as a timeout.

    pip install 'snellen[reasoning,synthesis]'
    python benchmarks/synthesis_z3.py PROBLEMS [--repeats 3] [--seconds 30] [--nonlinear 3]

PROBLEMS are numbers such as 1 4 5.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.images.svrt import draw
from snellen.subjects.synthesis.solver import preference, score, synthesize

if TYPE_CHECKING:
    from snellen.images.svrt.parsings import Parsing
    from snellen.subjects.synthesis.programs import Program

SHOWN, ASKED = 3, 47
# fmt: off
PAPER = {
    2: 0.820, 3: 0.860, 5: 0.917, 6: 0.528, 7: 0.828, 8: 0.946, 12: 0.509, 13: 0.870,
    14: 0.956, 17: 0.625, 18: 0.938, 23: 0.912, 101: 0.5,
}
# fmt: on
"""α of the corrected parsings in Table 6 where it is below .96; 101 is the chance of a tie."""


@dataclass(frozen=True)
class Repeat:
    """What one training and its test came to."""

    alpha: float
    programs: tuple[Program, Program]
    seconds: float
    """Of the 94 questions."""


def repeat(problem: int, seed: int, limits: dict[str, float | None]) -> Repeat:
    """Train on six parsings and test on the others."""
    labels = [label for label in (0, 1) for _ in range(SHOWN + ASKED)]
    scenes = draw(problem, labels, seed)
    parsings = [scenes.parsing(place) for place in range(len(labels))]
    by_label = parsings[: SHOWN + ASKED], parsings[SHOWN + ASKED :]
    programs = tuple(synthesize(seen[:SHOWN], **limits) for seen in by_label)  # type: ignore[arg-type]
    started = time.perf_counter()
    right = [
        right_share(programs[label], programs[1 - label], parsing)
        for label, seen in enumerate(by_label)
        for parsing in seen[SHOWN:]
    ]
    return Repeat(statistics.mean(right), (programs[0], programs[1]), time.perf_counter() - started)


def right_share(own: Program, other: Program, parsing: Parsing) -> float:
    """Return 1 when the program of the right category draws it more cheaply, ½ for a tie."""
    return preference(score(own, parsing), score(other, parsing))


def report(problem: int, repeats: list[Repeat]) -> str:
    """Write a row: α with its standard error, theirs, seconds a program, timeouts."""
    alphas = [one.alpha for one in repeats]
    error = statistics.stdev(alphas) / len(alphas) ** 0.5 if len(alphas) > 1 else float("nan")
    programs = [program for one in repeats for program in one.programs]
    seconds = sorted(program.seconds for program in programs)
    checks = sum(program.checks for program in programs)
    late = sum(program.timeouts for program in programs)
    test = statistics.mean(one.seconds for one in repeats)
    theirs = f"{PAPER[problem]:.3f}" if problem in PAPER else "≥.96"
    return (
        f"#{problem:<4} α {statistics.mean(alphas):.3f} ± {error:.3f}  paper {theirs:6}"
        f" s/program {statistics.median(seconds):6.2f} (max {seconds[-1]:6.1f})"
        f"  timeouts {late}/{checks} checks"
        f"  incomplete {sum(not p.complete for p in programs)}/{len(programs)}"
        f"  none {sum(not p.draws for p in programs)}  test {test:.1f} s"
    )


def main() -> None:
    """Print a row for each problem, and the programs on demand."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problems", type=int, nargs="+")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--total", type=float, default=None)
    parser.add_argument("--nonlinear", type=int, default=None)
    parser.add_argument("--programs", action="store_true")
    given = parser.parse_args()
    limits = {"seconds": given.seconds, "total": given.total, "nonlinear": given.nonlinear}
    for problem in given.problems:
        repeats = [repeat(problem, seed, limits) for seed in range(given.repeats)]
        print(report(problem, repeats), flush=True)
        for one in repeats if given.programs else ():
            for label, program in enumerate(one.programs):
                print(f"  {one.alpha:.2f} category {label}: {'; '.join(program.lines)}", flush=True)


if __name__ == "__main__":
    main()
