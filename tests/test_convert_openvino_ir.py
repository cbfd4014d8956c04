"""OpenVINO IRs, made with OpenVINO itself, converted, and run beside OpenVINO's CPU device."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
import torch
from native import bits, session
from onnx import numpy_helper
from openvino import opset1, opset8, opset11, opset12, opset13
from openvino.utils.node_factory import NodeFactory

import padops
from padops.convert import PadopsError, VerificationError, openvino_ir
from padops.convert.openvino_ir.tables import OWN, RULES, SAME

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it uses what onnx deprecates
    import onnxifier

CORE = openvino.Core()
PRECISION = {"INFERENCE_PRECISION_HINT": "f32"}
# What OpenVINO and ONNX Runtime may differ by in a network of floats, in parts of the largest element of an output.
# The largest difference that these tests meet is 6e-7.
TOLERANCE = 1e-5
SHAPE = (2, 3, 4)
IMAGE = (1, 4, 9, 8)


def parameter(shape, type=np.float32, name: str = "x") -> openvino.Node:
    return opset13.parameter(openvino.PartialShape(list(shape)), type, name=name)


def constant(value, type=None) -> openvino.Node:
    return opset13.constant(np.asarray(value, type))


def save(path: Path, results: list, parameters: list) -> Path:
    openvino.save_model(openvino.Model(results, parameters, "model"), path, compress_to_fp16=False)
    return path


def openvino_outputs(path: Path, feeds: list[np.ndarray]) -> list[np.ndarray]:
    return list(CORE.compile_model(path, "CPU", PRECISION)(feeds).values())


def converted_outputs(model: onnx.ModelProto, feeds: list[np.ndarray]) -> list[np.ndarray]:
    built = session(model)
    names = [value.name for value in built.get_inputs()]
    return built.run(None, dict(zip(names, feeds, strict=True)))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


# Pads: bits.


def pad_model(path: Path, mode: str, shape, begin, end, fill=None, opset=opset12, type=np.float32) -> Path:
    x = parameter(shape, type)
    given = {} if fill is None else {"arg_pad_value": constant(fill, type)}
    return save(path, [opset.pad(x, begin, end, mode, **given)], [x])


@pytest.mark.parametrize(
    ("mode", "begin", "end", "fill"),
    [
        ("constant", [1, 0, 2], [0, 3, 1], 7.5),
        ("constant", [-1, 2, 0], [0, -1, 3], None),
        ("edge", [1, 2, 0], [3, 0, 5], None),
        ("reflect", [1, 2, 3], [0, 1, 2], None),
        ("symmetric", [2, 3, 4], [1, 0, 2], None),
        ("edge", [-1, 2, -2], [3, -1, 1], None),
        ("reflect", [1, -1, 3], [-1, 2, -2], None),
        ("symmetric", [2, -2, -1], [-1, 3, 4], None),
    ],
)
@pytest.mark.parametrize(("opset", "op_type"), [(opset1, "OpenVINOPad_1"), (opset12, "OpenVINOPad_12")])
def test_pads_of_both_opsets_are_bit_equal(tmp_path, mode, begin, end, fill, opset, op_type):
    path = pad_model(tmp_path / "pad.xml", mode, SHAPE, constant(begin), constant(end), fill, opset)
    converted = padops.convert(path)
    (record,) = converted.records
    assert (record.form, record.status, record.op_type) == (
        f"OpenVINO Pad of opset{op_type.split('_')[1]}",
        "converted",
        op_type,
    )
    data = rng().standard_normal(SHAPE, dtype=np.float32)
    (found,), (wanted,) = converted_outputs(converted.proto(), [data]), openvino_outputs(path, [data])
    assert bits(found) == bits(wanted)
    assert [node.op_type for node in converted.proto().graph.node] == [op_type]


@pytest.mark.parametrize("begin_type", [np.int8, np.uint8, np.int32, np.uint64])
@pytest.mark.parametrize("end_type", [np.int16, np.uint16, np.uint32, np.int64])
def test_amounts_keep_their_integer_types(tmp_path, begin_type, end_type):
    path = pad_model(
        tmp_path / "pad.xml", "symmetric", SHAPE, constant([2, 0, 3], begin_type), constant([1, 2, 0], end_type)
    )
    proto = padops.convert(path).proto()
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    begin, end = (tensors[name] for name in proto.graph.node[0].input[1:3])
    assert (begin.dtype, end.dtype) == (begin_type, end_type)
    data = rng().standard_normal(SHAPE, dtype=np.float32)
    assert bits(converted_outputs(proto, [data])[0]) == bits(openvino_outputs(path, [data])[0])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric"])
def test_dynamic_amounts_stay_inputs(tmp_path, mode):
    x, begin = parameter((-1, -1, -1)), parameter((3,), np.int64, "begin")
    end, fill = parameter((3,), np.int32, "end"), parameter((), np.float32, "fill")
    pad = opset12.pad(x, begin, end, mode, arg_pad_value=fill)
    path = save(tmp_path / "pad.xml", [pad], [x, begin, end, fill])
    proto = padops.convert(path).proto()
    assert [value.name for value in proto.graph.input] == ["x", "begin", "end", "fill"]
    assert list(proto.graph.node[0].input) == ["x", "begin", "end", "fill"]
    data = rng().standard_normal(SHAPE, dtype=np.float32)
    for amounts in (([1, 0, 2], [0, 2, 1]), ([-1, 2, 0], [1, -1, -3]), ([1, -2, 3], [0, 2, 3])):
        feeds = [data, np.array(amounts[0], np.int64), np.array(amounts[1], np.int32), np.array(9, np.float32)]
        assert bits(converted_outputs(proto, feeds)[0]) == bits(openvino_outputs(path, feeds)[0])


def test_amounts_computed_from_shapes_stay_computed(tmp_path):
    """Onnxifier's own rule makes constants of them, computed from random data."""
    x = parameter((-1, -1))
    size = opset13.shape_of(x, "i32")
    path = save(
        tmp_path / "pad.xml",
        [opset12.pad(x, opset13.subtract(size, constant([1, 1], np.int32)), constant([0, 0]), "reflect")],
        [x],
    )
    proto = padops.convert(path).proto()
    for shape in ((3, 4), (5, 2)):
        data = rng().standard_normal(shape, dtype=np.float32)
        (found,), (wanted,) = converted_outputs(proto, [data]), openvino_outputs(path, [data])
        assert found.shape == tuple(2 * n - 1 for n in shape)
        assert bits(found) == bits(wanted)


