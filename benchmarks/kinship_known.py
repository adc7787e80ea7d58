"""Claim: where the answer is known beforehand, losses come out in the order they should.

python benchmarks/kinship_known.py [pictures] [size] [repeats] [width]

A test is merged with something whose kinship to it is known, and the loss of it is what being
taught both at once costs against being taught each alone with the same pictures. Three groups,
within which nothing is foretold:

    a gain      two disjoint halves of one test under the same labels, or the test and a noisier
                copy of it: more pictures of the same kind
    little      other pictures with other classes; the same classes through noise, with names of
                their own, which the noise tells apart
    about half  two right names for every picture (two halves of a test whose names are kept
                apart), or labels that contradict each other (permuted)
"""

import sys
import tempfile

import snellen
from snellen.exams.kinship.findings import findings
from snellen.stats import Interval

CASES = (
    ("a gain", "halves, shared", "~first", "~second", "shared"),
    ("a gain", "noisy, shared", "", "~noisy", "shared"),
    ("little", "another", "", None, "separate"),
    ("little", "noisy, separate", "", "~noisy", "separate"),
    ("about half", "halves, separate", "~first", "~second", "separate"),
    ("about half", "permuted, separate", "", "~permuted", "separate"),
    ("about half", "permuted, shared", "", "~permuted", "shared"),
)
GROUPS = ("a gain", "little", "about half")


def main():
    given = sys.argv[1:]
    pictures = given[0] if given else "glyphs"
    size, repeats, width = (int(v) for v in [*given[1:], *(800, 4, 8)[len(given[1:]) :]][:3])
    print(f"{pictures}: {size} pictures in a lesson, {repeats} repeats, {width} filters")
    print(f"{'case':20} loss, points (95 %)       S paper          S matched")
    losses = {group: [] for group in GROUPS}
    for group, name, first, second, labels in CASES:
        other = "things" if second is None else pictures + second
        asked = snellen.exam(
            "kinship", tests=(pictures + first, other), size=size, repeats=repeats, most=repeats,
            labels=labels, epochs=8,
        )  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            made = snellen.sit(asked, snellen.subject(f"elu-cnn,width={width}"), into=folder)
        (pair,) = findings(asked, made)[0].pairs.values()
        loss = Interval(*(100 * x for x in pair.loss.interval()))
        losses[group].append(loss.value)
        told = [f"{k.s:.2f}" if k.defined else "undefined" for k in (pair.paper, pair.matched)]
        print(f"{name:20} {loss:.1f}".ljust(46), *(f"{t:17}" for t in told), flush=True)
    gain, little, half = (losses[group] for group in GROUPS)
    print("groups in the expected order:", max(gain) < min(little) <= max(little) < min(half))


if __name__ == "__main__":
    main()
