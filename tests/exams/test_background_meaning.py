"""Tags, ontology, distance and search of the exam `background`: what scenes mean."""

import json
import math
import string
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from snellen.errors import BadAnswer, BadSetting, UnknownName, Unloadable
from snellen.exams.background.distance import Distances, Scenes
from snellen.exams.background.ontology import (
    Ontology,
    load_ontology,
    strongest_keywords,
    strongest_rules,
    thresholds,
)
from snellen.exams.background.paths import Paths
from snellen.exams.background.relatives import Relatives, load_relatives, same
from snellen.exams.background.search import METHODS, Search, Span, Target, choose
from snellen.exams.background.stuff import STUFF, stuff_tags
from snellen.exams.background.tags import PAPER, Rules, Tags, load_tags, tags_from_answers

WORDS = tuple(string.ascii_lowercase[:8])
tables = st.integers(1, 30).flatmap(lambda n: arrays.arrays(bool, (n, len(WORDS))))


def tagged(present, words=WORDS, names=None, strengths=None):
    present = np.asarray(present, bool)
    return Tags(names or tuple(f"p{i:03}" for i in range(len(present))), words, present, strengths)


def world(seed=0, pictures=300, words=40):
    """Scenes of six kinds, each with keywords of its own and some of its neighbours'."""
    rng = np.random.default_rng(seed)
    chances = rng.random((6, words)) ** 4
    present = rng.random((pictures, words)) < chances[rng.integers(0, 6, pictures)]
    names = tuple(f"s{i:04}" for i in rng.permutation(pictures))
    return tagged(present, tuple(f"k{i:02}" for i in range(words)), names)


def shuffled(tags, seed):
    rng = np.random.default_rng(seed)
    mixed = tags.taken([tags.pictures[i] for i in rng.permutation(len(tags))])
    return mixed.over([tags.keywords[i] for i in rng.permutation(len(tags.keywords))])


def searching(tags, *, name="s0007", things=(), count=2, confidence=0.1, **more):
    scenes = Scenes.of(tags, Distances.of(Ontology.of(tags, count, confidence)))
    words = tags.words(name) if name in tags.places else ()
    return Search(scenes, Target(name, words, tuple(things)), **more)


# Tags


def test_an_object_is_there_above_its_area_and_a_scene_among_the_likeliest():
    area = np.array([[0.1, 0.2, 5.0, 5.1]])
    words = ("a", "b", "c", "d")
    assert PAPER.present("area", area, words).tolist() == [[False, True, True, True]]
    assert Rules().present("area", area, words).tolist() == [[False, False, False, True]]
    own = Rules(area={"a": 0.05})
    assert own.present("area", area, words).tolist() == [[True, False, False, True]]
    chance = np.array([[0.3, 0.05, 0.3, 0.3, 0.02, 0.01, 0.02]])
    seven = tuple("abcdefg")
    assert PAPER.present("probability", chance, seven).nonzero()[1].tolist() == [0, 1, 2, 3, 4]
    assert Rules().present("probability", chance, seven).nonzero()[1].tolist() == [0, 2, 3]
    assert Rules(top=2).present("probability", chance, seven).nonzero()[1].tolist() == [0, 2]


def test_answers_become_tags():
    scores = np.array([[0.6, 0.3, 0.1], [0.05, 0.05, 0.9]])
    tags = tags_from_answers(scores, ("alp", "lake", "barn"), top=2, least={"lake": 0.4})
    assert [tags.words(picture) for picture in tags.pictures] == [("alp",), ("barn",)]
    with pytest.raises(BadAnswer, match="softmax"):
        tags_from_answers(scores * 9, ("alp", "lake", "barn"))
    with pytest.raises(BadAnswer, match="a column for each"):
        tags_from_answers(scores, ("alp", "lake"))
    with pytest.raises(BadAnswer, match="NaN"):
        tags_from_answers(scores * np.nan, ("alp", "lake", "barn"))


