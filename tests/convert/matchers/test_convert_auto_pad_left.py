"""``auto_pad="explicit"``: what is left, and why."""

from __future__ import annotations

import numpy as np
import pytest
from auto_pad_models import MS, NAMES, WF, explicit, node_model, only_record
from onnx import helper
from small_models import FLOAT, model

import padops
from padops.convert import UsageError

LEFT = [
    ("pads too", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "pads": (1, 1)}, {}, "",
     "it has auto_pad and pads, and ONNX does not define both; remove one"),
    ("a mode of its own", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "auto_pad": "SAME"}, {}, "",
     "auto_pad is 'SAME', expected one of SAME_UPPER, SAME_LOWER, NOTSET, VALID"),
    ("no kernel", "MaxPool", NAMES[:3], {}, {}, "", "it has no kernel_shape"),
    ("rank", "MaxPool", NAMES[:4], {"kernel_shape": (3,)}, {}, "",
     "its data have rank 4, expected 3 for a kernel of 1 value [S1]"),
    ("strides", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "strides": (1, 1)}, {}, "",
     "strides has 2 values, expected 1 (1 per spatial axis) [S1]"),
    ("no stride", "MaxPool", NAMES[:3], {"kernel_shape": (3,), "strides": (0,)}, {}, "",
     f"strides has 0, expected 1 to {2**59 - 1} [S1]"),
    ("wide average", "AveragePool", (1, 1, 10), {"kernel_shape": (3,), "dilations": (3,)}, {}, "",
     "it counts only data, and ONNX Runtime takes no pads (3) that reach the size of the kernel (3)"),
    ("many branches", "AveragePool", NAMES, {"kernel_shape": (9, 9, 9), "strides": (9, 9, 9)}, {}, "",
     "it counts only data, and there are 216 amounts to choose from, more than 64"),
    ("many strides", "AveragePool", NAMES[:3], {"kernel_shape": (9,), "strides": (5000,)}, {}, "",
     "it counts only data, and its strides leave too many amounts to choose from"),
    ("nothing to crop", "ConvTranspose", (1, 1, 4), {"strides": (3,)}, {"w": np.ones((1, 1, 2), np.float32)}, "",
     ("its stride is larger than its kernel with output_padding, so that there is nothing to crop; ONNX, its reference "
     "and TensorFlow do not agree on the elements that are missing")),
    ("output_shape", "ConvTranspose", (1, 1, 4), {"output_shape": (9,)}, {"w": np.ones((1, 1, 2), np.float32)}, "",
     "output_shape gives its amounts, and auto_pad only halves them; remove output_shape"),
    ("mask", "MaxpoolWithMask", NAMES[:3], {"kernel_shape": (3,)}, {}, MS,
     "its mask would have to be padded with the data"),
    ("dynamic pads", "ConvTransposeWithDynamicPads", NAMES[:3], {"kernel_shape": (3,)}, {}, MS,
     "its amounts are an input"),
    ("blocked", "Conv", NAMES[:4], {"kernel_shape": (3, 3)}, {}, "com.microsoft.nchwc",
     "the domain com.microsoft.nchwc is ONNX Runtime's own; convert the model it was made from"),
    ("channels last", "NhwcConv", NAMES[:4], {}, {"w": WF}, MS, "it has no kernel_shape"),
    ("no number", "AveragePool", NAMES[:3], {"kernel_shape": (3,), "count_include_pad": 0.5}, {}, "",
     "its attribute count_include_pad is of type FLOAT"),
    ("no list", "AveragePool", NAMES[:3], {"kernel_shape": 3}, {}, "", "its attribute kernel_shape is of type INT"),
]  # fmt: skip


@pytest.mark.parametrize("row", LEFT, ids=[row[0] for row in LEFT])
def test_left(row: tuple) -> None:
    _, op, shape, attributes, tensors, domain, reason = row
    original = node_model(op, shape, {"auto_pad": "SAME_UPPER", **attributes}, tensors, domain=domain)
    conversion = explicit(original)
    record = only_record(conversion)
    assert (record.status, record.reason, record.op_type) == ("unconverted", reason, None)
    assert record.form.endswith(f"{op} auto_pad={attributes.get('auto_pad', 'SAME_UPPER')}")
    assert conversion.proto() == original


def test_left_without_data() -> None:
    node = helper.make_node("MaxPool", [""], ["y"], kernel_shape=[3], auto_pad="SAME_UPPER")
    assert only_record(explicit(model([node]))).reason == "it has no data"


def test_left_where_the_weights_are_not_known() -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER")
    for shape in (None, (4, 3, None, 3)):
        message = model([node], inputs=[("x", FLOAT, NAMES[:4]), ("w", FLOAT, shape)])
        assert (
            only_record(explicit(message)).reason == "it has no kernel_shape, and the shape of its weights is not known"
        )


def test_left_before_integers_can_be_divided() -> None:
    original = node_model(
        "AveragePool", NAMES[:3], {"kernel_shape": (3,), "strides": (2,), "auto_pad": "SAME_UPPER"}, opset=6
    )
    assert only_record(explicit(original)).reason == "it counts only data, and opset 6 cannot choose by size"


def test_others_are_no_concern() -> None:
    for auto_pad in ({}, {"auto_pad": "NOTSET"}, {"auto_pad": "VALID"}):
        original = node_model("MaxPool", NAMES[:3], {"kernel_shape": (3,), **auto_pad})
        conversion = explicit(original)
        assert not conversion.records and conversion.proto() == original


def test_kept_unless_asked_for() -> None:
    original = node_model("MaxPool", NAMES[:3], {"kernel_shape": (3,), "auto_pad": "SAME_UPPER"})
    assert not padops.convert(original).records
    with pytest.raises(UsageError, match="auto_pad is 'yes', expected 'keep' or 'explicit'"):
        padops.convert(original, auto_pad="yes")