@pytest.mark.parametrize("type", ["boolean", "f16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_pads_of_element_types(tmp_path, type):
    dtype = getattr(openvino.Type, type).to_dtype()
    path = pad_model(tmp_path / "pad.xml", "constant", (3, 5), constant([1, -1]), constant([0, 2]), 1, type=dtype)
    data = rng().integers(0, 2, (3, 5)).astype(dtype)
    (found,), (wanted,) = converted_outputs(padops.convert(path).proto(), [data]), openvino_outputs(path, [data])
    assert bits(found) == bits(wanted)


def test_bfloat16_constants_keep_their_bits(tmp_path):
    """Onnxifier's own reader takes them for float16."""
    x = parameter((2, 3), openvino.Type.bf16)
    fill = opset13.constant(np.array(1.5, np.float32), openvino.Type.bf16)
    pad = opset12.pad(opset13.add(x, opset13.constant([1, 2, 3], openvino.Type.bf16)), [1, 0], [0, 1], "constant", fill)
    path = save(tmp_path / "pad.xml", [opset13.convert(pad, "f32")], [x])
    proto = padops.convert(path).proto()
    values = [
        numpy_helper.to_array(t).astype(np.float32).tolist() for t in proto.graph.initializer if t.data_type == 16
    ]
    assert sorted(values, key=str) == [1.5, [1.0, 2.0, 3.0]]


def test_four_bit_constants_keep_their_order(tmp_path):
    xml = """<net name="m" version="11"><layers>
      <layer id="0" name="c" type="Const" version="opset1"><data element_type="u4" shape="3" offset="0" size="2"/>
        <output><port id="0" precision="U4"><dim>3</dim></port></output></layer>
      <layer id="1" name="f" type="Convert" version="opset1"><data destination_type="f32"/>
        <input><port id="0" precision="U4"><dim>3</dim></port></input>
        <output><port id="1" precision="FP32"><dim>3</dim></port></output></layer>
      <layer id="2" name="r" type="Result" version="opset1">
        <input><port id="0" precision="FP32"><dim>3</dim></port></input></layer>
    </layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
      <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""
    (tmp_path / "m.xml").write_text(xml)
    (tmp_path / "m.bin").write_bytes(bytes([0x21, 0x03]))
    (found,) = converted_outputs(padops.convert(tmp_path / "m.xml").proto(), [])
    assert bits(found) == bits(openvino_outputs(tmp_path / "m.xml", [])[0])
    assert found.tolist() == [1, 2, 3]


# Whole networks.


def check_network(path: Path, feeds: list[np.ndarray], pads: int) -> onnx.ModelProto:
    """Converts an IR whose Pads have to become padops', runs both, compares every output."""
    converted = padops.convert(path)
    assert [record.status for record in converted.records] == ["converted"] * pads
    proto = converted.proto()
    assert not [node.domain for node in proto.graph.node if node.domain not in ("", "padops")]
    assert {row.domain for row in proto.opset_import} == {"", "padops"}
    found, wanted = converted_outputs(proto, feeds), openvino_outputs(path, feeds)
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.abs(one - other).max() <= TOLERANCE * np.abs(other).max()
    return proto


class Network(torch.nn.Module):
    """Two convolutions between pads of three kinds, a pool, a normalisation and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = torch.nn.Conv2d(3, 8, 3, stride=2)
        self.norm = torch.nn.BatchNorm2d(8).eval()
        self.second = torch.nn.Conv2d(8, 8, 3, groups=2, dilation=2)
        self.layer_norm = torch.nn.LayerNorm(8)
        self.head = torch.nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.nn.functional.pad(x, (1, 2, 2, 1), "reflect")
        x = torch.relu(self.norm(self.first(x)))
        x = torch.nn.functional.pad(x, (2, 2, 2, 2), "replicate")
        x = torch.nn.functional.silu(self.second(x))
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.nn.functional.pad(x, (-1, 1, 0, 2), "constant", 0.5)
        features = self.layer_norm(x.mean((2, 3)))
        return torch.softmax(self.head(features), -1), x


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # what OpenVINO uses
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_network_of_openvinos_pytorch_frontend(tmp_path, dynamic):
    shape = [-1, 3, -1, -1] if dynamic else [2, 3, 20, 24]
    with torch.no_grad():
        model = openvino.convert_model(Network().eval(), example_input=torch.rand(2, 3, 20, 24), input=shape)
    openvino.save_model(model, tmp_path / "network.xml", compress_to_fp16=False)
    shapes = [(2, 3, 20, 24), (1, 3, 17, 31)] if dynamic else [(2, 3, 20, 24)]
    for shape in shapes:
        data = rng().random(shape, dtype=np.float32)
        proto = check_network(tmp_path / "network.xml", [data], 3)
        with torch.no_grad():
            wanted = Network().eval()(torch.from_numpy(data))
        for one, other in zip(converted_outputs(proto, [data]), wanted, strict=True):
            assert np.abs(one - other.numpy()).max() <= TOLERANCE * other.abs().max()


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_weights_compressed_to_float16(tmp_path):
    with torch.no_grad():
        model = openvino.convert_model(Network().eval(), example_input=torch.rand(2, 3, 20, 24), input=[2, 3, 20, 24])
    openvino.save_model(model, tmp_path / "network.xml", compress_to_fp16=True)
    proto = check_network(tmp_path / "network.xml", [rng().random((2, 3, 20, 24), dtype=np.float32)], 3)
    assert onnx.TensorProto.FLOAT16 in {tensor.data_type for tensor in proto.graph.initializer}


def test_a_model_of_openvinos_onnx_frontend(tmp_path):
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18]>
        m (float[N, 3, H, W] image) => (float[N, 4, h, w] features, int64[4] size)
        <float[4, 3, 3, 3] weights, int64[8] pads = {0, 0, 1, -1, 0, 0, 3, 2}> {
          padded = Pad <mode = "reflect"> (image, pads)
          features = Conv <kernel_shape = [3, 3], strides = [2, 1]> (padded, weights)
          size = Shape (features)
        }"""
    )
    weights = rng().standard_normal((4, 3, 3, 3), dtype=np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "weights"))
    onnx.save(model, tmp_path / "m.onnx")
    openvino.save_model(openvino.convert_model(tmp_path / "m.onnx"), tmp_path / "m.xml", compress_to_fp16=False)
    proto = check_network(tmp_path / "m.xml", [rng().random((1, 3, 12, 15), dtype=np.float32)], 1)
    assert [value.name for value in proto.graph.input] == ["image"]
    assert [value.name for value in proto.graph.output] == ["features", "size"]


