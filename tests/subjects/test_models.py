"""Every kind of model: read, asked, taught, and refused with the remedy."""

import json
import os
import shutil

import numpy as np
import pytest

import tests_models
from snellen import plugins
from snellen.core import PASS, Lesson, Sheet
from snellen.errors import BadAnswer, BadSetting, SnellenError, Unable, Unloadable
from snellen.groups import group_of, load_groups
from snellen.subjects.preprocessing import Preprocessing

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


def test_a_hugging_face_folder_shows_its_last_convolution(specs):
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    looking = Sheet(IMAGES, ABC, asks=frozenset({"choice", "signals"}))
    ((name, maps),) = plugins.subject(specs["hf"]).answer(looking).signals.items()
    assert name.endswith(".convolution")
    assert maps.shape == (24, 8, 4, 4)
    named = plugins.subject(f"{specs['hf']},signals=resnet.pooler")
    assert named.answer(looking).signals["resnet.pooler"].shape == (24, 8, 1, 1)


def test_hugging_face_names_that_are_not_here_are_explained():
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    for place in ("/nonexistent", "./nonexistent"):
        with pytest.raises(Unloadable, match=f"^hf:{place}: there is no such folder$"):
            plugins.subject(f"hf:{place}")
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


def test_the_simulated_person_asks_for_more_until_it_is_sure_and_remembers_every_lesson():
    person = plugins.subject("simulated,slips=0")
    more = Sheet(lesson().images, ABC, instead=("more", "all"))
    asked = person.answer(more).choice
    assert set(asked) == {3, 4}  # it was shown nothing yet, and names nothing
    images, labels = lesson().images, lesson().labels
    for label in range(3):
        own = labels == label
        person = person.study(Lesson(images[own], labels[own], ABC))
    assert (person.answer(more).choice == labels).all()
    whole = plugins.subject("simulated,slips=0").study(lesson())
    assert (whole.answer(more).choice == labels).all()


def test_the_schooled_person_names_things_when_it_sees_them():
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    from snellen.images.things import THINGS, draw_things
    from snellen.seeds import Seed

    images, labels = draw_things(Seed("test"), 36, 32)
    answers = plugins.subject("simulated,slips=0,schooled=true").answer(
        Sheet(np.concatenate([images, images * 0]), THINGS, instead=("more",))
    )
    named = answers.choice[:36] < 9
    assert named.mean() > 0.7
    assert (answers.choice[:36] == labels)[named].mean() > 0.9
    assert plugins.subject("simulated,schooled=true").fingerprint != person_print()


def person_print():
    return plugins.subject("simulated").fingerprint


PROCESSORS = [
    ({"do_rescale": False}, "white", "255"),
    ({"do_flip_channel_order": True}, "order", "BGR"),
    ({"do_resize": False, "do_center_crop": False}, "size", "any"),
    ({"size": {"shortest_edge": 28}, "crop_pct": 0.875, "do_center_crop": False}, "size",
     "28 × 28, the middle of 32 × 32 (bicubic)"),
    ({"size": {"longest_edge": 40}, "do_center_crop": False}, "size", "any"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "part", "told"), PROCESSORS)
def test_a_hugging_face_processor_is_taken_at_its_word(specs, tmp_path, said, part, told):
    pytest.importorskip("transformers", reason="the extra 'hf' is not installed")
    folder = tmp_path / "net"
    shutil.copytree(specs["hf"].removeprefix("hf:"), folder)
    file = folder / "preprocessor_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **said}))
    reading = plugins.subject(f"hf:{folder},channels=3").reading
    assert reading.describe()[part][0] == told
    file.write_text("{")
    with pytest.raises(Unloadable, match="is not JSON"):
        plugins.subject(f"hf:{folder}")


