"""Tables are written here as the library `datasets` writes them."""

import io
import json
import sys

import duckdb
import numpy as np
import pytest
from PIL import Image

from snellen.errors import MissingExtra, Unloadable
from snellen.images.datasets import load_pictures

X = np.random.default_rng(2).integers(0, 256, (12, 8, 8), dtype=np.uint8)
NAMES = ["cat", "dog", "emu"]
Y = np.arange(12) % 3
FEATURES = {
    "image": {"_type": "Image"},
    "label": {"names": NAMES, "_type": "ClassLabel"},
}


def png(picture):
    held = io.BytesIO()
    Image.fromarray(picture).save(held, "PNG")
    return held.getvalue()


def write_parquet(file, pictures=X, labels=Y, features=None, columns=("image", "label")):
    """Write with DuckDB; what is noted of the features goes where `datasets` puts it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    note = json.dumps({"info": {"features": features}}).replace("'", "''") if features else ""
    noted = f", KV_METADATA {{huggingface: '{note}'}}" if note else ""
    kind = "VARCHAR" if isinstance(labels[0], str) else "BIGINT"
    with duckdb.connect() as connection:
        connection.execute(
            f'CREATE TABLE rows ("{columns[0]}" STRUCT(bytes BLOB, path VARCHAR), '
            f'"{columns[1]}" {kind})'
        )
        for picture, label in zip(pictures, labels, strict=True):
            held = picture if isinstance(picture, bytes) or picture is None else png(picture)
            connection.execute(
                "INSERT INTO rows VALUES ({'bytes': ?::BLOB, 'path': 'x.png'}, ?)",
                [held, label if isinstance(label, str) or label is None else int(label)],
            )
        connection.execute("SET threads = 1")
        there = str(file).replace("'", "''")
        connection.execute(f"COPY rows TO '{there}' (FORMAT parquet{noted})")


def write_arrow(folder, pictures=X, labels=Y, info=None, noted=None, column=None):
    pa = pytest.importorskip("pyarrow")
    folder.mkdir(parents=True, exist_ok=True)
    column = column or pa.array([{"bytes": png(p), "path": None} for p in pictures])
    table = pa.table({"image": column, "label": labels})
    if noted:
        table = table.replace_schema_metadata(
            {"huggingface": json.dumps({"info": {"features": noted}})}
        )
    half = len(pictures) // 2
    files = ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]
    for name, part in zip(files, (table.slice(0, half), table.slice(half)), strict=True):
        with (
            pa.OSFile(str(folder / name), "wb") as sink,
            pa.ipc.new_stream(sink, table.schema) as writer,
        ):
            writer.write_table(part)
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": name} for name in files]})
    )
    if info:
        (folder / "dataset_info.json").write_text(json.dumps({"features": info}))


def classes(found):
    return [found.names[label] for label in found.labels]


LAYOUTS = [
    ("data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/test.parquet"),
    ("mnist/train-0.parquet", "mnist/train-1.parquet", "mnist/test-0.parquet"),
    ("train/0000.parquet", "train/0001.parquet", "test/0000.parquet"),
    ("train-a.parquet", "train-b.parquet", "test.parquet"),
]


@pytest.mark.parametrize("files", LAYOUTS, ids=lambda files: files[0])
def test_a_copy_of_the_hub_is_read_in_any_of_its_layouts(tmp_path, files):
    for file, start in zip(files, (0, 4, 8), strict=True):
        part = slice(start, start + 4)
        write_parquet(tmp_path / file, X[part], Y[part], FEATURES)
    found = load_pictures(tmp_path)
    assert np.array_equal(found.images[..., 0], X)
    assert classes(found) == [NAMES[label] for label in Y]
    assert found.testing.tolist() == [8, 9, 10, 11]


def test_what_is_not_parted_is_parted_by_class(tmp_path):
    write_parquet(tmp_path / "data" / "train.parquet", X, Y, FEATURES)
    assert np.bincount(load_pictures(tmp_path).labels).tolist() == [4, 4, 4]
    assert len(load_pictures(tmp_path).testing) == 6
    (tmp_path / "data" / "train.parquet").rename(tmp_path / "mine.parquet")
    assert len(load_pictures(tmp_path).testing) == 6


def test_the_tests_without_labels_give_way_to_the_validation(tmp_path):
    write_parquet(tmp_path / "train.parquet", X[:6], Y[:6], FEATURES)
    write_parquet(tmp_path / "validation.parquet", X[6:9], Y[6:9], FEATURES)
    write_parquet(tmp_path / "test.parquet", X[9:], [-1, -1, -1], FEATURES)
    found = load_pictures(tmp_path)
    assert np.array_equal(found.images[..., 0], X[:9])
    assert found.testing.tolist() == [6, 7, 8]
    write_parquet(tmp_path / "test.parquet", X[9:], Y[9:], FEATURES)
    assert np.array_equal(load_pictures(tmp_path).images[6:, ..., 0], X[9:])


def test_a_label_of_minus_one_is_a_label_where_classes_have_no_names(tmp_path):
    write_parquet(tmp_path / "train.parquet", X, [-1, 1] * 6)
    assert load_pictures(tmp_path).names == ("-1", "1")


def test_labels_may_be_words(tmp_path):
    words = [NAMES[label] for label in Y]
    write_parquet(tmp_path / "train.parquet", X, words)
    assert classes(load_pictures(tmp_path)) == words


def test_a_folder_may_be_called_what_is_a_pattern_to_others(tmp_path):
    write_parquet(tmp_path / "a[1]*'b" / "train.parquet", X, Y, FEATURES)
    assert len(load_pictures(tmp_path / "a[1]*'b").images) == 12


def test_columns_are_found_by_their_types(tmp_path):
    odd = {'a "b".c': {"_type": "Image"}, "d{e}": FEATURES["label"]}
    write_parquet(tmp_path / "train.parquet", X, Y, odd, columns=('a ""b"".c', "d{e}"))
    assert classes(load_pictures(tmp_path)) == [NAMES[label] for label in Y]


def test_pictures_of_many_sizes_and_colours_are_fitted(tmp_path):
    odd = [X[0], X[1][:4], np.zeros((40, 40, 3), np.uint8)]
    write_parquet(tmp_path / "train.parquet", odd, Y[:3], FEATURES)
    with pytest.raises(Unloadable, match="must have one size; found 8 × 8 and 4 × 8"):
        load_pictures(tmp_path)
    assert load_pictures(tmp_path, side=16).images.shape == (3, 16, 16, 3)


@pytest.mark.parametrize(("noted", "beside"), [(FEATURES, None), (None, FEATURES)])
def test_what_was_saved_to_disk_is_read(tmp_path, noted, beside):
    write_arrow(tmp_path / "train", X[:8], Y[:8], beside, noted)
    write_arrow(tmp_path / "test", X[8:], Y[8:], beside, noted)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["test", "train"]}')
    found = load_pictures(tmp_path)
    assert np.array_equal(found.images[..., 0], X)
    assert classes(found) == [NAMES[label] for label in Y]
    assert found.testing.tolist() == [8, 9, 10, 11]
    assert len(load_pictures(tmp_path / "train").images) == 8


@pytest.mark.parametrize("channels", ["none", "before", "after"])
def test_pictures_may_be_nested_rows(tmp_path, channels):
    pa = pytest.importorskip("pyarrow")
    colour = np.stack([X, X // 2, X // 3], axis=1 if channels == "before" else 3)
    held = X if channels == "none" else colour
    write_arrow(tmp_path, X, Y, FEATURES, column=pa.array(held.tolist()))
    found = load_pictures(tmp_path).images
    assert np.array_equal(found[..., 0], X)
    if channels != "none":
        assert np.array_equal(found[..., 2], X // 3)


def test_bytes_may_lie_bare_and_words_in_a_dictionary(tmp_path):
    pa = pytest.importorskip("pyarrow")
    words = pa.array([NAMES[label] for label in Y]).dictionary_encode()
    write_arrow(tmp_path, X, words, column=pa.array([png(p) for p in X], pa.large_binary()))
    found = load_pictures(tmp_path)
    assert np.array_equal(found.images[..., 0], X)
    assert classes(found) == [NAMES[label] for label in Y]


def test_a_type_that_is_a_pickle_is_not_opened(tmp_path):
    pa = pytest.importorskip("pyarrow")
    trap = b"cos\nmkdir\n(S'" + str(tmp_path / "sprung").encode() + b"'\ntR."
    noted = {"ARROW:extension:name": "arrow.py_extension_type", "ARROW:extension:metadata": trap}
    rows = pa.array(X.tolist(), pa.list_(pa.list_(pa.uint8())))
    write_arrow(tmp_path / "d", X, Y, FEATURES)
    schema = pa.schema(
        [pa.field("image", rows.type, metadata=noted), pa.field("label", pa.int64())]
    )
    table = pa.table([rows, pa.array(Y)], schema=schema)
    file = tmp_path / "d" / "data-00000-of-00002.arrow"
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(table)
    (tmp_path / "d" / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": file.name}]})
    )
    assert np.array_equal(load_pictures(tmp_path / "d").images[..., 0], X)
    assert not (tmp_path / "sprung").exists()


def test_an_old_pyarrow_is_refused(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    write_arrow(tmp_path, info=FEATURES)
    monkeypatch.setattr(pa, "__version__", "14.0.0")
    with pytest.raises(MissingExtra, match=r"needs pyarrow 15 or newer, and 14\.0\.0 is installed"):
        load_pictures(tmp_path)


def test_a_missing_pyarrow_is_named(tmp_path, monkeypatch):
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "a.arrow"}]}')
    (tmp_path / "a.arrow").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"reading a\.arrow, an Arrow file.*snellen\[hf\]"):
        load_pictures(tmp_path)


def elsewhere(folder):
    (folder / "state.json").write_text('{"_data_files": [{"filename": "../secret.arrow"}]}')


def nameless(folder):
    (folder / "state.json").write_text('{"_data_files": []}')


def stateless(folder):
    (folder / "state.json").write_text("[]")


def no_json(folder):
    (folder / "dataset_dict.json").write_text("{")


def gone(folder):
    (folder / "state.json").write_text('{"_data_files": [{"filename": "a.arrow"}]}')


def selection(folder):
    state = {"_data_files": [{"filename": "a"}], "_indices_data_files": [{"filename": "b"}]}
    (folder / "state.json").write_text(json.dumps(state))


def other_parts(folder):
    (folder / "dataset_dict.json").write_text('{"splits": ["extra"]}')
    (folder / "extra").mkdir()
    (folder / "extra" / "a").write_bytes(b"")
    (folder / "extra" / "state.json").write_text('{"_data_files": [{"filename": "a"}]}')


def rubbish(folder):
    (folder / "train.parquet").write_bytes(b"rubbish")


def several(folder):
    write_parquet(folder / "one" / "train.parquet")
    write_parquet(folder / "two" / "train.parquet")


def no_pictures(folder):
    duckdb.sql("SELECT 1 AS label, 'a' AS word").write_parquet(str(folder / "train.parquet"))


def no_labels(folder):
    write_parquet(folder / "train.parquet", X[:3], [0, -1, None], FEATURES)


def only_paths(folder):
    write_parquet(folder / "train.parquet", [X[0], None], [0, 1], FEATURES)


def no_png(folder):
    write_parquet(folder / "train.parquet", [X[0], b"rubbish"], [0, 1], FEATURES)


def too_few_names(folder):
    write_parquet(folder / "train.parquet", X[:2], [0, 7], FEATURES)


def nothing(folder):
    write_parquet(folder / "source", X[:1], Y[:1])
    duckdb.sql(f"SELECT * FROM read_parquet('{folder / 'source'}') LIMIT 0").write_parquet(
        str(folder / "train.parquet")
    )


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (elsewhere, r"names '\.\./secret\.arrow'; it should name what lies in it"),
        (nameless, "it names none"),
        (stateless, "does not say which files"),
        (no_json, r"dataset_dict\.json cannot be read as JSON"),
        (gone, r"there is no a\.arrow"),
        (selection, "flatten_indices"),
        (other_parts, "should have parts called train, validation or test; found extra"),
        (rubbish, r"train\.parquet cannot be read as a table"),
        (several, "several data sets; take one of the folders one, two"),
        (no_pictures, r"one column of pictures.*; 0 could .* label \(INTEGER\), word \(VARCHAR\)"),
        (no_labels, "2 of 3 pictures of train have no label"),
        (only_paths, r"train\.parquet, row 1: the picture itself is not in the table"),
        (no_png, r"train\.parquet, row 1 cannot be read as a picture"),
        (too_few_names, "labels run from 0 to 7, but there are names for 0 to 2"),
        (nothing, "there are no pictures in"),
    ],
)
def test_what_cannot_be_read_is_explained(tmp_path, make, told):
    make(tmp_path)
    with pytest.raises(Unloadable, match=told):
        load_pictures(tmp_path)


def test_of_several_columns_the_usual_one_is_taken_or_asked_for(tmp_path):
    def write(second):
        duckdb.sql(
            f"SELECT image, label AS fine_label, 0 AS {second} FROM read_parquet('{source}')"
        ).write_parquet(str(tmp_path / "d" / "train.parquet"))

    source = tmp_path / "train.parquet"
    write_parquet(source)
    (tmp_path / "d").mkdir()
    write("coarse")
    assert load_pictures(tmp_path / "d").names == ("0", "1", "2")
    write("label")
    assert load_pictures(tmp_path / "d").names == ("0",)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[[1, 2], [3, 400]]], "whole numbers from 0 to 255"),
        ([[[1, 2], [3]]], "differ in length"),
        ([[[-1, 2], [3, 4]]], "from -1 to 4"),
        ([[]], "whole numbers"),
    ],
)
def test_rows_that_are_no_picture_are_explained(tmp_path, rows, told):
    there = tmp_path / "train.parquet"
    duckdb.sql(f"SELECT {rows[0]}::INTEGER[][] AS image, 1 AS label").write_parquet(str(there))
    with pytest.raises(Unloadable, match=told):
        load_pictures(tmp_path)