# Every type of layer that the tables list, against OpenVINO.

Build = Callable[[openvino.Node], openvino.Node]


def f(*shape: int) -> openvino.Node:
    """A constant of random floats, the same at every call."""
    return opset13.constant(rng().standard_normal(shape).astype(np.float32))


def i(*values: int) -> openvino.Node:
    return constant(values, np.int64)


def interpolate(mode: str, kind: str, where: str) -> Build:
    attributes = {"mode": mode, "shape_calculation_mode": kind, "coordinate_transformation_mode": where}
    attributes |= {"nearest_mode": "floor", "antialias": False, "pads_begin": [0], "pads_end": [0], "cube_coeff": -0.75}
    inputs = (i(18, 20), constant([2.0, 2.5], np.float32), i(2, 3))
    return lambda x: NodeFactory("opset4").create(
        "Interpolate", [x.output(0), *(node.output(0) for node in inputs)], attributes
    )


def binary(name: str) -> Build:
    return lambda x: getattr(opset13, name)(x, f(3, 1))


def reduce(name: str) -> Build:
    return lambda x: getattr(opset13, name)(x, i(1, -1), True)


# fmt: off
UNARY = ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceiling", "cos", "cosh", "erf", "exp", "floor", "log",
         "mish", "negative", "relu", "sigmoid", "sign", "sin", "sinh", "softplus", "softsign", "sqrt", "tan", "tanh",
         "hsigmoid", "hswish", "is_nan", "non_zero")
BINARY = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "equal", "less", "less_equal",
          "greater", "greater_equal")