def test_csv_of_words(tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("\ufeffpicture,keywords\nb.jpg,sky; sea;\na.jpg,\n", "utf-8")
    tags = load_tags(path)
    assert tags.pictures == ("b.jpg", "a.jpg")
    assert tags.keywords == ("sea", "sky")
    assert tags.words("b.jpg") == ("sea", "sky")
    assert tags.words("a.jpg") == ()


@pytest.mark.parametrize(
    ("rows", "kind", "seen"),
    [
        ("sky,sea\nx,1,0", None, {"sky"}),
        ("sky,sea\nx,.6,.05", None, {"sky"}),
        ("sky,sea\nx,60,3", None, {"sky"}),
        ("sky,sea\nx,1,1", "area", set()),
        ("sky,area:sea,probability:beach\nx,1,4.9,.2", None, {"sky", "beach"}),
        ("sky,area:sky\nx,0,40", None, {"sky (object)"}),
        ("sky,sea\nx,,1", None, {"sea"}),
    ],
)
def test_csv_of_numbers(tmp_path, rows, kind, seen):
    path = tmp_path / "tags.csv"
    path.write_text("picture," + rows)
    assert set(load_tags(path, kind=kind).words("x")) == seen


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "begin with a line"),
        ("picture,keywords\n", "a line for each picture"),
        ("picture,sky,sea\nx,1\n", "line 2 has 2 cells, and the first 3"),
        ("picture,sky\nx,1\ny,many\n", "line 3, column 'sky': 'many' is not a number"),
        ("picture,sky\nx,nan\n", "runs from 0 to"),
        ("picture,sky\nx,-1\n", "runs from 0 to"),
        ("picture,sky\nx,300\n", "runs from 0 to 100"),
        ("picture,sky\nx,1\nx,0\n", "'x' is listed more than once"),
        ("picture,sky,sky\nx,1,0\n", "'sky' is listed more than once"),
        ("picture,presence:sky\nx,.5\n", "0 or 1, and nothing between"),
        ("picture,sky\n,1\n", "has no name"),
    ],
)
def test_a_csv_that_makes_no_sense_is_refused_with_the_reason(tmp_path, text, told):
    path = tmp_path / "tags.csv"
    path.write_text(text)
    with pytest.raises(Unloadable, match=told):
        load_tags(path)


def test_npz_of_areas_and_probabilities(tmp_path):
    path = tmp_path / "tags.npz"
    np.savez(
        path,
        area_percent=np.array([[46.3, 0, 6], [0, 30, 0]], np.float16),
        object_names=np.array(["wall", "bridge", "wall"]),
        scene_probability=np.array([[0.9, 0.1], [0.05, 0.95]], np.float16),
        scene_names=np.array(["beach", "bridge"]),
        label=np.array([6, 1]),
    )
    tags = load_tags(path)
    assert tags.pictures == ("0", "1")
    assert tags.words("0") == ("beach", "wall", "wall (2)")
    assert tags.words("1") == ("bridge (scene)", "bridge")
    assert len(load_tags(path, PAPER).words("1")) == 3


def test_npz_files_that_make_no_sense_are_refused(tmp_path):
    path = tmp_path / "tags.npz"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(Unloadable, match=r"cannot be read|make no sense"):
        load_tags(path)
    path.write_bytes(b"")
    with pytest.raises(Unloadable):
        load_tags(path)
    np.savez(path, pictures=np.array(["a"]))
    with pytest.raises(Unloadable, match="it should hold presence and keywords"):
        load_tags(path)
    np.savez(path, presence=np.ones((2, 3), bool), keywords=np.array(["a", "b"]))
    with pytest.raises(Unloadable, match=r"2 words came with presence of shape \(2, 3\)"):
        load_tags(path)
    np.savez(path, presence=np.ones((2, 1), bool), keywords=np.array([{}], object))
    with pytest.raises(Unloadable):
        load_tags(path)
    with pytest.raises(Unloadable, match="No such file"):
        load_tags(tmp_path / "none.csv")
    with pytest.raises(Unloadable, match="No such file"):
        load_tags(tmp_path / "none.npz")


@given(tables)
@settings(max_examples=20)
def test_tags_are_saved_and_read_back(tmp_path_factory, present):
    place = tmp_path_factory.mktemp("tags")
    strengths = np.where(present, 0.75, 0.25).astype(np.float32)
    for tags in (tagged(present), tagged(present, strengths=strengths)):
        read = load_tags(tags.saved(place / "tags.npz"))
        assert (read.pictures, read.keywords) == (tags.pictures, tags.keywords)
        assert (read.present == present).all()
        assert (read.strengths is None) == (tags.strengths is None)
        assert read.strengths is None or (read.strengths == strengths).all()
    listed = load_tags(tagged(present).saved(place / "tags.csv"))
    assert [listed.words(p) for p in listed.pictures] == [tags.words(p) for p in tags.pictures]
    with pytest.raises(BadSetting, match=r"as \.npz or \.csv"):
        tags.saved(place / "tags.json")


