"""Claim: the network of Pereyda & Holder (2020) trains at least 1.5 × as fast here as in Keras 3.

python benchmarks/kinship_training.py [pictures.npz] [width] [pictures] [epochs]

The same network, batches, optimiser and pictures, on one core; Keras on its PyTorch backend,
by its own `fit`. Both are also asked about the same test pictures, to see that nothing was
lost. CPU seconds, each the best of three.
"""

import os
import sys
import time

os.environ |= {"OMP_NUM_THREADS": "1", "KERAS_BACKEND": "torch"}

import keras
import numpy as np
import torch

import snellen
from snellen.core import Lesson, Sheet
from snellen.exams.kinship.pictures import PictureTest, picture_test

BATCH = 32


def main():
    spec = sys.argv[1] if len(sys.argv) > 1 else "glyphs"
    width, count, epochs = (
        int(v) for v in [*sys.argv[2:], *(16, 1000, 4)[len(sys.argv) - 2 :]][:3]
    )
    torch.set_num_threads(1)
    test = picture_test(spec)
    ours = [by_us(test, width, count, epochs, repeat) for repeat in range(3)]
    theirs = [by_keras(test, width, count, epochs, repeat) for repeat in range(3)]
    print(
        f"{test.name}: {count} pictures, {epochs} epochs, {width} filters, CPU seconds of one core"
    )
    for who, runs in (("snellen", ours), ("keras", theirs)):
        right = " ".join(f"{r:.3f}" for _, r in runs)
        print(f"{who:8} {min(s for s, _ in runs):7.2f} s   right {right}")
    print(f"ratio {min(s for s, _ in theirs) / min(s for s, _ in ours):.2f}")


def by_us(test: PictureTest, width, count, epochs, repeat):
    images, labels = test.lesson(count, repeat)
    pupil = snellen.subject(f"elu-cnn,width={width}")
    start = time.process_time()
    pupil = pupil.study(Lesson(images, labels, test.classes, epochs * count, repeat))
    seconds = time.process_time() - start
    asked, truth = test.questions(1000, repeat)
    return seconds, float((pupil.answer(Sheet(asked, test.classes)).choice == truth).mean())


def by_keras(test: PictureTest, width, count, epochs, repeat):
    images, labels = test.lesson(count, repeat)
    keras.utils.set_random_seed(repeat)
    network = keras_network(len(test.classes), width)
    x, y = images.astype(np.float32) / 255, np.eye(len(test.classes))[labels]
    network.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
    start = time.process_time()
    network.fit(x, y, batch_size=BATCH, epochs=epochs, verbose=0)
    seconds = time.process_time() - start
    asked, truth = test.questions(1000, repeat)
    said = network.predict(asked.astype(np.float32) / 255, verbose=0).argmax(axis=1)
    return seconds, float((said == truth).mean())


def keras_network(classes, width):
    layers = [keras.Input((32, 32, 1))]
    for filters, dropped in zip((width, 2 * width, 4 * width), (0.2, 0.3, 0.4), strict=True):
        for _ in range(2):
            layers += [
                keras.layers.Conv2D(filters, 3, padding="same", activation="elu"),
                keras.layers.BatchNormalization(momentum=0.9),  # as ours, for short lessons
            ]
        layers += [keras.layers.MaxPooling2D(2), keras.layers.Dropout(dropped)]
    dense = keras.layers.Dense(classes, activation="softmax")
    return keras.Sequential([*layers, keras.layers.Flatten(), dense])


if __name__ == "__main__":
    main()
