"""From the models of runs to an assessor: levels by people and by gaps, the table, the card."""

import json
import runpy
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from snellen.cli import _Desk
from snellen.errors import BadSetting, LogError, Unable, Unloadable
from snellen.exams.background import agreement
from snellen.exams.background.annotations import (
    Annotation,
    Annotations,
    coder_called,
    ratings,
    read,
)
from snellen.exams.background.assessor import LEVELS, Assessor
from snellen.exams.background.card import card
from snellen.exams.background.coders import (
    Gaps,
    expected_kappa,
    expected_majority,
    noise_for,
    simulated,
)
from snellen.exams.background.models import judgeable, models
from snellen.exams.background.results import judged
from snellen.exams.background.training import (
    PAINTED,
    Table,
    background_assessor,
    evaluated,
    rated_by_gap,
    rated_by_people,
    trained,
)
from tests_repository import EXAM, painted, photographed, run_of

ROOT = Path(__file__).parents[3]
CUTS = Gaps(0.1, 0.3)
LEANS = (0.0, 0.05, 0.1, 0.4, 0.45, 0.5, 0.85, 0.9, 0.95)


def command(*arguments):
    return CliRunner().invoke(background_assessor, [str(a) for a in arguments], obj=_Desk())


def some_table(count=30, seed=0):
    """Features that tell the levels, and a worst-case accuracy that tells little."""
    rng = np.random.default_rng(seed)
    levels = np.arange(count) % 3
    rows = np.column_stack([levels + rng.normal(0, 0.1, count), rng.random(count)])
    names = tuple(f"model {i}" for i in range(count))
    counts = {name: int(np.sum(levels == i)) for i, name in enumerate(LEVELS)}
    about = {"count": count, "world": PAINTED, "subjects": ["net"], "lessons": ["plain"],
             "correlations": [0.5], "settings": [{"count": 6}],
             "targets": [5, 7, 9], "measured": {"kernel": "wide"}}  # fmt: skip
    said = {
        "models": about,
        "left out": {"weak": "too few"},
        "levels": {"by": "decree", "counts": counts},
    }
    return Table(("CONF true mean", "CONF max mean"), rows, np.stack([levels] * 3, axis=1), levels,
                 rng.random(count), names, said)  # fmt: skip


# Simulated coders


def test_levels_of_gaps_are_cut_where_it_says():
    assert CUTS.levels([-0.2, 0.0999, 0.1, 0.2999, 0.3, 1]).tolist() == [2, 2, 1, 1, 0, 0]
    with pytest.raises(BadSetting, match="not above"):
        Gaps(0.3, 0.1)


@given(st.lists(st.floats(-0.5, 1), min_size=2, max_size=20), st.floats(0.001, 3))
def test_chances_are_what_counting_noisy_views_would_find(gaps, noise):
    found = CUTS.chances(gaps, noise)
    assert found.sum(axis=1) == pytest.approx(1)
    above = stats.norm(np.array(gaps), noise)
    assert found[:, 0] == pytest.approx(above.sf(0.3), abs=1e-9)
    assert found[:, 2] == pytest.approx(above.cdf(0.1), abs=1e-9)
    assert np.array_equal(CUTS.chances(gaps, 0).argmax(axis=1), CUTS.levels(gaps))


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
def test_coders_agree_as_well_as_they_are_expected_to(weights):
    gaps = np.linspace(-0.05, 0.6, 3000)
    keys = [str(i) for i in range(len(gaps))]
    said = simulated(gaps, keys, CUTS, 0.12)
    expected = expected_kappa(CUTS.chances(gaps, 0.12), weights)
    found = [
        float(agreement.cohen(said[:, pair], weights=weights)) for pair in ([0, 1], [0, 2], [1, 2])
    ]
    assert found == pytest.approx([expected] * 3, abs=0.04)
    if weights == "none":
        assert float(agreement.fleiss(said)) == pytest.approx(expected, abs=0.03)


def test_the_mean_agreement_on_few_models_is_the_expected_one():
    gaps, keys = np.linspace(-0.05, 0.6, 15), [str(i) for i in range(15)]
    said = np.stack([simulated(gaps, keys, CUTS, 0.12, seed=seed) for seed in range(400)])
    found = agreement.fleiss(said)
    assert found.mean() == pytest.approx(expected_kappa(CUTS.chances(gaps, 0.12)), abs=0.03)
    assert found.std() > 0.05


