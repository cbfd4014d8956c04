"""``onnx`` itself on padops nodes: its checker, and its shape inference with each dim as far as it is known."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import native
import numpy as np
import onnx
import pytest
import small_models
from command_lines import MODELS
from onnx import helper
from small_models import FLOAT, INT32, INT64, STRING

import padops
from padops.spec import reference
from padops.spec.dialects import DOMAIN, OPS, VERSION
from padops.spec.dtypes import by_name

InferenceError = onnx.shape_inference.InferenceError


@pytest.fixture(scope="module", autouse=True)
def _schemas() -> None:
    padops.register_schemas()
    padops.register_schemas()


def info(name: str, shape: Sequence[int | str | None] | None, element_type: int = FLOAT) -> small_models.Value:
    return name, element_type, shape


def pad(op: str, inputs: Sequence[str], output: str = "y", **attributes) -> onnx.NodeProto:
    return native.node(op, inputs, output, attributes)


def model(nodes, inputs, output: small_models.Value = ("y", FLOAT, None), initializers=(), **more) -> onnx.ModelProto:
    parts = {"inputs": inputs, "outputs": [output], "tensors": initializers, **more}
    return small_models.model(nodes, 18, imports=[("padops", 1), ("local", 1)], ir_version=10, **parts)


def inferred(made: onnx.ModelProto, **options) -> tuple[int, list[int | str] | None]:
    """Element type and dims of the output; a dim that nobody knows is "?"."""
    tensor = onnx.shape_inference.infer_shapes(made, strict_mode=True, **options).graph.output[0].type.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in tensor.shape.dim]
    return tensor.elem_type, ["?" if str(dim).startswith("unk__") else dim for dim in dims]


def ints(name: str, *values: int, dtype: type = np.int64) -> onnx.TensorProto:
    return small_models.tensor(name, values, dtype)


@pytest.mark.parametrize("name", OPS)
def test_schema(name: str) -> None:
    """A schema says what the table says."""
    op = OPS[name]
    schema = onnx.defs.get_schema(name, VERSION, DOMAIN)
    inputs = [(row.name, row.option.name == "Optional") for row in schema.inputs]
    assert inputs == [(row.name, row.optional) for row in op.inputs]
    attributes = [(name, schema.attributes[name].required) for name in sorted(schema.attributes)]
    assert attributes == [(row.name, row.required) for row in op.attributes]
    (constraint,) = [row for row in schema.type_constraints if row.type_param_str == "T"]
    assert constraint.allowed_type_strs == [f"tensor({dtype})" for dtype in op.types]


def test_checker_accepts() -> None:
    inputs = [info("x", [2], STRING), info("p", [2], INT64), info("a", [1], INT32)]
    for made in (
        model([pad("Pad_2", ["x"], pads=[0, 1, 0, 1], mode="edge")], [info("x", ["n", 3])], info("y", ["n", 5])),
        model([pad("Pad_18", ["x", "p", "", "a"])], inputs, info("y", [None], STRING)),
    ):
        onnx.checker.check_model(made, full_check=True)


REFUSED = onnx.checker.ValidationError


@pytest.mark.parametrize(("node", "kind", "error", "message"), [
    (pad("Pad_2", ["x"]), FLOAT, REFUSED, "Required attribute 'pads' is missing"),
    (pad("Pad_2", ["x"], pads=[1, 1], axes=[0]), FLOAT, REFUSED, "Unrecognized attribute: axes"),
    (pad("Pad_2", ["x"], pads="1, 1"), FLOAT, REFUSED, "expected type: INTS|Mismatched attribute type"),
    (pad("Pad_2", ["x"], pads=[1, 1], mode=1), FLOAT, REFUSED, "expected type: STRING|Mismatched attribute type"),
    (pad("Pad_2", ["x", "x"], pads=[1, 1]), FLOAT, REFUSED, "input size 2"),
    (pad("Pad_11", ["x"]), FLOAT, REFUSED, "input size 1"),
    (pad("Pad_2", ["x"], pads=[1, 1]), INT32, InferenceError, r"unsupported type: tensor\(int32\)"),
])  # fmt: skip
def test_checker_refuses(node: onnx.NodeProto, kind: int, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        onnx.checker.check_model(model([node], [info("x", [5], kind)], info("y", [7], kind)), full_check=True)


@pytest.mark.parametrize(("shape", "pads", "output"), [
    ([2, 3], [1, 0, -1, 4], [2, 7]),
    (["n", 3], [0, 1, 0, 1], ["n", 5]),
    (["n", 3], [1, 1, 0, 1], ["?", 5]),
    (["n", 3], [-2, 1, 2, 1], ["n", 5]),
    ([None, "k"], [0, 0, 0, 0], ["?", "k"]),
    ([-1, 3], [0, 1, 0, 1], ["?", 5]),  # as some exporters write a dim that is open
    ([-1, 3], [1, 1, 1, 1], ["?", 5]),
    ([0, 2], [3, -1, 0, 0], [3, 1]),
    ([], [], []),
    (None, [1, 2], None),
])  # fmt: skip
def test_attribute_pads(shape, pads, output) -> None:
    """P1: static dims follow; a dim that stays the same keeps its symbol."""
    for op, name in (("Pad_1", "paddings"), ("Pad_2", "pads")):
        assert inferred(model([pad(op, ["x"], **{name: pads})], [info("x", shape)])) == (FLOAT, output)


@pytest.mark.parametrize("form", ["initializer", "Constant"])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_constant_inputs(form: str, kind: type) -> None:
    """P8: pads and axes that are known, however the model holds them."""
    tensors = [ints("p", 1, -2, 2, 0), ints("a", -1, 1, dtype=kind)]
    nodes = [pad("Pad_18", ["x", "p", "", "a"])]
    if form == "Constant":
        nodes = [helper.make_node("Constant", [], [t.name], value=t) for t in tensors] + nodes
        tensors = []
    made = model(nodes, [info("x", ["n", 4, 5])], initializers=tensors)
    assert inferred(made) == (FLOAT, ["n", 2, 8])


FILED = small_models.external("p", "nowhere.bin", 2)
FILED.data_type = INT64


@pytest.mark.parametrize(("node", "shape", "tensors", "output"), [
    # P1: where a negative output dim is 0, too.
    (pad("OpenVINOPad_12", ["x", "b", "e"], pad_mode="constant"), [-1, 4], [ints("b", 0, -2), ints("e", 0, -3)],
     ["?", 0]),
    (pad("Pad_11", ["x", "p"]), [4], [FILED], ["?"]),  # in a file
    # The rank is what is known as long as pads or axes are not.
    (pad("Pad_18", ["x", "p", "", "a"]), ["n", 4, 5], [ints("a", 1)], ["?"] * 3),
    (pad("Pad_18", ["x", "p", "", "a"]), ["n", 4, 5], [ints("p", 1, 2)], ["?"] * 3),
    # P5: with a dim that is not known the output may be empty, and then nothing needs extending.
    (pad("Pad_2", ["x"], pads=[1, 0, 0, 0], mode="edge"), [0, "n"], [], [1, "n"]),
], ids=["negative", "in a file", "no pads", "no axes", "perhaps empty"])  # fmt: skip
def test_what_is_open(node: onnx.NodeProto, shape: list, tensors: list[onnx.TensorProto], output: list) -> None:
    inputs = [info("x", shape), *(info(name, None, INT64) for name in {*"pa"} - {held.name for held in tensors})]
    assert inferred(model([node], inputs, initializers=tensors)) == (FLOAT, output)


@pytest.mark.parametrize("name", [name for name in OPS if OPS[name].input_index("pads") is not None])
def test_type_of_every_element_type(name: str) -> None:
    """The type is the data's, whether or not the shape is known."""
    for dtype in map(by_name, OPS[name].types):
        for shape, output in ((None, None), ([3], [6])):
            made = model(
                [pad(name, ["x", "p"])], [info("x", shape, dtype.onnx)], info("y", None, dtype.onnx), [ints("p", 1, 2)]
            )
            assert inferred(made, check_type=True) == (dtype.onnx, output)


