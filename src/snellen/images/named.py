"""Which picture sets go by a name, and where are their files?

Some are drawn or come with a library. Of the others only the name is known here: their files
are looked for where people and libraries keep them, and never fetched.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import UnknownName, Unloadable
from snellen.images.datasets import load_pictures
from snellen.images.embedded import EMBEDDED, embedded
from snellen.images.published import CIFAR_10, CIFAR_100, IDX, PICKLED

if TYPE_CHECKING:
    from snellen.images.published import Form
    from snellen.images.sets import PictureSet

DATA = "SNELLEN_DATA"
"""The variable of the environment that names a folder to look in first."""
ROOTS = ("data", "~/.keras/datasets", "~/.cache/snellen")


@dataclass(frozen=True)
class Published:
    """Where a set that somebody published may lie, below any of the roots."""

    form: Form
    folders: tuple[str, ...]
    home: str
    npz: str = ""
    """What Keras calls it."""
    pickled: tuple[str, ...] = ()
    """Folders of a version that is not read."""
    names: tuple[str, ...] = ()
    """Of the classes, where no file has them."""


PUBLISHED = {
    "mnist": Published(
        IDX,
        ("MNIST/raw", "MNIST", "mnist"),
        "http://yann.lecun.com/exdb/mnist/",
        npz="mnist.npz",
    ),
    "fashion-mnist": Published(
        IDX,
        ("FashionMNIST/raw", "FashionMNIST", "fashion-mnist"),
        "https://github.com/zalandoresearch/fashion-mnist",
        names=(
            *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
            *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
        ),
    ),
    "cifar-10": Published(
        CIFAR_10,
        ("cifar-10-batches-bin",),
        "https://www.cs.toronto.edu/~kriz/cifar.html",
        pickled=("cifar-10-batches-py", "cifar-10-batches-py-target"),
    ),
    "cifar-100": Published(
        CIFAR_100,
        ("cifar-100-binary",),
        "https://www.cs.toronto.edu/~kriz/cifar.html",
        pickled=("cifar-100-python", "cifar-100-python-target"),
    ),
}
NAMES = (*EMBEDDED, *PUBLISHED)


def named(name: str) -> PictureSet:
    """Return the pictures that go by a name.

    >>> named("glyphs").images.shape[1:]
    (32, 32, 1)
    """
    known = {_plain(each): each for each in NAMES}.get(_plain(name))
    if known is None:
        raise UnknownName(
            f"no pictures are called {name!r}, and there is no file or folder of that name; there "
            f"are {', '.join(NAMES)}"
        )
    return embedded(known) if known in EMBEDDED else _found(known, PUBLISHED[known])


def _plain(name: str) -> str:
    """Spell a name as everybody does: CIFAR10, cifar_10 and cifar-10 are one."""
    return name.lower().replace("-", "").replace("_", "")


def _found(name: str, known: Published) -> PictureSet:
    roots = _roots()
    for root in roots:
        if known.npz and (root / known.npz).is_file():
            return load_pictures(root / known.npz)
        for folder in known.folders:
            if not known.form.missing(root / folder):
                return known.form.read(root / folder, known.names)
    raise Unloadable(_absent(name, known, roots))


def _roots() -> tuple[Path, ...]:
    first = os.environ.get(DATA)
    return tuple(Path(root).expanduser() for root in ((first,) if first else ()) + ROOTS)


def _absent(name: str, known: Published, roots: tuple[Path, ...]) -> str:
    """Say where was looked, for what, what was there instead, and where the set is published."""
    wants = f"a folder {' or '.join(known.folders)} with {', '.join(known.form.wants)}"
    partly = [
        f"{root / folder} lacks {', '.join(missing)}"
        for root in roots
        for folder in known.folders
        if 0 < len(missing := known.form.missing(root / folder)) < len(known.form.wants)
    ]
    pickled = [
        f"{root / folder} {PICKLED}"
        for root in roots
        for folder in known.pickled
        if (root / folder).exists()
    ]
    files = f"{known.npz}, or {wants}" if known.npz else wants
    looked = f"looked in {', '.join(map(str, roots))} for {files}"
    remedy = f"put them into one of these places, or name another with {DATA}"
    return "; ".join(
        [
            f"the pictures called {name!r} are not at hand, and nothing is fetched",
            looked,
            *partly,
            *pickled,
            f"they are published at {known.home}",
            remedy,
        ]
    )
