"""Pads of ONNX and ONNX Runtime, even in forms that ONNX Runtime refuses, and padops' own operators.

Converters to float16 leave a float fill beside float16 data; other tools write int32 amounts. ONNX Runtime (1.20 to
1.32) refuses both forms. If ONNX Runtime knows the rank of the data, it also refuses amounts and axes in an external
file.

Many models have invalid Pads, for example with the amounts as an attribute in opset 11 or later. So padops reads the
amounts from the attribute or from the input, whichever the node has, in every opset. A node that is invalid in its own
version becomes the operator of a version in which it is valid.

**Operators of padops**, native or in Python, come from an earlier conversion. A conversion to another target converts
them again.
"""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir

from padops.convert.model.graphs import Constants, NodeSite, Scope, attribute_value, constant
from padops.convert.model.types import Types, evaluate
from padops.convert.pads.match import (
    MICROSOFT,
    Applied,
    Match,
    Replacement,
    RunsAs,
    Unconvertible,
    check_node,
    matched,
    misfit,
    settle_version,
    string_values,
    type_of,
)
from padops.convert.pads.pad_info import Operand
from padops.convert.runtimes import CASTS_RIGHT_SINCE, FIRST_WITH_AXES, FIRST_WITH_INPUTS
from padops.spec import pyop_node
from padops.spec.dialects import DOMAIN, INTEGER_KINDS, OPS, VERSIONS, onnx_op
from padops.spec.dtypes import by_name

KNOWN_OPSET = 28  # ``VERSIONS`` lists the Pads up to this opset; for later opsets, padops asks onnx
FLOATS = (ir.AttributeType.FLOAT, ir.AttributeType.INT)  # some exporters write the float ``value`` as an integer
ATTRIBUTES = {"mode": ir.AttributeType.STRING, "pads": ir.AttributeType.INTS, "paddings": ir.AttributeType.INTS}
RENAMED = "renamed"  # in ``Match.already``, in place of a target: an operator of padops under another name


class Amended:
    """The inputs of a Pad. An array replaces each constant that ONNX Runtime refuses."""

    def __init__(self, site: NodeSite, types: Types) -> None:
        self.site, self.types = site, types
        data, pads, fill, axes = (*site.node.inputs, None, None, None, None)[:4]
        self.type = types.name(data, *site.node.outputs)  # the type of the data; None if unknown
        self.wrong: list[str] = []  # for the form: the parts of the node that no version of Pad accepts
        self.external: list[str] = []  # the inputs whose elements are in an external file
        # Computed integer inputs; each has a placeholder for the output of its Cast until the Cast exists.
        self.casts: dict[ir.Value, ir.Value] = {}
        integers = [self._integers("pads", pads, ("int64",)), self._integers("axes", axes, ("int64", "int32"))]
        self.inputs: list[Operand | None] = [data, integers[0], self._fill(fill), integers[1]]  # None where absent

    def match(self, made: Replacement, runs_as: RunsAs | None) -> Match:
        """Return the match of the Pad, with the Casts that its inputs need."""
        if not self.casts:
            return Match("", made, runs_as=runs_as)

        def apply(site: NodeSite, constants: Constants) -> Applied:
            inputs = list(made.inputs)
            for given, wide in self.casts.items():
                cast = constants.insert("Cast", [given], site, wide.name or "", [ir.AttrInt64("to", ir.DataType.INT64)])
                cast.type, cast.shape = wide.type, wide.shape
                inputs = [cast if one is wide else one for one in inputs]
            return Applied([site.node], site, Replacement(made.op_type, tuple(inputs), made.attributes))

        return Match("", made, apply)

    def _integers(self, name: str, value: ir.Value | None, allowed: tuple[str, ...]) -> Operand | None:
        if value is None:
            return None
        array = evaluate(value, self.site.scope, self.types)
        type_name = self.types.name(value) if array is None else type_of(array)
        if type_name is None or type_name in allowed:
            if array is None or not _is_external(value):
                return value
            self.external.append(name)
            return array
        if type_name not in INTEGER_KINDS["integer"]:
            raise Unconvertible(f"its input {name} is of type {type_name}, expected integers")
        self.wrong.append(f"with {name} of {type_name}")
        if array is not None:
            if array.size and int(array.max()) > np.iinfo(np.int64).max:
                raise Unconvertible(f"its input {name} has {int(array.max())}, which int64 cannot hold")
            return array.astype(np.int64)
        if (self.site.scope.opset or 0) < CASTS_RIGHT_SINCE:
            raise Unconvertible(f"its input {name} is of type {type_name}, expected int64")
        dims = self.types.shape(value)
        shape = None if dims is None else ir.Shape(dims)
        self.casts[value] = wide = ir.Value(name=name, type=ir.TensorType(ir.DataType.INT64), shape=shape)
        return wide

    def _fill(self, fill: ir.Value | None) -> Operand | None:
        """Return the fill; cast a constant fill to the type of the data."""
        array = evaluate(fill, self.site.scope, self.types)
        found, type_name = self.types.name(fill) if array is None else type_of(array), self.type
        if type_name is None or found is None or found == type_name:
            self.type = type_name or found
            return fill
        self.wrong.append(f"with a fill of {found} for data of {type_name}")
        if attribute_value(self.site.node, "mode", ir.AttributeType.STRING) in ("edge", "reflect", "wrap"):
            return None  # the mode uses no fill (P7)
        differs = f"its fill is {found}, and its data are {type_name}"
        if array is None:
            raise Unconvertible(f"{differs}; the fill is computed; cast the fill to {type_name}")
        if "string" in (found, type_name) or "complex" in type_name + found:
            raise Unconvertible(f"{differs}; give the Pad a fill of {type_name}")
        try:
            with np.errstate(all="ignore"):
                cast = array.astype(by_name(type_name).numpy)
        except TypeError as error:  # ml_dtypes has no casts between integers of less than a byte
            raise Unconvertible(f"{differs}; give the Pad a fill of {type_name}") from error
        may_round = all("float" in name or name == "double" for name in (found, type_name))  # as P7 rounds ``value``
        for before, after in zip(_numbers(array), _numbers(cast), strict=True):
            is_same = before == after or (before != before and after != after)
            if not is_same and not (may_round and 0 < abs(before) < np.inf and abs(after) < np.inf):
                raise Unconvertible(f"{differs}; a cast changes {before} to {after}; use a fill of {type_name}")
        return cast