def test_tags_of_the_same_pictures_are_joined_whatever_their_order():
    one = tagged([[1, 0], [0, 1]], ("sky", "sea"), ("a", "b"))
    strong = np.array([[0.25, 0.5], [0.0, 0.125]], np.float32)
    two = tagged([[1, 0], [0, 1]], ("sea", "dark"), ("b", "a"), strong)
    both = one.joined(two)
    assert both.pictures == ("a", "b")
    assert both.keywords == ("sky", "sea", "dark")
    assert both.present.tolist() == [[True, False, True], [False, True, False]]
    assert both.strengths.tolist() == [[1, 0, 0.125], [0, 1, 0.5]]
    assert both.words("a") == ("sky", "dark")
    with pytest.raises(ValueError, match=r"'b' .of 1 such. is in one of the two only"):
        one.joined(two.taken(["a"]))
    with pytest.raises(UnknownName, match="no tags are known of picture 'z'"):
        one.words("z")


# Stuff


def painted(upper, lower, side=96):
    picture = np.empty((1, side, side, 3), np.uint8)
    picture[:, : side // 2], picture[:, side // 2 :] = upper, lower
    return picture


@pytest.mark.parametrize(
    ("upper", "lower", "seen"),
    [
        ((90, 150, 250), (240, 225, 170), {"blue above", "sandy below", "horizon", "plain"}),
        ((90, 150, 250), (60, 140, 40), {"blue above", "green below", "horizon", "plain"}),
        ((240, 240, 240), (40, 90, 200), {"white above", "blue below", "horizon", "plain"}),
        ((8, 8, 12), (10, 9, 8), {"dark", "dark above", "plain"}),
        ((120, 120, 120), (120, 120, 120), {"grey below", "plain"}),
    ],
)
@pytest.mark.parametrize("side", [32, 96, 225])
def test_flat_scenes_are_seen_for_what_they_are(upper, lower, seen, side):
    picture = painted(upper, lower, side)
    assert {w for w in stuff_tags(picture).words("0") if w != "colourful"} - {"bright"} == seen
    floats = (picture / 255).astype(np.float32)
    assert stuff_tags(floats).words("0") == stuff_tags(picture).words("0")


def test_bricks_checks_and_bars_are_seen():
    rng = np.random.default_rng(0)
    clutter = rng.integers(0, 256, (1, 48, 48, 3)).astype(np.uint8)
    assert "clutter" in stuff_tags(clutter).words("0")
    bars = np.zeros((1, 96, 96, 1), np.uint8)
    bars[:, :, np.arange(96) // 6 % 2 == 0] = 255
    assert "upright lines" in stuff_tags(bars).words("0")
    assert "upright lines" not in stuff_tags(bars.swapaxes(1, 2)).words("0")
    bricks = np.full((1, 96, 96, 3), (170, 70, 50), np.uint8)
    bricks[:, np.arange(96) % 12 < 2] = 220
    assert "warm texture" in stuff_tags(bricks).words("0")
    assert "warm texture" not in stuff_tags(np.full_like(bricks, (170, 70, 50))).words("0")


def test_every_rule_about_stuff_can_hold_and_a_picture_is_judged_by_itself():
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (70, 24, 30, 3)).astype(np.uint8)
    images[::2] //= 6
    together = stuff_tags(images)
    assert together.keywords == tuple(STUFF)
    assert ((together.strengths >= 0) & (together.strengths <= 1)).all()
    alone = [stuff_tags(images[i : i + 1]).strengths[0] for i in range(70)]
    assert (together.strengths == alone).all()
    assert len(stuff_tags(images[:0])) == 0


# Paths


def test_the_papers_path_of_nine_eight_seven():
    weights = np.zeros((4, 4))
    weights[[0, 1, 2], [1, 2, 3]] = 0.9, 0.8, 0.7
    paths = Paths(weights)
    assert paths.products[0, 3] == pytest.approx(0.504)
    assert paths.penalised()[0, 3] == pytest.approx(0.4)
    assert paths.penalised(2)[0, 3] == pytest.approx(0.9 - 0.2**2 - 0.3**2)
    assert paths.penalised((1, 2))[0, 3] == pytest.approx(0.9 - 0.2 - 0.3**2)
    assert paths.penalised()[0].tolist()[:2] == [1, 0.9]
    assert paths.penalised()[3, 0] == 0
    with pytest.raises(ValueError, match="at least 1"):
        paths.penalised(0.5)


weighted = arrays.arrays(
    float, (5, 5), elements=st.sampled_from([0, 0, 0, 0.25, 0.5, 0.75, 0.9, 1.0])
)


@given(weighted)
@settings(max_examples=40)
def test_ways_are_the_best_of_all_ways(weights):
    """Against every simple path there is."""
    np.fill_diagonal(weights, 0)
    paths = Paths(weights)
    ways = [
        (start, *middle, end)
        for start in range(5)
        for end in range(5)
        if start != end
        for size in range(4)
        for chosen in combinations([k for k in range(5) if k not in (start, end)], size)
        for middle in ([chosen] if size < 2 else _orders(chosen))
    ]
    for start in range(5):
        for end in range(5):
            if start == end:
                assert (paths.products[start, end], paths.hops[start, end]) == (1, 0)
                continue
            own = [w for w in ways if w[0] == start and w[-1] == end and _product(weights, w) > 0]
            best = max((_product(weights, w) for w in own), default=0)
            assert paths.products[start, end] == pytest.approx(best)
            assert paths.hops[start, end] == min((len(w) - 1 for w in own), default=math.inf)
            taken = paths.along(start, end)
            assert bool(taken) == bool(own)
            if taken:
                assert _product(weights, taken) == pytest.approx(best)
                equal = [w for w in own if _product(weights, w) > best - 1e-12]
                assert len(taken) == min(map(len, equal))
                steps = [weights[a, b] for a, b in pairwise(taken)]
                penalised = max(0, steps[0] - sum(1 - w for w in steps[1:]))
                assert paths.penalised()[start, end] == pytest.approx(penalised)


def _orders(chosen):
    from itertools import permutations

    return list(permutations(chosen))


def _product(weights, way):
    return math.prod(weights[a, b] for a, b in pairwise(way))


# Ontology


@given(tables)
@settings(max_examples=40)
def test_pairs_are_counted_exactly(present):
    tags = tagged(present)
    ontology = Ontology.of(tags, 1, 0.0)
    used = [word for column, word in enumerate(WORDS) if present[:, column].any()]
    assert list(ontology.keywords) == used
    stricter = Ontology.of(tags, 2, 0.4)
    rows = [set(tags.words(picture)) for picture in tags.pictures]
    for a in used:
        for b in used:
            both = sum({a, b} <= row for row in rows)
            own = sum(a in row for row in rows)
            assert ontology.pairs[ontology.places[a], ontology.places[b]] == both
            assert ontology.support(a, b) == both / len(rows)
            assert ontology.confidence(a, b) == both / own
            kept = stricter.weights[ontology.places[a], ontology.places[b]]
            assert kept == (both / own if a != b and both >= 2 and both / own >= 0.4 else 0)


@pytest.mark.parametrize("seed", range(3))
def test_rules_are_those_of_fp_growth(seed):
    pd = pytest.importorskip("pandas")
    frequent = pytest.importorskip("mlxtend.frequent_patterns")
    tags = world(seed, 120, 15)
    table = pd.DataFrame(tags.present, columns=list(tags.keywords))
    found = frequent.fpgrowth(table, min_support=5 / 120, use_colnames=True, max_len=2)
    rules = frequent.association_rules(found, metric="confidence", min_threshold=0.3)
    theirs = {
        (*row.antecedents, *row.consequents): (round(row.support * 120), row.confidence)
        for row in rules.itertuples()
    }
    ontology = Ontology.of(tags, 5, 0.3)
    ours = {
        (ontology.keywords[a], ontology.keywords[b]): (
            ontology.pairs[a, b],
            pytest.approx(ontology.weights[a, b], abs=1e-12),
        )
        for a, b in zip(*np.nonzero(ontology.weights), strict=True)
    }
    assert len(ours) > 10
    assert theirs == ours


@given(tables, st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.5]), st.sets(st.sampled_from(WORDS)))
def test_expansions_only_grow_and_follow_arrows(present, count, confidence, start):
    ontology = Ontology.of(tagged(present), count, confidence)
    levels = ontology.expansions(start)
    assert len(levels) == 6
    assert levels[0] == start
    for before, after in pairwise(levels):
        assert before <= after
        links = {
            b
            for a in before & set(ontology.keywords)
            for b in ontology.keywords
            if ontology.weights[ontology.places[a], ontology.places[b]] > 0
        }
        assert after == before | links
    tags = tagged(present)
    sizes = ontology.sizes(tags)
    for row, picture in enumerate(tags.pictures):
        assert sizes[row].tolist() == [len(o) for o in ontology.expansions(tags.words(picture))]
    stricter = ontology.at(count + 1, confidence).expansions(start)
    assert all(few <= many for few, many in zip(stricter, levels, strict=True))


