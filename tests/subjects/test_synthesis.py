"""Rules from a handful of pictures: of the known problems, of invented ones, and of nonsense."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

import snellen
from snellen.core import Lesson, Sheet
from snellen.errors import Unable
from snellen.images.outlines import parse
from snellen.images.svrt import draw
from snellen.subjects.synthesis.board import Board, boards, stacked
from snellen.subjects.synthesis.chance import thrown
from snellen.subjects.synthesis.evidence import weigh
from snellen.subjects.synthesis.language import FIGURES, Number, _centred, numbers
from snellen.subjects.synthesis.learning import Rule, learn, tell
from snellen.subjects.synthesis.readings import read
from snellen.subjects.synthesis.surprise import no_further, no_nearer, with_tail

CATEGORIES = ("-", "+")


# pictures ------------------------------------------------------------------------------------


def blob(rng):
    """A random closed outline about 0, of radius 1 or less, as a polygon."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    waves = sum(
        rng.normal(0, 0.22) * np.cos(k * angles + rng.uniform(0, 2 * np.pi)) for k in (2, 3, 4)
    )
    radius = np.clip(0.8 + waves, 0.35, 1.2)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)


def picture(shapes):
    """Draw (outline, x, y, size) each, one pixel wide."""
    image = Image.new("L", (128, 128), 255)
    pen = ImageDraw.Draw(image)
    for outline, x, y, size in shapes:
        points = [tuple(p) for p in outline * size + (x, y)]
        pen.line([*points, points[0]], fill=0, width=1)
    return np.asarray(image)[..., None]


def spread_out(rng, count, size):
    """Draw places that are far enough apart for shapes of that size."""
    while True:
        places = rng.uniform(size + 3, 125 - size, (count, 2))
        apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 999 * np.eye(count)
        if apart.min() > 2.6 * size + 3:
            return places


def left_or_right(rng, positive):
    """The large shape is left of the small one."""
    while True:
        (ax, ay), (bx, by) = spread_out(rng, 2, 20)
        if (ax < bx - 6) if positive else (ax > bx + 6):
            return picture([(blob(rng), ax, ay, 20), (blob(rng), bx, by, 9)])


def even_steps(rng, positive):
    """Four shapes on a level stand at equal steps."""
    y, start = rng.uniform(30, 98), rng.uniform(14, 24)
    steps = np.full(3, rng.uniform(24, 30)) if positive else rng.permutation([18, 27, 38])
    x = start + np.concatenate([[0], np.cumsum(steps)])
    return picture([(blob(rng), v, y, 8) for v in x])


def equal_sizes(rng, positive):
    """All shapes are of the same size, though different."""
    outline = blob(rng)
    sizes = [12, 12, 12] if positive else rng.permutation([7, 12, 19])
    places = spread_out(rng, 3, 17)
    return picture([(outline, x, y, s) for (x, y), s in zip(places, sizes, strict=True)])


def same_inside(rng, positive):
    """A copy of the large shape lies in it; otherwise another shape does."""
    outline = blob(rng)
    x, y = rng.uniform(45, 83, 2)
    return picture([(outline, x, y, 40), (outline if positive else blob(rng), x, y, 12)])


def two_pairs_or_three_and_one(rng, positive):
    """Of four shapes, two are the same and the other two are; otherwise three are."""
    one, other = blob(rng), blob(rng)
    outlines = [one, one, other, other] if positive else [one, one, one, other]
    places = spread_out(rng, 4, 13)
    return picture([(o, x, y, 13) for o, (x, y) in zip(outlines, places, strict=True)])


def midway(rng, positive):
    """The odd one stands midway between two that are the same; otherwise elsewhere."""
    while True:
        ends = spread_out(rng, 2, 9)
        odd = ends.mean(0) if positive else rng.uniform(12, 116, 2)
        far = np.linalg.norm(odd - ends.mean(0)) >= 15
        if np.linalg.norm(ends - odd, axis=1).min() > 26 and (positive or far):
            outline = blob(rng)
            return picture([*((outline, *end, 9) for end in ends), (blob(rng), *odd, 9)])