def _numbers(array: np.ndarray) -> list[float]:
    """Return the elements as Python numbers, which compare exactly."""
    return [int(one) if "int" in type_of(array) else float(one) for one in array.reshape(-1)]


def _is_external(value: ir.Value) -> bool:
    """Return whether the elements of a constant are in an external file; like ONNX Runtime, look through Identity."""
    node = value.producer()
    while node is not None and node.op_type == "Identity" and node.inputs[0] is not None:
        value, node = node.inputs[0], node.inputs[0].producer()
    tensor = value.const_value
    if node is not None and node.op_type == "Constant":
        tensor = attribute_value(node, "value", ir.AttributeType.TENSOR)
    return isinstance(tensor, ir.ExternalTensor)


def refused(form: str, why: Unconvertible) -> Match:
    """Return the match of a node that is not a valid Pad, and that padops cannot make valid."""
    return Match(form, reason=str(why), verdict=("refuses", f"ONNX Runtime refuses this form: {form}; {why}"))


def match_onnx_pad(site: NodeSite, types: Types) -> Match | None:
    node = site.node
    if node.domain != "" or node.op_type != "Pad":
        return None
    opset = site.scope.opset
    if opset is None:
        return Match("Pad", reason=f"{site.scope.path} does not import the default domain, so its version is unknown")
    since = int(onnx_op(opset).removeprefix("Pad_"))
    amounts = next((name for name in ("pads", "paddings") if name in node.attributes), None)
    form, wrong = _form(node, since, amounts)
    try:
        check_node(node, (1, 4), (*ATTRIBUTES, "value"), **ATTRIBUTES)
        if (value := node.attributes.get("value")) is not None and value.type not in FLOATS:
            raise Unconvertible(f"its attribute value is of type {value.type.name}, expected FLOAT")
        if "pads" in node.attributes and "paddings" in node.attributes:
            raise Unconvertible("it has both attributes, pads and paddings")
        given = Amended(site, types)
    except Unconvertible as why:
        return refused(form, why)
    if given.wrong:
        form, wrong = f"{form if wrong else f'Pad-{since} node'} {' and '.join(given.wrong)}", True

    def read() -> Match:
        _check_version(opset)
        made = _replacement(site, since, amounts, given, string_values(site, "mode", "constant"))
        return given.match(made, None if wrong else RunsAs("", opset, tuple(given.external)))

    return matched(form, read)


