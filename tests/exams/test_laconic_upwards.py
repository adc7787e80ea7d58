"""People go up from nothing: every step adds, twenty suffice, and what they name is measured."""

import numpy as np
import pytest

from snellen import plugins
from snellen.core import PASS, PERSON, Answers, Item
from snellen.exams.laconic.crowd import consistency, figures, merged, together
from snellen.exams.laconic.upwards import ALL, GIVE_UP, STEPS, climb, climbable, void
from snellen.images.entropy import png
from snellen.images.labelled import open_collection
from snellen.images.reductions import ways
from snellen.sitting import Sitting

NAMES = ("cat", "dog")
REDUCTIONS = ["colour", "resolution", "crop", "combined"]


def photo(name="thing-0003"):
    return open_collection("").read(name)


def climbed(reduction, decide, picture=None):
    """Go up, naming or asking as `decide(sheet)` says; return the climb and all sheets."""
    lattice = climbable(photo() if picture is None else picture, ways(reduction), 32, 127)
    flow, sheets = climb(lattice, NAMES, 1), []
    sheet = next(flow)
    try:
        while True:
            sheets.append(sheet)
            sheet = flow.send(Answers(np.array([decide(sheet)])))
    except StopIteration as end:
        return lattice, end.value, sheets


def more(what):
    """Ask for this where it is offered, else for the last thing that is."""

    def decide(sheet):
        offers = list(sheet.instead)
        return len(NAMES) + (offers.index(what) if what in offers else len(offers) - 1)

    return decide


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_twenty_steps_of_everything_lead_from_the_central_pixel_to_the_original(reduction):
    lattice, made, sheets = climbed(reduction, more(ALL))
    assert made.named == ""
    assert len(sheets) <= STEPS + 2  # the void picture, then the rungs of the longest ladder
    assert made.states[0] is None
    assert made.states[-1] == lattice.start
    np.testing.assert_array_equal(sheets[-1].images[0], lattice.shown(lattice.start))
    spot = void(photo())
    assert spot.shape == (1, 1, 3)
    assert (sheets[0].images == spot).all()
    assert sheets[-1].instead == (GIVE_UP,)
    assert all(GIVE_UP not in sheet.instead for sheet in sheets[:-1])


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_every_step_shows_another_picture_and_never_less_of_any_kind(reduction):
    rng = np.random.default_rng(3)
    _, made, sheets = climbed(
        reduction, lambda sheet: len(NAMES) + int(rng.integers(len(sheet.instead)))
    )
    for one, other in zip(made.states[1:], made.states[2:], strict=False):
        assert all(b <= a for a, b in zip(one, other, strict=True))
        assert one != other
    if reduction != "combined":  # of a white pixel there are not more colours to be seen
        assert len({sheet.images.tobytes() for sheet in sheets[1:]}) == len(sheets) - 1


def test_one_kind_alone_offers_one_button_and_several_offer_each_and_all():
    assert climbed("colour", more(ALL))[2][2].instead == ("more colours",)
    offers = climbed("combined", more(ALL))[2][2].instead
    assert offers[0] == ALL
    assert len(offers) == 7


@pytest.mark.parametrize("picture", [np.zeros((1, 1, 3), np.uint8), np.zeros((9, 3, 1), np.uint8)])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_smallest_and_plainest_pictures_have_an_end_too(reduction, picture):
    _, made, _ = climbed(reduction, more(ALL), picture)
    assert made.named == ""


def sit(choose, reduction="resolution"):
    exam = plugins.exam("laconic", direction="up", reductions=reduction, per_class=1)
    sitting = Sitting(exam, exam.items()[0])
    while sitting.step is not None:
        sitting.advance(Answers(np.array([choose(sitting.step)])))
    return exam, sitting


def test_what_is_named_rightly_is_the_mepi_and_is_measured_like_a_machines():
    asked = []

    def third(sheet):
        asked.append(sheet)
        return len(sheet.choices) if len(asked) < 4 else int(sheet.truth[0])

    exam, sitting = sit(third)
    found = sitting.measures
    assert found["right"]
    assert found["asked"] == 4
    assert found["bytes"]["png"] == len(found["mepi"].data) == png_of(found["mepi"].data)
    assert found["bytes before"]["png"] == png(photo(str(sitting.item["picture"])))
    assert exam.grade([sitting.record(plugins.subject("chance"), 1.0)]).figures


def png_of(data):
    import io

    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return png(np.asarray(image))


@pytest.mark.parametrize("answer", ["wrong", "decline"])
def test_a_wrong_name_and_a_pass_are_inconclusive(answer):
    def choose(sheet):
        return (int(sheet.truth[0]) + 1) % len(sheet.choices) if answer == "wrong" else PASS

    _, sitting = sit(choose)
    assert not sitting.measures["right"]
    assert "mepi" not in sitting.measures
    assert bool(sitting.measures["named"]) == (answer == "wrong")


def record(person, ratio, item, right=True):
    from snellen.core import Record

    measures = {"right": right, "asked": 5, "bytes": {"png": ratio}, "bytes before": {"png": 100}}
    print_ = f"{PERSON}{person}" if person else "machine"
    return Record("laconic", 1, {}, item, f"person-{person}" if person else "net", print_, measures)


def test_people_speak_by_the_lower_median_of_those_who_were_right():
    up, down = (Item(picture="a", reduction="colour", **d) for d in ({"direction": "up"}, {}))
    records = [record(n, r, up) for n, r in ((1, 40), (2, 10), (3, 30), (4, 20))]
    records += [record(5, 1, up, right=False), record(0, 25, down)]
    one, machine = sorted(together(records, "png"), key=lambda r: r.subject != "people")
    assert (one.subject, one.measures["bytes"]["png"]) == ("people", 20)
    assert machine.subject == "net"
    (table,) = figures(records, "png")
    (row,) = table.cells
    assert (row["persons"], row["responses"]) == (5, 5)
    assert row["right"].value == 0.8
    assert row["entropy ratio"].value == 0.25
    assert row["of its need"] == 1.0


def test_parts_of_a_set_are_put_together_again():
    items = [Item(owner="net", reduction="colour", first=n) for n in (0, 2)]
    parts = [record(n, 0, item) for n, item in enumerate(items, 1)]
    for r, right in zip(parts, (["a"], []), strict=True):
        r.measures.update(right=right, asked=["a", "b"])
    (whole,) = merged(parts)
    assert whole.subject == "people"
    assert (whole.measures["right"], len(whole.measures["asked"])) == (["a"], 4)


def reading(person, right, asked, owner="third", reduction="colour"):
    r = record(person, 0, Item(owner=owner, reduction=reduction))
    r.measures.update(right=list(right), asked=list(asked))
    return r


def test_error_consistency_of_people_and_a_machine_counts_every_answer():
    pictures = [f"p{n}" for n in range(10)]
    machine = reading(0, pictures[:6], pictures)
    alike = [reading(n, pictures[:6], pictures) for n in (1, 2)]
    (table,) = consistency([machine, *alike])
    (row,) = table.cells
    assert {row["first"], row["second"]} == {"net", "people"}
    assert row["MEPIs"] == 10
    assert row["error consistency κ"].value == pytest.approx(1)
    assert row["ceiling"] == pytest.approx(1)


def test_what_one_left_oneself_tells_nothing_of_errors():
    pictures = [f"p{n}" for n in range(10)]
    for owner in ("net", "people"):
        own = [reading(n, pictures[:6], pictures, owner=owner) for n in (0, 1)]
        assert consistency(own) == []
    assert consistency([reading(0, pictures[:3], pictures[:7]), reading(1, [], pictures[:7])]) == []
