"""The interface of a model to its callers: inputs, their defaults, outputs."""

from __future__ import annotations

from collections import Counter

import onnx

from padops.convert.proof.build import Built
from padops.convert.proof.facts import dims_of
from padops.convert.proof.knowledge import Dim
from padops.convert.proof.terms import Terms


def differences(terms: Terms, first: Built, second: Built) -> list[str]:
    """Where callers of the original cannot call the converted model, or get outputs of other names or types."""
    found = []
    if first.inputs != second.inputs:
        names = sorted({*first.inputs.items()} ^ {*second.inputs.items()})
        found.append(f"the inputs differ: {', '.join(sorted({repr(name) for name, _ in names}))}")
    else:
        found += [
            f"the converted model declares other dims of the input '{name}'"
            for name in first.inputs
            if is_stricter(dims_of(first.declared[name]), dims_of(second.declared[name]))
        ]
        if list(first.inputs) != list(second.inputs):
            found.append("the inputs have another order")
    for name, default in first.defaults.items():
        if name in second.inputs and second.defaults.get(name) != default:
            found.append(f"the default of the input '{name}' differs")
    if [name for name, _, _ in first.outputs] != [name for name, _, _ in second.outputs]:
        found.append("the names of the outputs differ")
    else:
        found += [
            f"the type of the output '{name}' differs"
            for (name, one, _), (_, other, _) in zip(first.outputs, second.outputs)
            if _without_dims(one) != _without_dims(other)
        ]
    return found


def is_stricter(first: tuple[Dim, ...] | None, second: tuple[Dim, ...] | None) -> bool:
    """Whether ``second`` rejects dims that ``first`` takes. Symbols reject nothing: runtimes do not compare them."""
    if second is None:
        return False
    if first is None or len(first) != len(second):
        return True
    return any(isinstance(other, int) and one != other for one, other in zip(first, second))


def _without_dims(kind: onnx.TypeProto) -> bytes:
    bare = onnx.TypeProto()
    bare.CopyFrom(kind)
    if bare.WhichOneof("value") == "tensor_type":
        bare.tensor_type.ClearField("shape")
    return bare.SerializeToString(deterministic=True)


def shared_symbols(built: Built) -> list[str]:
    """The symbols that stand for more than one dim of the inputs."""
    dims = Counter(dim for kind in built.declared.values() for dim in dims_of(kind) or () if isinstance(dim, str))
    return [name for name, count in dims.items() if count > 1]