INVENTED = [midway, left_or_right, even_steps, equal_sizes, same_inside, two_pairs_or_three_and_one]


def examples(problem, seed, count):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    return np.stack([problem(rng, bool(label)) for label in labels]), labels


def alpha(images, labels, taught):
    pupil = snellen.subject("synthesis").study(Lesson(images[:taught], labels[:taught], CATEGORIES))
    answers = pupil.answer(Sheet(images[taught:], CATEGORIES))
    return (answers.choice == labels[taught:]).mean(), answers


# rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", INVENTED)
def test_invented_rules_are_found(problem):
    found = [alpha(*examples(problem, seed, 48), taught=8)[0] for seed in range(4)]
    assert np.mean(found) >= 0.93, found


@pytest.mark.parametrize("problem", [1, 4, 5, 10, 16, 20, 22, 101])
def test_known_rules_are_found_from_three_pairs(problem):
    found = []
    for seed in range(4):
        scenes = draw(problem, [0, 1] * 23, seed)
        share, answers = alpha(scenes.images, scenes.labels, taught=6)
        assert answers.scores.shape == (40, 2)
        found.append(share)
    assert np.mean(found) >= 0.97, found


def test_more_examples_do_not_hurt():
    few, many = [], []
    for problem in (2, 13, 17, 23):
        scenes = draw(problem, [0, 1] * 50, seed=5)
        for taught, kept in ((6, few), (20, many)):
            images = np.concatenate([scenes.images[:taught], scenes.images[20:]])
            labels = np.concatenate([scenes.labels[:taught], scenes.labels[20:]])
            kept.append(alpha(images, labels, taught)[0])
    assert np.mean(many) >= np.mean(few) - 0.01
    assert np.mean(many) >= 0.95


def test_pictures_learned_one_by_one_are_those_learned_together():
    scenes = draw(8, [0, 1] * 10, seed=2)
    sheet = Sheet(scenes.images[6:], CATEGORIES)
    together = snellen.subject("synthesis").study(
        Lesson(scenes.images[:6], scenes.labels[:6], CATEGORIES)
    )
    pupil = snellen.subject("synthesis")
    for i in range(6):
        pupil = pupil.study(Lesson(scenes.images[i : i + 1], scenes.labels[i : i + 1], CATEGORIES))
    np.testing.assert_array_equal(pupil.answer(sheet).scores, together.answer(sheet).scores)


def test_it_says_its_rule_and_what_tipped_the_scales():
    scenes = draw(4, [0, 1] * 6, seed=0)
    _, answers = alpha(scenes.images, scenes.labels, taught=6)
    assert "lie one in the other" in answers.note
    assert "count(nested, all)" in answers.note
    assert all("lie one in the other" in reason for reason in answers.signals["reason"])
    drawn = answers.signals["drawn"]
    assert drawn.shape == (6, 128, 128, 3)
    ink = scenes.images[6:, :, :, 0] < 128
    assert (drawn[ink] < 250).any(axis=-1).all()  # every line is still there


def test_categories_may_be_many():
    images = [draw(p, [label], seed=s).images[0]
              for s in range(8) for p, label in ((4, 1), (4, 0), (22, 1))]  # fmt: skip
    labels = np.arange(len(images)) % 3
    lesson = Lesson(np.stack(images[:12]), labels[:12], ("in", "out", "three"))
    answers = (
        snellen.subject("synthesis")
        .study(lesson)
        .answer(Sheet(np.stack(images[12:]), lesson.choices))
    )
    assert (answers.choice == labels[12:]).mean() >= 0.9


# bad input -----------------------------------------------------------------------------------


def text():
    image = Image.new("L", (128, 128), 255)
    ImageDraw.Draw(image).multiline_text((4, 4), "Can it read?\nNo, but it\nshould not hang.", 0)
    return np.asarray(image)[..., None]


