"""Masks are found, made, mended and refused, on pictures in which the thing is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from snellen.errors import BadSetting, Unloadable
from snellen.images.masks import GrabCut, MaskFolder, Segmenter, gate, masker, resized, tidied

PICTURE = np.random.default_rng(0).integers(0, 256, (40, 60, 3)).astype(np.uint8)
TRUE = np.zeros((40, 60), np.float32)
TRUE[10:30, 20:40] = 1


def disc(side=64, radius=20.0, soft=1.0, at=(0.5, 0.5)):
    y, x = np.mgrid[:side, :side] + 0.5
    inside = radius - np.hypot(y - at[0] * side, x - at[1] * side)
    return np.clip(inside / soft + 0.5, 0, 1).astype(np.float32)


GREYS = Image.fromarray((TRUE * 255).astype(np.uint8))
CUT_OUT = Image.fromarray(np.dstack([PICTURE, (TRUE * 255).astype(np.uint8)]))
INDEXED = Image.fromarray(TRUE.astype(np.uint8) * 15)
INDEXED.putpalette(list(range(256)) * 3)
FILES = {
    "a.png": GREYS,
    "cut-out.png": CUT_OUT,
    "palette.png": INDEXED,
    "flags.png": Image.fromarray(TRUE.astype(np.uint8)),
    "one-bit.png": GREYS.convert("1"),
    "deep.png": Image.fromarray((TRUE * 65535).astype(np.uint16)),
    "colour.png": GREYS.convert("RGB"),
    "shares.npy": TRUE,
    "bools.npy": TRUE[None] > 0,
    "bytes.npy": (TRUE * 255).astype(np.uint8)[..., None],
}


@pytest.mark.parametrize("name", FILES)
def test_a_mask_is_read_whatever_way_it_was_saved(tmp_path, name):
    made = FILES[name]
    np.save(tmp_path / name, made) if name.endswith("npy") else made.save(tmp_path / name)
    found = masker(str(tmp_path))(PICTURE, name.replace("png", "JPEG").replace("npy", "jpg"))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, TRUE)


def test_a_mask_of_another_size_is_brought_to_the_pictures(tmp_path):
    GREYS.resize((120, 80), Image.Resampling.NEAREST).save(tmp_path / "x.png")
    found = MaskFolder(tmp_path)(PICTURE, "x.jpg")
    assert found.shape == (40, 60)
    assert np.abs(found - TRUE).mean() < 0.02


def test_masks_are_found_by_the_pictures_place_or_its_name_alone(tmp_path):
    (tmp_path / "dogs").mkdir()
    for file in ("dogs/rex.png", "tom.jpg.png", "sub.v2.png"):
        GREYS.save(tmp_path / file)
    folder = MaskFolder(tmp_path)
    assert folder.file("dogs/rex.jpg") == folder.file("rex.JPEG") == tmp_path / "dogs/rex.png"
    assert folder.file("cats/tom.jpg").name == "tom.jpg.png"
    assert folder.file("sub.v2.jpg").name == "sub.v2.png"
    with pytest.raises(Unloadable, match=r"holds no mask of cats/leo.jpg: no cats/leo.png"):
        folder.file("cats/leo.jpg")
    (tmp_path / "cats").mkdir()
    GREYS.save(tmp_path / "cats/rex.png")
    again = MaskFolder(tmp_path)
    assert again.file("cats/rex.jpg") == tmp_path / "cats/rex.png"
    with pytest.raises(Unloadable, match=r"which is the mask of birds/rex.jpg: .*cats.*dogs"):
        again.file("birds/rex.jpg")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.full((4, 4), -1.0), "from 0 to 1, or from 0 to 255; it runs from -1"),
        (np.full((4, 4), 1.5), "it runs from 1.5"),
        (np.full((4, 4), np.nan), "it runs from nan"),
        (np.zeros((4, 4, 3)), r"should hold a mask, .* it holds float64 \(4, 4, 3\)"),
        (np.array([["a"]]), "should hold a mask"),
    ],
)
def test_arrays_that_are_no_masks_are_refused(tmp_path, values, told):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(Unloadable, match=told):
        MaskFolder(tmp_path)(PICTURE, "x.jpg")


def test_broken_files_and_pickles_are_refused(tmp_path):
    (tmp_path / "x.png").write_bytes(b"no")
    (tmp_path / "y.npy").write_bytes(b"no")
    np.save(tmp_path / "z.npy", np.array([{}], object), allow_pickle=True)
    for name in "xyz":
        with pytest.raises(Unloadable, match="cannot be read as a"):
            MaskFolder(tmp_path)(PICTURE, f"{name}.jpg")
    with pytest.raises(BadSetting, match="from a folder of them, from an ONNX file or from"):
        masker("nowhere")


# the gate ------------------------------------------------------------------------------------


def scattered():
    return np.maximum.reduce([disc(radius=8, at=at) for at in ((0.2, 0.2), (0.2, 0.8), (0.8, 0.5))])


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (disc(radius=4), "it covers 1.2 % of the picture, less than 3 %"),
        (disc(radius=31), "it covers 74 % of the picture, more than 70 %"),
        (disc(radius=20, soft=14), "of its pixels are half thing, half ground"),
        (disc(radius=8) * np.float32(0.6), "most of the thing is half ground"),
        (scattered(), "it lies in 3 pieces, the largest of which is 3"),
        (1 - disc(radius=26), "it touches 4 sides of the picture, as a ground does"),
        (np.full((9, 9), np.nan, np.float32), "its values are not all between 0 and 1"),
    ],
)
def test_the_gate_says_what_is_wrong(mask, told):
    assert any(told in reason for reason in gate(mask)), gate(mask)


def test_the_gate_lets_good_masks_through():
    crumb = np.maximum(disc(), disc(radius=3, at=(0.05, 0.05)))
    half_out = disc(radius=20, at=(0.9, 0.9))  # two sides touched
    for good in (disc(), disc(soft=3), crumb, half_out, disc() > 0.5):
        assert gate(np.asarray(good, np.float32)) == ()


@given(st.integers(0, 3), st.floats(4, 30), st.floats(0.3, 0.7))
def test_turning_a_mask_does_not_change_its_worth(turns, radius, place):
    mask = disc(radius=radius, at=(place, 0.5))
    assert bool(gate(np.rot90(mask, turns))) == bool(gate(mask))


def test_tidying_takes_crumbs_and_holes_and_nothing_else():
    whole = disc() > 0.5
    messy = whole.copy()
    messy[2:5, 2:5], messy[30:33, 30:33] = True, False
    np.testing.assert_array_equal(tidied(messy), whole)
    np.testing.assert_array_equal(tidied(whole), whole)
    assert not tidied(np.zeros((5, 5), bool)).any()
    ring = whole & ~(disc(radius=12) > 0.5)
    np.testing.assert_array_equal(tidied(ring), ring)  # a hole as large as that is one


def test_resizing_keeps_the_share_that_is_thing():
    assert resized(disc(), (64, 64)) is not None
    assert resized(disc(), (32, 48)).mean() == pytest.approx(disc().mean(), abs=0.01)


# segmenters ----------------------------------------------------------------------------------


def segmenter_file(path, planes=1, size=("h", "w"), scale=1.0, channels=3):
    """Save one whose planes are the red channel times −1, 1, 2, …, or times 1 if it is alone."""
    from onnx import TensorProto, helper, numpy_helper, save

    weights = np.zeros((planes, channels, 1, 1), np.float32)
    weights[:, 0, 0, 0] = scale * (np.arange(planes) * 2 - (planes > 1))
    if planes == 1:
        weights[0, 0] = scale
    shape = ("n", channels, *size)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "segmenter",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ("n", planes, *size))],
        [numpy_helper.from_array(weights, "w")],
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


RED = np.zeros((40, 60, 3), np.uint8)
RED[..., 0] = TRUE * 255
AS_IS = {"mean": (0.0,), "std": (1.0,)}


def test_a_segmenter_is_shown_the_picture_as_stated(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    file = segmenter_file(tmp_path / "s.onnx")
    found = Segmenter(file, size=120, **AS_IS)(RED, "x")
    assert found.shape == (40, 60)
    assert np.abs(found - TRUE).max() < 0.6  # at the edge, which was squashed
    assert np.abs(found - TRUE).mean() < 0.02
    halved = Segmenter(file, size=40, mean=(-0.25,), std=(2.0,))(RED, "x")
    assert (halved[20, 30], halved[0, 0]) == pytest.approx((0.625, 0.125))
    assert isinstance(masker(str(file)), Segmenter)


def test_a_segmenter_of_one_size_gets_it(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    fixed = Segmenter(segmenter_file(tmp_path / "s.onnx", size=(16, 24)), **AS_IS)
    assert fixed(RED, "x").shape == (40, 60)


def test_logits_and_classes_become_shares(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    one = segmenter_file(tmp_path / "one.onnx", scale=4.0)
    told = Segmenter(one, values="logits", **AS_IS)(RED, "x")
    assert told[20, 30] == pytest.approx(1 / (1 + np.exp(-4)), abs=1e-5)
    assert told[0, 0] == pytest.approx(0.5)
    with pytest.raises(BadSetting, match=r"values from 0 to 4, which are no prob.*values=logits"):
        Segmenter(one, **AS_IS)(RED, "x")
    many = segmenter_file(tmp_path / "many.onnx", planes=3)
    powers = np.exp([-1, 1, 3])
    for foreground, share in ((None, powers[1:].sum()), (1, powers[1])):
        told = Segmenter(many, values="logits", foreground=foreground, **AS_IS)(RED, "x")
        assert told[20, 30] == pytest.approx(share / powers.sum(), abs=1e-5)
    with pytest.raises(BadSetting, match="tells 3 classes apart"):
        Segmenter(many, values="logits", foreground=3)(RED, "x")


def test_segmenters_that_are_none_are_explained(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    (tmp_path / "bad.onnx").write_bytes(b"no")
    grey = segmenter_file(tmp_path / "grey.onnx", channels=1)
    good = segmenter_file(tmp_path / "good.onnx")
    for wrong, told in (
        (Segmenter(tmp_path / "none.onnx"), "there is no file"),
        (Segmenter(tmp_path / "bad.onnx"), "cannot be read as an ONNX model"),
        (Segmenter(grey), "should take pictures"),
    ):
        with pytest.raises(Unloadable, match=told):
            wrong(RED, "x")
    with pytest.raises(BadSetting, match="has no output 'z'; it has y"):
        Segmenter(good, output="z")(RED, "x")


# GrabCut -------------------------------------------------------------------------------------


def flower(side=96):
    rng = np.random.default_rng(1)
    ground = np.array([60, 120, 50]) + rng.normal(0, 12, (side, side, 3))
    thing = np.array([220, 60, 150]) + rng.normal(0, 12, (side, side, 3))
    cover = disc(side, radius=side / 4)[..., None]
    return (cover * thing + (1 - cover) * ground).clip(0, 255).astype(np.uint8), cover[..., 0]


def test_grabcut_finds_what_stands_out_and_finds_it_again():
    pytest.importorskip("cv2", reason="the extra 'masks' is not installed")
    picture, true = flower()
    found = masker("grabcut")(picture, "x")
    both, either = (found > 0.5) & (true > 0.5), (found > 0.5) | (true > 0.5)
    assert both.sum() / either.sum() > 0.95
    assert gate(found) == ()
    np.testing.assert_array_equal(GrabCut()(picture, "x"), found)
    large = np.repeat(np.repeat(picture, 4, axis=0), 4, axis=1)
    assert GrabCut()(large, "x").shape == (384, 384)


def test_grabcut_keeps_to_its_box():
    pytest.importorskip("cv2", reason="the extra 'masks' is not installed")
    picture, _ = flower()
    boxed = GrabCut(boxes={"x": (0.2, 0.2, 0.5, 0.8)})
    found = boxed(picture, "x")
    assert found[:48].any()
    assert not found[49:].any()
    assert boxed(picture, "y")[49:].any()  # of which no box is known
    with pytest.raises(BadSetting, match="should leave some of the picture in and some out"):
        GrabCut(box=(0, 0, 1, 1))(picture, "x")
