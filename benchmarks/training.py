"""Claim: a cell costs at most a quarter of the CPU seconds of the same network in Keras 3.

The cell is the paper's (rotated, level 8, noise 2, 2000 pictures, 10 epochs). Keras runs on
PyTorch and validates after every epoch, as the authors' notebook does. Both are given the same
pictures, one thread, a process of their own a run, and the costs of importing and of a first
short lesson are left out. Printed as well: the ratio to the floor, the floating-point operations
of training over the speed of a large matrix multiplication on this core.

    python benchmarks/training.py [repeats]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time

THREADS = 1
CELL = {"mode": "paper", "tables": 7, "transformations": "rotated", "samples": 2000}
EPOCHS, BATCH = 10, 200


def ours(repeat: int) -> tuple[float, float]:
    import snellen
    from snellen.sitting import conduct

    subject = snellen.subject("paper-cnn")
    warm = snellen.exam("abstraction", **{**CELL, "samples": 1000, "epochs": 1, "repeats": 1})
    conduct(warm, subject, warm.items()[0])
    exam = snellen.exam("abstraction", **CELL, repeats=repeat + 1)
    start = time.process_time()
    record = conduct(exam, subject, exam.items()[repeat])
    spent = time.process_time() - start
    counts = [sum(map(sum, record.measures[what].values())) for what in ("right", "asked")]
    return spent, counts[0] / counts[1]


def theirs(repeat: int) -> tuple[float, float]:
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    import snellen
    from snellen.exams.abstraction.shapes import Glyphs

    exam = snellen.exam("abstraction", **CELL, repeats=repeat + 1)
    cell = exam.cell(exam.items()[repeat])
    lesson, sheet = cell.lesson(Glyphs()), cell.sheet(Glyphs())
    keras.utils.set_random_seed(repeat)

    def build() -> keras.Model:
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((28, 28, 1)),
                layers.Conv2D(30, 5, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(15, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Dropout(0.1),
                layers.Flatten(),
                layers.Dense(128, activation="relu"),
                layers.Dense(50, activation="relu"),
                layers.Dense(10, activation="softmax"),
            ]
        )
        model.compile(
            loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"]
        )
        return model

    build().fit(lesson.images[:250], lesson.labels[:250], batch_size=BATCH, verbose=0)
    model = build()
    start = time.process_time()
    model.fit(
        lesson.images,
        lesson.labels,
        validation_data=(sheet.images, sheet.truth),
        epochs=EPOCHS,
        batch_size=BATCH,
        verbose=0,
    )
    _, accuracy = model.evaluate(sheet.images, sheet.truth, batch_size=BATCH, verbose=0)
    return time.process_time() - start, accuracy


def floor(_: int) -> tuple[float, float]:
    """Return the seconds that the arithmetic alone would take, and the speed it is based on."""
    import torch

    a, b = torch.rand(2048, 2048), torch.rand(2048, 2048)
    seconds = []
    for _ in range(6):
        start = time.process_time()
        torch.mm(a, b)
        seconds.append(time.process_time() - start)
    speed = 2 * 2048**3 / min(seconds)
    first = 2 * 30 * 25 * 24 * 24  # forward; its backward needs no gradient of the pictures
    second = 2 * 15 * 270 * 10 * 10
    dense = 2 * (375 * 128 + 128 * 50 + 50 * 10)
    operations = (2 * first + 3 * second + 3 * dense) * 2000 * EPOCHS
    return operations / speed, speed


def apart(what: str, repeat: int) -> tuple[float, float]:
    """Run one of the above in a process of its own."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS), "MKL_NUM_THREADS": str(THREADS)}
    code = f"import training, json; print(json.dumps(training.{what}({repeat})))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**environment, "PYTHONPATH": os.path.dirname(__file__) or "."},  # noqa: PTH120
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main(repeats: int) -> None:
    found = {"ours": [], "theirs": []}
    for repeat in range(repeats):
        for what, runs in found.items():
            runs.append(apart(what, repeat))
    least, speed = apart("floor", 0)
    cost = {}
    for what, name in (("ours", "Snellen"), ("theirs", "Keras 3 on PyTorch, validating")):
        seconds, accuracies = zip(*found[what], strict=True)
        cost[what] = statistics.median(seconds)
        print(
            f"{name}: {cost[what]:.2f} CPU s a cell (median of {repeats}), accuracy "
            f"{100 * statistics.mean(accuracies):.1f} ± {100 * statistics.pstdev(accuracies):.1f} %"
        )
    print(f"threads: {THREADS}")
    print(f"ratio: {cost['ours'] / cost['theirs']:.3f} of Keras (claim: at most 0.25)")
    print(
        f"floor: {least:.2f} CPU s at {speed / 1e9:.0f} GFLOP/s of torch.mm; "
        f"ours is {cost['ours'] / least:.1f} × it, Keras {cost['theirs'] / least:.1f} ×"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
