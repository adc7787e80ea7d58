"""What goes on inside of a model: found, named, seen in the same pass, and only when asked."""

import numpy as np
import pytest

import tests_models
from snellen import doctor, plugins
from snellen.core import Lesson, Sheet
from snellen.errors import BadAnswer, BadSetting
from snellen.subjects.positions import Layer, suggested, told_apart
from snellen.testing import check_subject

ABC = ("a", "b", "c")
IMAGES = np.random.default_rng(1).integers(0, 256, (7, 16, 16, 1), dtype=np.uint8)
PLAIN = Sheet(IMAGES, ABC)
LOOKING = Sheet(IMAGES, ABC, asks=frozenset({"choice", "signals"}))
LESSON = Lesson(IMAGES, np.arange(7) % 3, ABC, views=21, seed=3)

NETS = """
from torch import nn

class Twisted(nn.Module):
    '''Written in another order than it runs; the layer behind works in place.'''
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)
        self.second = nn.Conv2d(4, 6, 3)
        self.aside = nn.Conv2d(1, 4, 3)
        self.first = nn.Conv2d(1, 4, 3)
        self.bend = nn.ReLU(inplace=True)
        self.gate = nn.Conv2d(6, 6, 1)
    def forward(self, x):
        y = self.bend(self.second(self.first(x)))
        y = y * self.gate(y.mean((2, 3), keepdim=True)).sigmoid()
        return self.head(y.mean((2, 3)))

class Tokens(nn.Module):
    def __init__(self, blocks=1):
        super().__init__()
        self.patches = nn.Conv2d(1, 8, 4, 4)
        block = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, blocks, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 3)
    def forward(self, x):
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(tokens)).mean(1))

class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(256, 3)
        self.spare = nn.Linear(256, 3)
    def forward(self, x):
        return nn.functional.linear(x.flatten(1), self.layer.weight)

def flat():
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 3))

def pupil(classes=3, channels=1, size=16):
    from snellen.subjects.networks import small_cnn
    return small_cnn(classes, channels, size, width=4)
"""


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    file = tmp_path_factory.mktemp("nets") / "nets.py"
    file.write_text(NETS)
    return file


def net(nets, name, options="trained=true"):
    return plugins.subject(f"torch:{nets}:{name},{options}")


# the rule ------------------------------------------------------------------------------------


def conv(name, places=49):
    return Layer(name, f"{name}.input", convolves=True, places=places)


def dense(name, places=1):
    return Layer(name, f"{name}.input", convolves=False, places=places)


@pytest.mark.parametrize(
    ("layers", "where"),
    [
        ([conv("c1"), conv("c2"), dense("d1"), dense("d2"), dense("d3")], "c2"),
        ([conv("c1"), dense("d1")], "c1"),
        ([conv("c1"), conv("c2"), conv("squeeze", 1), conv("excite", 1), dense("d")], "c2"),
        ([conv("c1"), dense("mlp1", 49), conv("c2"), dense("mlp2", 49), dense("d")], "c2"),
        ([conv("patches"), *[dense("qkv", 49)] * 8, dense("head")], "head.input"),
        ([conv("c1", 1), dense("d")], "c1"),
        ([dense("d1"), dense("d2")], "d2.input"),
        ([dense("d1")], ""),
        ([], ""),
    ],
    ids=["lenet", "one", "squeeze-excite", "convnext", "vit", "tiny", "mlp", "line", "nothing"],
)
def test_the_structure_suggests_the_last_layer_that_tells_places_apart(layers, where):
    assert suggested(layers) == where


def test_values_are_laid_out_by_pictures_and_channels():
    rng = np.random.default_rng(0)
    tokens = rng.random((2, 5, 3))
    laid = told_apart(tokens, 2, "x", "me")
    assert laid.shape == (2, 3, 5, 1)
    np.testing.assert_allclose(laid[1, 2, :, 0], tokens[1, :, 2], rtol=1e-6)
    assert laid.dtype == np.float32
    for shape, out in (((2,), (2, 1)), ((2, 4), (2, 4)), ((2, 3, 4, 5, 6), (2, 3, 4, 30))):
        assert told_apart(rng.random(shape), 2, "x", "me").shape == out
    for wrong in ((3, 4), ()):
        with pytest.raises(BadAnswer, match="at 'x', subject 'me' gave values of shape"):
            told_apart(rng.random(wrong), 2, "x", "me")


