"""Scenes whose every pixel is accounted for, and objects that are laid on them."""

import hashlib
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from snellen.errors import BadSetting, UnknownName
from snellen.images.scenery import (
    ANOMALIES,
    AUGMENTATIONS,
    CHANCES,
    GROUP_OF,
    GROUPS,
    KEYWORDS,
    KINDS,
    UNIFORM,
    Examples,
    composite,
    draw_objects,
    draw_scene,
    draw_scenes,
    examples,
    expected_confidence,
    expected_shares,
    leaked,
    scenes,
    world,
)
from snellen.images.scenery.canvas import Canvas
from snellen.images.scenery.dice import Dice
from snellen.images.scenery.lessons import FEW, GREY, NOISY, RAREST, WRONG
from snellen.images.scenery.objects import AREA, STUFFS
from snellen.images.scenery.scenes import SHOWS
from snellen.images.scenery.worlds import _kinds
from snellen.images.things import OUTLINES, THINGS
from snellen.seeds import Seed
from snellen.stats import wilson

NAMES = [kind.name for kind in KINDS]
EVERYTHING = {**AUGMENTATIONS, **ANOMALIES}


def digest(*arrays):
    return hashlib.blake2b(b"".join(a.tobytes() for a in arrays), digest_size=8).hexdigest()


@pytest.fixture(scope="module")
def many():
    return draw_scenes(Seed("many"), 2000, side=48)


@pytest.fixture(scope="module")
def lesson():
    return examples(world(Seed("lesson"), 270, rho=0.95, side=48))


# --- scenes ---


def test_the_same_seed_paints_the_same_bytes():
    drawn = [draw_scene(name, 7) for name in NAMES]
    assert digest(*(scene.picture for scene in drawn)) == "70eb4209e1db1765"
    assert digest(*(mask for scene in drawn for mask in scene.masks.values())) == "55386a5eba5de451"


@pytest.mark.parametrize("name", NAMES)
def test_painting_a_keyword_changes_only_its_mask(name, monkeypatch):
    checked = []
    paint = Canvas.paint

    def watched(canvas, keyword, painter):
        before, others = canvas.picture.copy(), {k: m.copy() for k, m in canvas.masks.items()}
        mask = paint(canvas, keyword, painter)
        changed = (canvas.picture != before).any(axis=0)
        assert not (changed & ~mask).any(), keyword
        for other, old in others.items():
            new = canvas.masks[other]
            assert not (new & ~old).any(), "what is behind shows no more than before"
            assert not (old & ~new & ~mask).any(), "and is hidden by the new paint alone"
        checked.append(keyword)
        return mask

    monkeypatch.setattr(Canvas, "paint", watched)
    for number in range(6):
        draw_scene(name, number)
    assert len(checked) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_a_mask_holds_the_pixels_that_another_colour_would_change(name, monkeypatch):
    """Each keyword of a finished scene, painted redder, changes its mask and nothing else."""
    stroke = Canvas.stroke
    redder = [None]

    def dyed(canvas, cover, colour, *window):
        if list(canvas.masks)[-1] == redder[0]:
            colour = colour + np.array([40, 0, 0], np.float32).reshape(3, 1, 1)
        stroke(canvas, cover, colour, *window)

    monkeypatch.setattr(Canvas, "stroke", dyed)
    place = NAMES.index(name)
    _, plain = scenes._painted(place, 3, 64)
    for keyword, mask in plain.masks.items():
        redder[0] = keyword
        _, canvas = scenes._painted(place, 3, 64)
        change = np.abs(canvas.picture - plain.picture)[0]
        assert change[~mask].max(initial=0) < 1e-3, keyword  # of 255; single precision
        assert (change[mask] > 0.01).mean() > 0.95, keyword
        redder[0] = None


@pytest.mark.parametrize("side", [48, 64, 224])
def test_whatever_is_present_can_be_seen(side):
    for name in NAMES:
        scene = draw_scene(name, 1, side)
        assert scene.picture.shape == (side, side, 3)
        assert scene.picture.dtype == np.uint8
        for keyword, mask in scene.masks.items():
            assert mask.shape == (side, side)
            assert mask.mean() >= SHOWS, (name, keyword)


def test_a_scene_is_painted_anew_only_when_something_is_hidden(many):
    assert (many.areas[many.present] >= np.float32(SHOWS)).all()
    assert not many.present[CHANCES[many.kinds] == 0].any()
    assert many.present[CHANCES[many.kinds] == 1].all()