def crowd():
    rng = np.random.default_rng(0)
    return picture([(blob(rng), 10 + 18 * (i % 7), 10 + 18 * (i // 7), 6) for i in range(40)])


def other(kind):
    rng = np.random.default_rng(3)
    return {
        "empty": np.full((128, 128, 1), 255, np.uint8),
        "black": np.zeros((128, 128, 1), np.uint8),
        "text": text(),
        "crowd": crowd(),
        "noise": rng.integers(0, 256, (128, 128, 1)).astype(np.uint8),
        "colour": np.broadcast_to(crowd(), (128, 128, 3)).copy(),
        "small": np.full((9, 14, 1), 255, np.uint8),
        "large": np.kron(text(), np.ones((5, 5, 1), np.uint8)),
        "floats": (crowd() / 255).astype(np.float32),
    }[kind]


KINDS = ["empty", "black", "text", "crowd", "noise", "colour", "small", "large", "floats"]


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_of_anything_get_an_answer_in_time(kind):
    image = other(kind)
    lesson = Lesson(np.stack([image, image]), np.array([0, 1]), CATEGORIES)
    start = time.process_time()
    answers = snellen.subject("synthesis").study(lesson).answer(Sheet(image[None], CATEGORIES))
    assert time.process_time() - start < 10  # most of it the first compilation
    assert np.isfinite(answers.scores).all()


def test_one_example_only_is_enough_to_answer():
    scenes = draw(1, [1, 0, 1], seed=0)
    pupil = snellen.subject("synthesis").study(Lesson(scenes.images[:1], np.array([1]), CATEGORIES))
    assert np.isfinite(pupil.answer(Sheet(scenes.images, CATEGORIES)).scores).all()
    with pytest.raises(Unable, match="before it was taught"):
        snellen.subject("synthesis").answer(Sheet(scenes.images, CATEGORIES))


# the language --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scenes():
    return [
        parse(image) for p in (2, 3, 8, 9, 13, 17, 23) for image in draw(p, [0, 1] * 4, 1).images
    ]


def test_every_number_means_something_somewhere_and_is_said_once(scenes):
    said = numbers()
    assert len({n.code for n in said}) == len(said)
    assert [n.bits for n in said] == sorted(n.bits for n in said)
    values = {n.code: np.concatenate([n(b) for _, b in boards(scenes)]) for n in said}
    assert all(v.shape == (len(scenes),) for v in values.values())
    assert sum(np.isfinite(v).any() for v in values.values()) > 0.8 * len(said)
    assert all(n.unit != "count" or (np.isnan(v := values[n.code]) | (v >= 0)).all()
               or "−" in n.code for n in said)  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2])
def test_every_number_can_be_asked_of_few_shapes(count):
    rng = np.random.default_rng(0)
    places = spread_out(rng, max(count, 1), 12)[:count]
    scene = parse(picture([(blob(rng), x, y, 12) for x, y in places]))
    assert len(scene.x) == count
    for _, board in boards([scene, scene]):
        for number in numbers():
            value = number(board)
            assert value.shape == (2,)
            assert not np.isinf(value).any(), number.code


@given(st.integers(0, 10_000), st.floats(0.3, 3), st.floats(0, 6), st.floats(-40, 40))
@settings(max_examples=25, deadline=None)
def test_figures_fit_themselves_however_they_lie(seed, scale, turn, shift):
    rng = np.random.default_rng(seed)
    cos, sin = np.cos(turn), np.sin(turn)
    moved = np.array([[cos, sin], [-sin, cos]]) * 20 * scale
    line = np.stack([np.arange(4.0), np.zeros(4)], axis=1)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])[rng.permutation(4)]
    half = rng.normal(size=(3, 2))
    exact = {
        "line": line @ moved,
        "spacing": line @ moved,
        "square": square @ moved,
        "half_turn": np.concatenate([half, -half]) @ moved,
        "mirror": np.concatenate([half, half * (-1, 1)]) * 20,
        "level_mirror": np.concatenate([half, half * (1, -1)]) * 20,
    }
    for name, points in exact.items():
        assert FIGURES[name].misfit(points[None] + shift)[0] == pytest.approx(0, abs=1e-3), name
    crooked = rng.normal(size=(4, 2)) * 30
    assert FIGURES["square"].misfit(crooked[None])[0] > 0.1