# PyTorch -------------------------------------------------------------------------------------


def test_the_last_convolution_is_found_by_running(nets):
    import torch

    subject = net(nets, "Twisted")
    assert subject.gives == {"choice", "scores", "signals"}
    answers = subject.answer(LOOKING)
    (name,) = answers.signals
    assert name == "second"
    assert answers.signals[name].shape == (7, 6, 12, 12)
    assert answers.signals[name].dtype == np.float32
    torch.manual_seed(0)  # as factories are called
    module = plugins.load_attribute(f"{nets}:Twisted")()
    with torch.no_grad():
        x = torch.from_numpy(IMAGES.transpose(0, 3, 1, 2) / np.float32(255))
        true = module.second(module.first(x))
    assert true.min() < 0  # so that what follows in place would have shown
    np.testing.assert_allclose(answers.signals[name], true, rtol=1e-4, atol=1e-6)


def test_watching_changes_no_score_and_costs_nothing_when_not_asked(nets):
    subject = net(nets, "Twisted")
    plain, looked = subject.answer(PLAIN), subject.answer(LOOKING)
    np.testing.assert_array_equal(plain.scores, looked.scores)
    assert plain.signals == {}
    module = plugins.load_attribute(f"{nets}:Twisted")()
    subject = plugins.subject(module)
    subject.answer(LOOKING)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in module.modules())


def test_one_pass_gives_scores_and_signals(nets):
    module = plugins.load_attribute(f"{nets}:Twisted")()
    seen = []
    type(module).forward, forward = (
        lambda self, x: (seen.append(len(x)), forward(self, x))[1],
        type(module).forward,
    )
    try:
        subject = plugins.subject(module, batch=4)
        subject.answer(LOOKING)
        assert seen == [2, 4, 3]  # two pictures to find the place
        subject.answer(LOOKING)
        assert seen == [2, 4, 3, 4, 3]
    finally:
        type(module).forward = forward


@pytest.mark.parametrize("blocks", [1, 3])
def test_of_a_transformer_what_enters_the_head_is_seen(nets, blocks):
    module = plugins.load_attribute(f"{nets}:Tokens")(blocks)
    subject = plugins.subject(module)
    answers = subject.answer(LOOKING)
    assert {n: v.shape for n, v in answers.signals.items()} == {"head.input": (7, 8)}
    weight, bias = (p.detach().numpy() for p in (module.head.weight, module.head.bias))
    heads = answers.signals["head.input"] @ weight.T + bias
    np.testing.assert_allclose(heads, answers.scores, rtol=1e-3, atol=1e-4)


def test_named_positions_are_seen_in_their_order(nets):
    subject = net(nets, "Tokens", "trained=true,signals=norm+patches+blocks.layers.0")
    shapes = {name: column.shape for name, column in subject.answer(LOOKING).signals.items()}
    assert shapes == {
        "norm": (7, 8, 16, 1),
        "patches": (7, 8, 4, 4),
        "blocks.layers.0": (7, 8, 16, 1),
    }
    assert list(shapes) == ["norm", "patches", "blocks.layers.0"]


def test_positions_that_are_not_there_are_told_with_those_that_are(nets):
    with pytest.raises(BadSetting, match=r"no position 'secnd' among the .* near to it are second"):
        net(nets, "Twisted", "trained=true,signals=secnd")
    with pytest.raises(BadSetting, match="no position 'heads'"):
        net(nets, "Twisted", "signals=heads.input")
    with pytest.raises(BadAnswer, match="did not come by aside on its way"):
        net(nets, "Twisted", "trained=true,signals=aside").answer(LOOKING)
    with pytest.raises(BadAnswer, match=r"no convolution and no dense layer .* signals=NAME"):
        net(nets, "Functional").answer(LOOKING)


def test_who_has_nothing_to_show_or_is_told_not_to_gives_no_signals(nets):
    assert "signals" not in net(nets, "flat").gives
    assert "signals" not in net(nets, "Twisted", "trained=true,signals=none").gives
    assert "signals" not in net(nets, "pupil", "signals=none").gives


