"""Every kind of model: read, asked, taught, and refused with the remedy."""

import json
import os

import numpy as np
import pytest

import tests_models
from snellen import plugins
from snellen.core import Lesson, Sheet
from snellen.errors import BadAnswer, BadSetting, SnellenError, Unable, Unloadable

ABC = ("a", "b", "c")
IMAGES = np.random.default_rng(1).integers(0, 256, (24, 28, 28, 1), dtype=np.uint8)
SHEET = Sheet(IMAGES, ABC)


def lesson(side=28, channels=1, choices=ABC, views=600):
    """Pictures that anybody can tell apart: a bright bar at another height for each choice."""
    labels = np.arange(60) % len(choices)
    images = np.random.default_rng(2).integers(0, 60, (60, side, side, channels), dtype=np.uint8)
    for n, label in enumerate(labels):
        images[n, 4 + 7 * label : 8 + 7 * label] = 250
    return Lesson(images, labels, choices, views=views, seed=3)


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    return tests_models.specs(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("kind", ["torch", "keras", "sklearn", "nearest", "simulated", "paper-cnn"])
def test_whoever_studies_learns_what_anybody_can_see(kind, specs):
    subject = plugins.subject(specs[kind])
    taught = subject.study(lesson())
    right = taught.answer(Sheet(lesson().images, ABC)).choice == lesson().labels
    assert right.mean() > 0.9
    assert getattr(subject, "untaught", True) or kind == "simulated"  # it is as it was


@pytest.mark.parametrize("kind", ["onnx", "hf", "callable"])
def test_the_frozen_say_so(kind, specs):
    with pytest.raises(Unable, match="is frozen and cannot study"):
        plugins.subject(specs[kind]).study(lesson())


def test_a_second_lesson_adds_to_the_first(specs):
    subject = plugins.subject(specs["torch"])
    halves = [
        Lesson(lesson().images[s], lesson().labels[s], ABC, views=300, seed=3)
        for s in (slice(30), slice(30, None))
    ]
    twice = subject.study(halves[0]).study(halves[1])
    assert len(twice.lessons) == 2
    assert (twice.answer(Sheet(lesson().images, ABC)).choice == lesson().labels).mean() > 0.8


# PyTorch ------------------------------------------------------------------------------------


def test_the_papers_network_has_as_many_weights_as_the_papers():
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    from snellen.subjects.networks import paper_cnn

    network = paper_cnn()
    assert sum(p.numel() for p in network.parameters()) == 59_933
    assert network(torch.zeros(2, 1, 28, 28)).shape == (2, 10)


def test_its_fast_layers_give_the_very_numbers_of_plain_ones():
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    from torch import nn

    from snellen.subjects.networks import paper_cnn

    torch.manual_seed(4)
    fast = paper_cnn().eval()
    convolutions = list(fast[0])
    plain = nn.Sequential(
        convolutions[0], nn.ReLU(), nn.MaxPool2d(2), convolutions[3], nn.ReLU(), nn.MaxPool2d(2),
        *list(fast)[1:],
    )  # fmt: skip
    x, y = torch.rand(200, 1, 28, 28), torch.arange(200) % 10
    gradients = []
    for network in (fast, plain):
        network.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        gradients.append([p.grad.clone() for p in network.parameters()])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(fast(x), plain(x), rtol=1e-5, atol=1e-6)


def test_weights_are_read_safely_and_their_absence_told(specs, tmp_path):
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    from safetensors.torch import save_file

    module = plugins.load_attribute(specs["torch"].removeprefix("torch:"))()
    torch.save(module.state_dict(), tmp_path / "net.pt")
    save_file(module.state_dict(), tmp_path / "net.safetensors")
    first, second = (
        plugins.subject(f"{specs['torch']},weights={tmp_path / name}")
        for name in ("net.pt", "net.safetensors")
    )
    assert np.array_equal(first.answer(SHEET).scores, second.answer(SHEET).scores)
    assert first.fingerprint == second.fingerprint
    module[0].weight.data += 1
    torch.save(module.state_dict(), tmp_path / "other.pt")
    other = plugins.subject(f"{specs['torch']},weights={tmp_path / 'other.pt'}")
    assert other.fingerprint != first.fingerprint

    class Evil:
        def __reduce__(self):
            return os.system, ("touch evil",)

    torch.save(Evil(), tmp_path / "evil.pt")
    for name, told in (("evil.pt", "does not hold weights"), ("none.pt", "there is no file")):
        with pytest.raises(Unloadable, match=told):
            plugins.subject(f"{specs['torch']},weights={tmp_path / name}")
    assert not os.path.exists("evil")  # noqa: PTH110


def test_a_module_answers_as_it_is_and_may_study(specs):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    module = plugins.load_attribute(specs["torch"].removeprefix("torch:"))()
    subject = plugins.subject(module, name="mine")
    before = subject.answer(SHEET).scores
    taught = subject.study(lesson())
    assert not np.array_equal(taught.answer(SHEET).scores, before)
    assert np.array_equal(subject.answer(SHEET).scores, before)
    assert (taught.name, subject.name) == ("mine", "mine")


def test_a_fingerprint_changes_with_what_the_answers_depend_on(specs, tmp_path):
    spec = specs["torch"]
    prints = [
        plugins.subject(s).fingerprint
        for s in (
            spec,
            f"{spec},lr=0.01",
            f"{spec},batch=7",
            f"{spec},mean=0.5",
            f"{spec},trained=1",
        )
    ]
    assert len(set(prints)) == 5
    assert plugins.subject(spec).fingerprint == prints[0]
    code = tmp_path / "models.py"
    code.write_text(tests_models.CODE.replace("nn.ReLU()", "nn.Tanh()"))
    assert plugins.subject(f"torch:{code}:torch_net").fingerprint != prints[0]


WRONG = """
import numpy as np
from torch import nn

def seven():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 7))

def wide():
    return nn.Sequential(nn.Flatten(), nn.Linear(999, 3))

def no_module():
    return 3

def exploding(classes=3):
    class Boom(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(784, classes)
        def forward(self, x):
            return self.net(x.flatten(1)) * float("inf")
    return Boom()

def nan(images):
    return np.full((len(images), 3), np.nan)

def flat(images):
    return np.zeros(len(images))

def five(images):
    return np.zeros((len(images), 5))
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    file = tmp_path_factory.mktemp("wrong") / "wrong.py"
    file.write_text(WRONG)
    return file


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("seven", "output of shape .*7.*3 choices; let its factory take a parameter `classes`"),
        ("wide", "cannot take pictures of shape .*set size= or channels="),
        ("exploding", "diverged: the loss is .*smaller lr="),
    ],
)
def test_networks_that_do_not_fit_the_lesson_are_explained(wrong, name, told):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    with pytest.raises(BadAnswer, match=told):
        plugins.subject(f"torch:{wrong}:{name}").study(lesson())


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nan", "gave NaN or infinite scores"),
        ("flat", r"output of shape \(24,\); it should be"),
        ("five", "5 outputs and no label map.*3 choices; say what its outputs mean with labels="),
    ],
)
def test_answers_that_do_not_fit_the_sheet_are_explained(wrong, name, told):
    with pytest.raises(BadAnswer, match=told):
        plugins.subject(f"callable:{wrong}:{name}").answer(SHEET)


def test_a_place_that_is_no_model_is_explained(wrong):
    with pytest.raises(Unloadable, match=r"should return a torch\.nn\.Module.*int"):
        plugins.subject(f"torch:{wrong}:no_module")
    with pytest.raises(Unloadable, match="device 'cuda' cannot be used"):
        plugins.subject(f"torch:{wrong}:seven,device=cuda")


# ONNX, Hugging Face, Keras, scikit-learn -----------------------------------------------------


def test_an_onnx_file_says_its_size_and_layout(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    first = plugins.subject(str(tests_models.onnx_file(tmp_path / "a.onnx")))
    last = plugins.subject(str(tests_models.onnx_file(tmp_path / "b.onnx", layout="NHWC")))
    assert first.reading.describe()["size"] == ("28 × 28", "model")
    assert first.reading.describe()["layout"] == ("NCHW", "model")
    assert last.reading.describe()["layout"] == ("NHWC", "model")
    np.testing.assert_allclose(first.answer(SHEET).scores, last.answer(SHEET).scores, rtol=1e-5)


def test_an_onnx_file_of_a_fixed_batch_is_fed_full_batches(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    free = plugins.subject(str(tests_models.onnx_file(tmp_path / "a.onnx")))
    fixed = plugins.subject(str(tests_models.onnx_file(tmp_path / "b.onnx", batch=5)))
    np.testing.assert_allclose(fixed.answer(SHEET).scores, free.answer(SHEET).scores, rtol=1e-5)


def test_pictures_are_brought_to_the_models_size(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    subject = plugins.subject(str(tests_models.onnx_file(tmp_path / "a.onnx")))
    large = np.repeat(np.repeat(IMAGES, 2, axis=1), 2, axis=2)
    colour = np.repeat(large, 3, axis=3)
    np.testing.assert_allclose(
        subject.answer(Sheet(large, ABC)).scores,
        subject.answer(Sheet(colour, ABC)).scores,
        atol=1e-3,
    )


def test_a_broken_onnx_file_is_explained(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    (tmp_path / "x.onnx").write_bytes(b"rubbish")
    with pytest.raises(Unloadable, match="cannot be read as an ONNX model"):
        plugins.subject(str(tmp_path / "x.onnx"))
    with pytest.raises(Unloadable, match="there is no file"):
        plugins.subject("onnx:none.onnx")


def test_a_hugging_face_folder_says_all_of_its_preprocessing(specs):
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    subject = plugins.subject(specs["hf"])
    told = subject.reading.describe()
    assert told["size"] == ("28 × 28, the middle of 32 × 32 (bicubic)", "model")
    assert told["mean"] == ("mean 0.5, std 0.25", "model")
    assert subject.labels == ABC
    turned = Sheet(IMAGES, ("c", "a", "b"))
    np.testing.assert_allclose(
        subject.answer(turned).scores, subject.answer(SHEET).scores[:, [2, 0, 1]], rtol=1e-4
    )
    with pytest.raises(BadAnswer, match="none of them called x, y"):
        subject.answer(Sheet(IMAGES, ("x", "y")))


def test_hugging_face_names_that_are_not_here_are_explained():
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    with pytest.raises(Unloadable, match="hf:nobody/nothing cannot be loaded"):
        plugins.subject("hf:nobody/nothing")


def test_a_keras_file_is_asked_as_it_is(specs, tmp_path):
    pytest.importorskip("keras", reason="the extra 'keras' is not installed")
    model = plugins.load_attribute(specs["keras"].removeprefix("keras:"))()
    model.save(tmp_path / "net.keras")
    subject = plugins.subject(str(tmp_path / "net.keras"))
    np.testing.assert_allclose(
        subject.answer(SHEET).scores, model.predict_on_batch(IMAGES / 255), rtol=1e-4, atol=1e-6
    )
    assert subject.reading.describe()["size"] == ("28 × 28", "model")
    (tmp_path / "bad.keras").write_bytes(b"rubbish")
    with pytest.raises(Unloadable, match="cannot be read as a Keras model"):
        plugins.subject(str(tmp_path / "bad.keras"))


def test_a_fitted_estimator_answers_and_pickles_are_refused():
    pytest.importorskip("sklearn", reason="the extra 'sklearn' is not installed")
    from sklearn.naive_bayes import GaussianNB

    fitted = GaussianNB().fit(lesson().images.reshape(60, -1) / 255, np.array(ABC)[lesson().labels])
    subject = plugins.subject(fitted)
    assert (subject.answer(Sheet(lesson().images, ABC)).choice == lesson().labels).mean() > 0.9
    other = GaussianNB().fit(lesson().images.reshape(60, -1) / 250, np.array(ABC)[lesson().labels])
    assert plugins.subject(other).fingerprint != subject.fingerprint
    with pytest.raises(Unloadable, match="pickles are not read"):
        plugins.subject("sklearn:model.joblib")


# what users say ------------------------------------------------------------------------------


def test_what_the_user_says_is_done(tmp_path):
    seen = []

    def spy(images):
        seen.append(images)
        return np.zeros((len(images), 3))

    colour = np.repeat(IMAGES, 3, axis=3).copy()
    colour[..., 0] = 255
    subject = plugins.subject(
        spy, size=14, layout="NCHW", order="bgr", white=255, mean="1/2/3", std="2", channels=3
    )
    subject.answer(Sheet(colour[:2], ABC))
    (x,) = seen
    assert x.shape == (2, 3, 14, 14)
    np.testing.assert_allclose(x[:, 2], (255 - 3) / 2, rtol=1e-5)  # red comes last
    assert {who for _, who in subject.reading.describe().values()} == {"user"}
    with pytest.raises(BadSetting, match="mean is one number or one a channel"):
        plugins.subject(spy, mean="half")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.json", json.dumps(["c", "b", "a"])),
        ("l.json", '{"0": "c", "1": "b", "2": "a"}'),
        ("l.txt", "c\nb\na\n"),
    ],
)
def test_a_label_map_says_what_outputs_mean(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    subject = plugins.subject(
        lambda images: np.tile([0.1, 0.2, 0.7], (len(images), 1)), labels=str(tmp_path / name)
    )
    assert set(subject.answer(SHEET).choice) == {0}
    assert plugins.subject("chance").answer(SHEET).scores.shape == (24, 3)


def test_label_maps_that_do_not_exist_are_explained(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    for path, told in (("none.txt", "cannot be read"), (tmp_path / "bad.json", "neither a JSON")):
        with pytest.raises(SnellenError, match=told):
            plugins.subject(lambda images: images, labels=str(path))


def test_the_simulated_person_slips_takes_time_and_differs_from_others():
    sheet = Sheet(lesson().images, ABC)
    first, second = (
        plugins.subject(f"simulated,person={n},slips=0.3").study(lesson()) for n in (1, 2)
    )
    one, other = first.answer(sheet), second.answer(sheet)
    assert 0.6 < (one.choice == lesson().labels).mean() < 1
    assert (one.choice != other.choice).any()
    assert 0.3 < one.seconds.min() < one.seconds.max() < 2.5
