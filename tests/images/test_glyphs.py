import numpy as np

from snellen.images.glyphs import HALF, INK, SIDE, STROKES, glyph

LIT = [29, 29, 43, 43, 57, 43, 43, 56, 56, 69]


def test_the_ten_shapes_have_the_ink_that_the_paper_drew():
    assert [int((glyph(shape) > 0).sum()) for shape in range(10)] == LIT


def test_pixel_by_pixel_they_are_what_the_strokes_say():
    for shape, strokes in enumerate(STROKES):
        horizontal, vertical = strokes.split()
        drawn = np.zeros((SIDE, SIDE), int)
        for i in range(3):
            for along in range(14 - HALF, 14 + HALF + 1):
                if horizontal[i] == "1":
                    drawn[14 + (i - 1) * HALF, along] = INK
                if vertical[i] == "1":
                    drawn[along, 14 + (i - 1) * HALF] = INK
        assert np.array_equal(drawn, glyph(shape))


def test_few_pixels_tell_them_apart():
    every = np.stack([glyph(shape) > 0 for shape in range(10)])
    assert int((every.any(0) & ~every.all(0)).sum()) == 54
    apart = [(a != b).sum() for i, a in enumerate(every) for b in every[i + 1 :]]
    assert (min(apart), max(apart)) == (12, 53)


def test_no_shape_turned_is_another_shape():
    crop = np.s_[7:22, 7:22]
    for a in range(10):
        for b in range(10):
            for turns in range(4):
                same = np.array_equal(np.rot90(glyph(a)[crop], turns), glyph(b)[crop])
                assert same == (a == b and turns == 0)
