"""What goes together, what leads to what, and how far that is."""

import math
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from snellen.errors import BadSetting, UnknownName, Unloadable
from snellen.exams.background.distance import Distances, Scenes
from snellen.exams.background.ontology import (
    CONFIDENCES,
    SUPPORTS,
    Ontology,
    Thresholds,
    load_ontology,
    strongest_keywords,
    strongest_rules,
    thresholds,
)
from snellen.exams.background.paths import Paths
from tests_scenes import HARBOUR, WORDS, coast, presences, shuffled, tagged, world


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


def test_a_longer_way_is_taken_if_it_is_stronger_by_a_hair():
    weights = np.zeros((3, 3))
    weights[[0, 1, 0], [1, 2, 2]] = 0.95, 0.95, 0.902
    assert Paths(weights).along(0, 2) == [0, 1, 2]
    weights[0, 2] = 0.903
    assert Paths(weights).along(0, 2) == [0, 2]


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
        for middle in permutations(chosen)
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


def _product(weights, way):
    return math.prod(weights[a, b] for a, b in pairwise(way))


@given(presences)
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


@given(
    presences, st.integers(1, 4), st.sampled_from([0.0, 0.2, 0.5]), st.sets(st.sampled_from(WORDS))
)
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


def test_thresholds_are_the_lowest_that_keep_expansion_in_levels():
    tags = coast()
    ontology = Ontology.of(tags, 1, 0)
    tried = {
        (count, confidence): thresholds(ontology, tags, count, confidence)
        for count in {max(2, math.ceil(share * 400)) for share in SUPPORTS}
        for confidence in CONFIDENCES
    }
    for (count, confidence), each in tried.items():
        sizes = ontology.at(count, confidence).sizes(tags)
        assert each.sizes == pytest.approx(sizes.mean(axis=0))
    enough = [each for each in tried.values() if each.levels >= 4]
    assert max(tried.values(), key=lambda each: each.sizes[-1]) not in enough
    found = thresholds(ontology, tags)
    assert found in enough
    assert found.sizes[-1] == max(each.sizes[-1] for each in enough)
    made = Ontology.of(tags)
    assert (made.least_count, made.least_confidence) == (found.count, found.confidence)
    assert thresholds(ontology, shuffled(tags, 3)) == found
    assert Ontology.of(tags, 7).least_count == 7
    assert Ontology.of(tags, None, 0.25).least_confidence == 0.25


def test_thresholds_of_tags_without_levels_are_those_with_most():
    flat = thresholds(Ontology.of(HARBOUR, 1, 0), HARBOUR)
    assert flat.levels < 4
    assert flat.levels == max(
        thresholds(Ontology.of(HARBOUR, 1, 0), HARBOUR, 2, confidence).levels
        for confidence in CONFIDENCES
    )
    assert len(Ontology.of(tagged(np.zeros((3, 8)))).keywords) == 0
    assert len(Ontology.of(tagged(np.zeros((0, 8)))).keywords) == 0


def test_levels_are_the_effective_number_of_expansions():
    assert Thresholds(1, 0.1, (1, 2, 3, 4, 5, 6)).levels == pytest.approx(5)
    assert Thresholds(1, 0.1, (1, 6, 6, 6, 6, 6)).levels == pytest.approx(1)
    assert Thresholds(1, 0.1, (6,) * 6).levels == 0
    told = str(Thresholds(6, 0.15, (10, 37, 65, 93, 113, 129)))
    assert "share 6 pictures or more, at a confidence of 0.15 or more" in told
    assert "10 37 65 93 113 129 (4.9 levels" in told


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
    with pytest.raises(BadSetting, match="least count is 1 or more"):
        Ontology.of(tags, 0)


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


@given(
    presences,
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
