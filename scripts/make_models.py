"""Make the sample models in models/: one for each version of ONNX Pad, and four for common problems.

    python3 scripts/make_models.py            write them
    python3 scripts/make_models.py --check    compare them with the files on disk; exit 1 if they differ

The files have the same bytes on every machine, without a time or the version of a tool.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import help_first  # noqa: F401
import numpy as np
import onnx
from onnx import TensorProto, helper
from sample_parts import build, constant, pad, tensor
from sample_versions import VERSIONS

FOLDER = Path(__file__).resolve().parent.parent / "models"


def nested() -> onnx.ModelProto:
    """Return Pads that a rewriter may miss; onnx's checker requires that both opsets, 19 and 20, have the same Pad."""
    T = TensorProto.FLOAT
    free = helper.make_tensor_value_info
    then_branch = helper.make_graph(
        [constant("then_pads", [1, 1, 1, 1]), pad("then_out", ["x", "then_pads", "fill"])],
        "then_branch",
        [],
        [free("then_out", T, [None, None])],
    )
    else_branch = helper.make_graph(  # its pads come from the graph around it
        [pad("else_out", ["x", "outer_pads"], mode="reflect")], "else_branch", [], [free("else_out", T, [None, None])]
    )
    body = helper.make_graph(
        [
            pad("grown", ["state", "step"], mode="wrap"),
            helper.make_node("Identity", ["go"], ["go_on"], name="go_on_identity"),
        ],
        "body",
        [free("turn", TensorProto.INT64, []), free("go", TensorProto.BOOL, []), free("state", T, [None, None])],
        [free("go_on", TensorProto.BOOL, []), free("grown", T, [None, None])],
        [tensor("step", [0, 1, 0, 0])],
    )
    framed = helper.make_function(
        "sample",
        "Frame",
        ["inner"],
        ["framed"],
        [constant("frame_pads", [2, 2]), constant("rows", [0]), pad("framed", ["inner", "frame_pads", "", "rows"])],
        [helper.make_opsetid("", 19)],
    )
    return build(
        "Pads in both branches of an If, in the body of a Loop and in a function of opset 19 in a model of opset 20.",
        20,
        9,
        [
            helper.make_node("If", ["flag"], ["branched"], name="if", then_branch=then_branch, else_branch=else_branch),
            helper.make_node("Loop", ["turns", "", "branched"], ["looped"], name="loop", body=body),
            helper.make_node("Frame", ["looped"], ["y"], name="frame", domain="sample"),
        ],
        [("x", T, [2, 3]), ("flag", TensorProto.BOOL, []), ("turns", TensorProto.INT64, [])],
        [("y", T, [None, None])],
        [tensor("outer_pads", [1, 2, 1, 0]), tensor("fill", 9.0, np.float32)],
        [framed],
    )


def string() -> onnx.ModelProto:
    T = TensorProto.STRING
    return build(
        "A Pad of strings: in the standard since opset 13.",
        13,
        7,
        [pad("framed", ["words", "around", "fill"]), pad("mirrored", ["words", "sides"], mode="reflect")],
        [("words", T, [1, 3])],
        [("framed", T, [3, 5]), ("mirrored", T, [1, 5])],
        [
            tensor("around", [1, 1, 1, 1]),
            tensor("sides", [0, 1, 0, 1]),
            helper.make_tensor("fill", T, [], [b"#"]),
        ],
    )


def int16() -> onnx.ModelProto:
    T = TensorProto.INT16
    return build(
        "A reflect Pad of 16-bit sound, as in front of a spectrogram.",
        18,
        8,
        [pad("padded", ["sound", "frame", "", "time"], mode="reflect")],
        [("sound", T, [1, "samples"])],
        [("padded", T, [1, None])],
        [tensor("frame", [4, 4]), tensor("time", [-1])],
    )


def tokens() -> onnx.ModelProto:
    """Return a model with nodes of onnxruntime-extensions, in its domain, beside a Pad of strings."""
    T, contrib = TensorProto.STRING, "ai.onnx.contrib"
    return build(
        "Words of a text in lower case, padded or cut to 8: onnxruntime-extensions splits, a Pad of strings pads.",
        18,
        8,
        [
            helper.make_node("StringLower", ["text"], ["lower"], name="lower_case", domain=contrib),
            helper.make_node(
                "StringSplit", ["lower", "blank", "skip"], ["places", "words", "extent"], name="split", domain=contrib
            ),
            helper.make_node("Shape", ["words"], ["count"], name="count_shape"),
            helper.make_node("Sub", ["eight", "count"], ["missing"], name="missing_sub"),
            helper.make_node("Concat", ["none", "missing"], ["pads"], name="pads_concat", axis=0),
            pad("tokens", ["words", "pads", "fill"]),
        ],
        [("text", T, [1])],
        [("tokens", T, [8])],
        [
            helper.make_tensor("blank", T, [1], [b" "]),
            tensor("skip", [True], np.bool_),
            tensor("eight", [8]),
            tensor("none", [0]),
            helper.make_tensor("fill", T, [], [b"<pad>"]),
        ],
        domains=[contrib],
    )


MODELS = {**VERSIONS, **{make.__name__: make() for make in (nested, string, int16, tokens)}}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the models are (default: %(default)s)")
    options = parser.parse_args(arguments)
    made = {f"{name}.onnx": model.SerializeToString(deterministic=True) for name, model in MODELS.items()}
    if not options.check:
        options.folder.mkdir(parents=True, exist_ok=True)
        for name, content in made.items():
            (options.folder / name).write_bytes(content)
        print(f"{len(made)} models, {sum(map(len, made.values()))} bytes, in {options.folder}")
        return 0
    found = {path.name: path.read_bytes() for path in options.folder.glob("*.onnx")}
    differing = [name for name in sorted(made.keys() | found.keys()) if made.get(name) != found.get(name)]
    for name in differing:
        what = "is missing" if name not in found else "is not made here" if name not in made else "differs"
        print(f"{options.folder / name} {what}", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
