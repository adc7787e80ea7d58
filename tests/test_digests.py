"""Equal things have equal digests; things that behave otherwise do not."""

import functools
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from snellen.digests import digest


def scaled(by):
    return lambda x: x * by


class Model:
    def __init__(self, weights):
        self.weights = weights

    def scores(self, x):
        return x @ self.weights


ARRAY = np.arange(5000.0)
CHANGED = np.where(np.arange(5000) == 2500, 0.0, ARRAY)


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        (scaled(1), scaled(1), scaled(-1)),
        (functools.partial(max, 1), functools.partial(max, 1), functools.partial(max, 2)),
        (Model(ARRAY), Model(ARRAY.copy()), Model(CHANGED)),
        (Model(ARRAY).scores, Model(ARRAY.copy()).scores, Model(CHANGED).scores),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, {"a": 1, "b": [3]}),
        ({1, 2}, {2, 1}, {1, 3}),
        (functools.lru_cache(scaled), functools.lru_cache(scaled), functools.lru_cache(max)),
        (ARRAY, ARRAY.copy(), ARRAY.reshape(2, -1)),
        (np.array(["a", None], object), np.array(["a", None], object), np.array(["b"], object)),
    ],
)
def test_what_behaves_alike_has_one_digest(one, same, other):
    assert digest(one) == digest(same)
    assert digest(one) != digest(other)


def test_what_contains_itself_has_a_digest():
    ring = [1]
    ring.append(ring)
    assert digest(ring)


def test_tensors_count_by_their_values():
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    one = torch.arange(3.0)
    assert digest(one) == digest(one.clone()) != digest(one + 1)


def test_fitted_estimators_count_by_what_they_learnt():
    pytest.importorskip("sklearn", reason="the extra 'sklearn' is not installed")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline

    x = np.random.default_rng(0).random((40, 5))
    y = (x[:, 0] > 0.5).astype(int)

    def fitted(labels):
        return make_pipeline(RandomForestClassifier(4, random_state=0)).fit(x, labels)

    assert digest(fitted(y)) == digest(fitted(y)) != digest(fitted(1 - y))


CODE = """
import numpy as np
import beside
SCALE = {scale}
TABLE = np.full(3, {table})

def helper(x):
    {doc}
    return x * {factor}  # {remark}

def scores(x):
    return helper(x) + SCALE + TABLE.sum() + beside.more()
"""


def digest_of(folder, scale=1, table=1, factor=1, more=1, doc='"""Say."""', remark=""):
    """Write the code, load it in a process of its own, and return its digest."""
    folder.mkdir(exist_ok=True)
    text = CODE.format(scale=scale, table=table, factor=factor, doc=doc, remark=remark)
    (folder / "mine.py").write_text(text)
    (folder / "beside.py").write_text(f"def more():\n    return {more}\n")
    code = (
        "from snellen import plugins; import sys; print(plugins.subject(sys.argv[1]).fingerprint)"
    )
    told = subprocess.run(
        [sys.executable, "-B", "-c", code, f"{folder / 'mine.py'}:scores"],
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.strip()


def test_code_counts_with_all_that_it_uses_and_without_its_remarks(tmp_path):
    first = digest_of(tmp_path)
    assert digest_of(tmp_path) == first
    assert digest_of(tmp_path, doc='"""Say more."""', remark="why") == first
    for change in ("scale", "table", "factor", "more"):
        assert digest_of(tmp_path, **{change: 2}) != first, change


def test_the_same_code_elsewhere_is_the_same(tmp_path):
    code = textwrap.dedent("def scores(x):\n    return x")
    prints = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.py").write_text(code)
        from snellen import plugins

        prints.add(plugins.subject(f"{tmp_path / name / 'net.py'}:scores").fingerprint)
    assert len(prints) == 1