@pytest.mark.parametrize("kappa", [0.3, 0.63, 0.95, 1.0])
def test_noise_is_found_for_any_agreement(kappa):
    gaps = np.linspace(0, 0.6, 200)
    noise = noise_for(kappa, gaps, CUTS)
    assert expected_kappa(CUTS.chances(gaps, noise)) == pytest.approx(kappa, abs=1e-6)
    assert (noise == 0) == (kappa == 1)


def test_coders_without_noise_say_the_level_of_the_gap():
    gaps = [0.0, 0.2, 0.5]
    assert simulated(gaps, "abc", CUTS, 0.0).tolist() == [[2] * 3, [1] * 3, [0] * 3]


def test_what_a_coder_says_of_a_model_does_not_depend_on_the_others():
    gaps, keys = np.linspace(0, 0.6, 50), [f"key {i}" for i in range(50)]
    whole = simulated(gaps, keys, CUTS, 0.2)
    assert np.array_equal(simulated(gaps[::-1], keys[::-1], CUTS, 0.2), whole[::-1])
    assert np.array_equal(simulated(gaps[10:20], keys[10:20], CUTS, 0.2), whole[10:20])
    assert not np.array_equal(simulated(gaps, keys, CUTS, 0.2, seed=1), whole)


@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 3), min_size=1, max_size=5), st.data())
def test_the_expected_majority_is_that_of_all_ways_to_answer(weights, data):
    chances = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    levels = data.draw(st.lists(st.integers(0, 2), min_size=len(chances), max_size=len(chances)))
    counted = [
        sum(
            p[a] * p[b] * p[c]
            for a, b, c in product(range(3), repeat=3)
            if sorted((a, b, c))[1] == y
        )
        for p, y in zip(chances, levels, strict=True)
    ]
    assert expected_majority(chances, levels) == pytest.approx(np.mean(counted))


# Annotations


def test_names_of_coders_are_names_of_files():
    assert coder_called("  Ada  LOVELACE ") == coder_called("ada lovelace") == "ada-lovelace"
    assert coder_called("Žofie_2") == "žofie_2"


@pytest.mark.parametrize(
    "name",
    ["", " ", "../up", "a/b", "a\\b", ".hidden", "=1+1", "-x", "<b>", "a\nb\0", "con", "x" * 31,
     "\u202eevil", "a;b", '"', "‥"],
)  # fmt: skip
def test_evil_names_are_refused(name):
    with pytest.raises(BadSetting, match="letters, digits"):
        coder_called(name)


def test_the_last_answer_counts_and_a_torn_line_does_not(tmp_path):
    kept = Annotations(tmp_path / "annotations")
    assert kept.enrol("ada", 1)
    assert kept.add(Annotation("ada", "m", 0, 3, ("speckles", "dark")), 0)
    assert kept.add(Annotation("ada", "m", 2, 5), 1)
    path = tmp_path / "annotations" / "ada.csv"
    with path.open("a") as file:
        file.write("ada,n,invar")
    assert [one.level for one in read(path)] == [0, 2]
    assert kept.add(Annotation("ada", "n", 1, 1), 0)
    said = read(tmp_path / "annotations")
    assert [(one.model, one.level) for one in said] == [("m", 0), ("m", 2), ("n", 1)]
    assert said[0].seen == ("speckles", "dark")
    coders, rated, table = ratings(said, ["n", "m", "unseen"])
    assert (coders, rated, table.tolist()) == (["ada"], ["n", "m"], [[1], [2]])


def test_an_answer_that_was_given_meanwhile_is_left_aside(tmp_path):
    kept = Annotations(tmp_path)
    assert kept.add(Annotation("ada", "m", 0, 3), 0)
    assert not kept.add(Annotation("ada", "m", 1, 3), 0)
    assert not kept.add(Annotation("ada", "m", 1, 3), 2)
    assert [one.level for one in read(tmp_path)] == [0]


