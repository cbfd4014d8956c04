"""Models that ``padops inspect`` has one thing to say of, each of another kind."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, helper
from small_models import COMPLEX64, FLOAT, model, one_pad, pad, tensor


def smaller_pooling() -> ModelProto:
    """onnxruntime gives a smaller output than SAME says, without a word."""
    node = helper.make_node(
        "MaxPool", ["x"], ["y"], name="pool", kernel_shape=[3, 3], dilations=[2, 2], auto_pad="SAME_UPPER"
    )
    return model([node], 18, inputs=[("x", FLOAT, [1, 1, 6, 6])], outputs=[("y", FLOAT, None)])


MADE = {
    "right": one_pad(13),
    "refused": one_pad(1),
    "broken": model([pad()], 13, tensors=[tensor("pads", [0, -9, 0, 0])]),
    "wrong": smaller_pooling(),
    "unsure": model([pad(domain="secret")], 13, imports=[("secret", 1)], tensors=[tensor("pads", [0] * 4)]),
}


def write_models(folder: Path) -> None:
    """Each of them, and one that cannot be read."""
    for name, made in MADE.items():
        (folder / f"{name}.onnx").write_bytes(made.SerializeToString())
    (folder / "unreadable.onnx").write_bytes(b"\xff\xff")


def mixed(name: str = "complex") -> ModelProto:
    """One Pad that can be converted and one that cannot."""
    nodes = [pad(), pad(["c", "pads"], "z", name=name)]
    return model(nodes, 13, inputs=[("x", FLOAT, [2, 3]), ("c", COMPLEX64, [2, 3])],
                 outputs=[("y", FLOAT, None), ("z", COMPLEX64, None)],
                 tensors=[tensor("pads", [0, 0, 0, 1])])  # fmt: skip