REDUCTIONS = ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1", "reduce_l2")
# fmt: on
LAYERS: dict[str, tuple[tuple[int, ...], type, Build]] = {
    **{name: (SHAPE, np.float32, getattr(opset13, name)) for name in UNARY},
    **{name: (SHAPE, np.float32, binary(name)) for name in BINARY},
    **{name: (SHAPE, np.float32, reduce(name)) for name in REDUCTIONS},
    **{
        f"logical_{name}": (
            SHAPE,
            bool,
            lambda x, name=name: getattr(opset13, f"logical_{name}")(x, constant([[True]])),
        )
        for name in ("and", "or", "xor")
    },
    "logical_not": (SHAPE, bool, opset13.logical_not),
    "round": (SHAPE, np.float32, lambda x: opset13.round(x, "half_to_even")),
    "divide of integers": (SHAPE, np.int32, lambda x: opset13.divide(x, constant([3, -2, 2, 5], np.int32))),
    "cumsum": (SHAPE, np.float32, lambda x: opset13.cum_sum(x, constant(1, np.int64))),
    "convert to bool": (SHAPE, np.float32, lambda x: opset13.convert(x, "boolean")),
    "convert to f16": (SHAPE, np.float32, lambda x: opset13.convert(x, "f16")),
    "convert like": (SHAPE, np.float32, lambda x: opset13.convert_like(x, constant(1, np.int32))),
    "tile": (SHAPE, np.float32, lambda x: opset13.tile(x, constant([1, 2, 1], np.int32))),
    "shape of": ((-1, 3, -1), np.float32, lambda x: opset13.shape_of(x)),
    "shape of as i32": ((-1, 3, -1), np.float32, lambda x: opset13.shape_of(x, "i32")),
    "shape of, known": (SHAPE, np.float32, lambda x: opset13.add(opset13.shape_of(x, "i32"), constant(1, np.int32))),
    "transpose": ((-1, 3, -1), np.float32, lambda x: opset13.transpose(x, i(2, 0, 1))),
    "mvn": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(2, 3), True, 1e-2, "inside_sqrt")),
    "mvn of a negative axis": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(-1), True, 1e-2, "inside_sqrt")),
    "mvn of an inner axis": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(1), True, 1e-2, "outside_sqrt")),
    "mvn without variance": (IMAGE, np.float32, lambda x: opset13.mvn(x, i(1, 2), False, 1e-2, "inside_sqrt")),
    "clamp": (SHAPE, np.float32, lambda x: opset13.clamp(x, -0.5, 0.25)),
    "clamp of integers": (SHAPE, np.int32, lambda x: opset13.clamp(x, -1, 2)),
    "gelu": (SHAPE, np.float32, lambda x: opset13.gelu(x, "erf")),
    "gelu tanh": (SHAPE, np.float32, lambda x: opset13.gelu(x, "tanh")),
    "swish": (SHAPE, np.float32, opset13.swish),
    "selu": (SHAPE, np.float32, lambda x: opset13.selu(x, constant([1.6], np.float32), constant([1.05], np.float32))),
    "hard sigmoid": (
        SHAPE,
        np.float32,
        lambda x: opset13.hard_sigmoid(x, constant(0.2, np.float32), constant(0.5, np.float32)),
    ),
    "prelu": (SHAPE, np.float32, lambda x: opset13.prelu(x, constant([0.1], np.float32))),
    "softmax": (SHAPE, np.float32, lambda x: opset8.softmax(x, -2)),
    "softmax of axis 0": (SHAPE, np.float32, lambda x: opset8.softmax(x, 0)),
    "select": (SHAPE, np.float32, lambda x: opset13.select(opset13.greater(x, f(4)), x, f(3, 1))),
    "concat": (SHAPE, np.float32, lambda x: opset13.concat([x, f(2, 5, 4)], 1)),
    "split": (SHAPE, np.float32, lambda x: opset13.split(x, constant(-1, np.int64), 2)),
    "variadic split": (SHAPE, np.float32, lambda x: opset13.variadic_split(x, constant(1, np.int64), i(1, -1))),
    "variadic split of i32": (
        SHAPE,
        np.float32,
        lambda x: opset13.variadic_split(x, constant(-1, np.int32), constant([3, -1], np.int32)),
    ),
    "reshape": ((-1, 3, 4), np.float32, lambda x: opset13.reshape(x, i(0, -1), True)),
    "reshape of i32": (SHAPE, np.float32, lambda x: opset13.reshape(x, constant([4, 6], np.int32), False)),
    "reshape to a scalar": ((1,), np.float32, lambda x: opset13.reshape(x, constant([], np.int64), False)),
    "squeeze": ((2, 1, 3, 1), np.float32, lambda x: opset13.squeeze(x, i(1))),
    "squeeze of a scalar axis": ((2, 1, 3, 1), np.float32, lambda x: opset13.squeeze(x, constant(-1, np.int64))),
    "unsqueeze": (SHAPE, np.float32, lambda x: opset13.unsqueeze(x, i(0, -1))),
    "unsqueeze of a scalar axis": (SHAPE, np.float32, lambda x: opset13.unsqueeze(x, constant(1, np.int32))),
    "slice": (SHAPE, np.float32, lambda x: opset13.slice(x, i(0), i(3), i(2), i(2))),
    "strided slice": (
        SHAPE,
        np.float32,
        lambda x: opset13.strided_slice(
            x, i(0, 1, 0), i(2, 3, 3), i(1, 1, 2), begin_mask=[1, 0, 0], end_mask=[0, 0, 1]
        ),
    ),
    "strided slice that drops an axis": (
        SHAPE,
        np.float32,
        lambda x: opset13.strided_slice(
            x, i(0, 1), i(2, 2), i(1, 1), begin_mask=[0, 0], end_mask=[0, 0], shrink_axis_mask=[0, 1]
        ),
    ),
    "gather": (SHAPE, np.float32, lambda x: opset13.gather(x, constant([2, 0, -1], np.int32), constant(1, np.int64))),
    "gather of a list of one axis": (SHAPE, np.float32, lambda x: opset13.gather(x, i(2, 0), i(1))),
    "gather elements": (SHAPE, np.float32, lambda x: opset13.gather_elements(x, constant([[[2, 0, 1, 0]]] * 2), 1)),
    "gather nd": (SHAPE, np.float32, lambda x: opset13.gather_nd(x, constant([[0, 1], [1, 2]], np.int32), 0)),
    "gather nd with batches": (SHAPE, np.float32, lambda x: opset13.gather_nd(x, constant([[1], [2]], np.int32), 1)),
    "scatter update": (
        SHAPE,
        np.float32,
        lambda x: opset13.scatter_update(x, i(0, 2), f(2, 2, 4), constant(1, np.int64)),
    ),
    "scatter nd update": (
        SHAPE,
        np.float32,
        lambda x: opset13.scatter_nd_update(x, constant([[0, 1], [1, 2]], np.int32), f(2, 4)),
    ),
    "scatter elements update": (
        SHAPE,
        np.float32,
        lambda x: opset13.scatter_elements_update(
            x, constant(np.ones((2, 2, 4)), np.int32), f(2, 2, 4), constant(1, np.int64), "sum", True
        ),
    ),
    "broadcast": (SHAPE, np.float32, lambda x: opset13.broadcast(x, i(5, 2, 3, 4))),
    "broadcast along axes": ((2, 3), np.float32, lambda x: opset13.broadcast(x, i(2, 5, 3), i(0, 2), "EXPLICIT")),
    "range": (
        (-1, 3),
        np.float32,
        lambda x: opset13.range(
            constant(0, np.int64), opset13.reduce_sum(opset13.shape_of(x), i(0), False), constant(2, np.int64), "f32"
        ),
    ),
    "topk": (SHAPE, np.float32, lambda x: opset13.topk(x, constant(2, np.int32), 1, "min", "value", "i64")),
    "topk of all": (SHAPE, np.float32, lambda x: opset13.topk(x, constant(4, np.int64), 2, "max", "value")),
    "matmul": (SHAPE, np.float32, lambda x: opset13.matmul(x, f(5, 4), False, True)),
    "matmul transposed": ((2, 4, 3), np.float32, lambda x: opset13.matmul(x, f(4, 5), True, False)),
    "matmul with a vector": (SHAPE, np.float32, lambda x: opset13.matmul(x, f(4), False, False)),
    "attention": ((1, 2, 5, 8), np.float32, lambda x: opset13.scaled_dot_product_attention(x, x, x)),
    "causal attention": (
        (1, 2, 5, 8),
        np.float32,
        lambda x: opset13.scaled_dot_product_attention(x, x, x, causal=True),
    ),
    "batch norm": (
        IMAGE,
        np.float32,
        lambda x: opset13.batch_norm_inference(x, f(4), f(4), f(4), constant([1, 2, 3, 4], np.float32), 1e-3),
    ),
    "convolution": (
        IMAGE,
        np.float32,
        lambda x: opset13.convolution(x, f(6, 4, 3, 3), [1, 2], [1, 0], [0, 2], [2, 1]),
    ),
    "convolution SAME_UPPER with dilations": (
        IMAGE,
        np.float32,
        lambda x: opset13.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [2, 3], "same_upper"),
    ),
    "convolution SAME_LOWER of open dims": (
        (1, 4, -1, -1),
        np.float32,
        lambda x: opset13.convolution(x, f(6, 4, 3, 2), [2, 1], [0, 0], [0, 0], [1, 1], "same_lower"),
    ),
    "group convolution": (
        IMAGE,
        np.float32,
        lambda x: opset13.group_convolution(x, f(2, 3, 2, 3, 3), [1, 1], [1, 1], [1, 1], [1, 2]),
    ),
    "group convolution SAME_LOWER with dilations": (
        IMAGE,
        np.float32,
        lambda x: opset13.group_convolution(x, f(4, 1, 1, 3, 2), [2, 1], [0, 0], [0, 0], [1, 3], "same_lower"),
    ),
    "deconvolution": (
        IMAGE,
        np.float32,
        lambda x: opset13.convolution_backprop_data(
            x, f(4, 3, 3, 3), [2, 2], pads_begin=[1, 1], pads_end=[0, 1], dilations=[1, 1], output_padding=[1, 1]
        ),
    ),
    "group deconvolution": (
        IMAGE,
        np.float32,
        lambda x: opset13.group_convolution_backprop_data(
            x, f(2, 2, 3, 3, 3), [2, 2], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1]
        ),
    ),
    "max pool": (
        IMAGE,
        np.float32,
        lambda x: opset13.max_pool(x, [2, 1], [1, 2], [1, 0], [0, 1], [3, 2]).output(0),
    ),
    "max pool with indices": (IMAGE, np.float32, lambda x: opset13.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])),
    "max pool SAME_LOWER with dilations": (
        IMAGE,
        np.float32,
        lambda x: opset13.max_pool(x, [2, 1], [2, 1], [0, 0], [0, 0], [3, 2], "floor", "same_lower").output(0),
    ),
    "max pool with ceil": (
        IMAGE,
        np.float32,
        lambda x: opset13.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 3], "ceil").output(0),
    ),
    "average pool that counts pads": (
        IMAGE,
        np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], False),
    ),
    "average pool that does not": (
        IMAGE,
        np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [1, 1], [1, 0], [3, 3], True),
    ),
    "average pool SAME_UPPER that counts pads": (
        IMAGE,
        np.float32,
        lambda x: opset13.avg_pool(x, [2, 2], [0, 0], [0, 0], [3, 3], False, "floor", "same_upper"),
    ),
    "depth to space": (IMAGE, np.float32, lambda x: opset13.depth_to_space(x, "blocks_first", 2)),
    "depth to space, depth first": (IMAGE, np.float32, lambda x: opset13.depth_to_space(x, "depth_first", 2)),
    "space to depth": ((1, 4, 4, 6), np.float32, lambda x: opset13.space_to_depth(x, "blocks_first", 2)),
    **{
        f"interpolate {mode} {kind} {where}": (IMAGE, np.float32, interpolate(mode, kind, where))
        for mode in ("nearest", "linear_onnx", "cubic")
        for kind, where in (("sizes", "half_pixel"), ("scales", "asymmetric"), ("sizes", "align_corners"))
    },
    "interpolate of opset11": (
        IMAGE,
        np.float32,
        lambda x: opset11.interpolate(x, constant([0.7, 2.5], np.float32), "linear_onnx", "scales", axes=i(2, 3)),
    ),
}