def test_thresholds_keep_expansion_in_levels():
    tags = world(0, 600, 80)
    found = thresholds(Ontology.of(tags, 1, 0), tags)
    ontology = Ontology.of(tags)
    assert (ontology.least_count, ontology.least_confidence) == (found.count, found.confidence)
    by_name = tags.taken(sorted(tags.pictures)[::2])  # no more than 500 are looked at
    assert found.sizes == tuple(ontology.sizes(by_name).mean(axis=0))
    loose = thresholds(Ontology.of(tags, 1, 0), tags, 1, 0.0)
    assert loose.levels < found.levels
    assert str(found.count) in str(found)
    assert thresholds(ontology, shuffled(tags, 3)) == thresholds(ontology, tags)
    assert Ontology.of(tags, 7).least_count == 7
    assert Ontology.of(tags, None, 0.25).least_confidence == 0.25
    even = type(found)(1, 0.1, (1, 2, 3, 4, 5, 6))
    assert even.levels == pytest.approx(5)
    assert type(found)(1, 0.1, (1, 6, 6, 6, 6, 6)).levels == pytest.approx(1)
    assert type(found)(1, 0.1, (6,) * 6).levels == 0


def test_an_ontology_says_how_one_keyword_leads_to_another():
    tags = tagged(
        [[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]],
        ("sea", "sky", "tree", "sofa"),
    )
    ontology = Ontology.of(tags, 1, 0.3)
    told = ontology.explain("sea", "tree")
    assert told.startswith("sea → sky → tree (0.5)")
    assert "sky in 100 % of 2 pictures with sea" in told
    assert "sofa does not lead to sea: they share 0 of 1" in ontology.explain("sofa", "sea")
    assert ontology.explain("sea", "sea") == "sea is sea"
    assert ontology.associates(["sea"]) == ["sky"]
    assert ontology.associates(["sky"]) == ["sea", "tree"]
    assert ontology.associates(["sky"], without={"sea"}) == ["tree"]
    with pytest.raises(UnknownName, match="'sofa'"):
        ontology.explain("sofas", "sea")
    with pytest.raises(BadSetting, match="least confidence"):
        Ontology.of(tags, 1, 2.0)


def test_an_ontology_is_saved_and_read_back(tmp_path):
    ontology = Ontology.of(world())
    read = load_ontology(ontology.saved(tmp_path / "ontology.npz"))
    assert (read.keywords, read.pictures) == (ontology.keywords, ontology.pictures)
    assert (read.weights == ontology.weights).all()
    assert (tmp_path / "ontology.npz").read_bytes() == read.saved(tmp_path / "b.npz").read_bytes()
    with pytest.raises(BadSetting, match=r"as \.npz"):
        ontology.saved(tmp_path / "ontology.pickle")


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pop("pairs"),
        lambda a: a["pairs"].__setitem__((0, 1), 10_000),
        lambda a: a.__setitem__("keywords", a["keywords"][::-1]),
        lambda a: a.__setitem__("pairs", a["pairs"].astype(float)),
        lambda a: a.__setitem__("pictures", np.int64(1)),
    ],
)
def test_an_ontology_that_makes_no_sense_is_refused(tmp_path, change):
    path = Ontology.of(world()).saved(tmp_path / "ontology.npz")
    with np.load(path) as file:
        held = dict(file)
    change(held)
    np.savez(path, **held)
    with pytest.raises(Unloadable, match="cannot be read as an ontology"):
        load_ontology(path)


def test_an_ontology_can_be_drawn():
    ontology = Ontology.of(world())
    matrix = strongest_keywords(ontology, 6)
    assert len(matrix.rows()) == 30
    top = max(ontology.keywords, key=lambda k: (ontology.support(k), k))
    assert ontology.support(matrix.row_names[0]) == ontology.support(top)
    cell = next(r for r in matrix.rows() if r["row"] != r["column"])
    assert cell["value"] == ontology.confidence(cell["row"], cell["column"])
    rules = strongest_rules(ontology, 5).rows()
    assert len(rules) == 5
    lows = [row["confidence low"] for row in rules]
    assert lows == sorted(lows, reverse=True)
    for row in rules:
        sure = ontology.confidence(row["scenes with"], row["have"])
        assert row["confidence"] == sure
        assert row["lift"] == round(sure / ontology.support(row["have"]), 2)


# Distance


@given(
    tables,
    st.sampled_from(["product", "penalty", "hops"]),
    st.sampled_from(["mean", "max", "l2"]),
)
@settings(max_examples=50)
def test_distances_are_as_defined(present, length, pooling):
    tags = tagged(present)
    ontology = Ontology.of(tags, 1, 0.3)
    distances = Distances.of(ontology, length)
    scenes = Scenes.of(tags, distances)
    for target in tags.pictures[:4]:
        here = tags.words(target)
        away = scenes.away(here, pooling)
        assert away[scenes.rows[target]] == 0
        assert ((away >= 0) & (away <= 1)).all()
        for picture in tags.pictures[:6]:
            there = tags.words(picture)
            near = [min((_apart(distances, length, a, b) for a in here), default=1) for b in there]
            pooled = {
                "mean": lambda v: sum(v) / len(v),
                "max": max,
                "l2": lambda v: math.sqrt(sum(x * x for x in v) / len(v)),
            }[pooling]
            expected = pooled(near) if near else float(bool(here))
            assert away[scenes.rows[picture]] == pytest.approx(expected)
            assert distances.apart(here, there, pooling) == pytest.approx(expected)