def test_input_of_unknown_type() -> None:
    """The output of an operator that onnx does not know: nothing is inferred, and nothing breaks."""
    nodes = [helper.make_node("Unknown", ["x"], ["z"], domain="local"), pad("Pad_2", ["z"], pads=[1, 1])]
    tensor = onnx.shape_inference.infer_shapes(model(nodes, [info("x", [3])])).graph.output[0].type.tensor_type
    assert not tensor.HasField("shape")


def test_inside_a_function() -> None:
    """Local functions are inferred through, amounts that refer to an attribute of the call included."""
    node = pad("Pad_2", ["a"], "b")
    node.attribute.append(onnx.AttributeProto(name="pads", ref_attr_name="amounts", type=onnx.AttributeProto.INTS))
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("padops", 1)]
    body = helper.make_function("local", "Grow", ["a"], ["b"], [node], imports, attributes=["amounts"])
    call = helper.make_node("Grow", ["x"], ["y"], domain="local", amounts=[1, 2])
    made = model([call], [info("x", [5])], functions=[body])
    onnx.checker.check_model(model([call], [info("x", [5])], info("y", [8]), functions=[body]), full_check=True)
    assert inferred(made) == (FLOAT, [8])
    call.attribute[0].ints[:] = [4, 4]
    assert inferred(model([call], [info("x", ["n"])], functions=[body])) == (FLOAT, ["?"])


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("node", "shape", "text"), [
    (pad("Pad_2", ["x"], pads=[0, -5, 0, 0]), ["n", 4],
     "Pad_2 '': axis 1 would have -1 elements (begin -5, size 4, interior 0, end 0) [P1]"),
    (pad("Pad_2", ["x"], pads=[1, 0, 0, 0], mode="edge"), [0, 4],
     "Pad_2 '': cannot extend axis 0 by edge: it is empty [P5]"),
    (pad("Pad_18", ["x", "p"]), ["n", 3], "Pad_18 '': pads has 2 values, expected 4 (2 per axis, rank 2) [P8]"),
    (pad("Pad_2", ["x"], pads=[0, 0, 0, 0], mode="wrap"), [2, 2],
     "Pad_2 '': mode 'wrap' is not one of constant, reflect, edge [P9]"),
], ids=["P1", "P5", "P8", "P9"])  # fmt: skip
def test_errors_name_the_rule(node: onnx.NodeProto, shape, text: str, strict: bool) -> None:
    """What is wrong whatever the inputs are, in the kernels' words."""
    made = model([node], [info("x", shape)], initializers=[ints("p", 1, 1)])
    with pytest.raises(InferenceError) as caught:
        onnx.shape_inference.infer_shapes(made, strict_mode=strict)
    assert str(caught.value) == f"padops::{text}"