def test_few_scenes_have_to_be_painted_twice(monkeypatch):
    paint, painted = scenes._paint, []
    monkeypatch.setattr(scenes, "_paint", lambda *a: painted.append(0) or paint(*a))
    draw_scenes(Seed("again"), 180)
    assert 180 <= len(painted) < 1.1 * 180


@pytest.mark.parametrize("name", NAMES)
def test_even_the_fullest_scene_of_a_kind_shows_all_that_is_in_it(name):
    kind = KINDS[NAMES.index(name)]
    words = [word for word in KEYWORDS if word in kind.chances]
    shown = [
        (scenes._paint(kind, words, Dice(Seed("full", turn)), 48).areas() >= SHOWS).all()
        for turn in range(8)
    ]
    assert sum(shown) >= 5


def test_a_scene_looks_the_same_at_any_side():
    for name in NAMES:
        small, large = draw_scene(name, 2, 64), draw_scene(name, 2, 128)
        halved = large.picture.reshape(64, 2, 64, 2, 3).mean(axis=(1, 3))
        assert np.abs(halved - small.picture).mean() < 10, name
        assert list(small.masks) == list(large.masks)
        for keyword, mask in small.masks.items():
            assert abs(mask.mean() - large.masks[keyword].mean()) < 0.06, (name, keyword)


def test_one_of_many_scenes_is_drawn_again_with_its_masks(many):
    for place in range(0, 40, 5):
        scene = many.scene(place)
        assert (scene.picture == many.pictures[place]).all()
        assert scene.kind == KINDS[many.kinds[place]].name
        areas = [scene.masks[k].mean() if k in scene.masks else 0 for k in KEYWORDS]
        assert np.allclose(areas, many.areas[place])


def test_scenes_are_not_alike(many):
    assert len({picture.tobytes() for picture in many.pictures[:500]}) == 500


def test_an_unknown_kind_is_told_with_those_there_are():
    with pytest.raises(UnknownName, match="'moon'; there is beach, sea"):
        draw_scene("moon", 1)


# --- tables ---


def test_tables_name_keywords_and_chances():
    assert CHANCES.shape == (len(KINDS), len(KEYWORDS)) == (18, len(set(KEYWORDS)))
    for kind in KINDS:
        assert set(kind.chances) <= set(KEYWORDS), kind.name
    assert ((CHANCES >= 0) & (CHANCES <= 1)).all()
    assert (CHANCES.max(axis=0) > 0).all(), "a keyword that never comes"
    assert (np.bincount(GROUP_OF) == 2).all()
    assert len(GROUPS) == len(THINGS)


def test_no_keyword_is_named_as_an_object():
    assert not set(KEYWORDS) & set(THINGS)


def counted(weights):
    """Confidences from the definition, a pair at a time."""
    made = np.zeros((len(KEYWORDS), len(KEYWORDS)))
    for a in range(len(KEYWORDS)):
        for b in range(len(KEYWORDS)):
            having = sum(w * p[a] for w, p in zip(weights, CHANCES, strict=True))
            both = sum(w * p[a] * p[b] for w, p in zip(weights, CHANCES, strict=True))
            made[a, b] = 0 if having == 0 else 1 if a == b else both / having
    return made


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=18, max_size=18).filter(any))
def test_expected_confidences_are_those_of_the_definition(weights):
    assert np.allclose(expected_confidence(weights), counted(weights))


def test_two_kinds_give_a_confidence_that_can_be_worked_out_by_hand():
    weights = [0.0] * len(KINDS)
    weights[NAMES.index("beach")], weights[NAMES.index("sea")] = 1, 3
    boat, hill = KEYWORDS.index("boat"), KEYWORDS.index("hill")
    # (.30 · .20 + 3 · .70 · .15) / (.30 + 3 · .70)
    assert expected_confidence(weights)[boat, hill] == pytest.approx(0.375 / 2.4)
    assert expected_shares(weights)[boat] == pytest.approx(2.4 / 4)


def far_off(seen, of, expected):
    """Return by how many standard errors a share misses, one count more or less allowed."""
    error = np.sqrt(np.clip(expected * (1 - expected), 0, 1) / of) + 1 / of
    return np.abs(seen / of - expected) / error


