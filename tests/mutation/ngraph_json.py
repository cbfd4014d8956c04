"""What nGraph's serializer wrote, with wrong values: of other types, too large, nested, missing, there twice."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from .mutant import Mutant
from .texts import change_text

COMMANDS = (
    *[("-o", "out.onnx")] * 4,
    ("-o", "out.onnx", "--no-fold"),
    ("-o", "out.onnx", "--no-fallback", "--select", "needed"),
    ("-o", "out.onnx", "--target", "onnx", "--report", "report.json"),
    ("-o", "out.onnx", "--target", "pyop", "--strict"),
    ("--dry-run",),
)
VERIFY = ("-o", "out.onnx", "--verify", "--run")
VERIFIED = 0.03  # of all; it takes the most time
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 4, 7, 64, 1000, 10**9, 2**31, 2**59, 2**63, -(2**63), 2**70, 10**400),
    *(
        0.5,
        -0.0,
        1e300,
        float("nan"),
        float("inf"),
        "",
        " ",
        "1",
        "x",
        "\ud800",
        "a\0b",
        "\udfff\ud800",
        "é" * 300,
        "9" * 5_000,
    ),
    *([], {}, [[]], [None], [0], [1, 1], [True], [1.5], ["1"], [-1, 10**10], [10**5] * 4, [1] * 70, {"a": 1}, [{}]),
    *("float", "char", "int64_t", "bfloat16", "uint8_t", "Pad", "Constant", "Parameter", "Result", "EDGE", "wrap"),
)
DEEP = "@deep@"  # takes the place of a value until it is written: Python does not nest that far
KEYS = ("op", "name", "inputs", "shape", "value", "element_type", "value_type", "op_version", "pad_mode",
        "padding_below",
        "padding_above", "padding_interior", "parameters", "result", "ops", "index", "node", "other", "")  # fmt: skip


def _op(name: str, op: str, inputs: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "op": op, "inputs": inputs, "outputs": [f"{name}_0"], **more}


def _file(ops: list[dict[str, Any]], parameters: list[str], result: list[str]) -> list[dict[str, Any]]:
    return [{"name": "Function_0", "ops": ops, "parameters": parameters, "result": result}]


def _bases() -> dict[str, list[Any]]:
    """Right files, of each generation."""
    pads = {"padding_below": [1, 2], "padding_above": [1, 0]}
    return {
        "first": _file(
            [
                _op("Constant_1", "Constant", [], element_type="float", shape=[], value=["42"]),
                _op("Parameter_0", "Parameter", [], element_type="float", shape=[3, 3]),
                _op("Pad_2", "Pad", ["Parameter_0", "Constant_1"], **pads, padding_interior=[1, 2]),
                _op("Pad_3", "Pad", ["Pad_2", "Constant_1"], **pads, padding_interior=[0, 0]),
            ],
            ["Parameter_0"],
            ["Pad_3", "Pad_2", "Parameter_0"],
        ),
        "last": _file(
            [
                _op("Parameter_1", "Parameter", [], element_type="int16_t", shape=[None, 4], op_version=0),
                _op("Parameter_0", "Parameter", [], element_type="int16_t", shape=[]),
                _op("Pad_2", "Pad", ["Parameter_1", "Parameter_0"], padding_below=[1, 3], padding_above=[0, -1],
                    pad_mode=2),
                _op("Result_3", "Result", ["Pad_2"], needs_default_layout=False),
                _op("Result_4", "Result", [{"node": "Pad_2", "index": 0}]),
            ],
            ["Parameter_0", "Parameter_1"],
            ["Result_3", "Result_4"],
        ),
        "openvino": _file(
            [
                _op("X", "Parameter", [], element_type="uint8_t", shape=[2, 3]),
                _op("B", "Constant", [], element_type="int64_t", shape=[2], value=["1", "-1"]),
                _op("E", "Constant", [], element_type="int32_t", shape=[2], value=["2"]),
                _op("P", "Pad", ["X", "B", "E"], op_version=1, pad_mode="symmetric"),
                _op("R", "Result", ["P"]),
            ],
            ["X"],
            ["R"],
        ),
        "constants": _file(
            [
                _op("C", "Constant", [], element_type="bfloat16", shape=[40, 50], value=["-1.5"]),
                _op("D", "Constant", [], value_type={"element_type": "char", "shape": [2]}, value=["1", "0"]),
                _op("V", "Constant", [], element_type={"c_type_string": "bfloat16"}, shape=[], value=["NAN"]),
                _op("P", "Pad", ["C", "V"], **pads, pad_mode="edge"),
            ],
            [],
            ["P", "D", "V"],
        ),
    }  # fmt: skip


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    right = {name: json.dumps(base) for name, base in _bases().items()}
    while True:
        name = rng.choice(sorted(right))
        if rng.random() < 0.3:
            done, content = change_text(json.dumps(json.loads(right[name]), indent=1).encode(), rng)
        else:
            tree = json.loads(right[name])
            done = "; ".join(_change(tree, rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
            content = _write(tree, rng)
        options = VERIFY if rng.random() < VERIFIED else rng.choice(COMMANDS)
        yield Mutant(f"{name}: {done}", {"m.json": content}, ("convert", "m.json", *options))


def _places(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Every container with each key in it, and the way to it."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key, f"{path}/{key}"
            yield from _places(item, f"{path}/{key}")


def _change(tree: list[Any], rng: random.Random) -> str:
    """Changes one value somewhere; says what was done."""
    places = list(_places(tree))
    if not places:
        return "nothing"
    container, key, path = rng.choice(places)
    act = rng.choice(("value", "value", "value", "like", "like", "gone", "twice", "wrap", "key", "deep", "list"))
    if act == "gone":
        del container[key]
    elif act == "twice" and isinstance(container, list):
        container.insert(key, json.loads(json.dumps(container[key])))
    elif act == "wrap":
        container[key] = rng.choice(([container[key]], {"node": container[key]}, [container[key]] * 2))
    elif act == "key" and isinstance(container, dict):
        container[rng.choice(KEYS)] = container.pop(key)
    elif act == "deep":
        container[key] = DEEP
    elif act == "like":
        container[key] = json.loads(json.dumps(_value_of(rng.choice(places))))
    elif act == "list" and isinstance(container[key], list):
        container[key] = container[key] * rng.choice((0, 2, 40))
    else:
        container[key] = rng.choice(VALUES)
        return f"{path} -> {ascii(container[key])[:60]}"
    return f"{path}: {act}"


def _value_of(place: tuple[Any, Any, str]) -> Any:
    container, key, _ = place
    return container[key]


def _write(tree: list[Any], rng: random.Random) -> bytes:
    levels = rng.choice((2, 50, 900, 990, 5_000, 100_000))
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.7)
    nested = rng.choice(("[" * levels + "]" * levels, "[" * levels, '{"a":' * levels + "1" + "}" * levels))
    return text.replace(f'"{DEEP}"', nested).encode("utf-8", "surrogatepass")
