"""What nodes read of a Pad: shape, fill, mode and lists, as arrays where they are known, else as what computes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from padops.convert.pads.match import Unconvertible
from padops.convert.pads.operands import Operand, all_known
from padops.convert.pads.pad_info import PadInfo
from padops.convert.runtimes.builtin_support import has_modes
from padops.convert.standard.graph_builder import here
from padops.convert.standard.numbers import Numbers, emit, flatten, ints, scalar, take
from padops.spec.dialects import Op
from padops.spec.dtypes import by_name
from padops.spec.plan import Mode

OF_SEVERAL_TYPES = "its fill is a float, and its data are of several types, or of none that is known"
FIRST_WITH_REFERENCES = 12  # Constant of an attribute that the caller gives


class Lacking(Unconvertible):
    """A body needs an input that some of its calls lack, or have of another type; ``name`` is the input's."""

    def __init__(self, name: str, op: Op) -> None:
        super().__init__(f"some nodes of {op.name} have no {name}, and its default there is not known")
        self.name = name


def shape_of(pad: PadInfo) -> Numbers:
    """The dims of the data, a vector."""
    if all_known(pad.dims):
        return ints(*pad.dims)
    return here().once(("shape", pad.data), lambda: emit("Shape", [pad.data]))


def rank_of(pad: PadInfo) -> Numbers:
    """The number of dims, a vector of one element."""
    if pad.dims is not None:
        return ints(len(pad.dims))
    return here().once(("rank", pad.data), lambda: emit("Shape", [shape_of(pad)]))


def given_fill(pad: PadInfo) -> Operand | None:
    """The fill, of any shape with one element; None for the default (P7).

    Raises:
        Unconvertible: Its type is not known.
    """
    position = pad.op.input_index(pad.op.fill)
    if position is not None:
        return pad.inputs[position]
    if pad.has_default_fill:
        return None
    attribute = pad.attributes[pad.op.fill]
    if not attribute.is_ref():
        if pad.known_fill is None:
            raise Unconvertible(OF_SEVERAL_TYPES)
        return pad.known_fill
    given = reference("value_float", attribute, ir.AttributeType.FLOAT)
    _check_opset(f"its attribute {pad.op.fill} is given by the caller of a function")
    value = emit("Constant", [], {"value_float": given})
    if pad.type is None:
        raise Unconvertible(OF_SEVERAL_TYPES)
    return value if pad.type == "float" else emit("Cast", [value], {"to": by_name(pad.type).onnx})


def any_fill(pad: PadInfo) -> Operand:
    """The fill, the default included: of rank 0 or 1.

    Raises:
        Unconvertible: Its type is not known.
        Lacking: Some calls do not have it.
    """
    fill = given_fill(pad)
    if isinstance(fill, np.ndarray):
        return fill.reshape(())
    if fill is None and pad.type is None and pad.op.input_index(pad.op.fill) is None:
        raise Unconvertible(OF_SEVERAL_TYPES)
    if pad.some_fill:
        raise Lacking(pad.op.fill, pad.op)
    if fill is not None:
        return fill if pad.fill_dims in ([], [1]) else emit("Reshape", [fill, ints(1)])
    if pad.type is None:
        raise Lacking(pad.op.fill, pad.op)
    return default_fill(pad.type)


def default_fill(type_name: str) -> np.ndarray:
    """What an absent fill stands for (P7)."""
    dtype = by_name(type_name).numpy
    return np.array("", object) if dtype.kind == "O" else np.zeros((), dtype)


def vector_of(pad: PadInfo, name: str) -> Numbers:
    """An attribute that is a list of integers, as a vector."""
    row = next(row for row in pad.op.attributes if row.name == name)
    attribute = pad.attributes.get(name)
    if attribute is None:
        return ints(*row.default)
    if not attribute.is_ref():
        return ints(*attribute.value)
    _check_opset(f"its attribute {name} is given by the caller of a function")
    given = reference("value_ints", attribute, ir.AttributeType.INTS)
    # The runtime's inference takes this constant for one without a shape until something has been done with it.
    return flatten(emit("Constant", [], {"value_ints": given}))


def choice_of(pad: PadInfo, name: str, options: Sequence[str]) -> Numbers:
    """The position of a string attribute among its ``options``, of rank 0.

    Raises:
        Unconvertible: It says something else, or the opset has no way to ask.
    """
    row = next(row for row in pad.op.attributes if row.name == name)
    attribute = pad.attributes.get(name)
    if len(options) == 1:
        return scalar(0)
    if attribute is None or not attribute.is_ref():
        said = row.default if attribute is None else attribute.value
        if said not in options:
            raise Unconvertible(f"{name} '{said}' is not one of {', '.join(options)}")
        return scalar(options.index(said))
    _check_opset(f"its attribute {name} differs between nodes")
    given = reference("value_string", attribute, ir.AttributeType.STRING)
    text = flatten(emit("Constant", [], {"value_string": given}))
    # No operator compares strings at every opset, but one counts words.
    counts = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0]}
    counts |= {"ngram_indexes": list(range(len(options))), "pool_strings": list(options)}
    return emit("ArgMax", [emit("TfIdfVectorizer", [text], counts)], {"axis": 0, "keepdims": 0})


def mode_of(pad: PadInfo) -> Numbers:
    """The position in ``modes`` of the mode, of rank 0."""
    if len(pad.modes) == 1 or not has_modes(pad, here().opset):
        return choice_of(pad, pad.op.mode, pad.modes)
    # What ONNX Runtime's own Pad puts in front of 0, 1, 2 tells its mode at every opset.
    probe = emit("Pad", [ints(0, 1, 2), ints(1, 0), -1], {"mode": mode_attribute(pad)}, role="mode")
    shown = {Mode.CONSTANT: -1, Mode.EDGE: 0, Mode.REFLECT: 1, Mode.WRAP: 2}
    table = ints(0, 0, 0, 0)
    for position, mode in enumerate(pad.known_modes):
        table[shown[mode]] = position
    return take(table, take(probe, 0))


def mode_attribute(pad: PadInfo) -> ir.Attr:
    """The mode in the spelling of ONNX, or the reference to it."""
    if len(pad.modes) == 1:
        return ir.AttrString("mode", pad.modes[0].lower())
    return reference("mode", pad.attributes[pad.op.mode], ir.AttributeType.STRING)


def reference(name: str, attribute: ir.Attr, kind: ir.AttributeType) -> ir.Attr:
    """An attribute ``name`` that refers to what ``attribute`` refers to: the caller's value of this kind."""
    assert attribute.ref_attr_name is not None
    return ir.RefAttr(name, attribute.ref_attr_name, kind)


def _check_opset(why: str) -> None:
    """Raises Unconvertible, with a reason, if the opset has no attributes that a caller gives."""
    if (opset := here().opset) < FIRST_WITH_REFERENCES:
        raise Unconvertible(f"{why}, which needs opset {FIRST_WITH_REFERENCES}; the model has opset {opset}")
