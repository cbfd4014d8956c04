"""One Pad, as far as it is known: its inputs and its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import onnx_ir as ir

from padops.convert.sources.match import Unconvertible
from padops.convert.standard.graph_builder import GraphBuilder, Operand, ints, scalar
from padops.spec.dialects import Op
from padops.spec.dtypes import by_name
from padops.spec.plan import Mode

OF_SEVERAL_TYPES = "its fill is a float, and its data are of several types, or of none that is known"
FIRST_WITH_REFERENCES = 12  # Constant of an attribute that the caller gives


def built_in_modes(opset: int) -> tuple[Mode, ...]:
    """The modes of ONNX's own Pad."""
    return (Mode.CONSTANT, Mode.EDGE, Mode.REFLECT, *((Mode.WRAP,) if opset >= 19 else ()))


class Lacking(Unconvertible):
    """A body would need an input that some of its calls do not have, or not of one type.

    Attributes:
        name: Of the input.
    """

    def __init__(self, name: str, op: Op) -> None:
        super().__init__(f"some nodes of {op.name} have no {name}, and what is to stand for it there is not known")
        self.name = name


@dataclass
class PadInfo:
    """A node of the domain ``padops`` that standard operators are to do the work of.

    Attributes:
        op: Its operator.
        inputs: One for each of ``op.inputs``: a value, an array where it is known, None where it is absent.
        given: The same as the node has them, where a new node may have them too.
        attributes: Those given; a reference to an attribute of the function around counts as unknown.
        type: Element type of the data, where there is one only.
        dims: Of the data, None for each that is not known; None where not even their number is.
        modes: What the mode may be, in the spelling of the operator.
        fill_dims: Of the fill, as ``dims``; also [] where it is not there in every call.
        flat_pads: Whether the input pads has one dim (P8 allows two).
        wide_axes: Whether the input axes is of int64.
        some_axes: Whether it is there in some calls only.
        some_fill: Whether the fill is there in some calls only.
        name: Of the node, for errors.
        proven: By opset, whether ONNX Runtime's own Pad is all that it needs, once that has been asked.
    """

    op: Op
    inputs: Sequence[Operand | None]
    attributes: Mapping[str, ir.Attr]
    type: str | None
    dims: Sequence[int | None] | None
    modes: tuple[str, ...]
    given: Sequence[Operand | None] = ()
    fill_dims: Sequence[int | None] | None = None
    flat_pads: bool = True
    wide_axes: bool = True
    some_axes: bool = False
    some_fill: bool = False
    name: str = ""
    proven: dict[int, bool] = field(default_factory=dict, init=False, repr=False, compare=False)
    _written: dict[str, Operand] = field(default_factory=dict, repr=False)

    @property
    def data(self) -> ir.Value:
        return self.inputs[0]

    def fill(self, builder: GraphBuilder) -> Operand | None:
        """The fill, of any shape with one element; None for the default (P7)."""
        position = self.op.input_index(self.op.fill)
        if position is not None:
            return self.inputs[position]
        attribute = self.attributes.get(self.op.fill)
        if attribute is None or not attribute.is_ref():
            value = np.float32(0 if attribute is None else attribute.value)
            return None if value == 0 and not np.signbit(value) else self._rounded(value)
        reference = ir.RefAttr("value_float", attribute.ref_attr_name, ir.AttributeType.FLOAT)
        _need(builder, FIRST_WITH_REFERENCES, f"its attribute {self.op.fill} is given by the caller of a function")
        value = builder.emit("Constant", [], {"value_float": reference})
        if self.type is None:
            raise Unconvertible(OF_SEVERAL_TYPES)
        return value if self.type == "float" else builder.emit("Cast", [value], {"to": by_name(self.type).onnx})

    def _rounded(self, value: np.float32) -> np.ndarray:
        if self.type is None:
            raise Unconvertible(OF_SEVERAL_TYPES)
        with np.errstate(over="ignore"):
            return np.asarray(value).astype(by_name(self.type).numpy)

    def any_fill(self, builder: GraphBuilder) -> Operand:
        """The fill, the default included: of rank 0 or 1."""
        fill = self.fill(builder)
        if isinstance(fill, np.ndarray):
            return fill.reshape(())
        if fill is None and self.type is None and self.op.input_index(self.op.fill) is None:
            raise Unconvertible(OF_SEVERAL_TYPES)
        if self.some_fill or (fill is None and self.type is None):
            raise Lacking(self.op.fill, self.op)
        if fill is not None:
            return fill if self.fill_dims in ([], [1]) else builder.emit("Reshape", [fill, ints(1)])
        dtype = by_name(self.type).numpy
        return np.array("", object) if dtype.kind == "O" else np.zeros((), dtype)

    @cached_property
    def known_modes(self) -> tuple[Mode, ...]:
        return tuple(Mode(mode.lower()) for mode in self.modes)

    @property
    def is_known(self) -> bool:
        """Whether shape, amounts and mode are known, so that nothing of the plan is left to compute."""
        kinds = [value for row, value in zip(self.op.inputs, self.inputs) if row.kind != "T"]
        return (
            self.dims is not None
            and None not in self.dims
            and not any(isinstance(value, ir.Value) for value in kinds)
            and not any(attribute.is_ref() for attribute in self.attributes.values())
        )

    def is_built_in(self, opset: int) -> bool:
        """Whether ONNX's own Pad has every mode that this may have, and by the same name."""
        alike = len(self.modes) == 1 or self.modes[0].islower()
        return alike and set(self.known_modes) <= set(built_in_modes(opset))

    @property
    def mode_attribute(self) -> ir.Attr:
        """The mode in the spelling of ONNX, or the reference to it."""
        if len(self.modes) == 1:
            return ir.AttrString("mode", self.modes[0].lower())
        return ir.RefAttr("mode", self.attributes[self.op.mode].ref_attr_name, ir.AttributeType.STRING)

    @property
    def may_have_interior(self) -> bool:
        """Whether the amounts have an interior, or one that the caller gives."""
        interior = self.attributes.get("padding_interior")
        return interior is not None and (interior.is_ref() or any(interior.value))

    def without(self, mode: Mode) -> PadInfo:
        """The same where it is in another of its modes."""
        return replace(self, modes=tuple(spelled for spelled in self.modes if Mode(spelled.lower()) is not mode))

    def only(self, mode: Mode) -> PadInfo:
        """The same in one of its modes."""
        spelled = self.modes[self.known_modes.index(mode)]
        attributes = {name: attribute for name, attribute in self.attributes.items() if name != self.op.mode}
        return replace(self, modes=(spelled,), attributes=attributes | {self.op.mode: ir.AttrString("mode", spelled)})

    def input(self, name: str) -> Operand | None:
        """An input by its name; None where it is absent, or the operator has none of that name."""
        position = self.op.input_index(name)
        return None if position is None else self.inputs[position]

    def own(self, name: str, fits: bool) -> ir.Value | None:
        """The value that the node has for an input, where a new node can have it too."""
        position = self.op.input_index(name)
        value = None if position is None or not self.given else self.given[position]
        return value if fits and isinstance(value, ir.Value) else None

    def shape(self, builder: GraphBuilder) -> Operand:
        """The dims of the data, a vector; to be asked for first where all that need it can see it."""
        if "shape" not in self._written:
            known = self.dims is not None and None not in self.dims
            self._written["shape"] = ints(*self.dims) if known else builder.emit("Shape", [self.data])
        return self._written["shape"]

    def rank(self, builder: GraphBuilder) -> Operand:
        """The number of dims, a vector of one element."""
        if "rank" not in self._written:
            known = self.dims is not None
            self._written["rank"] = ints(len(self.dims)) if known else builder.emit("Shape", [self.shape(builder)])
        return self._written["rank"]

    def has_attribute(self, name: str) -> bool:
        """Whether the operator has an attribute of that name."""
        return any(row.name == name for row in self.op.attributes)

    def numbers(self, builder: GraphBuilder, name: str) -> Operand:
        """An attribute that is a list of integers, as a vector."""
        row = next(row for row in self.op.attributes if row.name == name)
        attribute = self.attributes.get(name)
        if attribute is None:
            return ints(*row.default)
        if not attribute.is_ref():
            return ints(*attribute.value)
        _need(builder, FIRST_WITH_REFERENCES, f"its attribute {name} is given by the caller of a function")
        reference = ir.RefAttr("value_ints", attribute.ref_attr_name, ir.AttributeType.INTS)
        # The runtime's inference takes this constant for one without a shape until something has been done with it.
        return builder.flatten(builder.emit("Constant", [], {"value_ints": reference}))

    def choice(self, builder: GraphBuilder, name: str, options: Sequence[str]) -> Operand:
        """Which of ``options`` an attribute says, of rank 0."""
        row = next(row for row in self.op.attributes if row.name == name)
        attribute = self.attributes.get(name)
        if len(options) == 1:
            return scalar(0)
        if attribute is None or not attribute.is_ref():
            said = row.default if attribute is None else attribute.value
            if said not in options:
                raise Unconvertible(f"{name} '{said}' is not one of {', '.join(options)}")
            return scalar(options.index(said))
        _need(builder, FIRST_WITH_REFERENCES, f"its attribute {name} differs between nodes")
        reference = ir.RefAttr("value_string", attribute.ref_attr_name, ir.AttributeType.STRING)
        text = builder.flatten(builder.emit("Constant", [], {"value_string": reference}))
        # No operator compares strings at every opset, but one counts words.
        counts = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0]}
        counts |= {"ngram_indexes": list(range(len(options))), "pool_strings": list(options)}
        return builder.emit("ArgMax", [builder.emit("TfIdfVectorizer", [text], counts)], {"axis": 0, "keepdims": 0})

    def mode(self, builder: GraphBuilder) -> Operand:
        """The position in ``modes`` of the mode, of rank 0."""
        if len(self.modes) == 1 or not self.is_built_in(builder.opset):
            return self.choice(builder, self.op.mode, self.modes)
        # What ONNX Runtime's own Pad puts in front of 0, 1, 2 tells its mode at every opset.
        inputs = [ints(0, 1, 2), ints(1, 0), scalar(-1)]
        probe = builder.emit("Pad", inputs, {"mode": self.mode_attribute}, role="mode")
        shown = {Mode.CONSTANT: -1, Mode.EDGE: 0, Mode.REFLECT: 1, Mode.WRAP: 2}
        table = ints(0, 0, 0, 0)
        for position, mode in enumerate(self.known_modes):
            table[shown[mode]] = position
        return builder.gather(table, builder.gather(probe, scalar(0)))


def _need(builder: GraphBuilder, opset: int, why: str) -> None:
    if builder.opset < opset:
        raise Unconvertible(
            f"{why}, which standard operators can follow from opset {opset} on, and this is {builder.opset}"
        )