def _apart(distances, length, a, b):
    """Recount the distance between two keywords along its way."""
    ontology = distances.ontology
    if a == b:
        return 0
    way = ontology.paths.along(ontology.places[a], ontology.places[b])
    if not way:
        return 1
    steps = [ontology.weights[u, v] for u, v in pairwise(way)]
    if length == "hops":
        size = _fewest(ontology.weights > 0, way[0], way[-1])
    elif length == "product":
        size = -math.log(math.prod(steps))
    else:
        size = 1 - max(0, steps[0] - sum(1 - w for w in steps[1:]))
    return min(size, distances.cap) / distances.cap


def _fewest(links, start, end):
    reached, hops = {start}, 0
    while end not in reached:
        reached |= {b for a in reached for b in np.flatnonzero(links[a])}
        hops += 1
    return hops


def test_distance_is_directed():
    present = [[1, 1]] * 2 + [[0, 1]] * 8
    tags = tagged(present, ("beach", "sky"))
    distances = Distances.of(Ontology.of(tags, 1, 0.1))
    assert distances.apart(["beach"], ["sky"]) == 0  # every beach has a sky
    assert distances.apart(["sky"], ["beach"]) == 1  # few skies have a beach: the longest way
    assert distances.cap == pytest.approx(-math.log(0.2))
    assert distances.apart(["sky"], ["beach", "sky"]) == 0.5
    assert distances.apart(["beach", "sky"], ["sky"]) == 0
    assert distances.apart(["sky"], ["beach", "sky"], "max") == 1
    assert distances.apart(["sky"], ["beach", "sky"], "l2") == pytest.approx(math.sqrt(0.5))
    assert Distances.of(distances.ontology, cap=10).apart(["sky"], ["beach"]) == pytest.approx(
        -math.log(0.2) / 10
    )
    assert Distances.of(distances.ontology, "hops").apart(["sky"], ["beach"]) == 1
    with pytest.raises(BadSetting, match="above 0"):
        Distances.of(distances.ontology, cap=0)
    with pytest.raises(BadSetting, match="product, penalty, hops"):
        Distances.of(distances.ontology, "miles")


def test_what_an_ontology_does_not_know_is_as_far_as_can_be():
    distances = Distances.of(Ontology.of(tagged([[1, 1]], ("sea", "sky")), 1, 0.1))
    assert distances.apart(["sea"], ["moon"]) == 1
    assert distances.apart(["moon"], ["sea"]) == 1
    assert distances.apart(["moon"], ["moon"]) == 0
    assert distances.apart([], ["sea"]) == 1
    assert distances.apart(["sea"], []) == 1
    assert distances.apart([], []) == 0
    scenes = Scenes.of(tagged([[1, 1], [0, 0]], ("sea", "moon"), ("a", "b")), distances)
    assert scenes.away(["sea"]).tolist() == [0.5, 1]
    assert scenes.words(0) == ("moon", "sea")


def test_keywords_may_weigh_by_rarity_or_strength():
    present = [[1, 1], [0, 1], [0, 1]]
    strong = np.array([[0.75, 0.25], [0, 1], [0, 1]], np.float32)
    tags = tagged(present, ("moon", "sky"), ("a", "b", "c"), strong)
    distances = Distances.of(Ontology.of(tags.taken(["b", "c"]), 1, 0.1))
    assert Scenes.of(tags, distances).away(["sky"])[0] == 0.5
    assert Scenes.of(tags, distances, "strength").away(["sky"])[0] == pytest.approx(0.75)
    rarity = math.log(4), math.log(4 / 3)
    weighed = Scenes.of(tags, distances, "rarity").away(["sky"])[0]
    assert weighed == pytest.approx(rarity[0] / sum(rarity))
    with pytest.raises(BadSetting, match="only what is present"):
        Scenes.of(tagged(present, ("moon", "sky")), distances, "strength")
    with pytest.raises(BadSetting, match="even, rarity, strength"):
        Scenes.of(tags, distances, "odd")
    with pytest.raises(BadSetting, match="mean, max, l2"):
        Scenes.of(tags, distances).away(["sky"], "min")


