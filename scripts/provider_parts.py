"""Test the operators of lowered Pads on each execution provider of onnxruntime: which types run, and where.

    python3 scripts/provider_parts.py [NAME ...]

NAME is a name of scripts/providers.py. Each model is Concat, the operator, Concat, since some providers claim no single
node. Integers use all bits of their type. If a provider runs all operators of MOVING in a type, and keeps every bit,
the type is in its ``moves`` in padops/rules/. The other rows show why lowering a Pad uses no other operators.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the tests call this as a module
import help_first  # noqa: F401
import numpy as np
import provider_cases
import providers
from provider_cases import IMAGE, Case

MOVING = {
    "Slice": "Slice (a, one, four, axis)",
    "Concat": "Concat <axis = 2> (a, a)",
    "Concat of a constant": "Concat <axis = 2> (a, k)",
    "Expand": "Expand (c, spread)",
    "Tile": "Tile (a, twice)",
}
OTHERS = {
    "Pad": "Pad (a, amounts)",
    "Slice, all of it backward": "Slice (a, last, begin, axis, last)",
    "Slice, from within backward": "Slice (a, four, one, axis, last)",
    "Gather": "Gather <axis = 2> (a, order)",
    "ReverseSequence": "ReverseSequence <batch_axis = 1, time_axis = 0> (a, lengths)",
    "Where": "Where (never, a, a)",
    "Less and Where": "Where (less, a, a)",
    "ReduceSum": "ReduceSum (a, axis)",
}
TYPES = ("float", "float16", "double", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool")
CONSTANTS = (
    "int64[1] one = {1}, int64[1] four = {4}, int64[1] axis = {2}, int64[1] last = {-1}, "
    "int64[1] begin = {-9223372036854775807}, "
    "int64[4] spread = {1, 1, 3, 1}, int64[4] twice = {1, 1, 2, 1}, int64[3] order = {2, 1, 0}, "
    "int64[2] lengths = {1, 1}, "
    "bool[1] never = {0}, int64[8] amounts = {0, 0, 1, 1, 0, 0, 1, 1}"
)


def model_of(call: str, type_name: str) -> bytes:
    """Returns the model of one operator, serialized."""
    import onnx
    from onnx import numpy_helper, parser, shape_inference

    first = "c = Slice (a, last, four, axis, last) " if "(c," in call else ""
    first = "e = Concat <axis = 2> (x, x) c = Slice (e, one, two, axis) a = Concat <axis = 2> (e, c) " if first else ""
    less = "less = Less (a, a) " if "(less," in call else ""
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]> g ({type_name}[{", ".join(map(str, IMAGE))}] x) => ({type_name} y) '
        f"<{CONSTANTS}, int64[1] two = {{2}}> "
        f"{{ {first or 'a = Concat <axis = 2> (x, x) '}{less}b = {call} y = Concat <axis = 1> (b, b) }}"
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    data = provider_cases.feeds_of(_case(type_name))["x"]
    model.graph.initializer.append(numpy_helper.from_array(data[:, :, :1], "k"))
    used = {name for node in model.graph.node for name in node.input}
    kept = [constant for constant in model.graph.initializer if constant.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return onnx.ModelProto.SerializeToString(shape_inference.infer_shapes(model))


def ask(name: str, calls: "dict[str, str]", types: "tuple[str, ...]") -> "dict[tuple[str, str], str]":
    """Return the outcome of operators per type: ``"on it"``, ``"elsewhere"``, or another outcome of the model.

    Args:
        name: The name of an environment, or of a provider.
        calls: The operators.
        types: The types.
    """
    import onnxruntime

    import padops

    onnxruntime.set_default_logger_severity(4)
    lines = {}
    for what, call in calls.items():
        for type_name in types:
            case = _case(type_name, f"{what}/{type_name}")
            model = model_of(call, type_name)
            session = padops.InferenceSession(model)  # onnxruntime's own Pad lacks some types
            expected = np.asarray(session.run(None, provider_cases.feeds_of(case))[0]).tolist()
            lines[case.name] = provider_cases.as_line(case, model, expected)
    answers = providers.ask_lines(name, "stock", lines)
    return {(*key.split("/"),): _said(answer, providers.provider_of(name)) for key, answer in answers.items()}


def _case(type_name: str, name: str = "") -> Case:
    return Case(name, "", IMAGE, (), type=type_name, wide=True)


def _said(answer: "dict[str, Any]", provider: str) -> str:
    if answer["outcome"] != "right":
        return answer["outcome"]
    return "elsewhere" if providers.elsewhere(answer, provider) else "on it"


def moved(answers: "dict[tuple[str, str], str]") -> "set[str]":
    """Return the types in which the provider runs all operators."""
    types = {type_name for _, type_name in answers}
    return {t for t in types if all(said == "on it" for (_, of), said in answers.items() if of == t)}


def main(arguments: "list[str]") -> int:
    for name in arguments or providers.ENVIRONMENTS:
        answers = ask(name, MOVING, TYPES)
        print(f"{providers.provider_of(name)}: moves {', '.join(sorted(moved(answers)))}")
        for (what, type_name), said in {**answers, **ask(name, OTHERS, ("float",))}.items():
            print(f"  {what:28} {type_name:8} {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