@given(st.integers(0, 10_000), st.integers(2, 5), st.floats(0, 30))
@settings(max_examples=25, deadline=None)
def test_what_is_off_the_middle_of_a_circle_is_told_by_how_much(seed, count, off):
    rng = np.random.default_rng(seed)
    step = 2 * np.pi / count
    angles = rng.uniform(0, 6) + np.arange(count) * step + rng.uniform(-0.2, 0.2, count) * step
    if count == 2:  # of two points the smallest circle is meant
        angles[1] = angles[0] + np.pi
    middle = rng.uniform(40, 80, 2)
    ring = middle + 35 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turn = rng.uniform(0, 2 * np.pi)
    odd = middle + off * np.array([np.cos(turn), np.sin(turn)])
    assert _centred(odd[None, None], ring[None])[0] == pytest.approx(off, abs=1e-6)


def test_only_what_compares_places_is_uncertain_because_places_are():
    noise = {number.code: number.noise for number in numbers()}
    assert noise["least(distance, large × small)"] > noise["least(distance, all)"]
    assert noise["least(gap, large × small)"] == noise["least(gap, all)"]


def test_random_scenes_say_the_same_one_below_the_other(scenes):
    apart = thrown(scenes[:20], 4, seed=1)
    together = stacked(apart)
    assert len(together) < len(apart)
    for number in numbers()[::20]:
        separate = [number(b) for n in (board.count for board in together)
                    for b in apart if b.count == n]  # fmt: skip
        np.testing.assert_array_equal(
            np.concatenate([number(board) for board in together]), np.concatenate(separate)
        )


def test_chance_throws_shapes_that_stay_inside_and_apart(scenes):
    board = thrown(scenes[:2], 50, seed=1)[0]
    assert isinstance(board, Board)
    assert len(board) == 50
    assert (board.margin >= 0).all()
    again = thrown(scenes[:2], 50, seed=1)[0]
    np.testing.assert_array_equal(board.x, again.x)
    assert (board.gap[~board.within] >= 0.9).mean() > 0.95
    assert 0.05 < board.same.mean() < 0.2  # one in ten, as ALIKE says


# evidence ------------------------------------------------------------------------------------


def test_shares_count_random_scenes_on_both_sides():
    chance = np.array([[1.0, 2, 3, 4, np.nan]])
    noise = np.zeros(1)
    apart = np.array([[2.0, 0.0, 9.0, np.nan]])
    np.testing.assert_allclose(no_further(apart, chance, noise)[0], [2.5 / 6, 0.5 / 6, 4.5 / 6, 1])
    np.testing.assert_allclose(
        no_nearer(apart, chance, noise)[0], [4.5 / 6, 5.5 / 6, 1.5 / 6, 1.5 / 6]
    )


def test_the_tail_goes_on_as_a_power_law():
    rng = np.random.default_rng(0)
    chance = np.sqrt(rng.random((1, 4000))) * 100  # P(v ≤ t) = (t/100)²
    values = np.array([[0.5, 1.0, 2.0, 50.0]])
    noise = np.array([1e-6])
    shares = with_tail(no_further(values, chance, noise), values, chance, noise)[0]
    np.testing.assert_allclose(shares[:3] * 1e4, [0.25, 1, 4], rtol=0.5)
    assert shares[3] == pytest.approx(0.25, abs=0.03)


def test_a_few_random_scenes_do_not_carry_the_tail_far():
    noise, values = np.array([0.5]), np.array([[0.0]])
    for seed in range(50):
        chance = np.full((1, 960), np.nan)
        chance[0, :40] = np.random.default_rng(seed).random(40) * 100  # P(v ≤ t) = 40/960 · t/100
        share = with_tail(no_further(values, chance, noise), values, chance, noise)[0, 0]
        assert 0.03 < share / (40 / 961 * 0.5 / 100) < 8


def test_nothing_is_shorter_to_say_than_little():
    rng = np.random.default_rng(0)
    chance = np.stack([rng.random(960) * 100] * 2)
    values = np.array([[0.1, 0.3, 0.2, 60, 45, 80], [4.1, 4.3, 4.2, 64, 49, 84]])
    own = np.array([True] * 3 + [False] * 3)
    chance[1] += 4
    bits = weigh(values, chance, np.ones(2), own, "low", np.zeros(2, bool))
    assert bits[0] - bits[1] > 1.5