# Search


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 50), count=st.integers(1, 60), mixed=st.integers(0, 9))
@settings(max_examples=12, deadline=None)
def test_the_order_of_a_database_changes_nothing(method, seed, count, mixed):
    tags = world(seed, 80, 20)
    made = choose(searching(tags, seed=5), count, method)
    assert choose(searching(tags, seed=5), count, method) == made
    assert choose(searching(shuffled(tags, mixed), seed=5), count, method) == made
    pictures = [choice.picture for choice in made]
    assert len(set(pictures)) == len(pictures) == count
    assert "s0007" not in pictures
    away = Distances.of(Ontology.of(tags, 2, 0.1))
    for choice in made[:3]:
        apart = away.apart(tags.words("s0007"), tags.words(choice.picture))
        assert choice.distance == pytest.approx(apart)


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 30), st.sets(st.sampled_from(["k03", "thing", "k1"]), min_size=1))
@settings(max_examples=10, deadline=None)
def test_no_chosen_scene_shows_the_thing_its_synonyms_or_kinds(method, seed, things):
    relatives = Relatives({"thing": ("k05", "item"), "item": ("k06",), "k1": ("k11s",)})
    tags = world(seed, 80, 20)
    search = searching(tags, things=things, relatives=relatives)
    gone = {"k03"} & things | ({"k05", "k06"} if "thing" in things else set())
    gone |= {"k11"} if "k1" in things else set()
    assert search.barred == gone
    made = choose(search, 500, method)
    free = [p for p in tags.pictures if p != "s0007" and not gone & set(tags.words(p))]
    assert {choice.picture for choice in made} == set(free)


def test_a_seed_decides_lots_and_only_lots():
    tags = world(4, 200, 20)
    names = {
        (method, seed): [c.picture for c in choose(searching(tags, seed=seed), 20, method)]
        for method in METHODS
        for seed in (0, 1)
    }
    assert names["random", 0] != names["random", 1]
    assert names["closest", 0] == names["closest", 1]
    assert names["subsets", 0] == names["subsets", 1]
    other = searching(tags, name="s0009")
    assert [c.picture for c in choose(other, 20, "random")] != names["random", 0]


def test_closest_are_the_nearest_by_name_if_equal():
    search = searching(world(2))
    made = choose(search, 40, "closest")
    order = sorted(
        (search.away[row], name)
        for row, name in enumerate(search.scenes.pictures)
        if name != "s0007"
    )
    assert [(c.distance, c.picture) for c in made] == order[:40]


def test_spread_is_even_over_distance_or_over_ranks():
    tags = world(3, 2000, 40)
    made = choose(searching(tags), 21, "spread")
    search = searching(tags)
    away = np.sort(search.away[search.ranked])
    assert (made[0].distance, made[-1].distance) == (away[0], away[-1])
    goals = np.linspace(away[0], away[-1], 21)
    far = [np.abs(away - goal).min() for goal in goals]
    assert [abs(c.distance - g) for c, g in zip(made, goals, strict=True)] == pytest.approx(
        far, abs=0.02
    )
    ranks = choose(searching(tags, span=Span("quantile")), 21, "spread")
    expected = away[np.rint(np.linspace(0, len(away) - 1, 21)).astype(int)]
    assert [c.distance for c in ranks] == expected.tolist()
    within = choose(searching(tags, span=Span(least=0.2, most=0.3)), 21, "spread")
    assert len(within) == 21
    assert all(0.2 <= c.distance <= 0.3 for c in within)
    assert choose(searching(tags, span=Span(least=1, most=1)), 3, "spread") == [
        c for c in within if c.distance == 1
    ]
    with pytest.raises(BadSetting, match="spread evenly by distance or quantile"):
        Span(least=0.5, most=0.4)


def test_subsets_go_from_all_five_keywords_down_to_one():
    """With a scene for every subset, each is found and said, the nearest of them first."""
    five = tuple("abcde")
    every = [set(c) for size in range(5, 0, -1) for c in combinations(five, size)]
    present = [[w in row for w in five] for row in every] + [[True] * 5]
    names = (*(f"n{i:02}" for i in range(31)), "target")
    tags = tagged(present, five, names)
    made = choose(searching(tags, name="target", count=1, confidence=0.0), 31)
    assert [choice.picture for choice in made] == list(names[:31])
    assert made[0].why == "has a + b + c + d + e"
    assert made[-1].why == "has e"


def rows_of(*rows, names=None):
    words = tuple(sorted(set().union(*rows)))
    return tagged([[word in row for word in words] for row in rows], words, names)