def _check_version(opset: int) -> None:
    """Refuse an opset whose Pad is, or may be, newer than all Pads that padops knows."""
    if opset <= KNOWN_OPSET:
        return
    if opset > (newest := onnx.defs.onnx_opset_version()):
        raise Unconvertible(
            f"the model has opset {opset}; padops knows the Pads up to opset {KNOWN_OPSET}, and onnx "
            f"{onnx.__version__} up to opset {newest}; update padops and onnx"
        )
    if (version := onnx.defs.get_schema("Pad", opset).since_version) > VERSIONS[-1]:
        raise Unconvertible(
            f"padops knows the Pads up to Pad-{VERSIONS[-1]}, and opset {opset} has Pad-{version}; update padops"
        )


def _form(node: ir.Node, since: int, amounts: str | None) -> tuple[str, bool]:
    """Return the node's form, for the record, and whether this form is invalid in the node's version."""
    has = [value is not None for value in node.inputs] + [False] * 4
    if has[1]:
        wrong = ["in input form"] if since < FIRST_WITH_INPUTS else []
        wrong += ["with axes"] if has[3] and since < FIRST_WITH_AXES else []
        wrong += [f"with the attribute {name}" for name in ("pads", "paddings", "value") if name in node.attributes]
        return (f"Pad-{since} node {', '.join(wrong)}", True) if wrong else (f"Pad-{since} inputs", False)
    if amounts is None:
        return f"Pad-{since} node without amounts", True
    if since >= FIRST_WITH_INPUTS:
        return f"Pad-{since} node in attribute form" + (" (paddings)" if amounts == "paddings" else ""), True
    if attribute_value(node, "value", ir.AttributeType.INT) is not None:
        return f"Pad-{since} node with value as an integer", True
    if amounts != ("paddings" if since == 1 else "pads"):
        return f"Pad-{since} node with the attribute {amounts}", True
    if sum(has) > 1:
        return f"Pad-{since} node in attribute form with inputs", True
    return f"Pad-{since} attributes", False


def _replacement(site: NodeSite, since: int, amounts: str | None, given: Amended, modes: set[str]) -> Replacement:
    """Return the operator of padops that does the same as a node; ``amounts`` names the attribute with the amounts."""
    node, (data, pads, fill, axes) = site.node, given.inputs
    if pads is None and amounts is None:
        raise Unconvertible("it has no amounts, neither as an input nor as an attribute")
    if pads is None and fill is None and axes is None:
        op = OPS[f"Pad_{1 if amounts == 'paddings' else 2}"]
        if (given.type is None or given.type in op.types) and modes <= set(op.modes):
            attributes = dict(node.attributes)
            if attribute_value(node, "value", ir.AttributeType.INT) is not None:
                attributes["value"] = ir.AttrFloat32("value", _float(attributes["value"]))
            return Replacement(op.name, (data,), attributes)
    least = FIRST_WITH_INPUTS if axes is None else FIRST_WITH_AXES
    op_type = settle_version(max(since, least), given.type, modes)
    if amounts is not None:
        attribute = node.attributes[amounts]
        if attribute.is_ref():
            raise Unconvertible(f"its attribute {amounts} cannot become an input, since the function's caller sets it")
        pads = _settled(pads, np.array(attribute.value, np.int64), amounts, site.scope)
    if "value" in node.attributes and "constant" in modes:
        fill = _settled(fill, _fill(node.attributes["value"], given.type), "value", site.scope)
    attributes = {name: attribute for name, attribute in node.attributes.items() if name == "mode"}
    return Replacement(op_type, (data, pads, fill, axes)[: len(OPS[op_type].inputs)], attributes)


def _float(attribute: ir.Attr) -> float:
    """Return a fill as a float; some exporters write the fill as an integer."""
    value = float(np.float32(attribute.value))
    if value != attribute.value and attribute.type == ir.AttributeType.INT:
        raise Unconvertible(f"float cannot hold the attribute value {attribute.value}")
    return value


def _fill(attribute: ir.Attr, type_name: str | None) -> np.ndarray | None:
    """Return the attribute ``value`` as one element of the data's type; None if it is the default fill."""
    if attribute.is_ref():
        raise Unconvertible("its attribute value cannot become an input, since the function's caller sets it")
    value = np.float32(_float(attribute))
    if not any(value.tobytes()):
        return None
    if type_name is None:
        raise Unconvertible(f"the attribute value {value} cannot become an input: the type of the data is unknown")
    if type_name == "string":
        raise Unconvertible(f"the attribute value {value} is not a string, but the data are strings")
    with np.errstate(over="ignore", invalid="ignore"):
        fill = np.asarray(value).astype(by_name(type_name).numpy)
    if fill.dtype.kind in "iub" and float(fill) != float(value):
        raise Unconvertible(f"the attribute value {value} cannot become an element of the data's type, {type_name}")
    return fill