def layer_data(name: str, shape: tuple[int, ...], type: type) -> np.ndarray:
    """Numbers in the domain of the layer."""
    shape = tuple(6 if n < 0 else n for n in shape)
    data = rng().standard_normal(shape) * (6 if type is np.int32 else 1)
    if name in ("acos", "asin", "atanh"):
        data = np.tanh(data)
    if name in ("acosh", "log", "power", "sqrt"):
        data = np.abs(data) + 1
    return (data > 0 if type is bool else data).astype(type)


def save_layer(path: Path, name: str) -> Path:
    shape, type, build = LAYERS[name]
    x = parameter(shape, type)
    made = build(x)
    outputs = made.outputs() if isinstance(made, openvino.Node) else [made]
    return save(path, [opset13.result(output) for output in outputs], [x])


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_what_openvino_gives(tmp_path, name):
    path = save_layer(tmp_path / "layer.xml", name)
    data = layer_data(name, *LAYERS[name][:2])
    found, wanted = converted_outputs(padops.convert(path).proto(), [data]), openvino_outputs(path, [data])
    for one, other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            assert np.abs(one - other).max(initial=0) <= TOLERANCE * np.abs(other).max(initial=1)
        else:
            assert bits(one) == bits(other)


def test_every_listed_type_of_layer_is_compared(tmp_path):
    found = set()
    for number, name in enumerate(LAYERS):
        text = save_layer(tmp_path / f"{number}.xml", name).read_text()
        found |= set(re.findall(r'<layer [^>]*type="(\w+)"', text))
    assert found - {"Parameter", "Const", "Result"} == RULES | OWN | set(SAME)


