"""Nodes that break a rule, each with the whole text of its error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import native
import numpy as np

from padops.spec.plan import LARGEST

F32 = np.float32
INT4 = native.by_name("int4")


@dataclass(frozen=True)
class Broken:
    """A node that breaks a rule; ``detail`` is its error without the operator and the node in front."""

    op: str
    detail: str
    data: np.ndarray
    inputs: tuple[Any, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.detail[self.detail.rindex('[') + 1 : -1]}-{self.op}-{self.detail[:60]}"


def ints(*values: int, dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


def ones(*shape: int, dtype: type = F32) -> np.ndarray:
    return np.ones(shape, dtype)


P1 = [
    Broken("Pad_1", "axis 1 would have -1 elements (begin -5, size 4, interior 0, end 0) [P1]", ones(2, 4),
           attributes={"paddings": [0, -5, 1, 0]}),
    Broken("Pad_2", "axis 0 would have -3 elements (begin -2, size 0, interior 0, end -1) [P1]", ones(0),
           attributes={"pads": [-2, -1], "mode": "edge"}),
    Broken("Pad_11", "axis 0 would have -2 elements (begin -7, size 3, interior 0, end 2) [P1]", ones(3),
           (ints(-7, 2),)),
    Broken("Pad_25", "axis 2 would have -1 elements (begin 0, size 5, interior 0, end -6) [P1]", ones(2, 4, 5),
           (ints(0, -6), None, ints(-1)), {"mode": "wrap"}),
]  # fmt: skip

P5 = [
    *(
        Broken("Pad_19", f"axis 0 has nothing to extend by {mode}: begin -2 and end 3 leave none of its 2 elements "
               "[P5]", ones(2), (ints(-2, 3),), {"mode": mode})
        for mode in ("edge", "reflect", "wrap")
    ),
    *(
        Broken("Pad_21", f"axis 1 has nothing to extend by {mode}: it is empty [P5]",
               ones(2, 0), (ints(0, 1, 0, 0),), {"mode": mode})
        for mode in ("edge", "reflect", "wrap")
    ),
    Broken("Pad_2", "axis 0 has nothing to extend by edge: begin -1 and end 1 leave none of its 1 element [P5]",
           ones(1), attributes={"pads": [-1, 1], "mode": "edge"}),
    Broken("Pad_18", "axis 1 has nothing to extend by reflect: begin 4 and end -3 leave none of its 3 elements [P5]",
           ones(2, 3), (ints(0, 4, 0, -3),), {"mode": "reflect"}),
]  # fmt: skip

P7 = [
    Broken("Pad_11", "constant_value has 2 elements, expected one [P7]", ones(2), (ints(1, 1), ones(2))),
    Broken("Pad_13", "constant_value has 0 elements, expected one [P7]", ones(2), (ints(1, 1), ones(0))),
    Broken("Pad_18", "constant_value has 6 elements, expected one [P7]", ones(2), (ints(1, 1), ones(2, 3))),
    Broken("Pad_13", "constant_value has 3 elements, expected one [P7]", np.array(["a"], object),
           (ints(1, 1), np.array(["x", "y", "z"], object))),
    Broken("Pad_21", "constant_value has 5 elements, expected one [P7]", native.from_bytes(b"\1", INT4, [2]),
           (ints(1, 1), native.from_bytes(b"\1\2\3", INT4, [5]))),
]  # fmt: skip

P8 = [
    # The count of values.
    Broken("Pad_1", "paddings has 3 values, expected 4 (2 per axis, rank 2) [P8]", ones(2, 3),
           attributes={"paddings": [1, 2, 3]}),
    Broken("Pad_2", "pads has 0 values, expected 2 (2 per axis, rank 1) [P8]", ones(2), attributes={"pads": []}),
    Broken("Pad_11", "pads has 6 values, expected 4 (2 per axis, rank 2) [P8]", ones(2, 3), (ints(1, 1, 1, 1, 1, 1),)),
    Broken("Pad_18", "pads has 6 values, expected 4 (2 per axis, axes=[2, 3]) [P8]", ones(2, 3, 4, 5),
           (ints(1, 1, 1, 1, 1, 1), None, ints(2, 3))),
    Broken("Pad_18", "pads has 2 values, expected 0 (2 per axis, axes=[]) [P8]", ones(2), (ints(1, 1), None, ints())),
    Broken("Pad_13", "pads has 2 values, expected 0 (2 per axis, rank 0) [P8]", np.array(1, F32), (ints(1, 1),)),
    # The shape.
    Broken("Pad_11", "pads has shape [2, 2], expected [4] [P8]", ones(2, 3), (np.ones((2, 2), np.int64),)),
    Broken("Pad_18", "pads has shape [], expected [2] [P8]", ones(2, 3), (np.array(1), None, ints(0))),
    Broken("Pad_19", "pads has shape [1, 1, 4], expected [4] [P8]", ones(2, 3), (np.ones((1, 1, 4), np.int64),)),
    Broken("Pad_18", "axes has shape [], expected one dim [P8]", ones(2, 3), (ints(1, 1), None, np.array(0))),
    Broken("Pad_18", "axes has shape [1, 2], expected one dim [P8]", ones(2, 3),
           (ints(1, 1), None, np.array([[0, 1]]))),
    # Axes out of range.
    Broken("Pad_18", "axes=[0, 2] has 2, outside -2..1 for rank 2 [P8]", ones(2, 3),
           (ints(1, 1, 1, 1), None, ints(0, 2))),
    Broken("Pad_21", "axes=[-3] has -3, outside -2..1 for rank 2 [P8]", ones(2, 3), (ints(1, 1), None, ints(-3))),
    Broken("Pad_21", "axes=[0] has 0, outside -0..-1 for rank 0 [P8]", np.array(1, F32), (ints(1, 1), None, ints(0))),
    # Axes repeated.
    Broken("Pad_18", "axes=[1, -1] names axis 1 twice [P8]", ones(2, 3), (ints(1, 1, 1, 1), None, ints(1, -1))),
    Broken("Pad_23", "axes=[0, 1, 0] names axis 0 twice [P8]", ones(2, 3),
           (ints(1, 1, 1, 1, 1, 1), None, ints(0, 1, 0, dtype=np.int32))),
    # Another type. ONNX Runtime itself refuses other types of pads at load: axes alone can be of two types.
    *(
        Broken("Pad_18", f"axes is {name}, expected int32 or int64 [P8]", ones(2),
               (ints(1, 1), None, ints(0, dtype=kind)))
        for name, kind in (("uint8", np.uint8), ("int16", np.int16), ("uint64", np.uint64), ("bool", np.bool_))
    ),
]  # fmt: skip

P9 = [
    *(
        Broken(op, "mode 'wrap' is not one of constant, reflect, edge [P9]", ones(2), inputs, {"mode": "wrap"} | more)
        for op, inputs, more in (
            ("Pad_1", (), {"paddings": [1, 1]}),
            ("Pad_2", (), {"pads": [1, 1]}),
            ("Pad_11", (ints(1, 1),), {}),
            ("Pad_13", (ints(1, 1),), {}),
            ("Pad_18", (ints(1, 1),), {}),
        )
    ),
    *(
        Broken("Pad_19", f"mode '{mode}' is not one of constant, reflect, edge, wrap [P9]", ones(2), (ints(1, 1),),
               {"mode": mode})
        for mode in ("symmetric", "CONSTANT", "", "Zoë")
    ),
]  # fmt: skip

P10 = [
    *(
        Broken("Pad_18", f"axis 0 (begin {begin}, size {size}, interior 0, end {end}) has amounts beyond {LARGEST} "
               "[P10]", ones(size), (ints(begin, end),))
        for size, begin, end in (
            (2, 2**62, 0),
            (2, 0, 2**63 - 1),
            (2, 2**63 - 1, 2**63 - 1),
            (2, -(2**63), -(2**63)),
            (2, -(2**63), 2**63 - 1),
            (2, -LARGEST - 1, 0),
        )
    ),
    *(
        Broken("Pad_18", f"axis 0 would have more than {LARGEST} elements (begin {begin}, size {size}, interior 0, "
               f"end {end}) [P10]", ones(size), (ints(begin, end),))
        for size, begin, end in ((2, 0, LARGEST), (1, LARGEST, LARGEST))
    ),
    *(
        Broken("NGraphPad_0", detail, ones(3), (ones(),), {"padding_below": [-3], "padding_above": [0],
                                                          "padding_interior": [interior]})
        for interior, detail in (
            (LARGEST + 1,
             f"axis 0 (begin -3, size 3, interior {LARGEST + 1}, end 0) has amounts beyond {LARGEST} [P10]"),
            (LARGEST, f"axis 0 would have more than {LARGEST} elements (begin -3, size 3, interior {LARGEST}, end 0) "
             "[P10]"),
        )
    ),
    Broken("Pad_2", f"axis 0 (begin {-(2**63)}, size 2, interior 0, end 1) has amounts beyond {LARGEST} [P10]", ones(2),
           attributes={"pads": [-(2**63), 1]}),
    # What int64 cannot hold stays too large, and does not become a crop.
    *(
        Broken(op, f"axis 0 (begin {2**63 - 1 if i == 0 else 0}, size 3, interior 0, end {2**63 - 1 if i == 1 else 0}) "
                   "has "
               f"amounts beyond {LARGEST} [P10]", ones(3),
               (ints(value * (1 - i), dtype=np.uint64), ints(value * i, dtype=np.uint64)), {"pad_mode": "constant"})
        for op in ("OpenVINOPad_1", "OpenVINOPad_12")
        for i, value in ((0, 2**64 - 1), (1, 2**64 - 1), (0, 2**63), (1, 2**63 + 5))
    ),
    Broken("Pad_25", f"an output of shape [1073741825, 1073741825] has more than {LARGEST} elements [P10]", ones(1, 1),
           (ints(2**30, 2**30, 0, 0),), {"mode": "edge"}),
    Broken("Pad_11", f"an output of shape [4294967297, 4294967297] has more than {LARGEST} elements [P10]", ones(1, 1),
           (ints(0, 2**32, 2**32, 0),)),
    Broken("Pad_13", f"an output of shape {[2**21 + 1] * 3} has more than {LARGEST} elements [P10]", ones(1, 1, 1),
           (ints(*[2**21] * 3, 0, 0, 0),)),
]  # fmt: skip