def test_where_a_number_was_exactly_nothing_a_little_is_already_something():
    chance = np.linspace(0, 100, 400)
    others = np.array([40.0, 52, 60])
    place = SimpleNamespace(once=lambda code, work: work(None))

    def shares(own):
        asked = np.array([0.0, 1, 5, 9, 45])
        number = Number("misfit", "misfit", "px", 5.0, lambda board: asked)
        return Rule(number, "low", 1, 9.0, (others, np.array(own)), chance).share(place)

    exact, loose = shares([0.0, 0.0, 0.0]), shares([1.0, 6.0, 3.0])
    assert (exact[:2] > 0.9).all()
    assert (exact[2:] < 0.5).all()
    assert (loose[:3] > 0.5).all()
    assert loose[4] < 0.1


def test_evidence_prefers_what_is_rarer_and_gives_nothing_for_what_all_share():
    rng = np.random.default_rng(0)
    chance = rng.random((3, 240)) * 100
    values = np.array([
        [0.1, 0.3, 0.2, 60.0, 45, 80],   # exact in one category
        [10, 20, 5, 60, 45, 80],         # smaller in one category
        [0.1, 0.3, 0.2, 0.2, 0.1, 0.4],  # exact in both
    ])  # fmt: skip
    own = np.array([True] * 3 + [False] * 3)
    bits = weigh(values, chance, np.full(3, 0.5), own, "low", np.zeros(3, bool))
    assert bits[0] > bits[1] > bits[2]
    assert bits[2] < 3
    more = weigh(
        np.tile(values, 2), chance, np.full(3, 0.5), np.tile(own, 2), "low", np.zeros(3, bool)
    )
    assert more[0] > bits[0]  # twice the pictures say it louder


def test_no_pictures_of_one_category_leave_it_undecided_but_answered(scenes):
    belief = learn(tell(scenes[:4]), [1, 1, 1, 1])
    likely = belief.probability(scenes)
    assert ((likely > 0) & (likely < 1)).all()


# readings ------------------------------------------------------------------------------------


def test_readings_agree_with_the_generator_but_where_sasquatch_is_blind():
    for problem, label in ((1, 1), (5, 1), (20, 1), (4, 1), (11, 1)):
        scene = draw(problem, [label], seed=6)
        truth = scene.parsing(0)
        seen = read(scene.images[0], "corrected")
        assert len(seen.shapes) == len(truth.shapes)
        assert len({s.identity for s in seen.shapes}) == len({s.identity for s in truth.shapes})
        assert any(s.scale < 0 for s in seen.shapes) == (problem == 20)
        assert len(seen.contains) == len(truth.contains)
        assert len(seen.borders) == len(truth.borders)
    mirrored = draw(20, [1], seed=6).images[0]
    assert len({s.identity for s in read(mirrored, "sasquatch").shapes}) == 2
    floats = np.repeat((mirrored / 255).astype(np.float32), 3, axis=2)
    assert read(floats, "sasquatch") == read(mirrored, "sasquatch")


PAPERS = ["synthesis-z3,seconds=2,total=10", "adaboost", "adaboost,on=pixels"]


@pytest.mark.parametrize("spec", PAPERS)
def test_the_papers_subjects_learn_what_is_inside(spec):
    scenes = draw(4, [0, 1] * 20, seed=8)
    taught = 6 if "z3" in spec else 30
    pupil = snellen.subject(spec)
    with pytest.raises(Unable, match="before it was taught"):
        pupil.answer(Sheet(scenes.images[:1], CATEGORIES))
    lesson = Lesson(scenes.images[:taught], scenes.labels[:taught], CATEGORIES, seed=1)
    pupil = pupil.study(lesson)
    answers = pupil.answer(Sheet(scenes.images[30:], CATEGORIES))
    assert (answers.choice == scenes.labels[30:]).mean() >= (0.5 if "pixels" in spec else 0.8)
    if "z3" in spec:
        assert "teleport" in answers.note
        assert "complete" in answers.note or "out of time" in answers.note
