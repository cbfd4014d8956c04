"""Broken files of other formats and of ``--inputs``: one error that says what and where, within 10 s and 2 GB, no file left.

Each command runs as a mutant does (``mutation/runner.py``): in a child with these limits.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mutation.mutant import Mutant
from mutation.npz_inputs import _npy, _zip
from mutation.runner import Outcome, _Server, _try
from onnx import parser

import padops
from padops.convert import PadopsError


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """One process that starts the children of all tests here."""
    with _Server() as SERVERS["one"]:
        yield


SERVERS: dict[str, _Server] = {}


def ran(files: dict[str, bytes], *arguments: str) -> Outcome:
    """Runs a command; nothing about how it ends may be wrong but the exit code."""
    outcome = _try(SERVERS["one"], 0, 0, Mutant("", files, ("convert", *arguments)))
    assert not outcome.harm, str(outcome)
    return outcome


def refusal(files: dict[str, bytes], *arguments: str, code: int = 1) -> str:
    outcome = ran(files, *arguments, "-o", "out.onnx")
    assert outcome.code == code, outcome.said
    first, *listed = outcome.said.splitlines()
    assert first.startswith("error: ") and all(line.startswith("  ") for line in listed)
    assert len(outcome.said) < 1_000
    return outcome.said.removeprefix("error: ").rstrip("\n")


def short(value: Any) -> str:
    """The id of a case; pytest puts it into the environment of children, which takes no long ones."""
    return ascii(value)[:40]


# nGraph's JSON.

PARAMETER = {"name": "X", "op": "Parameter", "inputs": [], "element_type": "float", "shape": [2]}
FILL = {"name": "V", "op": "Constant", "inputs": [], "element_type": "float", "shape": [], "value": ["7"]}
PAD = {"name": "P", "op": "Pad", "inputs": ["X", "V"], "padding_below": [1], "padding_above": [1]}


def function(**changes: dict[str, Any]) -> list[dict[str, Any]]:
    """A function with a Pad; changes of its operators by their names, and of its other values."""
    ops = [{**op, **changes.pop(op["name"], {})} for op in (PARAMETER, FILL, PAD)]
    return [{"name": "f", "ops": ops, "parameters": ["X"], "result": ["P"], **changes}]


def written(tree: Any) -> bytes:
    return json.dumps(tree).encode()


def test_the_function_itself_is_converted() -> None:
    assert ran({"m.json": written(function())}, "m.json", "-o", "out.onnx", "--verify").code == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "lists in lists without end"),
        (b'[{"ops":' * 50_000, "lists in lists without end"),
        (b'[{"name": "\xff"}]', "m.json is not JSON: 'utf-8' codec can't decode"),
        (b"[" + b"9" * 5_000 + b"]", "m.json is not JSON: Exceeds the limit"),
        (b"[NaN]", "expected a list of functions"),
        (b"[null]", "expected a list of functions"),
        (b"", "m.json is not JSON: "),
    ],
    ids=["brackets", "braces", "not UTF-8", "digits", "NaN", "null", "empty"],
)
def test_json_that_is_no_function(content: bytes, reason: str) -> None:
    assert reason in refusal({"m.json": content}, "m.json")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ops": None}, "the function has no ops"),
        ({"ops": {"a": 1}}, "ops of the function is {'a': 1}"),
        ({"ops": [1]}, "one of the ops has no op"),
        ({"parameters": "X"}, "parameters of the function is 'X'"),
        ({"parameters": [1]}, "one of the parameters of the function is 1, which is no name"),
        ({"parameters": [["X"]]}, "one of the parameters of the function is ['X'], which is no name"),
        ({"result": [{}]}, "one of the result of the function is {}, which is no name"),
        ({"result": []}, "the function has no result"),
        ({"name": "\ud800"}, r"the name of the function is '\ud800', which is no name"),
        ({"X": {"name": "\udfff"}}, r"the name of a Parameter is '\udfff', which is no name"),
        ({"X": {"name": ""}}, "the name of a Parameter is '', which is no name"),
        ({"X": {"name": None}}, "the name of a Parameter is None, which is no name"),
        ({"X": {"element_type": ["float"]}}, "Parameter 'X' has the element type ['float']"),
        ({"X": {"element_type": {}}}, "Parameter 'X' has the element type None"),
        ({"X": {"shape": [True]}}, "Parameter 'X' has the shape [True]"),
        ({"X": {"shape": [2.0]}}, "Parameter 'X' has the shape [2.0]"),
        ({"X": {"shape": [float("nan")]}}, "Parameter 'X' has the shape [nan]"),
        ({"X": {"shape": 2}}, "Parameter 'X' has the shape 2"),
        ({"X": {"shape": [2**70]}}, "a dim beyond 576460752303423487 [P10]"),
        ({"X": {"shape": [2**40, 2**40]}}, "more than 576460752303423487 elements [P10]"),
        ({"X": {"shape": [1] * 100_000}}, "100000 dims, more than 32"),
        ({"V": {"value": [[7]]}}, "Constant 'V' has the value [7]"),
        ({"V": {"value": [None]}}, "Constant 'V' has the value None"),
        ({"V": {"value": [True]}}, "Constant 'V' has the value True"),
        ({"V": {"value": "7"}}, "value of Constant 'V' is '7'"),
        ({"V": {"value": ["9" * 100_000]}}, "Constant 'V' has the value '99"),
        ({"V": {"value": ["1e39"]}}, "Constant 'V' has the value '1e39', beyond float32"),
        ({"V": {"value": ["x" * 100_000]}}, "Constant 'V': could not convert string to float: 'xxx"),
        ({"V": {"element_type": "int8_t", "value": ["300"]}}, "Constant 'V': '300' is beyond int8"),
        ({"V": {"element_type": "int64_t", "value": ["9" * 5_000]}}, "Constant 'V': Exceeds the limit"),
        ({"P": {"inputs": "XV"}}, "inputs of Pad 'P' is 'XV'"),
        ({"P": {"inputs": 5}}, "inputs of Pad 'P' is 5"),
        ({"P": {"inputs": [["X"], "V"]}}, "Pad 'P' reads ['X'], which no operator before it gives"),
        ({"P": {"inputs": ["P", "V"]}}, "Pad 'P' reads 'P', which no operator before it gives"),
        ({"P": {"padding_below": [2**70]}}, "padding_below of Pad 'P' has 1180591620717411303424, beyond"),
        ({"P": {"padding_above": [1, 1]}}, "padding_above of Pad 'P' has 2 values, expected 1 (1 per axis) [P8]"),
        ({"P": {"pad_mode": 2**70}}, "pad_mode of Pad 'P' is 1180591620717411303424, expected 0 to 3 [P9]"),
        ({"P": {"pad_mode": True}}, "pad_mode of Pad 'P' is True, which is no name"),
        ({"P": {"pad_mode": "\ud83d"}}, r"pad_mode of Pad 'P' is '\ud83d', which is no name"),
        ({"P": {"op_version": [0]}}, "Pad 'P' of version [0]"),
    ],
    ids=short,
)
def test_a_value_of_a_function_that_is_wrong(changes: dict[str, Any], reason: str) -> None:
    assert reason in refusal({"m.json": written(function(**changes))}, "m.json")


@pytest.mark.parametrize("element_type", ["float", "bfloat16", "int8_t", "char"])
def test_one_value_for_a_thousand_million_stays_one(element_type: str) -> None:
    """It took 3.9 GB, and then the process."""
    changes = {
        "X": {"element_type": element_type, "shape": []},
        "V": {"element_type": element_type, "value": ["1"], "shape": [10**9]},
    }
    changes["P"] = {"inputs": ["V", "X"]}
    outcome = ran({"m.json": written(function(**changes))}, "m.json", "-o", "out.onnx")
    assert outcome.code == 0, outcome.said


@pytest.mark.parametrize("name", ["m.json", "m.xml"])
def test_a_large_file_of_text_is_not_read(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(3 << 30)
    with pytest.raises(PadopsError, match="has 3221225472 bytes; files of text are read up to 2147483648"):
        padops.convert(tmp_path / name)


# OpenVINO IRs of Pads alone, which need neither OpenVINO nor onnxifier.

XML = """<?xml version="1.0"?>
<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="4" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>4</dim></port></output></layer>
<layer id="1" name="n" type="Const" version="opset1"><data element_type="i64" shape="1" offset="0" size="8"/>
<output><port id="0" precision="I64"><dim>1</dim></port></output></layer>
<layer id="2" name="p" type="Pad" version="opset12"><data pad_mode="edge"/>
<input><port id="0" precision="FP32"><dim>4</dim></port><port id="1" precision="I64"><dim>1</dim></port>
<port id="2" precision="I64"><dim>1</dim></port></input>
<output><port id="3" precision="FP32"><dim>6</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>6</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/><edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="2"/><edge from-layer="2" from-port="3" to-layer="3" to-port="0"/>
</edges></net>
"""
WEIGHTS = np.array([1], np.int64).tobytes()
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij"))


def ir(old: str = "", new: str = "") -> dict[str, bytes]:
    """The IR, with a text in it that is another."""
    assert old in XML
    return {"m.xml": XML.replace(old, new, 1).encode() if old else XML.encode(), "m.bin": WEIGHTS}


def test_the_ir_itself_is_converted() -> None:
    assert ran(ir(), "m.xml", "-o", "out.onnx").code == 0


def test_layers_in_another_order_are_converted() -> None:
    """OpenVINO sorts them; here they were refused."""
    pad, constant = XML.index('<layer id="2"'), XML.index('<layer id="1"')
    text = (
        XML[:constant] + XML[pad : XML.index('<layer id="3"')] + XML[constant:pad] + XML[XML.index('<layer id="3"') :]
    )
    assert ran({**ir(), "m.xml": text.encode()}, "m.xml", "-o", "out.onnx").code == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_an_ir_in_another_encoding_is_converted(encoding: str) -> None:
    assert ran({**ir(), "m.xml": XML.encode(encoding)}, "m.xml", "-o", "out.onnx").code == 0


@pytest.mark.parametrize(
    ("prolog", "reason"),
    [
        ('<?xml version="1.0" encoding="nonsense"?>', "m.xml cannot be read: unknown encoding: nonsense"),
        ('<?xml version="1.0" encoding="shift_jis"?>', "m.xml cannot be read: multi-byte encodings are not supported"),
        ('<?xml version="1.0" encoding="rot13"?>', "m.xml cannot be read: 'rot13' is not a text encoding"),
        ('<?xml version="1.0" encoding="utf-16"?>', "is not well-formed XML"),
        (
            f'<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]>',
            "m.xml has a document type (net), which no OpenVINO IR has",
        ),
        ('<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "has a document type"),
        ('<!DOCTYPE net SYSTEM "file:///dev/zero">', "has a document type"),
    ],
    ids=short,
)
def test_the_beginning_of_an_ir_that_is_wrong(prolog: str, reason: str) -> None:
    files = ir('<?xml version="1.0"?>', prolog)
    if "ENTITY" in prolog:
        last = "&j;" if LAUGHS in prolog else "&a;"
        files["m.xml"] = files["m.xml"].replace(b"</net>", f"{last}</net>".encode())
    assert reason in refusal(files, "m.xml")


def test_elements_in_elements_without_end() -> None:
    nested = "<a>" * 100_000 + "</a>" * 100_000
    assert ran(ir("<edges>", f"<edges>{nested}"), "m.xml", "-o", "out.onnx").code == 0
    assert "has no layers" in refusal({"m.xml": f'<net version="11">{nested}</net>'.encode()}, "m.xml")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('shape="1" offset="0" size="8"', 'shape="100000000000000" offset="0" size="800000000000000"',
         "Const 'n' needs the bytes 0 to 800000000000000 of m.bin, which has only 8"),
        ('shape="1" offset="0" size="8"', 'shape="100000000000000" offset="0" size="8"',
         "Const 'n' has 8 bytes, but its shape needs 800000000000000"),
        ('offset="0"', f'offset="{2**70}"', f"Const 'n' has offset '{2**70}'"),
        ('offset="0"', f'offset="{2**63}"', f"Const 'n' needs the bytes {2**63} to {2**63 + 8} of m.bin"),
        ('offset="0"', 'offset="-8"', "Const 'n' has offset '-8'"),
        ('offset="0"', f'offset="{"9" * 5_000}"', "Const 'n' has offset '999"),
        ('size="8"', 'size="٨"', "Const 'n' has size '٨'"),
        ('element_type="i64" shape="1"', f'element_type="i64" shape="{2**60}"', "Const 'n' has a dim beyond"),
        ('element_type="i64" shape="1"', f'element_type="i64" shape="{2**70}"', f"Const 'n' has the dim '{2**70}'"),
        ('element_type="i64" shape="1"', 'element_type="i64" shape="?"', "Const 'n' has the shape '?'"),
        ('element_type="i64" shape="1"', f'element_type="i64" shape="{",".join("1" * 40)}"', "40 dims, more than 32"),
        ("<dim>4</dim>", f"<dim>{2**63}</dim>", "has a dim beyond 576460752303423487 [P10]"),
        ("<dim>4</dim>", f"<dim>{2**70}</dim>", f"has the dim '{2**70}'"),
        ("<dim>4</dim>", "<dim>4</dim>" * 1_000, "1000 dims, more than 32"),
        ('<layer id="1"', '<layer id="0"', "2 layers have the id 0"),
        ('<port id="1" precision="I64">', '<port id="0" precision="I64">', "2 input ports of Pad 'p' have the id 0"),
        ('to-port="2"', 'to-port="1"', "two edges lead to port 1 of layer 2"),
        ('from-layer="0" from-port="0"', 'from-layer="2" from-port="3"', "layers read each other in a circle: 2, 2"),
        ('from-layer="0" from-port="0"', 'from-layer="9" from-port="0"', "comes from layer 9, port 0, which does not exist"),
        ('from-layer="0" ', "", "an edge has no from-layer"),
        ('name="p" ', "", "layer Pad 'None' has no name"),
        ('name="p"', 'name=""', "layer 2 has an empty name"),
        ('type="Pad"', 'type=""', "layer 2 has an empty type"),
        ('name="p" type="Pad"', 'name="p" type="Parameter"', "Parameter 'p' has 3 inputs, expected none"),
        ('<port id="2" precision="I64"><dim>1</dim></port></input>', "</input>", "Pad 'p': it has 2 inputs, expected 3 to 4"),
        ('<output><port id="3" precision="FP32"><dim>6</dim></port></output>', "", "comes from layer 2, port 3"),
        (' version="11"', ' version=""', "is an IR of version , expected 11"),
    ],
    ids=short,
)  # fmt: skip
def test_a_part_of_an_ir_that_is_wrong(old: str, new: str, reason: str) -> None:
    assert reason in refusal(ir(old, new), "m.xml")


def test_constants_that_share_bytes_ask_for_no_more_than_a_model_has() -> None:
    layer = XML[XML.index('<layer id="1"') : XML.index('<layer id="2"')]
    size = 1 << 24
    large = layer.replace('shape="1" offset="0" size="8"', f'shape="{size // 8}" offset="0" size="{size}"')
    more = "".join(large.replace('id="1" name="n"', f'id="{i}" name="n{i}"') for i in range(10, 210))
    files = {"m.xml": XML.replace("</layers>", f"{more}</layers>").encode(), "m.bin": bytes(size)}
    assert "bytes of weights or more; up to 2147483647 are read" in refusal(files, "m.xml")


def test_many_results_of_one_name_take_no_quadratic_time() -> None:
    layer = XML[XML.index('<layer id="3"') : XML.index("</layers>")]
    layers = "".join(layer.replace('id="3"', f'id="{i}"', 1) for i in range(10, 6_010))
    edges = "".join(f'<edge from-layer="2" from-port="3" to-layer="{i}" to-port="0"/>' for i in range(10, 6_010))
    text = XML.replace("</layers>", f"{layers}</layers>").replace("</edges>", f"{edges}</edges>")
    assert ran({"m.xml": text.encode(), "m.bin": WEIGHTS}, "m.xml", "--dry-run").code == 0


# The arrays of --inputs.


def model(given: str) -> bytes:
    text = (
        f'<ir_version: 8, opset_import: ["": 17]> g ({given} x) => ({given} y) <int64[4] pads = {{0, 0, 0, 0}}>'
        '{ a = Pad <mode = "edge"> (x, pads) y = Identity(a) }'
    )
    return parser.parse_model(text).SerializeToString()


X = np.arange(6, dtype=np.float32).reshape(2, 3)
RIGHT = _npy(X)


def pickled() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([None], object))
    return buffer.getvalue()


def corrupt() -> bytes:
    made = bytearray(_zip([("x.npy", RIGHT)]))
    made[60:70] = b"\xff" * 10  # inside of what is compressed
    return bytes(made)


def of(**changes: Any) -> bytes:
    return _zip([("x.npy", _npy(X, **changes))])


def encrypted() -> bytes:
    made = bytearray(_zip([("x.npy", RIGHT)]))
    made[6] |= 1
    made[made.index(b"PK\x01\x02") + 8] |= 1
    return bytes(made)


def given(content: bytes, kind: str = "float[2, 3]") -> tuple[dict[str, bytes], list[str]]:
    return {"m.onnx": model(kind), "in.npz": content}, ["m.onnx", "--verify", "--inputs", "in.npz"]


def test_the_inputs_themselves_are_taken() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        files, arguments = given(_zip([("x.npy", RIGHT)], method))
        assert ran(files, *arguments, "-o", "out.onnx").code == 0
    old = of(header=b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }")  # of Python 2
    files, arguments = given(old)
    assert ran(files, *arguments, "-o", "out.onnx").said == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (corrupt(), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"{'descr': '<f4'"), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"'''"), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"(" * 9_000), "'x' in the inputs in in.npz cannot be read: "),
        (of(header=b"-" * 9_000 + b"1"), "'x' in the inputs in in.npz cannot be read: "),
        (of(descr="f99"), "'x' in the inputs in in.npz cannot be read: "),
        (of(version=2, length=0xFFFFFFFF), "has a header of 4294967295 bytes, more than 10000"),
        (of(version=7), "is of version 7 of NumPy's format, expected 1 or 2"),
        (of(magic=b"\x93NUMPZ"), "'x' in the inputs in in.npz is no array of NumPy"),
        (of(descr="|O"), "'x' in the inputs in in.npz holds Python objects, which are not loaded"),
        (pickled(), "holds Python objects, which are not loaded"),
        (of(descr=[("a", "<f4")]), "has elements of the structured type"),
        (of(descr=("<f4", (3,))), "has elements of the structured type"),
        (of(shape=(2**70,)), "'x' in the inputs in in.npz has a dim beyond"),
        (of(shape=(10**9, 10**9)), "'x' in the inputs in in.npz has more than"),
        (
            of(shape=(10**7, 10**7)),
            "is damaged: float32 of shape [10000000, 10000000] has 400000000000000 bytes, but 24 are there",
        ),
        (of(shape=(-1, 3)), "'x' in the inputs in in.npz has the shape [-1, 3]"),
        (of(shape=(1,) * 70), "70 dims, more than 32"),
        (of(elements=b""), "has 24 bytes, but 0 are there"),
        (of(descr="<U0", shape=(10**12,), elements=b""), "need 8000000000000 bytes, for which there is no memory"),
        (_zip([("x.npy", RIGHT), ("x.npy", RIGHT)]), "the inputs in in.npz have 'x' twice"),
        (_zip([("x.npy", RIGHT), ("x", RIGHT)]), "the inputs in in.npz have 'x' twice"),
        (_zip([("x.npy", RIGHT), ("x.txt", b"hello, world")]), "'x.txt' in the inputs in in.npz is no array of NumPy"),
        (_zip([("x.npy", RIGHT)])[:-30], "the inputs in in.npz cannot be read: File is not a zip file"),
        (encrypted(), "is encrypted"),
        (b"", "the inputs in in.npz cannot be read: File is not a zip file"),
        (RIGHT, "in.npz has one array without a name"),
        (_zip([("x.npy", RIGHT)], method=12), "is compressed by method 12"),
    ],
    ids=short,
)
def test_a_broken_npz(content: bytes, reason: str) -> None:
    files, arguments = given(content)
    assert reason in refusal(files, *arguments)


def test_a_zip_bomb_gets_no_memory() -> None:
    """NumPy gets memory for what the header says, here 3 GB, before it reads a byte."""
    files, arguments = given(bomb(3 << 30), "float[N, M]")
    assert "need 3221225472 bytes, for which there is no memory" in refusal(files, *arguments)


def bomb(size: int) -> bytes:
    """A member that says, in its header and in the directory, that it has so many bytes."""
    content = bytearray(_zip([("x.npy", _npy(X, shape=(size // 4, 1), elements=b""))]))
    header = len(_npy(X, shape=(size // 4, 1), elements=b""))
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = content.index(sign) + at
        content[place : place + 4] = (header + size).to_bytes(4, "little")
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (of(shape=(3, 2)), "input 'x' has the shape [3, 2]; the model takes x: float[2, 3]"),
        (of(shape=(6,)), "input 'x' has the shape [6]; the model takes x: float[2, 3]"),
        (of(descr=">f4"), "input 'x' is >f4, expected float"),
        (of(descr="<i4"), "input 'x' is int32, expected float"),
        (_zip([("y.npy", RIGHT)]), "the inputs lack 'x'"),
        (_zip([]), "the inputs lack 'x'"),
    ],
    ids=short,
)
def test_an_npz_that_the_model_does_not_take(content: bytes, reason: str) -> None:
    files, arguments = given(content)
    assert reason in refusal(files, *arguments, code=2)


@pytest.mark.parametrize(("elements", "reason"), [(b"\xff\xff\x11\x00" * 6, "U+11FFFF"), (b"\0\xd8\0\0" * 6, "U+D800")])
def test_texts_that_are_none(elements: bytes, reason: str) -> None:
    files, arguments = given(of(descr="<U1", elements=elements), "string[N, M]")
    said = refusal(files, *arguments)
    assert said == f"input 'x' has a text with {reason}, which is no character"


def test_random_inputs_that_there_is_no_memory_for() -> None:
    said = refusal({"m.onnx": model("float[1000000, 1000000]")}, "m.onnx", "--verify")
    assert said == "random inputs of 1000000000000 elements need 16000000000000 bytes, for which there is no memory"
