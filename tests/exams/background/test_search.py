"""Which scenes a target is put before, and which it never is."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.errors import BadSetting, Unloadable
from snellen.exams.background.distance import Distances, Scenes
from snellen.exams.background.ontology import Ontology
from snellen.exams.background.relatives import Relatives, load_relatives, same
from snellen.exams.background.search import METHODS, Search, Span, Target, choose
from tests_scenes import HARBOUR, rows_of, shuffled, tagged, world


def searching(tags, *, name="s0007", things=(), count=2, confidence=0.1, **more):
    scenes = Scenes.of(tags, Distances.of(Ontology.of(tags, count, confidence)))
    words = tags.words(name) if name in tags.places else ()
    return Search(scenes, Target(name, words, tuple(things)), **more)


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
    assert not gone & set(search.foremost)
    assert not gone & {new for word in search.foremost for _, new in search.stand_ins(word)}
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


def test_equally_near_scenes_are_spread_by_lot():
    tags = rows_of(*[{"sea"}] * 40, *[{"moon"}] * 40)
    both = [
        choose(searching(tags, name="p000", count=1, seed=seed), 10, "spread") for seed in (0, 1)
    ]
    assert [c.distance for c in both[0]] == [c.distance for c in both[1]] == [0] * 5 + [1] * 5
    assert {c.picture for c in both[0]} != {c.picture for c in both[1]}


def test_closest_are_the_nearest_by_name_if_equal():
    search = searching(world(2))
    made = choose(search, 40, "closest")
    order = sorted(
        (search.away[row], name)
        for row, name in enumerate(search.scenes.pictures)
        if name != "s0007"
    )
    assert [(c.distance, c.picture) for c in made] == order[:40]


@given(st.integers(0, 99), st.integers(1, 90))
@settings(max_examples=30, deadline=None)
def test_spread_takes_the_nearest_left_to_each_goal(seed, count):
    """Against taking them out of a list one by one; of equally near ones the nearer."""
    search = searching(world(seed, 80, 12))
    left = sorted(search.away[search.open])
    goals = np.linspace(left[0], left[-1], min(count, len(left)))
    wanted = []
    for goal in goals:
        wanted.append(min(left, key=lambda away, goal=goal: (abs(away - goal), away)))
        left.remove(wanted[-1])
    assert [choice.distance for choice in choose(search, count, "spread")] == wanted


def test_spread_is_even_over_ranks_or_within_bounds():
    tags = world(3, 2000, 40)
    search = searching(tags)
    away = np.sort(search.away[search.ranked])
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