def test_a_pupil_shows_what_goes_on_once_it_is_taught(nets):
    pupil = net(nets, "pupil", "batch=3")
    assert pupil.gives == {"choice", "scores", "study", "signals"}
    signals = pupil.study(LESSON).answer(LOOKING).signals
    assert {n: v.shape for n, v in signals.items()} == {"0.3": (7, 8, 4, 4)}
    assert np.isfinite(signals["0.3"]).all()
    check_subject(pupil)


def test_a_fingerprint_depends_on_positions_only_when_they_are_named(nets):
    for more in ("trained=true", "lr=0.001"):
        usual = net(nets, "Twisted", more).fingerprint
        assert net(nets, "Twisted", f"{more},signals=none").fingerprint == usual
        prints = {
            net(nets, "Twisted", f"{more},signals={n}").fingerprint for n in ("first", "second")
        }
        assert len(prints | {usual}) == 3


def test_the_doctor_says_where_it_looks(nets):
    told = dict(doctor.examine(f"torch:{nets}:Twisted,trained=true,size=16").findings)
    assert told["signals"] == "second, 6 × 12 × 12 a picture"
    blind = doctor.examine(f"torch:{nets}:Functional,trained=true,size=16,channels=1")
    assert dict(blind.findings)["signals"] == "none"
    assert any("signals=NAME" in complaint for complaint in blind.complaints)
    assert blind.fit


# ONNX ----------------------------------------------------------------------------------------


def onnx_file(path, batch="n", blocks=0, apart=False):
    """Save a convolution and a head; between them, if asked, blocks that work on tokens."""
    from onnx import TensorProto, helper, numpy_helper, save_model

    rng = np.random.default_rng(0)
    make = helper.make_node
    nodes = [make("Conv", ["x", "w"], ["maps"], strides=[4, 4], name="stem"),
             make("Relu", ["maps"], ["bent"])]  # fmt: skip
    weights = {"w": rng.normal(size=(5, 1, 4, 4)), "head": rng.normal(size=(5, 3))}
    last = "bent"
    if blocks:
        nodes += [
            make("Reshape", [last, "tokens"], ["rows"]),
            make("Transpose", ["rows"], ["in0"], perm=[0, 2, 1]),
        ]
        for n in range(blocks):
            weights[f"w{n}"] = rng.normal(size=(5, 5))
            nodes.append(make("MatMul", [f"in{n}", f"w{n}"], [f"in{n + 1}"], name=f"block{n}"))
        nodes.append(make("ReduceMean", [f"in{blocks}"], ["pooled"], axes=[1], keepdims=0))
    else:
        nodes.append(make("ReduceMean", [last], ["pooled"], axes=[2, 3], keepdims=0))
    nodes.append(make("Gemm", ["pooled", "head"], ["scores"], name="head"))
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (batch, 1, 16, 16))],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, (batch, 3))],
        [
            *(numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()),
            numpy_helper.from_array(np.array([0, 5, 16]), "tokens"),
        ],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    beside = {"save_as_external_data": True, "location": "w.data", "size_threshold": 0}
    save_model(model, str(path), **(beside if apart else {}))
    return path


@pytest.mark.parametrize("how", [{}, {"batch": 4}, {"apart": True}])
def test_an_onnx_file_shows_its_last_convolution(tmp_path, how):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    subject = plugins.subject(str(onnx_file(tmp_path / "net.onnx", **how)))
    answers = subject.answer(LOOKING)
    (name,) = answers.signals
    assert (name, answers.signals[name].shape) == ("maps", (7, 5, 4, 4))
    assert answers.signals[name].min() < 0  # before it is rectified
    np.testing.assert_allclose(answers.scores, subject.answer(PLAIN).scores, rtol=1e-5)
    assert subject.answer(PLAIN).signals == {}


