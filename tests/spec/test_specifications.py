"""Every example that a specification prints, under the name of its document: native and by the reference.

A row of ``EXAMPLES`` is one printed example. A document that another edition repeats word for word gives one row per
edition, because each edition is an operator of its own. Rows of further documents go below the last table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import native
import numpy as np
import pytest

from padops.spec import reference


@dataclass(frozen=True)
class Example:
    """One printed example.

    Attributes:
        document: The document and its edition.
        name: What the document calls the example.
        op: The operator of padops that mirrors the edition.
        inputs: As printed, in the operator's order; what is not an array of integers is of the tensor type T.
        output: As printed.
        attributes: As printed.
    """

    document: str
    name: str
    op: str
    inputs: tuple[Any, ...]
    output: Any
    attributes: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.document}: {self.name}"


def amounts(*values: int) -> np.ndarray:
    """An integer input."""
    return np.array(values, np.int64)


# ONNX Pad. All editions print the same tensors; 2 and 1 print only the first example.
DATA = [[1.0, 1.2], [2.3, 3.4], [4.5, 5.7]]
ZEROS_LEFT = [[0.0, 0.0, 1.0, 1.2], [0.0, 0.0, 2.3, 3.4], [0.0, 0.0, 4.5, 5.7]]
REFLECTED = [[1.0, 1.2, 1.0, 1.2], [2.3, 3.4, 2.3, 3.4], [4.5, 5.7, 4.5, 5.7]]
EDGES = [[1.0, 1.0, 1.0, 1.2], [2.3, 2.3, 2.3, 3.4], [4.5, 4.5, 4.5, 5.7]]
WRAPPED = [
    [3.4, 2.3, 3.4, 2.3],
    [5.7, 4.5, 5.7, 4.5],
    [1.2, 1.0, 1.2, 1.0],
    [3.4, 2.3, 3.4, 2.3],
    [5.7, 4.5, 5.7, 4.5],
    [1.2, 1.0, 1.2, 1.0],
]


def onnx_examples(edition: int) -> list[Example]:
    """The examples of one edition that has the amounts as an input."""
    document, op = f"ONNX Pad-{edition}", f"Pad_{edition}"
    left, around = amounts(0, 2, 0, 0), amounts(2, 1, 1, 1)
    examples = [
        Example(document, "Example 1 (constant mode)", op, (DATA, left, 0.0), ZEROS_LEFT, {"mode": "constant"}),
        # P4: the dim is 2 and the pad 2, so this one needs the period, where the built-in Pad refuses.
        Example(document, "Example 2 (reflect mode)", op, (DATA, left), REFLECTED, {"mode": "reflect"}),
        Example(document, "Example 3 (edge mode)", op, (DATA, left), EDGES, {"mode": "edge"}),
    ]
    if edition >= 19:
        examples.append(Example(document, "Example 4 (wrap mode)", op, (DATA, around), WRAPPED, {"mode": "wrap"}))
    return examples


ONNX = [example for edition in (11, 13, 18, 19, 21) for example in onnx_examples(edition)]

# Pad-2 and Pad-1 print the output with one pair of brackets more than a tensor of rank 2 has; P1 gives it the rank of
# the data.
ONNX += [
    Example("ONNX Pad-2", "Example", "Pad_2", (DATA,), ZEROS_LEFT, {"pads": [0, 2, 0, 0]}),
    # Pad-1 contradicts itself: it prints paddings = [0, 0, 2, 0], but its format text (all begins, then all ends) says
    # that this adds two rows below, and the printed output has two columns on the left. The format text holds, as in
    # every other implementation: first the printed output by the paddings that mean it, then the printed paddings.
    Example("ONNX Pad-1", "Example, the printed output", "Pad_1", (DATA,), ZEROS_LEFT, {"paddings": [0, 2, 0, 0]}),
    Example(
        "ONNX Pad-1",
        "Example, the printed paddings",
        "Pad_1",
        (DATA,),
        [*DATA, [0.0, 0.0], [0.0, 0.0]],
        {"paddings": [0, 0, 2, 0]},
    ),
]

EXAMPLES = [*ONNX]


def tensors(example: Example, dtype: type) -> list[np.ndarray]:
    """The inputs, with ``dtype`` as T."""
    return [value if isinstance(value, np.ndarray) else np.array(value, dtype) for value in example.inputs]


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float", "double"])
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example, dtype: type) -> None:
    expected = native.bits(np.array(example.output, dtype))
    inputs = tensors(example, dtype)
    assert native.bits(native.run(example.op, example.attributes, inputs, str(example))) == expected
    assert native.bits(reference.run(example.op, example.attributes, inputs, str(example))) == expected


def test_every_edition_is_covered() -> None:
    """The seven editions that the document prints, with as many examples as it prints in each (one more for Pad-1)."""
    counts: dict[str, int] = {}
    for example in ONNX:
        counts[example.document] = counts.get(example.document, 0) + 1
    assert counts == {
        "ONNX Pad-21": 4,
        "ONNX Pad-19": 4,
        "ONNX Pad-18": 3,
        "ONNX Pad-13": 3,
        "ONNX Pad-11": 3,
        "ONNX Pad-2": 1,
        "ONNX Pad-1": 2,
    }
