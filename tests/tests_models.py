"""Small real models of every kind, made and saved where the tests want them."""

import json
import textwrap

CODE = """
import numpy as np

def torch_net(classes=3, channels=1, size=28):
    from torch import nn
    return nn.Sequential(
        nn.Conv2d(channels, 4, 5, 2), nn.ReLU(), nn.Flatten(),
        nn.Linear(4 * ((size - 5) // 2 + 1) ** 2, classes),
    )

def keras_net(classes=3, channels=1, size=28):
    import keras
    return keras.Sequential([
        keras.Input((size, size, channels)),
        keras.layers.Conv2D(4, 5, strides=2, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(classes, activation="softmax"),
    ])

def estimator():
    from sklearn.tree import DecisionTreeClassifier
    return DecisionTreeClassifier(max_depth=8)

def scores(images):
    means = images.reshape(len(images), -1).mean(axis=1)
    return np.stack([means, 1 - means, 0 * means], axis=1)
"""


def specs(folder):
    code = folder / "models.py"
    code.write_text(textwrap.dedent(CODE))
    return {
        "chance": "chance",
        "dqn": "dqn",
        "nearest": "nearest",
        "simulated": "simulated",
        "synthesis": "synthesis",
        "synthesis-z3": "synthesis-z3,seconds=1,total=2",
        "adaboost": "adaboost,stumps=5",
        "lenet": "lenet",
        "elu-cnn": "elu-cnn,width=2",
        "small-cnn": "small-cnn,width=2,optimiser=sgd",
        "vanilla-cnn": "vanilla-cnn,depth=2,kernel=2",
        "paper-cnn": "paper-cnn",
        "tutored": "tutored,width=2",
        "torch": f"torch:{code}:torch_net",
        "keras": f"keras:{code}:keras_net",
        "sklearn": f"sklearn:{code}:estimator",
        "callable": f"callable:{code}:scores",
        "onnx": f"onnx:{onnx_file(folder / 'net.onnx')}",
        "hf": f"hf:{hf_folder(folder / 'tiny')}",
        "timm": "timm:resnet18",
    }


def onnx_file(path, side=28, classes=3, batch="n", layout="NCHW"):
    """Save scores = flattened picture × weights, straight from ONNX's own helpers."""
    import numpy as np
    from onnx import TensorProto, checker, helper, numpy_helper, save

    shape = (batch, 1, side, side) if layout == "NCHW" else (batch, side, side, 1)
    weights = np.random.default_rng(0).normal(size=(side * side, classes)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("Flatten", ["x"], ["flat"], axis=1),
            helper.make_node("MatMul", ["flat", "w"], ["scores"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, (batch, classes))],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model)
    save(model, str(path))
    return path


def hf_folder(path):
    """Save a ResNet of a few thousand weights with the files that their hub would have."""
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    config = ResNetConfig(
        num_channels=1,
        embedding_size=4,
        hidden_sizes=[4, 8],
        depths=[1, 1],
        layer_type="basic",
        id2label={0: "a", 1: "b", 2: "c"},
        label2id={"a": 0, "b": 1, "c": 2},
    )
    ResNetForImageClassification(config).save_pretrained(path)
    processor = {
        "size": {"shortest_edge": 32},
        "do_center_crop": True,
        "crop_size": {"height": 28, "width": 28},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5],
        "image_std": [0.25],
        "resample": 3,
    }
    (path / "preprocessor_config.json").write_text(json.dumps(processor))
    return path