def test_an_onnx_file_of_a_transformer_shows_what_enters_its_head(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    file = onnx_file(tmp_path / "net.onnx", blocks=3)
    answers = plugins.subject(str(file)).answer(LOOKING)
    assert {n: v.shape for n, v in answers.signals.items()} == {"pooled": (7, 5)}


def test_onnx_positions_are_named_by_node_or_by_output(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    file = onnx_file(tmp_path / "net.onnx", blocks=2)
    named = plugins.subject(f"{file},signals=block0+maps+scores")
    signals = named.answer(LOOKING).signals
    shapes = {name: column.shape for name, column in signals.items()}
    assert shapes == {"block0": (7, 5, 16, 1), "maps": (7, 5, 4, 4), "scores": (7, 3)}
    np.testing.assert_array_equal(signals["scores"], named.answer(LOOKING).scores)
    with pytest.raises(BadSetting, match=r"no position 'blok0' among .* near to it are block0"):
        plugins.subject(f"{file},signals=blok0")
    usual = plugins.subject(str(file)).fingerprint
    assert plugins.subject(f"{file},signals=none").fingerprint == usual != named.fingerprint


def test_an_onnx_file_with_nothing_before_its_head_shows_nothing(tmp_path):
    pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
    file = tests_models.onnx_file(tmp_path / "net.onnx")
    assert plugins.subject(str(file)).gives == {"choice", "scores"}
    check_subject(plugins.subject(str(onnx_file(tmp_path / "conv.onnx"))))


# Keras ---------------------------------------------------------------------------------------


def keras_net(nested=False, blocks=0):
    import keras

    layers = keras.layers
    x = entry = keras.Input((16, 16, 1))
    if nested:
        x = keras.Sequential([keras.Input((16, 16, 1)), layers.Conv2D(4, 5, 2), layers.ReLU()])(x)
    else:
        x = layers.Conv2D(4, 5, 2)(x)
    if blocks:
        x = layers.Reshape((36, 4))(x)
    for _ in range(blocks):
        x = x + layers.Dense(4)(layers.Dense(8, "relu")(x))
    x = layers.GlobalAveragePooling1D()(x) if blocks else layers.GlobalAveragePooling2D()(x)
    return keras.Model(entry, layers.Dense(3)(x))


@pytest.fixture(scope="module")
def keras():
    pytest.importorskip("keras", reason="the extra 'keras' is not installed")
    return plugins.registered(plugins.SUBJECTS)["keras"].load().__globals__["_import_keras"]()


def test_a_keras_model_shows_its_last_convolution_channels_first(keras):
    model = keras_net()
    subject = plugins.subject(model)
    assert subject.gives == {"choice", "scores", "signals"}
    answers = subject.answer(LOOKING)
    (name,) = answers.signals
    assert (name, answers.signals[name].shape) == ("conv2d", (7, 4, 6, 6))
    true = np.asarray(
        keras.Model(model.input, model.layers[1].output).predict_on_batch(IMAGES / 255)
    )
    np.testing.assert_allclose(answers.signals[name], true.transpose(0, 3, 1, 2), atol=1e-5)
    np.testing.assert_allclose(answers.scores, subject.answer(PLAIN).scores, rtol=1e-5)
    assert subject.answer(PLAIN).signals == {}


def test_keras_models_within_models_and_transformers_are_looked_into(keras):
    nested = plugins.subject(keras_net(nested=True)).answer(LOOKING).signals
    assert {n: v.shape for n, v in nested.items()} == {"sequential": (7, 4, 6, 6)}
    tokens = plugins.subject(keras_net(blocks=2)).answer(LOOKING).signals
    assert {n: v.shape for n, v in tokens.items()} == {"dense_4.input": (7, 4)}


def test_keras_positions_keep_their_names_whatever_was_made_before(keras):
    first, second = (plugins.subject(keras_net(blocks=1), signals="dense_1") for _ in range(2))
    for subject in (first, second):
        assert subject.answer(LOOKING).signals["dense_1"].shape == (7, 4, 36, 1)
    with pytest.raises(BadSetting, match=r"no position 'dnse' among .* near to it are dense"):
        plugins.subject(keras_net(), signals="dnse")


def test_a_taught_keras_model_shows_it_too(keras, tmp_path):
    specs = tests_models.specs(tmp_path)
    pupil = plugins.subject(specs["keras"])
    assert "signals" in pupil.gives
    lesson = Lesson(np.repeat(IMAGES, 2, axis=1).repeat(2, axis=2)[:, :28, :28], LESSON.labels, ABC)
    taught = pupil.study(lesson)
    sheet = Sheet(lesson.images, ABC, asks=LOOKING.asks)
    assert taught.answer(sheet).signals["conv2d"].shape == (7, 4, 12, 12)
    assert "signals" not in plugins.subject(f"{specs['keras']},signals=none").gives