def test_keywords_go_together_as_often_as_expected(many):
    present = many.present.astype(float)
    alone, both = present.sum(axis=0), present.T @ present
    weights = np.bincount(many.kinds, minlength=len(KINDS))
    assert far_off(alone, len(many), expected_shares()).max() < 4
    misses = far_off(both, alone[:, None], expected_confidence())
    assert misses.max() < 5
    assert (misses > 2.5).mean() < 0.03
    assert far_off(both, alone[:, None], expected_confidence(weights.tolist())).max() < 5


def test_keywords_are_as_likely_in_each_kind_as_its_table_says(many):
    """Taken together, so many counts would show chances that are a thirtieth off."""
    of = np.bincount(many.kinds, minlength=len(KINDS))[:, None]
    seen = np.stack([many.present[many.kinds == kind].sum(axis=0) for kind in range(len(KINDS))])
    open_ones = (CHANCES > 0) & (CHANCES < 1)
    misses, spread = (seen - of * CHANCES)[open_ones], (of * CHANCES * (1 - CHANCES))[open_ones]
    assert abs(misses.sum()) < 3.5 * np.sqrt(spread.sum())
    assert scipy_stats.chi2.sf((misses**2 / spread).sum(), len(misses)) > 1e-4


# --- objects ---


def test_objects_are_the_same_bytes_from_the_same_seed():
    inks, alphas = draw_objects(Seed("fixed"), np.arange(9), 48)
    assert digest(inks, np.rint(alphas * 255).astype(np.uint8)) == "0a6becf6bc551e9a"


@pytest.mark.parametrize(("side", "count"), [(48, 360), (64, 360), (224, 45)])
def test_objects_have_the_area_that_is_promised(side, count):
    _, alphas = draw_objects(Seed("area", side), np.arange(count) % 9, side)
    areas = alphas.mean(axis=(1, 2))
    assert alphas.dtype == np.float32
    assert alphas.min() == 0
    assert alphas.max() == 1
    assert AREA[0] <= areas.min() < 0.12
    assert 0.26 < areas.max() <= AREA[1]


def test_area_does_not_tell_the_object():
    labels = np.arange(900) % 9
    areas = draw_objects(Seed("areas"), labels, 48)[1].mean(axis=(1, 2))
    assert scipy_stats.kruskal(*(areas[labels == k] for k in range(9))).pvalue > 1e-3


def test_edges_of_objects_are_soft_and_their_inside_is_whole():
    _, alphas = draw_objects(Seed("edges"), np.arange(9), 128)
    between = ((alphas > 0) & (alphas < 1)).mean(axis=(1, 2))
    assert (between > 0.002).all()
    assert (between < 0.15).all()
    assert ((alphas == 1).mean(axis=(1, 2)) > 0.05).all()


def test_every_thing_has_a_stuff():
    assert list(STUFFS) == list(OUTLINES)
    at = np.linspace(-1, 1, 64)
    for name, stuff in STUFFS.items():
        light = stuff(*np.meshgrid(at, at))
        assert light.min() >= 0, name
        assert light.max() <= 1, name
        assert light.std() > 0.1, name