# What is refused.


def refusal(path: Path) -> str:
    with pytest.raises(PadopsError) as error:
        padops.convert(path, path.with_suffix(".onnx"))
    assert not list(path.parent.glob("*.onnx")) and not list(path.parent.glob(".*"))
    return str(error.value)


def layer(path: Path, build: Build, shape=SHAPE, type=np.float32) -> Path:
    x = parameter(shape, type)
    return save(path, [build(x)], [x])


def test_layers_that_cannot_be_converted_are_listed_with_the_reasons(tmp_path):
    x = parameter(IMAGE)
    y = opset13.grn(opset13.elu(opset12.pad(x, [0, 0, 1, 1], [0, 0, 1, 1], "edge"), 0.3), 1e-3)
    y.set_friendly_name("the grn")
    z = opset13.round(y, "half_away_from_zero")
    text = refusal(save(tmp_path / "m.xml", [z], [x]))
    assert "m.xml: 3 of its 4 layers cannot be converted:" in text
    assert "GRN 'the grn': there is no rule for this type of layer" in text
    assert re.search(r"Elu 'Elu_\d+': there is no rule", text)
    assert "ONNX's Round does not have mode='half_away_from_zero'" in text


def strided(**masks) -> Build:
    masks = {"begin_mask": [0, 0, 0], "end_mask": [0, 0, 0]} | masks
    return lambda x: opset13.strided_slice(x, i(0, 1, 0), i(2, 3, 3), i(1, 1, 2), **masks)