def test_of_answers_at_the_same_moment_one_counts(tmp_path, monkeypatch):
    kept = Annotations(tmp_path)
    kept.enrol("ada", 1)

    def slowly(path):
        found = read(path)
        time.sleep(0.01)
        return found

    monkeypatch.setattr("snellen.exams.background.annotations.read", slowly)
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda i: kept.add(Annotation("ada", "m", i % 3, 3), 0), range(6)))
    assert taken.count(True) == 1
    assert len(read(tmp_path)) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("coder,level\n", "no column 'model'"),
        ("coder,model,level\nada,m,excellent\n", "line 2: level is 'excellent'"),
        ("coder,model,level\n,m,1\n", "line 2: a coder and a model"),
        ("coder,model,level,sure\nada,m,1,very\n", "line 2: sure and seconds"),
    ],
)
def test_files_that_hold_no_annotations_say_why(tmp_path, text, said):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(Unloadable, match=said):
        read(path)
    with pytest.raises(Unloadable, match="cannot be read"):
        read(tmp_path / "none.csv")


def test_an_empty_folder_says_how_to_fill_it(tmp_path):
    with pytest.raises(Unloadable, match="snellen background-annotate"):
        read(tmp_path)


# Models


def test_models_are_told_apart_by_subject_lesson_and_settings():
    records = [painted(0.1), painted(0.1, correlation=0.9), painted(0.1, lesson="swap"),
               painted(0.1, subject="other")]  # fmt: skip
    found = models(records)
    assert [m.name for m in found] == [
        "net, taught at 0.50, plain", "net, taught at 0.50, swap", "net, taught at 0.90, plain",
        "other, taught at 0.50, plain",
    ]  # fmt: skip
    assert len({m.key for m in found}) == 4
    assert [m.key for m in models(records[::-1] + records)] == [m.key for m in found]
    (alone,) = models(records[:1])
    assert alone.key == found[0].key
    twice = models([records[0], replace(records[0], settings={**records[0].settings, "count": 7})])
    assert len({m.name for m in twice}) == len({m.key for m in twice}) == 2
    assert not models([replace(records[0], exam="other"), replace(records[0], error="failed")])


def test_a_models_numbers_are_those_of_its_records():
    (model,) = models([painted(0.9, gap=0.35)])
    assert model.gap == pytest.approx(0.35)
    right = np.array([case["right"][3:] for case in model.found.used])
    assert model.worst == right.all(axis=1).mean()
    (photo,) = models([photographed(painted(0.2))])
    assert photo.gap is None
    assert photo.name == "net"


def test_models_that_cannot_be_judged_are_left_out_with_the_reason():
    record, weak = painted(0.1), painted(0.1, subject="weak")
    for case in weak.measures["cases"][2:]:
        case["right"][0] = 0
    fit, left_out = judgeable(models([record, weak]))
    assert [m.name for m in fit] == ["net, taught at 0.50, plain"]
    assert left_out == {"weak, taught at 0.50, plain": "2 of 12 targets count, and 5 are needed"}
    with pytest.raises(Unable, match=r"weak.*2 of 12"):
        judgeable(models([weak]))
    with pytest.raises(Unable, match="snellen run background"):
        judgeable([])


# Levels


def annotated(folder, found, coders=("ada", "bob", "cyd"), skip=()):
    kept = Annotations(folder)
    for coder in coders:
        for i, model in enumerate(found):
            if (coder, i) not in skip:
                kept.add(Annotation(coder, model.key, 2 - i % 3, 3), 0)
    return folder


def test_people_are_believed_where_all_have_answered(tmp_path):
    found = models([painted(lean, subject=f"net{i}") for i, lean in enumerate(LEANS)])
    folder = annotated(tmp_path / "annotations", found, skip={("bob", 4)})
    rated = rated_by_people(found, [folder])
    assert [m.key for m in rated.models] == [m.key for i, m in enumerate(found) if i != 4]
    assert rated.ratings[:4].tolist() == [[2] * 3, [1] * 3, [0] * 3, [2] * 3]
    assert rated.said["models that not all of them rated"] == 1
    single = rated_by_people(found, sorted(folder.glob("*.csv")))
    assert np.array_equal(single.ratings, rated.ratings)


def test_levels_that_cannot_be_used_say_why(tmp_path):
    found = models([painted(0.1)])
    with pytest.raises(BadSetting, match=r"three coders or more.*has ada, bob"):
        rated_by_people(found, [annotated(tmp_path / "two", found, ("ada", "bob"))])
    others = models([painted(0.1, subject="stranger")])
    with pytest.raises(Unable, match="no model of these runs was rated by all of ada, bob, cyd"):
        rated_by_people(found, [annotated(tmp_path / "strangers", others)])
    with pytest.raises(BadSetting, match=r"photographs.*--levels"):
        rated_by_gap(models([photographed(painted(0.2))]), CUTS, 0.63)
    with pytest.raises(BadSetting, match="one side of the cuts"):
        rated_by_gap(found, CUTS, 0.63)


