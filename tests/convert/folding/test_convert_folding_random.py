"""Random models of a Pad in front of a convolution or a pooling: folded or not, the bits stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from folding_models import LEVELS, fold, padded, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper
from small_models import INT32


@st.composite
def cases(draw: Any) -> tuple[onnx.ModelProto, np.ndarray]:
    """A constant Pad in front of a node that may or may not take it, and data with every kind of number."""
    rank = draw(st.integers(1, 3))
    op = draw(st.sampled_from(["Conv", "ConvInteger", "AveragePool", "MaxPool"]))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channels = draw(st.sampled_from([1, 3, 8, 16]))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": [draw(st.integers(1, 3)) for _ in range(rank)]}
    if op != "AveragePool":
        attributes["dilations"] = [draw(st.sampled_from([1, 1, 2])) for _ in range(rank)]
    if draw(st.booleans()):
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = draw(st.integers(0, 1))
    if op in ("AveragePool", "MaxPool"):
        attributes["ceil_mode"] = draw(st.sampled_from([0, 0, 0, 1]))
    begins, ends = ([draw(st.integers(least, 3)) for _ in range(rank)] for least in (-1, 0))
    amounts = [0, 0, *begins, 0, 0, *ends]
    dtype = np.dtype(draw(st.sampled_from({"Conv": ["f4", "f2"], "ConvInteger": ["u1", "i1"],
                                           "AveragePool": ["f4", "f2"],
                                           "MaxPool": ["u1", "i1", "f4"]}[op])))  # fmt: skip
    shape = [draw(st.integers(1, 2)), channels, *(draw(st.integers(7, 12)) for _ in range(rank))]
    data = _data(seed, shape, dtype, draw(st.sampled_from(["plain", "plain", "special"])))
    fill = None if dtype.kind == "f" else int(seed.choice([np.iinfo(dtype).min, 0, 5]))
    others: dict[str, np.ndarray] = {}
    if op.startswith("Conv"):
        group = draw(st.sampled_from([1, channels]))
        attributes["group"] = group
        weights = (group * draw(st.sampled_from([1, 2, 8])) if group == 1 else channels, channels // group, *kernel)
        others["w"] = _data(seed, weights, dtype, "plain")
        if op == "ConvInteger":
            others["xz"] = np.array(seed.choice([fill, 3]), dtype)
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    result = INT32 if op == "ConvInteger" else kind
    return padded(amounts, op, others=others, kind=kind, result=result, fill=fill, **attributes), data


def _data(rng: np.random.Generator, shape: Any, dtype: np.dtype, what: str) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape).astype(dtype)
    data = rng.standard_normal(shape).astype(dtype)
    if what == "special":
        for value in (-0.0, 0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny):
            data[rng.random(shape) < 0.05] = value
    return data


@settings(max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_random_models(case: tuple[onnx.ModelProto, np.ndarray]) -> None:
    """A folded model has the bits of ONNX Runtime's Pad at each level; any other has those without optimisation."""
    source, data = case
    conversion = fold(source)
    folded = conversion.records[0].status == "folded"
    for level in LEVELS if folded else ("DISABLE_ALL",):
        assert run(conversion.proto(), {"x": data}, level) == run(source, {"x": data}, level)
    assert fold(conversion.proto()).proto() == conversion.proto()
