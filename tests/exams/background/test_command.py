"""Tags and ontologies from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from snellen.cli import _Desk
from snellen.errors import BadSetting, UnknownName, Unloadable
from snellen.exams.background.command import background_ontology, background_tags, cropped
from snellen.exams.background.ontology import load_ontology
from snellen.exams.background.tags import load_tags
from tests_scenes import world

SEEING = """
import numpy as np

def eyes(images):
    '''Sea by blue, meadow by green, and a thing by red, as logits.'''
    return 8 * images.mean(axis=(1, 2))[:, [2, 1, 0]]
"""
FLAT = {"sea.png": (40, 90, 250), "sub/meadow.png": (40, 240, 60), "thing.png": (250, 30, 30)}


@pytest.fixture
def pictures(tmp_path):
    for name, colour in FLAT.items():
        path = tmp_path / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((40, 60, 3), colour, np.uint8)).save(path)
    (tmp_path / "pictures" / "broken.jpg").write_bytes(b"no picture")
    (tmp_path / "eyes.py").write_text(SEEING)
    (tmp_path / "all.json").write_text(json.dumps(["sea", "meadow", "thing"]))
    (tmp_path / "places.txt").write_text("sea\nmeadow\n")
    return tmp_path


def run(command, *arguments):
    made = CliRunner().invoke(command, list(map(str, arguments)), obj=_Desk())
    if made.exception and not isinstance(made.exception, SystemExit):
        raise made.exception
    return made


def eyes(root):
    return f"callable:{root / 'eyes.py'}:eyes,labels={root / 'all.json'}"


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_pictures_are_tagged_by_what_a_subject_takes_them_for_and_by_colours(pictures, suffix):
    out = pictures / f"tags.{suffix}"
    made = run(
        background_tags, pictures / "pictures", "-o", out, "-m", eyes(pictures),
        "--labels", pictures / "places.txt", "--side", 16,
    )  # fmt: skip
    assert made.exit_code == 0
    assert "left out" in made.output
    assert "broken.jpg cannot be read as a picture" in made.output
    assert "3 pictures" in made.output
    tags = load_tags(out)
    assert tags.pictures == ("sea.png", "sub/meadow.png", "thing.png")
    assert {"sea", "blue above"} < set(tags.words("sea.png"))
    assert {"meadow", "green above"} < set(tags.words("sub/meadow.png"))
    assert not {"sea", "meadow", "thing"} & set(tags.words("thing.png"))  # no place is likely
    assert "colourful" in tags.words("thing.png")


def test_without_a_subject_there_are_colours_and_layout(pictures):
    out = pictures / "tags.csv"
    run(background_tags, pictures / "pictures", "-o", out)
    assert "blue above" in load_tags(out).words("sea.png")
    assert "sea" not in load_tags(out).keywords


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["-o", "tags.txt"], "saved as .npz or .csv"),
        (["-o", "tags.csv", "--labels", "places.txt"], "name one with -m"),
        (["-o", "tags.csv", "-m", "nobody"], "no subject is called 'nobody'"),
        (["-o", "tags.csv", "-m", "callable:{root}/eyes.py:eyes"], "does not say what its labels"),
        (["-o", "tags.csv", "-m", "{eyes}", "--labels", "{root}/none.txt"], "cannot be read"),
        (["-o", "tags.csv", "-m", "{eyes}", "--labels", "{root}/odd.txt"], "has no label 'see'"),
        (["-o", "{root}/no/tags.csv"], "cannot write"),
    ],
)
def test_wrong_questions_about_tags_are_refused(pictures, given, told):
    (pictures / "odd.txt").write_text("see\n")
    ready = [g.format(root=pictures, eyes=eyes(pictures)) for g in given]
    with pytest.raises((BadSetting, Unloadable, UnknownName), match=told):
        run(background_tags, pictures / "pictures", *ready)


def test_a_folder_without_a_readable_picture_is_refused(pictures):
    for name in FLAT:
        (pictures / "pictures" / name).write_bytes(b"")
    with pytest.raises(Unloadable, match="none of the 4 pictures"):
        run(background_tags, pictures / "pictures", "-o", pictures / "tags.csv")


def test_crops_are_of_the_middle_and_the_corners():
    picture = np.zeros((80, 160, 3), np.uint8)
    picture[:40, :40] = 255
    shares = cropped(picture, 5, 70).mean(axis=(1, 2, 3)) / 255
    assert shares.argmax() == 1  # above, at the left
    assert shares[0] == shares[4] == 0
    assert shares[1] == pytest.approx(1600 / 4900, abs=0.01)
    assert len(cropped(picture, 1, 70)) == 1


def test_an_ontology_is_told_and_saved(tmp_path):
    tags = world(0, 300, 20).saved(tmp_path / "tags.csv")
    found = run(background_ontology, tags, "-o", tmp_path / "o.npz").output
    assert "300 pictures, 20 keywords" in found
    assert "thresholds (found from the tags): keywords go together that share" in found
    assert found.count(" → ") == 10
    ontology = load_ontology(tmp_path / "o.npz")
    given = run(background_ontology, tags, "--least-count", 5, "--least-confidence", 0.25).output
    assert "thresholds (as given): keywords go together that share 5 pictures or more" in given
    assert "confidence of 0.25" in given
    some = run(background_ontology, tags, "--least-count", 5).output
    assert "one given, the other found" in some
    way = run(background_ontology, tags, "k00", "k07").output
    assert way.strip() == ontology.explain("k00", "k07")


def test_wrong_questions_about_an_ontology_are_refused(tmp_path):
    tags = world(0, 300, 20).saved(tmp_path / "tags.csv")
    assert "name two keywords, or none" in run(background_ontology, tags, "k00").output
    with pytest.raises(UnknownName, match="'k0x'"):
        run(background_ontology, tags, "k0x", "k01")
    with pytest.raises(BadSetting, match=r"saved as \.npz"):
        run(background_ontology, tags, "-o", tmp_path / "o.csv")