# The table, the assessor and its card


def test_a_table_comes_back_as_it_was_saved(tmp_path):
    table = some_table()
    table.save(tmp_path / "a.npz")
    back = Table.load(tmp_path / "a.npz")
    assert (back.names, back.models, back.said) == (table.names, table.models, table.said)
    for name in ("rows", "ratings", "levels", "worst"):
        assert np.array_equal(getattr(back, name), getattr(table, name))
    back.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    (tmp_path / "text.npz").write_text("no table")
    for name in ("text.npz", "none.npz"):
        with pytest.raises(Unloadable, match="no table of models"):
            Table.load(tmp_path / name)
    with pytest.raises(LogError, match="cannot write"):
        table.save(tmp_path)


def test_an_assessor_of_a_table_predicts_and_says_what_it_has_seen(tmp_path):
    table = some_table()
    made = trained(table, evaluated(table))
    made.save(tmp_path / "a.npz")
    back = Assessor.load(tmp_path / "a.npz")
    assert back.level(dict(zip(table.names, (2.0, 0.5), strict=True))) == "invariant"
    assert back.level(dict(zip(table.names, (0.0, 0.5), strict=True))) == "not invariant"
    assert json.loads(json.dumps(back.meta)) == made.meta
    told = card(back.meta)
    for words in (
        "30, in a painted world: 10 not invariant, 10 borderline, 10 invariant",
        *("decree", "random forest", "AdaBoost", "worst-case accuracy", "weak: too few"),
        *("count=6", "all (Fleiss)", "scikit-learn", "It has seen painted worlds only"),
    ):
        assert words in told
    assert told == card(made.meta)
    assert made.meta["kappas"]["all (Fleiss)"][0] == 1


def test_too_small_a_table_is_refused():
    table = some_table(5)
    with pytest.raises(BadSetting, match="at least 6 models"):
        evaluated(table)
    one = replace(some_table(), levels=np.ones(30, int))
    with pytest.raises(BadSetting, match="two levels"):
        evaluated(one)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    records = [painted(lean, subject=f"net{i}") for i, lean in enumerate(LEANS)]
    return run_of(tmp_path_factory.mktemp("runs") / "july", records)


def test_the_command_makes_an_assessor_by_gaps(repository, tmp_path, capsys):
    out, kept = tmp_path / "deep" / "a.npz", tmp_path / "t.npz"
    done = command(repository, "-o", out, "--table", kept, "--kappa", 1)
    assert done.exit_code == 0, done.output
    for words in (
        *("3 not invariant, 3 borderline, 3 invariant", "simulated coders", "expected kappa: 1"),
        *("It has seen painted worlds only", f"assessor={out}"),
    ):
        assert words in done.output
    table, made = Table.load(kept), Assessor.load(out)
    assert np.array_equal(table.levels, [2, 2, 2, 1, 1, 1, 0, 0, 0])
    assert made.table(table.rows).argmax(axis=1).tolist() == table.levels.tolist()
    (model,) = models([painted(0.0, subject="a new one")])
    judgement = judged(model.found, replace(EXAM, assessor=str(out)))
    assert max(judgement.chances, key=judgement.chances.get) == "invariant"
    runpy.run_path(str(ROOT / "benchmarks" / "assessor.py"))["main"](kept)
    told = capsys.readouterr().out
    assert "random forest beats worst-case accuracy" in told
    outcome = next(line for line in done.output.splitlines() if "AdaBoost  " in line).strip()
    assert outcome in told


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (("--cuts", ".5", ".1"), BadSetting, "not above"),
        (("--levels", "nowhere"), Unloadable, "nowhere cannot be read"),
        (("--cuts", ".8", ".9"), BadSetting, "on one side"),
    ],
)
def test_what_the_command_cannot_do_is_said(repository, tmp_path, arguments, error, said):
    done = command(repository, "-o", tmp_path / "a.npz", *arguments)
    assert isinstance(done.exception, error)
    assert said in str(done.exception)
    assert not (tmp_path / "a.npz").exists()


def test_a_run_that_is_not_there_is_told(tmp_path):
    done = command(tmp_path / "none", "-o", tmp_path / "a.npz")
    assert isinstance(done.exception, LogError)
