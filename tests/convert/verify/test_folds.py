"""Which window operators with pads the verifier proves equal to one behind a Pad, and which it refuses, and why."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper
from written_models import model

from padops.convert.verify.proof import prove

TEXT = """(float[1, 1, 5, 6] x, float[1, 1, h, 6] o, uint8[1, 1, 5, 6] b, uint8 z, uint8[n] zs, float[1, 1, 2, 2] v)
    => (float[c, d, e, f] y) <int64[8] p = {0, 0, 1, 2, 0, 0, 3, 4}, int64[8] q = {0, 0, 1, 0, 0, 0, 0, 1},
    float[1, 1, 2, 2] w = {1, 2, 3, 4}, int8[1, 1, 2, 2] i = {1, 2, 3, 4}, uint8[1, 1, 2, 2] u = {1, 2, 3, 4},
    float s = {0.5}, float big = {1e37}, int64[4] dims = {1, 1, 2, 2}, uint8 seven = {7}> { NODES }"""
K, OUTSIDE = "kernel_shape = [2, 2]", "count_include_pad = 1"
PADS, BY = "pads = [1, 2, 3, 4]", "pads = [1, 0, 0, 1]"
PROVED = {
    "Conv": ("a = Pad (x, p) y = Conv (a, w)", f"y = Conv <{PADS}> (x, w)"),
    "Conv with written defaults": (
        "a = Pad (x, p) y = Conv (a, w)", f"y = Conv <{PADS}, {K}, strides = [1, 1], dilations = [1, 1]> (x, w)"),
    "Conv with strides": (
        "a = Pad (x, p) y = Conv <strides = [2, 1]> (a, w)", f"y = Conv <{PADS}, strides = [2, 1]> (x, w)"),
    "Conv by VALID": ("a = Pad (x, p) y = Conv (a, w)", 'a = Pad (x, p) y = Conv <auto_pad = "VALID"> (a, w)'),
    "Conv of cast weights": (
        "a = Pad (x, p) c = Cast <to = 1> (i) y = Conv (a, c)", f"c = Cast <to = 1> (i) y = Conv <{PADS}> (x, c)"),
    "Conv of moved weights": (
        "a = Pad (x, p) c = Reshape (w, dims) y = Conv (a, c)", f"c = Reshape (w, dims) y = Conv <{PADS}> (x, c)"),
    "Conv of quantized weights": ("a = Pad (x, p) c = DequantizeLinear (i, s) y = Conv (a, c)",
                                  f"c = DequantizeLinear (i, s) y = Conv <{PADS}> (x, c)"),
    "Conv by SAME": (f'y = Conv <auto_pad = "SAME_LOWER", {K}> (x, w)',
                     'a = padops.SamePad_1 <kernel_shape = [2, 2], auto_pad = "SAME_LOWER"> (x) y = Conv (a, w)'),
    "MaxPool by SAME, of a pool of the same padding": (
        f'y = MaxPool <auto_pad = "SAME_UPPER", {K}> (x)',
        f'y = MaxPool <auto_pad = "SAME_UPPER", {K}, strides = [1, 1]> (x)'),
    "AveragePool that counts": (
        f"a = Pad (x, q) y = AveragePool <{K}> (a)", f"y = AveragePool <{K}, {BY}, {OUTSIDE}> (x)"),
    "ConvInteger by its zero point": ("a = Pad (b, p, z) c = ConvInteger (a, u, z) y = Cast <to = 1> (c)",
                                      f"c = ConvInteger <{PADS}> (b, u, z) y = Cast <to = 1> (c)"),
    "ConvInteger by SAME": ('c = ConvInteger <auto_pad = "SAME_LOWER"> (b, u, z) y = Cast <to = 1> (c)',
                            'a = padops.SamePad_1 <kernel_shape = [2, 2], auto_pad = "SAME_LOWER"> (b, z) '
                            "c = ConvInteger (a, u, z) y = Cast <to = 1> (c)"),
    "ConvInteger without one": ("a = Pad (b, p) c = ConvInteger (a, u) y = Cast <to = 1> (c)",
                                f"c = ConvInteger <{PADS}> (b, u) y = Cast <to = 1> (c)"),
}  # fmt: skip


def proof_of(one: str, other: str) -> tuple[str, str]:
    proof = prove(*(model(TEXT.replace("NODES", nodes)) for nodes in (one, other)))
    return proof.verdict, "; ".join([proof.why or "", *(region.why or "" for region in proof.regions)])


@pytest.mark.parametrize("name", PROVED)
def test_folds_that_are_proved(name: str) -> None:
    assert proof_of(*PROVED[name])[0] == "proved", proof_of(*PROVED[name])
    assert proof_of(*reversed(PROVED[name]))[0] == "proved"


POOL = f"a = Pad (x, q) y = AveragePool <{K}> (a)"
REFUSED = {
    "weights of the run": ("a = Pad (x, p) y = Conv (a, v)", f"y = Conv <{PADS}> (x, v)", "weights of Conv"),
    "weights that overflow": ("a = Pad (x, p) c = DequantizeLinear (i, big) y = Conv (a, c)",
                              f"c = DequantizeLinear (i, big) y = Conv <{PADS}> (x, c)", "weights of Conv"),
    "weights cast from int32": ("a = Pad (x, p) k = Cast <to = 6> (v) c = Cast <to = 1> (k) y = Conv (a, c)",
                                f"k = Cast <to = 6> (v) c = Cast <to = 1> (k) y = Conv <{PADS}> (x, c)", "weights of"),
    "strides": ("a = Pad (x, p) y = Conv <strides = [2, 1]> (a, w)", f"y = Conv <{PADS}, strides = [1, 2]> (x, w)",
                "the attributes or versions of two Conv differ"),
    "data": ("a = Pad (x, q) y = Conv (a, w)", f"y = Conv <{PADS}> (x, w)", "the padded data of two Conv"),
    "other weights": ("a = Pad (x, p) y = Conv (a, w)", f"y = Conv <{PADS}> (x, v)", "two Conv nodes are not proved"),
    "a bias": ("a = Pad (x, p) y = Conv (a, w)", f"t = Constant <value_floats = [1.0]>() y = Conv <{PADS}> (x, w, t)",
               "attributes or versions"),
    "negative pads": ("a = Pad (x, p) y = Conv (a, w)", "y = Conv <pads = [-1, 0, 0, 0]> (x, w)", "[-1, 0, 0, 0]"),
    "an odd list": ("a = Pad (x, p) y = Conv (a, w)", "y = Conv <pads = [1, 0, 0]> (x, w)", "pads [1, 0, 0]"),
    "SAME beside pads": ("a = Pad (x, p) y = Conv (a, w)", f'y = Conv <auto_pad = "SAME_UPPER", {PADS}> (x, w)',
                         "Conv has both auto_pad SAME_UPPER and pads"),
    "VALID beside pads": ("a = Pad (x, p) y = Conv (a, w)", f'y = Conv <auto_pad = "VALID", {PADS}> (x, w)',
                          "Conv has auto_pad b'VALID', which is unknown or contradicts pads"),
    "SAME with dilations": ("a = Pad (x, q) y = MaxPool <kernel_shape = [2, 2]> (a)",
                            f'y = MaxPool <auto_pad = "SAME_UPPER", {K}, dilations = [2, 1]> (x)', "with dilations"),
    "SAME that counts": (POOL, f'y = AveragePool <auto_pad = "SAME_UPPER", {K}, {OUTSIDE}> (x)', "counts its padding"),
    "ceil_mode": (POOL, f"y = AveragePool <{K}, {BY}, {OUTSIDE}, ceil_mode = 1> (x)", "ceil_mode"),
    "a kernel as small as the pads": (POOL, f"y = AveragePool <{K}, pads = [2, 0, 0, 1], {OUTSIDE}> (x)", "kernel of"),
    "dims that may be 0": ("a = Pad (o, q) y = AveragePool <kernel_shape = [2, 2]> (a)",
                           f"y = AveragePool <{K}, {BY}, {OUTSIDE}> (o)", "an axis of 0 elements"),
    "a pool that does not count": (POOL, f"y = AveragePool <{K}, {BY}> (x)", "the padded data of two AveragePool"),
    "another zero point": ("a = Pad (b, p, seven) c = ConvInteger (a, u, z) y = Cast <to = 1> (c)",
                           f"c = ConvInteger <{PADS}> (b, u, z) y = Cast <to = 1> (c)", "data of two ConvInteger"),
    "several zero points": ("a = Pad (b, p, seven) c = ConvInteger (a, u, zs) y = Cast <to = 1> (c)",
                            f"c = ConvInteger <{PADS}> (b, u, zs) y = Cast <to = 1> (c)", "a single number"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_folds_that_are_not_proved(name: str) -> None:
    one, other, why = REFUSED[name]
    verdict, told = proof_of(one, other)
    assert verdict != "proved" and why in told


def test_infinite_weights_are_not_finite() -> None:
    one, other = (model(TEXT.replace("NODES", nodes)) for nodes in PROVED["Conv"])
    for made in (one, other):
        (held,) = (row for row in made.graph.initializer if row.name == "w")
        held.CopyFrom(numpy_helper.from_array(np.array([[[[1, 2], [3, np.inf]]]], np.float32), "w"))
    assert prove(one, other).verdict != "proved"


MASKED = """(float[1, 2, 4, 8] q, float[1, 2, 6, 8] k, float[1, 2, 3, 8] c, float[4, 5] m) => (float[a, b, d, e] y)
    <int64[4] one = {0, 0, 0, 1}, int64[4] four = {0, 0, 0, 4}> { NODES }"""


@pytest.mark.parametrize(("past", "amounts", "verdict"), [
    ("", "one", "proved"), ("", "four", "different"), (", c, c", "four", "proved"), (", c, c", "one", "different"),
])  # fmt: skip
def test_a_mask_is_padded_to_the_length_of_all_keys(past: str, amounts: str, verdict: str) -> None:
    nodes = f"y = Attention (q, k, k, m{past})", f"w = Pad (m, {amounts}, i) y = Attention (q, k, k, w{past})"
    pair = [model(MASKED.replace("NODES", text), 24, ir=11) for text in nodes]
    for made in pair:
        made.graph.initializer.append(numpy_helper.from_array(np.array(-np.inf, np.float32), "i"))
    assert prove(*pair).verdict == verdict