def test_options_are_numbers_within_their_bounds(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    net = tests_models.onnx_file(tmp_path / "net.onnx")
    assert plugins.subject(f"{net},channels=1").reading.channels == 1
    for wrong in ("channels=2", "batch=0", "size=-4", "std=0", "size=big"):
        with pytest.raises(BadSetting, match=wrong.partition("=")[0]):
            plugins.subject(f"{net},{wrong}")


def test_bytes_and_floats_of_the_same_picture_are_read_alike():
    images = np.random.default_rng(0).integers(0, 256, (3, 9, 8, 3)).astype(np.uint8)
    for values in (
        {"order": "bgr", "white": 255.0, "mean": (127.0,), "std": (128.0,)},
        {"mean": (0.5, 0.4, 0.3), "std": (0.2, 0.3, 0.4), "layout": "NHWC"},
        {"size": (9, 8), "channels": 3},
    ):
        reading = Preprocessing(**values)
        floats = images.astype(np.float32) / np.float32(255)
        np.testing.assert_allclose(reading(images), reading(floats), atol=1e-6)


def test_factories_may_require_what_they_are_told(tmp_path):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    pytest.importorskip("keras", reason="the extra 'keras' is not installed")
    code = tmp_path / "nets.py"
    code.write_text(
        "def needy(classes, channels):\n"
        "    from torch import nn\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(784 * channels, classes))\n"
        "def layered(classes=3):\n"
        "    import keras\n"
        "    return keras.Sequential([keras.Input((28, 28, 1)), keras.layers.Flatten(),\n"
        "                             keras.layers.Dense(classes)])\n"
        "def broken():\n    raise RuntimeError('no such table')\n"
    )
    for name in ("needy", "layered"):
        pupil = plugins.subject(f"{code}:{name}")
        assert pupil.study(lesson()).answer(SHEET).scores.shape == (len(SHEET), 3)
    prints = [plugins.subject(f"{code}:layered").fingerprint for _ in range(2)]
    assert prints[0] == prints[1]  # whatever number Keras gives its layers
    with pytest.raises(Unloadable, match="RuntimeError: no such table"):
        plugins.subject(f"{code}:broken")


def test_tensors_beside_an_onnx_file_belong_to_it(tmp_path):
    onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
    net = tests_models.onnx_file(tmp_path / "net.onnx")
    apart = tmp_path / "apart.onnx"
    onnx.save_model(
        onnx.load(net), str(apart), save_as_external_data=True, location="w.data", size_threshold=0
    )
    first = plugins.subject(str(apart)).fingerprint
    (tmp_path / "unrelated.data").write_bytes(b"x")
    assert plugins.subject(str(apart)).fingerprint == first
    weights = bytearray((tmp_path / "w.data").read_bytes())
    weights[3] ^= 64
    (tmp_path / "w.data").write_bytes(weights)
    assert plugins.subject(str(apart)).fingerprint != first


# groups --------------------------------------------------------------------------------------


def grouped(outputs, tmp_path, **options):
    file = tmp_path / "groups.json"
    file.write_text(json.dumps({"cat": ["0-1"], "dog": [2, "wolf"]}))
    return plugins.subject(
        lambda images: np.tile(outputs, (len(images), 1)), name="net", groups=str(file), **options
    )


def test_groups_are_as_likely_as_their_members(tmp_path):
    logits = np.log([0.3, 0.3, 0.35, 0.05])
    asked = Sheet(IMAGES, ("dog", "cat"))
    together = grouped(logits, tmp_path).answer(asked)
    np.testing.assert_allclose(np.exp(together.scores[0]), [0.35, 0.6])
    assert together.choice[0] == 1
    largest = grouped(logits, tmp_path, grouping="largest").answer(asked)
    assert largest.choice[0] == 0
    probabilities = grouped(np.exp(logits), tmp_path).answer(asked)
    np.testing.assert_allclose(probabilities.scores, together.scores)


def test_whoever_names_something_else_makes_no_choice_unless_forced(tmp_path):
    logits = np.log([0.1, 0.1, 0.2, 0.6])
    asked = Sheet(IMAGES, ("cat", "dog"))
    assert grouped(logits, tmp_path).answer(asked).choice[0] == PASS
    assert grouped(logits, tmp_path, outside="forced").answer(asked).choice[0] in (0, 1)
    names = tmp_path / "labels.txt"
    names.write_text("tabby\nlynx\nbeagle\nwolf\n")
    assert grouped(logits, tmp_path, labels=str(names)).answer(asked).choice[0] == 1


def test_groups_that_cannot_be_are_explained(tmp_path):
    with pytest.raises(BadAnswer, match="has no group bird"):
        grouped([0, 0, 0], tmp_path).answer(Sheet(IMAGES, ("cat", "bird")))
    with pytest.raises(BadAnswer, match=r"none of the 2 outputs .* is in its group 'dog'"):
        grouped([0, 0], tmp_path).answer(Sheet(IMAGES, ("cat", "dog")))
    for text, told in (("{", "should be JSON"), ('{"a": [1], "b": ["1"]}', "1 is in 'a' and in")):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(Unloadable, match=told):
            plugins.subject(len, groups=str(tmp_path / "bad.json"))
    with pytest.raises(BadSetting, match="there is imagenet20"):
        plugins.subject(len, groups="imagenet99")


def test_the_twenty_groups_are_those_of_the_paper():
    groups = load_groups("imagenet20")
    assert len(groups) == 20
    assert len(groups["dog"]) == 118
    assert group_of("291", groups) == "lion"
    assert group_of("cat", groups) == "cat"
    assert group_of("999", groups) is None
    members = [int(m) for group in groups.values() for m in group]
    assert len(members) == len(set(members))
    assert 0 <= min(members) <= max(members) < 1000