def _settled(given: Operand | None, stated: np.ndarray | None, name: str, scope: Scope) -> Operand | None:
    """Return the input ``given``, or else the attribute ``stated``; refuse an attribute that contradicts the input."""
    if given is None:
        return stated
    actual = given if isinstance(given, np.ndarray) else constant(given, scope)
    stated = np.zeros((), actual.dtype if actual is not None else None) if stated is None else stated
    if actual is None or actual.size != stated.size or actual.tobytes() != stated.tobytes():
        other = "constant_value" if name == "value" else "pads"
        said = "not constant" if actual is None else actual.tolist()
        raise Unconvertible(f"its attribute {name} is {stated.tolist()}, but its input {other} is {said}; remove one")
    return given


def match_microsoft_pad(site: NodeSite, types: Types) -> Match | None:
    """Recognise ``com.microsoft::Pad``: before opset 11, ONNX Runtime's tools wrote this equivalent of Pad-13."""
    node = site.node
    if node.domain != MICROSOFT or node.op_type != "Pad":
        return None
    form = f"{MICROSOFT}::Pad-1"
    try:
        check_node(node, (2, 3), ("mode",))
        given = Amended(site, types)
    except Unconvertible as why:
        return refused(form, why)

    def read() -> Match:
        # ONNX's Pad-13 has the same inputs: data, pads and a fill.
        op_type = settle_version(13, given.type, string_values(site, "mode", "constant"))
        made = Replacement(op_type, tuple(given.inputs[:3]), dict(node.attributes))
        return given.match(made, None if given.wrong else RunsAs(MICROSOFT, 1))

    return matched(" ".join([form, *given.wrong]), read)


def match_converted_pad(site: NodeSite, types: Types) -> Match | None:
    node, already = site.node, "padops"
    form = f"{node.domain}::{node.op_type}"
    if node.domain == pyop_node.DOMAIN:
        already = "pyop"
        try:
            made = _of_python_kernel(node)
        except (ValueError, AttributeError, OverflowError, TypeError) as error:
            return Match(form, reason=f"its attributes cannot be read: {error}")
    elif node.domain == DOMAIN:
        op_type = operator_of(node.op_type)
        made = Replacement(op_type, tuple(node.inputs), dict(node.attributes)) if op_type is not None else None
    else:
        return None
    if made is None:
        return Match(form, reason="this version of padops does not know the operator")
    if wrong := misfit(made):
        return Match(form, reason=wrong)
    if already == "padops" and made.op_type != node.op_type:
        return Match(form, made, already=RENAMED, notes=(f"{made.op_type} again, which a prefix had renamed",))
    return Match(form, made, already=already)


def operator_of(name: str) -> str | None:
    """Return the operator of padops to which the name of a node or function refers; None if it refers to no operator.

    ``onnx.compose.add_prefix`` renames operators that have a function in the model: ``a/Pad_11`` is a Pad_11.
    """
    return max((known for known in OPS if name.endswith(known)), key=len, default=None)  # SamePad_1 ends with Pad_1


def _of_python_kernel(node: ir.Node) -> Replacement | None:
    """Return the native operator of a Python kernel's node; None for an unknown node."""
    given = [node.attributes[name] for name in pyop_node.ATTRIBUTES if name in node.attributes]
    texts = {a.name: a.value for a in given if a.type == ir.AttributeType.STRING and not a.is_ref()}
    if node.op_type != pyop_node.OP_TYPE or len(texts) != len(pyop_node.ATTRIBUTES) or texts["op"] not in OPS:
        return None
    op_type, plain, inputs, _ = pyop_node.decode(texts, node.inputs)
    return Replacement(op_type, tuple(inputs), {name: _attribute(op_type, name, row) for name, row in plain.items()})


def _attribute(op_type: str, name: str, value: object) -> ir.Attr:
    kind = next((row.type for row in OPS[op_type].attributes if row.name == name), None)
    if kind == "ints" and isinstance(value, list) and all(type(item) is int for item in value):
        return ir.AttrInt64s(name, value)
    if kind == "string" and isinstance(value, str):
        return ir.AttrString(name, value)
    if kind == "float" and isinstance(value, np.float32):
        return ir.AttrFloat32(name, float(value))
    raise ValueError(f"{op_type} has no attribute {name} with the value {value!r}")
