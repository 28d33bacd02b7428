"""Text models of a few thousand weights, as a folder that can be quantised."""

import json
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from tokenizers import Tokenizer, models, pre_tokenizers

LABELS = ("north", "east", "south", "west")
WORDS = [f"{label}{number}" for label in LABELS for number in range(16)]
WIDTH = 32
SPOILT = "layer.1/MatMul"
"""The layer that eight bits would ruin in `folder(spoilt=True)`."""


def folder(place: Path, *, spoilt: bool = False, classifier: bool = False) -> Path:
    """Words of one label lie together; three layers turn them, and the mean comes out."""
    place.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.normal(size=(4, WIDTH)), 16, axis=0)
    table = np.vstack([np.zeros((2, WIDTH)), centres + 0.3 * rng.normal(size=centres.shape)])
    turns = [np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0] for _ in range(3)]
    if spoilt:  # one value of thousands beside ones, that the next layer does not look at
        turns[0][:, 0] *= 5000
        turns[1][0, :] = 0
    weights = {"words": table, **{f"w{i}": turn for i, turn in enumerate(turns)}}
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["x0"], "words/Gather")]
    nodes += [
        helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], f"layer.{i}/MatMul")
        for i in range(3)
    ]
    output = "logits" if classifier else "sentence_embedding"
    nodes += _mean("x3", "mean" if classifier else output)
    if classifier:
        head = centres[::16] @ turns[0] @ turns[1] @ turns[2]
        weights["head"] = head.T
        nodes.append(helper.make_node("MatMul", ["mean", "head"], [output], "head/MatMul"))
    graph = helper.make_graph(
        nodes,
        "tiny",
        [_ints("input_ids"), _ints("attention_mask")],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", None])],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9),
        place / "model.onnx",
    )
    names = {"id2label": dict(enumerate(LABELS))} if classifier else {}
    kind = "TinyForSequenceClassification" if classifier else "TinyModel"
    (place / "config.json").write_text(json.dumps({"architectures": [kind], **names}))
    _tokenizer().save(str(place / "tokenizer.json"))
    return place


def labelled(path: Path, *, label: bool = True, texts: int = 200) -> Path:
    """Short texts, each of words of one label."""
    rng = np.random.default_rng(1)
    lines = []
    for number in range(texts):
        own = LABELS[number % 4]
        words = " ".join(f"{own}{rng.integers(16)}" for _ in range(3))
        lines.append(json.dumps({"text": words, **({"label": own} if label else {})}))
    path.write_text("\n".join(lines))
    return path


def _mean(source: str, output: str) -> list:
    one = numpy_helper.from_array(np.array([1], np.int64))
    return [
        helper.make_node("Constant", [], ["axis"], value=one),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["last"], value=numpy_helper.from_array(np.array([2]))),
        helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
        helper.make_node("Mul", [source, "mask3"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "axis"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "axis"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], [output]),
    ]


def _ints(name: str) -> object:
    return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])


def _tokenizer() -> Tokenizer:
    words = {"[PAD]": 0, "[UNK]": 1, **{word: i for i, word in enumerate(WORDS, start=2)}}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer
