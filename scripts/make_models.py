"""Make the sample models in models/: one for each version of ONNX Pad, and four for what people meet.

    python3 scripts/make_models.py            write them
    python3 scripts/make_models.py --check    compare them with what is on disk; exit 1 where they differ

The files come out byte for byte the same on every machine: they hold no time and no version of a tool.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).resolve().parent.parent / "models"
Value = tuple[str, int, Sequence[int | str | None]]


def build(
    about: str,
    opset: int,
    ir_version: int,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    tensors: Sequence[onnx.TensorProto] = (),
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """One model, checked by onnx itself (with shape inference, which Pad-1 does not have)."""
    graph = helper.make_graph(
        list(nodes),
        "padding",
        [helper.make_tensor_value_info(*value) for value in inputs],
        [helper.make_tensor_value_info(*value) for value in outputs],
        list(tensors),
    )
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, 1) for domain in (*(f.domain for f in functions), *domains)]
    model = helper.make_model(
        graph,
        producer_name="padops",
        doc_string=about,
        ir_version=ir_version,
        opset_imports=imports,
        functions=list(functions),
    )
    if ir_version < 4:  # before IR 4 every initializer is a graph input as well: use Constant nodes
        assert not tensors
    onnx.checker.check_model(model, full_check=opset > 1)
    return model


def pad(name: str, inputs: Sequence[str], **attributes: object) -> onnx.NodeProto:
    """A Pad node whose one output carries the node's name."""
    return helper.make_node("Pad", list(inputs), [name], name=f"{name}_pad", **attributes)


def tensor(name: str, values: object, dtype: object = np.int64) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def constant(name: str, values: object, dtype: object = np.int64) -> onnx.NodeProto:
    return helper.make_node("Constant", [], [name], name=f"{name}_constant", value=tensor(name, values, dtype))


def pad_01() -> onnx.ModelProto:
    T = TensorProto.FLOAT16
    return build(
        "Pad-1: paddings in an attribute; float16, and a fill of 0.1 that is rounded to it.",
        1,
        3,
        [
            pad("constant", ["x"], paddings=[0, 2, 0, 0], value=0.1),
            pad("reflect", ["x"], paddings=[2, 1, 1, 0], mode="reflect"),
            pad("edge", ["x"], paddings=[0, 1, 3, 2], mode="edge"),
        ],
        [("x", T, [3, 2])],
        [("constant", T, [3, 4]), ("reflect", T, [6, 3]), ("edge", T, [6, 5])],
    )


def pad_02() -> onnx.ModelProto:
    T = TensorProto.DOUBLE
    return build(
        "Pad-2: pads in an attribute, negative ones crop; double, filled with the float nearest to 0.1.",
        2,
        3,
        [
            pad("constant", ["x"], pads=[-1, 2, 0, -2], value=0.1),
            pad("reflect", ["x"], pads=[1, 0, 1, 3], mode="reflect"),
            pad("edge", ["x"], pads=[0, -1, 2, 2], mode="edge"),
        ],
        [("x", T, [3, 4])],
        [("constant", T, [2, 4]), ("reflect", T, [5, 7]), ("edge", T, [5, 5])],
    )


def pad_11() -> onnx.ModelProto:
    T = TensorProto.INT8
    return build(
        "Pad-11: pads and the fill are inputs, here an initializer, a Constant node and a graph input.",
        11,
        6,
        [
            constant("sides", [0, 2, 0, 1]),
            pad("constant", ["x", "around", "fill"]),
            pad("reflect", ["x", "sides", "fill"], mode="reflect"),
            pad("edge", ["x", "asked"], mode="edge"),
        ],
        [("x", T, [2, 3]), ("asked", TensorProto.INT64, [4])],
        [("constant", T, [4, 5]), ("reflect", T, [2, 6]), ("edge", T, [None, None])],
        [tensor("around", [1, 1, 1, 1]), tensor("fill", -7, np.int8)],
    )


def pad_13() -> onnx.ModelProto:
    B, W = TensorProto.BOOL, TensorProto.BFLOAT16
    return build(
        "Pad-13: bool and bfloat16.",
        13,
        7,
        [pad("framed", ["mask", "around", "yes"]), pad("mirrored", ["weights", "sides"], mode="reflect")],
        [("mask", B, [2, 3]), ("weights", W, [5])],
        [("framed", B, [4, 5]), ("mirrored", W, [10])],
        [tensor("around", [1, 1, 1, 1]), tensor("yes", True, np.bool_), tensor("sides", [2, 3])],
    )


def pad_18() -> onnx.ModelProto:
    T = TensorProto.FLOAT
    return build(
        "Pad-18: axes, negative and out of order; int32 axes and pads that are known only at run time.",
        18,
        8,
        [
            pad("chosen", ["x", "pads", "fill", "axes"]),
            pad("asked", ["x", "run_pads", "", "run_axes"], mode="reflect"),
        ],
        [("x", T, [2, 3, 4]), ("run_pads", TensorProto.INT64, [2]), ("run_axes", TensorProto.INT32, [1])],
        [("chosen", T, [3, 3, 7]), ("asked", T, [None, None, None])],
        [tensor("pads", [1, 0, 2, 1]), tensor("fill", [-np.inf], np.float32), tensor("axes", [-1, 0])],
    )


def pad_19() -> onnx.ModelProto:
    T = TensorProto.FLOAT
    return build(
        "Pad-19: wrap, by more than one period, and of an axis that is cropped too.",
        19,
        9,
        [
            pad("wrapped", ["x", "periods"], mode="wrap"),
            pad("cropped", ["x", "mixed", "", "columns"], mode="wrap"),
        ],
        [("x", T, ["rows", 3])],
        [("wrapped", T, ["rows", 11]), ("cropped", T, ["rows", 5])],
        [tensor("periods", [0, 7, 0, 1]), tensor("mixed", [-1, 3]), tensor("columns", [1])],
    )


def pad_21() -> onnx.ModelProto:
    S, U, F = TensorProto.INT4, TensorProto.UINT4, TensorProto.FLOAT8E4M3FN
    return build(
        "Pad-21: int4, uint4 and float8e4m3fn.",
        21,
        10,
        [
            pad("signed", ["s", "pads", "minus_eight"]),
            pad("unsigned", ["u", "pads"], mode="reflect"),
            pad("tiny", ["f", "pads"], mode="wrap"),
        ],
        [("s", S, [3, 3]), ("u", U, [3, 3]), ("f", F, [3, 3])],
        [("signed", S, [4, 6]), ("unsigned", U, [4, 6]), ("tiny", F, [4, 6])],
        [tensor("pads", [1, 2, 0, 1]), tensor("minus_eight", -8, ml_dtypes.int4)],
    )


def pad_23() -> onnx.ModelProto:
    T = TensorProto.FLOAT4E2M1
    return build(
        "Pad-23: float4e2m1, two elements in a byte.",
        23,
        11,
        [pad("filled", ["x", "pads", "six"]), pad("edge", ["x", "pads"], mode="edge")],
        [("x", T, [3, 5])],
        [("filled", T, [4, 7]), ("edge", T, [4, 7])],
        [tensor("pads", [0, 1, 1, 1]), tensor("six", 6.0, ml_dtypes.float4_e2m1fn)],
    )


def pad_24() -> onnx.ModelProto:
    T = TensorProto.FLOAT8E8M0
    return build(
        "Pad-24: float8e8m0, which has no zero: the fill that is not given has the bits 0x00.",
        24,
        12,
        [pad("default", ["x", "pads"]), pad("filled", ["x", "pads", "four"])],
        [("x", T, [4])],
        [("default", T, [7]), ("filled", T, [7])],
        [tensor("pads", [1, 2]), tensor("four", 4.0, ml_dtypes.float8_e8m0fnu)],
    )


def pad_25() -> onnx.ModelProto:
    S, U = TensorProto.INT2, TensorProto.UINT2
    return build(
        "Pad-25: int2 and uint2, four elements in a byte.",
        25,
        13,
        [pad("signed", ["s", "pads", "minus_two"]), pad("unsigned", ["u", "pads"], mode="wrap")],
        [("s", S, [7]), ("u", U, [7])],
        [("signed", S, [10]), ("unsigned", U, [10])],
        [tensor("pads", [2, 1]), tensor("minus_two", -2, ml_dtypes.int2)],
    )


def nested() -> onnx.ModelProto:
    """Pads where a rewriter may miss them; onnx's checker wants both opsets to have the same Pad, and 19 and 20 do."""
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
    """Nodes of onnxruntime-extensions, in its domain, beside a Pad of strings."""
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


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    make.__name__: make
    for make in (
        pad_01, pad_02, pad_11, pad_13, pad_18, pad_19, pad_21, pad_23, pad_24, pad_25,
        nested, string, int16, tokens,
    )
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file differs")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the models are (default: %(default)s)")
    options = parser.parse_args(arguments)
    made = {f"{name}.onnx": make().SerializeToString(deterministic=True) for name, make in MODELS.items()}
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