HARBOUR = rows_of({"pier", "sea"}, {"pier", "sea"}, {"boat", "pier"}, {"rope"}, {"mast"}, {"net"})
MOORED = Target("x", ("boat", "pier", "rope", "mast", "net"))


def test_empty_subsets_are_mended_by_an_associate():
    distances = Distances.of(Ontology.of(HARBOUR, 1, 0.1))
    scenes = Scenes.of(rows_of({"boat", "sea"}, {"boat"}, {"sea"}, names=tuple("abc")), distances)
    search = Search(scenes, MOORED)
    assert search.foremost == MOORED.words
    assert [word for _, word in search.stand_ins("pier")] == ["sea"]
    assert search.stand_ins("boat") == []  # a pier is foremost itself
    whys = {choice.picture: choice.why for choice in choose(search, 3)}
    assert whys == {
        "a": "has boat + sea (sea for pier)",
        "b": "has boat",
        "c": "has sea (sea for pier)",
    }


def test_rare_subsets_are_mended_if_they_can_be():
    distances = Distances.of(Ontology.of(HARBOUR, 2, 0.1))
    two = {"boat", "pier"}
    mendable = rows_of(two, {"boat", "sea"}, {"moon"}, {"moon"}, names=tuple("abcd"))
    first, second, *_ = choose(Search(Scenes.of(mendable, distances), MOORED), 4)
    assert (first.picture, first.why) == ("b", "has boat + sea (sea for pier)")
    assert second.picture == "a"
    alone = rows_of(two, {"moon"}, {"moon"}, {"moon"}, names=tuple("abcd"))
    first, second, *_ = choose(Search(Scenes.of(alone, distances), MOORED), 4)
    assert (first.picture, first.why) == ("a", "has boat + pier, as few do")
    assert second.why.startswith("the nearest left")


def test_a_target_without_keywords_is_served_too():
    tags = world()
    search = searching(tags, name="nobody")
    assert search.foremost == ()
    made = choose(search, 300)
    assert len({choice.picture for choice in made}) == 300
    assert all(choice.why.startswith("the nearest left") for choice in made)
    empty = {p for p in tags.pictures if not tags.words(p)}
    assert {c.picture for c in made if c.distance == 0} == empty
    assert len(choose(search, 400)) == 300


def test_wrong_questions_are_refused():
    search = searching(world())
    with pytest.raises(BadSetting, match="subsets, spread, random, closest"):
        choose(search, 3, "nearest")
    with pytest.raises(BadSetting, match="at least one"):
        choose(search, 0)
    assert len(choose(searching(world(), without=world().pictures), 3)) == 0


# Relatives


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("dog", "dogs"),
        ("bus", "buses"),
        ("horse", "horses"),
        ("fish", "fishes"),
        ("berry", "berries"),
        ("shelf", "shelves"),
        ("knife", "knives"),
        ("goose", "Geese"),
        ("traffic_light", "traffic lights"),
        ("glass", "glasses"),
    ],
)
def test_number_and_spelling_make_no_other_word(one, many):
    assert same(one, many)
    assert same(many, one)
    assert not same(one, "tree")
    assert not same(one, one + "er")


def test_a_word_is_barred_by_its_last_part_but_not_by_its_first():
    bare = Relatives()
    assert bare.barred(["fish"], ["gold_fish", "fish tank", "starfish"]) == {"gold_fish"}
    assert bare.barred(["bridge"], ["bridge (scene)", "bridges"]) == {"bridge (scene)", "bridges"}
    assert bare.barred(["field"], ["field/wild", "wheat_field"]) == {"field/wild", "wheat_field"}
    assert bare.barred(["door"], ["elevator/door"]) == {"elevator/door"}
    assert bare.barred([], ["fish"]) == set()


def test_relatives_are_read_from_json_and_csv(tmp_path):
    (tmp_path / "kin.json").write_text(json.dumps({"fish": ["trout"], "trout": ["char"]}))
    (tmp_path / "kin.csv").write_text("fish,trout; tench\n\ntrout,char\n")
    for name in ("kin.json", "kin.csv"):
        kin = load_relatives(tmp_path / name)
        assert kin.barred(["fishes"], ["chars", "Trout", "sea"]) == {"chars", "Trout"}
        assert kin.barred(["trout"], ["fish", "char"]) == {"char"}
    for name, text in [
        ("bad.json", "{"),
        ("bad.json", '["fish"]'),
        ("bad.json", '{"fish": "trout"}'),
        ("bad.csv", "fish\n"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(Unloadable, match="synonyms and hyponyms cannot be read"):
            load_relatives(tmp_path / name)
    with pytest.raises(Unloadable, match="No such file"):
        load_relatives(tmp_path / "none.json")