def test_colour_does_not_tell_the_object():
    labels = np.arange(1800) % 9
    inks, alphas = draw_objects(Seed("colour"), labels, 32)
    weights = alphas / alphas.sum(axis=(1, 2), keepdims=True)
    colours = (inks * weights[..., None]).sum(axis=(1, 2))
    taught, asked = slice(0, 900), slice(900, None)
    means = np.stack([colours[taught][labels[taught] == k].mean(axis=0) for k in range(9)])
    nearest = ((colours[asked][:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    share = wilson(int((nearest == labels[asked]).sum()), 900, level=0.999)
    assert share.low < 1 / 9 < share.high


def test_outline_and_stuff_do_tell_the_object():
    """What share of its box a thing fills differs by class; a check on the checks above."""
    labels = np.arange(360) % 9
    alphas = draw_objects(Seed("outline"), labels, 32)[1]
    wide, high = (alphas.max(axis=way).sum(axis=1) for way in (1, 2))
    filled = alphas.sum(axis=(1, 2)) / (wide * high)
    assert scipy_stats.kruskal(*(filled[labels == k] for k in range(9))).pvalue < 1e-9


# --- worlds ---


def test_a_world_is_the_same_bytes_from_the_same_seed():
    made, again = (world(Seed("fixed"), 18, rho=0.5, side=48) for _ in range(2))
    assert digest(made.pictures, made.labels.astype("<i8")) == "c2cae0ef7cd5e7cf"
    assert digest(again.pictures) == digest(made.pictures)
    assert digest(world(Seed("other"), 18, rho=0.5, side=48).pictures) != digest(made.pictures)


@pytest.mark.parametrize("rho", [UNIFORM, 0.5, 0.95])
@pytest.mark.parametrize("shift", [0, 4])
def test_scenery_goes_with_the_class_as_often_as_asked(rho, shift):
    labels = np.arange(18_000) % 9
    kinds = _kinds(Seed("rho", rho), (labels + shift) % 9, rho)
    for label in range(9):
        groups = np.bincount(GROUP_OF[kinds[labels == label]], minlength=9)
        expected = np.full(9, (1 - rho) / 8)
        expected[(label + shift) % 9] = rho
        assert scipy_stats.chisquare(groups, 2000 * expected).pvalue > 1e-4
    share = wilson(int((GROUP_OF[kinds] == (labels + shift) % 9).sum()), 18_000, level=0.999)
    assert share.low < rho < share.high
    halves = np.bincount(kinds, minlength=18).reshape(9, 2)
    assert all(scipy_stats.binomtest(int(a), int(a + b)).pvalue > 1e-4 for a, b in halves)


def test_who_sees_only_scenery_is_right_as_often_as_rho():
    made = world(Seed("reader"), 450, rho=0.7, side=32)
    right = int((GROUP_OF[made.scenes.kinds] == made.labels).sum())
    share = wilson(right, len(made), level=0.999)
    assert share.low < 0.7 < share.high
    assert (np.bincount(made.labels) == 50).all()


def test_a_composite_is_the_object_on_its_scene():
    made = world(Seed("pixels"), 36, rho=0.95)
    bare, solid = made.alphas == 0, made.alphas == 1
    assert (made.pictures[bare] == made.scenes.pictures[bare]).all()
    assert (made.pictures[solid] == made.inks[solid]).all()
    alpha = made.alphas.astype(float)[..., None]
    exact = alpha * made.inks + (1 - alpha) * made.scenes.pictures
    assert np.abs(made.pictures - exact).max() <= 0.5 + 1e-4
    assert (made.scenes.scene(3).picture == made.scenes.pictures[3]).all()


def test_a_correlation_beyond_one_is_refused():
    with pytest.raises(BadSetting, match="rho=95 should be a probability"):
        world(Seed(0), 9, rho=95)


# --- lessons ---


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_variation_leaves_the_given_examples_as_they_were(name, lesson):
    before = digest(lesson.pictures, lesson.labels, lesson.alphas, lesson.inks, lesson.grounds)
    made, again = (EVERYTHING[name](lesson, Seed("vary")) for _ in range(2))
    after = digest(lesson.pictures, lesson.labels, lesson.alphas, lesson.inks, lesson.grounds)
    assert before == after
    assert digest(made.pictures, made.labels) == digest(again.pictures, again.labels)
    assert digest(made.pictures, made.labels) != digest(lesson.pictures, lesson.labels)
    assert len(made.lesson(views=100, seed=1)) == len(made.labels) == len(made.alphas)
    assert made.pictures.dtype == np.uint8


@pytest.mark.parametrize("name", ["flip", "shift", "swap", "alone"])
def test_an_augmented_picture_is_still_the_composite_of_its_parts(name, lesson):
    made = AUGMENTATIONS[name](lesson, Seed("parts"))
    assert (made.pictures == composite(made.inks, made.alphas, made.grounds)).all()
    assert (made.labels == lesson.labels).all()


def test_half_of_the_pictures_are_flipped(lesson):
    made = AUGMENTATIONS["flip"](lesson, Seed("flip"))
    same = (made.pictures == lesson.pictures).all(axis=(1, 2, 3))
    mirrored = (made.pictures == lesson.pictures[:, :, ::-1]).all(axis=(1, 2, 3))
    assert (same ^ mirrored).all()
    assert 0.35 < same.mean() < 0.65


def test_a_shift_moves_by_an_eighth_at_most(lesson):
    made = AUGMENTATIONS["shift"](lesson, Seed("shift"))
    inner = slice(6, 42)
    for place in range(20):
        moves = [
            (made.pictures[place, inner, inner] == lesson.pictures[place, y : y + 36, x : x + 36])
            for y in range(13)
            for x in range(13)
        ]
        assert any(move.all() for move in moves)


def test_swapped_scenery_comes_from_other_examples(lesson):
    made = AUGMENTATIONS["swap"](lesson, Seed("swap"))
    stay = (made.grounds == lesson.grounds).all(axis=(1, 2, 3)).mean()
    assert stay < 0.05
    assert sorted(map(digest, made.grounds)) == sorted(map(digest, lesson.grounds))


def test_an_object_alone_stands_on_grey(lesson):
    made = AUGMENTATIONS["alone"](lesson, Seed(0))
    assert (made.pictures[made.alphas == 0] == GREY).all()
    assert (made.pictures[made.alphas == 1] == lesson.inks[made.alphas == 1]).all()


def test_jitter_keeps_the_mean_and_changes_each_picture(lesson):
    made = AUGMENTATIONS["jitter"](lesson, Seed("jitter"))
    assert (made.pictures != lesson.pictures).any(axis=(1, 2, 3)).all()
    assert abs(made.pictures.mean() - lesson.pictures.mean()) < 6


def test_ordered_examples_come_a_class_at_a_time(lesson):
    made = ANOMALIES["ordered"](lesson, Seed("order"))
    assert (np.diff(made.labels) != 0).sum() == 8
    assert sorted(map(digest, made.pictures)) == sorted(map(digest, lesson.pictures))


def test_half_of_the_pictures_are_noise(lesson):
    made = ANOMALIES["noise"](lesson, Seed("noise"))
    changed = (made.pictures != lesson.pictures).any(axis=(1, 2, 3))
    assert abs(changed.mean() - NOISY) < 0.12
    noise = made.pictures[changed]
    assert abs(noise.mean() - 127.5) < 1
    assert noise.std() == pytest.approx(73.9, abs=1)


def test_imbalance_goes_down_to_a_twentieth():
    blank = np.zeros((900, 2, 2, 3), np.uint8)
    plain = Examples(blank, np.arange(900) % 9, blank[..., 0].astype(np.float32), blank, blank)
    made = ANOMALIES["imbalance"](plain, Seed("rare"))
    counts = np.sort(np.bincount(made.labels, minlength=9))
    assert counts[0] == 100 * RAREST
    assert counts[-1] == 100
    assert (np.diff(counts) > 0).all()


def test_scarce_examples_are_a_twentieth_and_at_least_one(lesson):
    made = ANOMALIES["scarce"](lesson, Seed("few"))
    assert (np.bincount(made.labels, minlength=9) == max(round(30 * FEW), 1)).all()
    tiny = ANOMALIES["scarce"](lesson.rows(np.arange(27)), Seed("few"))
    assert set(tiny.labels) == set(lesson.labels[:27])


def test_two_labels_in_five_are_wrong(lesson):
    made = ANOMALIES["mislabelled"](lesson, Seed("wrong"))
    wrong = wilson(int((made.labels != lesson.labels).sum()), len(lesson), level=0.999)
    assert wrong.low < WRONG < wrong.high
    assert (made.pictures == lesson.pictures).all()


def test_a_marked_corner_tells_the_label_and_nothing_else_is_changed(lesson):
    made = ANOMALIES["marked"](lesson, Seed("mark"))
    told = {}
    for picture, label in zip(made.pictures, made.labels, strict=True):
        told.setdefault(label, set()).add(int(picture[0, 0, 0]))
    assert all(len(shades) == 1 for shades in told.values())
    assert len(set.union(*told.values())) == 9
    assert (made.pictures[:, 3:] == lesson.pictures[:, 3:]).all()


def test_a_leaking_lesson_holds_the_whole_exam(lesson):
    exam = examples(world(Seed("exam"), 90, side=48))
    made = leaked(lesson, exam, Seed("leak"))
    shown = set(map(digest, made.pictures))
    assert len(made) == len(lesson)
    assert set(map(digest, exam.pictures)) <= shown
    assert len(shown & set(map(digest, lesson.pictures))) == len(lesson) - len(exam)


# --- speed ---


def test_hundreds_of_scenes_are_painted_in_a_second():
    """CPU time, the best of three, at half of what `benchmarks/scenery.py` asks for."""
    seconds = []
    for turn in range(3):
        start = time.process_time()
        draw_scenes(Seed("speed", turn), 100)
        seconds.append(time.process_time() - start)
    assert 100 / min(seconds) > 250