@pytest.mark.parametrize("name", [name for name in OPS if name.startswith("Pad_")])
def test_inferred_shape_is_that_of_the_result(name: str) -> None:
    """P1: the reference's output has the shape that was inferred."""
    rng = np.random.default_rng(1)
    held = OPS[name].input_index("pads") is not None
    for _ in range(30):
        shape = rng.integers(1, 5, rng.integers(0, 4)).tolist()
        pads = rng.integers(0, 4, 2 * len(shape)).tolist()
        attributes = {"mode": str(rng.choice(OPS[name].modes))} | ({} if held else {OPS[name].attributes[1].name: pads})
        inputs = [np.zeros(shape, np.float32), *([np.array(pads, np.int64)] if held else [])]
        node = pad(name, ["x", "p"][: len(inputs)], **attributes)
        made = model([node], [info("x", shape)], initializers=[ints("p", *pads)])
        assert inferred(made)[1] == list(reference.run(name, attributes, inputs).shape)


@pytest.mark.parametrize("first", ["padops.register_schemas()", "import onnx.reference"])
def test_onnx_reference_still_imports(first: str) -> None:
    """onnx.reference lists schemas by bare names when it is imported: padops' Pad_18 is not version 18 of Pad."""
    code = f"import padops, onnx; {first}; padops.register_schemas(); import onnx.reference, onnx.checker\n"
    code += f"print(onnx.reference.ReferenceEvaluator({str(MODELS / 'pad_19.onnx')!r}).output_names)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['wrapped', 'cropped']\n", "")


AT_EXIT = """
import atexit
import onnx
@atexit.register  # before padops is there, so that it is called after all that padops registers
def last():
    print(sum(schema.domain == "padops" for schema in onnx.defs.get_all_schemas_with_history()), flush=True)
import sys, padops
padops.register_schemas()
last()
{more}
sys.exit(3)
"""


@pytest.mark.parametrize("more", ["", "onnx.defs.deregister_schema('Pad_18', 1, 'padops')"])
def test_no_schema_is_left_when_python_ends(more: str) -> None:
    """onnx before 1.23 would crash over its inference function, and the process would lose its exit code."""
    done = subprocess.run([sys.executable, "-c", AT_EXIT.format(more=more)], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr, done.returncode) == ([str(len(OPS)), "0"], "", 3)