@pytest.mark.parametrize(
    ("build", "shape", "reason"),
    [
        (strided(new_axis_mask=[1, 0, 0]), SHAPE, "onnxifier does not read new_axis_mask='1, 0, 0'"),
        (
            lambda x: opset13.gather(x, constant([[0, 1], [2, 0]]), constant(1), 1),
            SHAPE,
            "does not read batch_dims='1'",
        ),
        (lambda x: opset13.cum_sum(x, i(1), True), SHAPE, "ONNX's CumSum does not have exclusive='true'"),
        (lambda x: opset13.swish(x, constant(1.7, np.float32)), SHAPE, "onnxifier drops the input beta"),
        (lambda x: opset13.prelu(x, f(3)), SHAPE, "OpenVINO reads a slope of one dim along axis 1"),
        (lambda x: opset13.transpose(x, constant([], np.int64)), SHAPE, "the order of its axes is empty"),
        (lambda x: opset13.reduce_sum(x, constant([], np.int64), True), (-1, 3), "ONNX reduces all axes"),
        (
            lambda x: opset13.convolution_backprop_data(x, f(4, 3, 3, 3), [2, 2], i(18, 16), auto_pad="same_upper"),
            IMAGE,
            "onnxifier drops the input output_shape",
        ),
        (
            lambda x: opset13.max_pool(x, [1, 1], [2, 2], [0, 0], [0, 0], [3, 3], "floor", "same_upper").output(0),
            (1, 4, -1, -1),
            "ONNX Runtime ignores the dilations",
        ),
        (
            lambda x: opset13.max_pool(x, [1, 1], [3, 3], [0, 0], [0, 0], [3, 2], "floor", "same_upper").output(0),
            IMAGE,
            "ONNX Runtime refuses a pad of 3 for a kernel of 3",
        ),
        (
            lambda x: opset13.strided_slice(
                x, i(0, 0), opset13.shape_of(x), i(1, 2), begin_mask=[0, 0], end_mask=[0, 1]
            ),
            (-1, -1),
            "onnxifier: Failed to evaluate value",  # without the guard it would be computed from random data
        ),
    ],
)
def test_what_onnxifier_would_get_wrong_is_refused(tmp_path, build, shape, reason):
    assert reason in refusal(layer(tmp_path / "m.xml", build, shape))


def test_shapes_that_are_not_the_irs_are_refused(tmp_path):
    """OpenVINO ignores the end where an axis is dropped; onnxifier keeps two elements there."""
    path = layer(tmp_path / "m.xml", strided(shrink_axis_mask=[0, 1, 0]))
    assert "is not a valid model of these shapes" in refusal(path)


def test_a_single_wrong_pad_is_refused(tmp_path):
    path = pad_model(tmp_path / "pad.xml", "edge", SHAPE, constant([1, 1, 1]), constant([1, 1, 1]))
    path.write_text(path.read_text().replace('pad_mode="edge"', 'pad_mode="wrap"'))
    assert "pad_mode 'wrap' is not one of constant, edge, reflect, symmetric [P9]" in refusal(path)
    path.write_text(path.read_text().replace('pad_mode="wrap"', 'pad_mode="edge"').replace("opset12", "opset99"))
    assert "its version is 'opset99', expected opset1 or opset12" in refusal(path)


# Files.


def weighted(path: Path) -> Path:
    x = parameter((2, 3))
    return save(path, [opset12.pad(opset13.add(x, f(2, 3)), [1, 0], [0, 1], "edge")], [x])


def test_a_missing_bin(tmp_path):
    path = weighted(tmp_path / "m.xml")
    path.with_suffix(".bin").unlink()
    assert re.search(r"layer Const '\w+' needs .*m\.bin, which does not exist", refusal(path)) or re.search(
        r"Const '\w+' needs .*m\.bin, which does not exist", refusal(path)
    )


def test_a_bin_that_is_too_short(tmp_path):
    path = weighted(tmp_path / "m.xml")
    weights = path.with_suffix(".bin")
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[: size - 20])
    assert re.search(rf"needs the bytes \d+ to \d+ of .*m\.bin, which has only {size - 20}", refusal(path))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text[: len(text) // 2], "is damaged: it is not well-formed XML"),
        (lambda text: "<model/>", "it is a <model>, expected a <net>"),
        (lambda text: '<net version="11"/>', "it has no layers"),
        (lambda text: text.replace('version="11"', 'version="10"', 1), "is an IR of version 10, expected 11"),
        (lambda text: text.replace('to-port="1"', 'to-port="9"'), r"is damaged: input 1 of \w+ '\w+' has no edge"),
        (lambda text: text.replace('from-layer="1"', 'from-layer="77"'), "comes from layer 77, port 0, which does not"),
        (lambda text: re.sub(r'offset="\d+" ', "", text), r"is damaged: Const '\w+' has no offset"),
        (lambda text: re.sub(r'size="24"', 'size="8"', text), "has 8 bytes, but its shape needs 24"),
        (lambda text: re.sub(r"<dim>3</dim>", "<dim>three</dim>", text), "has the dim 'three'"),
        (lambda text: text.replace('element_type="f32"', 'element_type="nf4"'), "has elements of type nf4"),
    ],
)
def test_a_damaged_xml(tmp_path, damage, reason):
    path = weighted(tmp_path / "m.xml")
    path.write_text(damage(path.read_text()))
    assert re.search(reason, refusal(path))


