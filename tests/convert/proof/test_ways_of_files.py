"""What a file may have in its own way: the order of nodes, and -1 for a dim that is open."""

from __future__ import annotations

import pytest
from onnx import helper
from small_models import BOOL, FLOAT, graph, model, pad, tensor

from padops.convert import PadopsError
from padops.convert.proof.build import TOP, Builder
from padops.convert.proof.constants import Constants
from padops.convert.proof.functions import in_order
from padops.convert.proof.regions import prove
from padops.convert.proof.result import Verdict
from padops.convert.proof.terms import Terms

NODE = helper.make_node


def test_nodes_of_a_file_in_any_order() -> None:
    """A body reads of the graph around it, too."""
    body = graph([NODE("Neg", ["b"], ["t"])], [], [("t", FLOAT, None)], name="t")
    nodes = [
        NODE("If", ["c"], ["y"], then_branch=body, else_branch=body),
        NODE("Relu", ["a"], ["b"]),
        NODE("Abs", ["x"], ["a"]),
    ]
    assert in_order(nodes) == [2, 1, 0]
    assert in_order(nodes[::-1]) == [0, 1, 2]
    given = {"inputs": [("x", FLOAT, [2, 3]), ("c", BOOL, [])]}
    assert prove(model(nodes, **given), model(nodes[::-1], **given)).verdict is Verdict.PROVED


def test_a_circle_is_named() -> None:
    with pytest.raises(PadopsError, match="node 'here' reads what is computed from its own result"):
        in_order([NODE("Relu", ["b"], ["a"], name="here"), NODE("Relu", ["a"], ["b"], name="here")])


def test_a_pad_in_front_of_what_it_reads() -> None:
    tensors = {"tensors": [tensor("pads", [0, 1, 0, 1])]}
    nodes = [pad(["r", "pads"]), NODE("Relu", ["x"], ["r"])]
    assert prove(model(nodes, **tensors), model(nodes[::-1], **tensors)).verdict is Verdict.PROVED
    other = [NODE("Neg", ["x"], ["r"]), nodes[0]]
    assert prove(model(nodes, **tensors), model(other, **tensors)).verdict is not Verdict.PROVED


def test_a_negative_dim_is_open() -> None:
    """Nothing is computed with it, which would give a known number of rows behind a Pad."""
    terms = Terms()
    source = model([pad(output="p"), NODE("Relu", ["p"], ["y"])], inputs=[("x", FLOAT, [-1, 3])],
                   tensors=[tensor("pads", [1, 0, 2, 0])])  # fmt: skip
    built = Builder(terms, Constants(terms), source, None, set(), original=True).build()
    assert terms.shape(built.inputs["x"]) == (None, 3)
    shape = terms.shape(built.scopes[TOP]["p"])
    assert shape is None or (not isinstance(shape[0], int) and shape[1] == 3)
