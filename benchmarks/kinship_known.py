"""Claim: where the answer is known beforehand, losses come out in the order they should.

python benchmarks/kinship_known.py [pictures] [size] [repeats] [width]

A test is merged with something whose kinship to it is known, and the loss of it is what being
taught both at once costs against being taught each alone with the same pictures:

    halves, shared      two disjoint halves of one test under the same labels: more pictures of
                        the same kind, so a gain (loss below nought)
    another             other pictures, other classes: little either way
    noisy, shared       the same classes seen through noise: something of a gain
    noisy, separate     the same classes, to be told apart by the noise alone
    itself              two right names for every picture: half must go wrong
    permuted, separate  the same, each name another class's: likewise
    permuted, shared    labels that contradict each other: worst of all, or as bad
"""

import sys
import tempfile

import snellen
from snellen.exams.kinship.findings import findings
from snellen.stats import Interval

CASES = (
    ("halves, shared", "~first", "~second", "shared"),
    ("noisy, shared", "", "~noisy", "shared"),
    ("another", "", None, "separate"),
    ("noisy, separate", "", "~noisy", "separate"),
    ("halves, separate", "~first", "~second", "separate"),
    ("permuted, separate", "", "~permuted", "separate"),
    ("permuted, shared", "", "~permuted", "shared"),
)


def main():
    given = sys.argv[1:]
    pictures = given[0] if given else "glyphs"
    size, repeats, width = (int(v) for v in [*given[1:], *(800, 4, 8)[len(given[1:]) :]][:3])
    print(f"{pictures}: {size} pictures in a lesson, {repeats} repeats, {width} filters")
    print(f"{'case':20} loss, points (95 %)       S paper          S matched")
    losses = []
    for name, first, second, labels in CASES:
        other = "things" if second is None else pictures + second
        asked = snellen.exam(
            "kinship", tests=(pictures + first, other), size=size, repeats=repeats, most=repeats,
            labels=labels, epochs=8,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            made = snellen.sit(asked, snellen.subject(f"elu-cnn,width={width}"), into=folder)
        (pair,) = findings(asked, made)[0].pairs.values()
        loss = Interval(*(100 * x for x in pair.loss.interval()))
        losses.append(loss.value)
        told = [f"{k.s:.2f}" if k.defined else "undefined" for k in (pair.paper, pair.matched)]
        print(f"{name:20} {loss:.1f}".ljust(46), *(f"{t:17}" for t in told), flush=True)
    print("in the expected order:", losses == sorted(losses))


if __name__ == "__main__":
    main()