def test_records_and_report_name_both_files(tmp_path):
    path = weighted(tmp_path / "m.xml")
    converted = padops.convert(path, tmp_path / "m.onnx", report=tmp_path / "report.json")
    assert [(Path(file.name).name, file.bytes) for file in converted.sources] == [
        ("m.xml", path.stat().st_size),
        ("m.bin", path.with_suffix(".bin").stat().st_size),
    ]
    assert converted.opsets == {}
    (record,) = converted.records
    assert re.fullmatch(r"graph/Pad_\d+", record.path) and record.form == "OpenVINO Pad of opset12"
    onnx.checker.check_model(tmp_path / "m.onnx")


@pytest.mark.parametrize("suffix", [".xml", ".bin"])
def test_the_source_is_not_written_over(tmp_path, suffix):
    path = weighted(tmp_path / "m.xml")
    with pytest.raises(PadopsError, match="belongs to the source, which is not an ONNX model"):
        padops.convert(path, path.with_suffix(suffix))
    with pytest.raises(PadopsError, match="belongs to the source, which is not an ONNX model"):
        padops.convert(path, in_place=True)


def test_names_are_openvinos(tmp_path):
    x, y = parameter((2,), name="x"), parameter((2,), name="y")
    model = openvino.Model([opset13.add(x, y), x], [x, y], "m")
    model.outputs[0].get_tensor().set_names({"zeta", "with, comma"})
    openvino.save_model(model, tmp_path / "m.xml")
    proto = padops.convert(tmp_path / "m.xml").proto()
    compiled = CORE.compile_model(tmp_path / "m.xml", "CPU")
    assert [value.name for value in proto.graph.input] == [port.get_any_name() for port in compiled.inputs]
    assert proto.graph.output[0].name == compiled.outputs[0].get_any_name() == "with, comma"
    found = converted_outputs(proto, [np.float32([1, 2]), np.float32([3, 4])])
    assert [output.tolist() for output in found] == [[4, 6], [1, 2]]


# Without onnxifier, and against OpenVINO.


def test_pads_alone_need_no_onnxifier(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxifier", None)
    path = pad_model(tmp_path / "pad.xml", "symmetric", SHAPE, constant([1, 1, 1]), constant([1, 1, 1]))
    assert [record.status for record in padops.convert(path).records] == ["converted"]


def test_other_layers_without_onnxifier_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxifier", None)
    x = parameter(SHAPE)
    path = save(tmp_path / "m.xml", [opset13.relu(opset12.pad(x, [1, 1, 1], [1, 1, 1], "edge"))], [x])
    text = refusal(path)
    assert "has layers that are no Pads (ReLU)" in text and "pip install 'padops[openvino]'" in text


def test_onnxifier_is_quiet_and_unchanged(tmp_path, capfd):
    x = parameter(SHAPE)
    path = save(tmp_path / "m.xml", [opset13.reduce_sum(x, i(1), True)], [x])
    padops.convert(path)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
    assert onnxifier.__version__


def test_verification_runs_openvino(tmp_path):
    path = weighted(tmp_path / "m.xml")
    verification = padops.convert(path, verify=True).verification
    assert verification.outcome == "equal"
    assert verification.notes == ("the original ran in OpenVINO",)


def test_verification_of_a_network_is_close(tmp_path):
    x = parameter((1, 3, 16, 16))
    path = save(
        tmp_path / "m.xml",
        [
            opset13.convolution(
                opset12.pad(x, [0, 0, 1, 1], [0, 0, 1, 1], "reflect"), f(8, 3, 3, 3), [1, 1], *[[0, 0]] * 2, [1, 1]
            )
        ],
        [x],
    )
    assert padops.convert(path, verify=True).verification.outcome in ("close", "equal")


def test_verification_finds_a_wrong_conversion(tmp_path, monkeypatch):
    path = weighted(tmp_path / "m.xml")
    right = openvino_ir.convert_layers

    def wrong(message: onnx.ModelProto, path: Path) -> onnx.ModelProto:
        message = right(message, path)
        (add,) = (node for node in message.graph.node if node.op_type == "Add")
        add.op_type = "Sub"
        return message

    monkeypatch.setattr(openvino_ir, "convert_layers", wrong)
    with pytest.raises(VerificationError, match="differs"):
        padops.convert(path, tmp_path / "m.onnx", verify=True)
    assert not (tmp_path / "m.onnx").exists()


def test_an_ir_that_openvino_does_not_run_is_compared_with_the_reference(tmp_path):
    """Amounts over the limit are an error at run time in both; random ones are tried until padops takes them."""
    x, amounts = parameter((4,)), parameter((1,), np.int64, "amounts")
    path = save(tmp_path / "m.xml", [opset12.pad(x, amounts, amounts, "reflect")], [x, amounts])
    verification = padops.convert(path, verify=True, inputs={"x": np.zeros(4, np.float32), "amounts": np.array([3])})
    assert verification.verification.outcome == "equal"
