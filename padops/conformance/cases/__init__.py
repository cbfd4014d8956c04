"""The sources of cases: the table of operators, random draws, the specifications' examples, and the node tests of ONNX.

The specifications print numbers without a type, so each example with numbers becomes cases of two types. The
printed outputs are not in this file; padops' tests compare them with the reference's outputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from padops.conformance.arrays import integers, random_array
from padops.conformance.cases import drawn, table
from padops.conformance.peers.request import Request
from padops.spec.dialects import OPS, onnx_op
from padops.spec.dtypes import by_name

# Numbers of cases per operator: for each mode and type, for each mode and kind of amounts, and of random cases.
LEVELS = {"quick": (1, 1, 10), "default": (3, 4, 60), "exhaustive": (30, 60, 1000)}


def collect(level: str, seed: int = 0, always: Iterable[str] = ()) -> list[Request]:
    """Return the cases of a level, including those of lower levels, and the cases with the ids in ``always``."""
    made = {case.id: case for case in (*_of_level(level, seed), *map(find_case, always))}
    return list(made.values())


@cache
def _of_level(level: str, seed: int) -> tuple[Request, ...]:
    by_type, by_signs, count = LEVELS[level]
    return (
        *table.cases(list(OPS), by_type, by_signs, seed),
        *specification(),
        *(drawn.find_case(f"random/{name}/{seed}/{i}") for name in OPS for i in range(count)),
        *(case for case, _ in upstream().values()),
    )


def find_case(id: str) -> Request:
    try:
        origin = id.split("/")[0]
        if origin in ("table", "random"):
            return table.find_case(id) if origin == "table" else drawn.find_case(id)
        return upstream()[id][0] if origin == "upstream" else {case.id: case for case in specification()}[id]
    except KeyError:
        raise ValueError(f"no case is called {id!r}") from None
    except ValueError as error:
        raise ValueError(f"no case is called {id!r}: {error}") from error


LEFT, AROUND = (0, 2, 0, 0), (2, 1, 1, 1)
# ONNX's examples since opset 11: the number, the mode and the amounts; wrap exists since opset 19.
ONNX = ((1, "constant", LEFT), (2, "reflect", LEFT), (3, "edge", LEFT), (4, "wrap", AROUND))
# The document of Pad 1 contradicts itself: its paddings do not lead to the output that it prints.
OLD_ONNX = (
    (2, "pads", "example", [0, 2, 0, 0]),
    (1, "paddings", "example-printed-output", [0, 2, 0, 0]),
    (1, "paddings", "example-printed-paddings", [0, 0, 2, 0]),
)
OPENVINO = {"positive": ((0, 1), (2, 3)), "negative": ((-1, -1), (-1, -1)), "mixed": ((2, -1), (-1, 3))}
NGRAPH = {"padding_below": [1, 2], "padding_above": [1, 0], "padding_interior": [1, 2]}
# The drawings on TensorFlow's page about SAME and VALID, and the convolution of 7 by 8 on that page.
SAME: tuple[tuple[str, tuple[int, ...], dict[str, Any]], ...] = (
    ("drawing-same", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "SAME_UPPER"}),
    ("drawing-valid", (1, 1, 13), {"kernel_shape": [6], "strides": [5], "auto_pad": "VALID"}),
    ("conv2d", (1, 7, 8, 3), {"kernel_shape": [4, 4], "strides": [3, 3], "data_format": "NHWC"}),
)


def _array(dtype: str, values: Any) -> np.ndarray:
    return np.array(values, by_name(dtype).numpy)


def specification() -> Iterator[Request]:
    """Yield the examples that the specifications print; the id of an example names its document."""
    for dtype in ("float", "double"):
        data = _array(dtype, [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]])
        for edition in (11, 13, 18, 19, 21, 23, 24, 25):
            for number, mode, pads in ONNX[: None if edition >= 19 else 3]:
                fill = _array(dtype, 0.0) if mode == "constant" else None
                inputs = (data, integers(pads), fill) + ((None,) if edition >= 18 else ())
                id = f"specification/Pad_{edition}/example-{number}/{dtype}"
                yield Request(id, f"Pad_{edition}", edition, {"mode": mode}, inputs)
        for edition, attribute, name, amounts in OLD_ONNX:
            id = f"specification/Pad_{edition}/{name}/{dtype}"
            yield Request(id, f"Pad_{edition}", edition, {attribute: amounts}, (data,))
    for op, names in (("OpenVINOPad_1", ["positive"]), ("OpenVINOPad_12", [*OPENVINO])):
        for name, mode, dtype in product(names, ("constant", "edge", "reflect", "symmetric"), ("float", "int32")):
            given = (_array(dtype, np.arange(1, 13).reshape(3, 4)), *map(integers, OPENVINO[name]), None)
            for constants, held in (((), ""), ((1, 2), "/held")):
                id = f"specification/{op}/{name}-{mode}/{dtype}{held}"
                yield Request(id, op, 0, {"pad_mode": mode}, given, constants)
    for dtype in ("float", "int32"):
        given = (_array(dtype, np.arange(1, 10).reshape(3, 3)), _array(dtype, 42))
        yield Request(f"specification/NGraphPad_0/example/{dtype}", "NGraphPad_0", 0, NGRAPH, given)
    for name, shape, attributes in SAME:
        data = random_array(np.random.default_rng(1), by_name("float"), shape)
        yield Request(f"specification/SamePad_1/{name}/float", "SamePad_1", 0, attributes, (data, None))


# Models of one Pad that old converters wrote.
SHIPPED = (
    "pytorch-converted/test_ConstantPad2d",
    "pytorch-converted/test_ReflectionPad2d",
    "pytorch-converted/test_ReplicationPad2d",
    "pytorch-converted/test_ZeroPad2d",
    "pytorch-operator/test_operator_pad",
)


@cache
def upstream() -> dict[str, tuple[Request, np.ndarray]]:
    """Return onnx's tests of Pad by id, with outputs: node tests that onnx creates, and models that onnx ships."""
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.case import node as made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings from the tests of other operators
        # Import only the tests of Pad: ``collect_testcases`` needs seconds for the tests of all other operators.
        import_module(f"{made.__name__}.pad")
        tests: list[Any] = made._NodeTestCases if hasattr(made, "_NodeTestCases") else made.collect_testcases("Pad")
    found = []
    for test in tests:
        if [node.op_type for node in test.model.graph.node] == ["Pad"]:
            inputs, outputs = test.data_sets[0]
            found.append((_case(test.name, test.model, [*map(np.asarray, inputs)]), np.asarray(outputs[0])))
    for folder in (Path(onnx.__file__).parent / "backend" / "test" / "data" / place for place in SHIPPED):
        if folder.is_dir():
            files = sorted(folder.glob("test_data_set_0/*put_*.pb"))  # inputs before outputs
            *arrays, output = (numpy_helper.to_array(onnx.load_tensor(path)) for path in files)
            found.append((_case(folder.name, onnx.load(folder / "model.onnx"), arrays), output))
    return {case.id: (case, output) for case, output in found}


def _case(name: str, model: Any, arrays: list[np.ndarray]) -> Request:
    """Make a case of a model whose only node is a Pad."""
    from onnx import helper

    (node,) = model.graph.node
    opset = next(entry.version for entry in model.opset_import if entry.domain == "")
    found = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in found.items()}
    given = dict(zip((entry.name for entry in model.graph.input), arrays))
    inputs = tuple(given[entry] if entry else None for entry in node.input)
    return Request(f"upstream/{name}", onnx_op(opset), opset, attributes, inputs)
