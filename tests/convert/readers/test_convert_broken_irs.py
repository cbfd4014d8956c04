"""Broken IRs of Pads alone, which need no OpenVINO; ``test_convert_openvino_files.py`` has others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from broken_files import ran, refusal, short
from openvino import opset13
from openvino_irs import constant, i, layer
from openvino_layers import save_layers
from small_irs import PAD_IR as XML
from small_irs import PAD_IR_WEIGHTS as WEIGHTS

LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij"))


def ir(old: str = "", new: str = "") -> dict[str, bytes]:
    assert old in XML
    return {"m.xml": XML.replace(old, new, 1).encode() if old else XML.encode(), "m.bin": WEIGHTS}


def test_the_ir_itself_is_converted() -> None:
    """In any encoding; and with its layers in another order, since OpenVINO sorts them."""
    at = [XML.index(f'<layer id="{number}"') for number in (1, 2, 3)]
    swapped = XML[: at[0]] + XML[at[1] : at[2]] + XML[at[0] : at[1]] + XML[at[2] :]
    for content in (XML.encode(), swapped.encode(), XML.encode("utf-16"), XML.encode("utf-8-sig")):
        assert ran({**ir(), "m.xml": content}, "m.xml", "-o", "out.onnx").code == 0


@pytest.mark.parametrize(("prolog", "reason"), [
    ('<?xml version="1.0" encoding="nonsense"?>', "m.xml cannot be read: unknown encoding: nonsense"),
    ('<?xml version="1.0" encoding="shift_jis"?>', "m.xml cannot be read: multi-byte encodings are not supported"),
    ('<?xml version="1.0" encoding="rot13"?>', "m.xml cannot be read: 'rot13' is not a text encoding"),
    ('<?xml version="1.0" encoding="utf-16"?>', "is not well-formed XML"),
    (f'<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]>', "it has a document type (net), which no OpenVINO IR has"),
    ('<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "has a document type"),
    ('<!DOCTYPE net SYSTEM "file:///dev/zero">', "has a document type"),
], ids=short)  # fmt: skip
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


@pytest.mark.parametrize(("old", "new", "reason"), [
    ('shape="1" offset="0" size="8"', 'shape="100000000000000" offset="0" size="800000000000000"',
     "Const 'n' needs the bytes 0 to 800000000000000 of m.bin, which has only 8"),
    ('shape="1" offset="0" size="8"', 'shape="100000000000000" offset="0" size="8"',
     "Const 'n' has 8 bytes, but its shape needs 800000000000000"),
    ('element_type="i64" shape="1"', 'element_type="i64" shape="?"', "Const 'n' has the shape '?'"),
    ('offset="0"', 'offset="-8"', "Const 'n' has offset '-8'"),
    ('offset="0"', f'offset="{2**63}"', f"Const 'n' needs the bytes {2**63} to {2**63 + 8} of m.bin"),
    ('offset="0"', f'offset="{"9" * 5_000}"', "Const 'n' has offset '999"),
    ('size="8"', 'size="٨"', "Const 'n' has size '٨'"),
    ('element_type="i64" shape="1"', f'element_type="i64" shape="{2**60}"', "Const 'n' has a dim, or a number"),
    ('element_type="i64" shape="1"', f'element_type="i64" shape="{2**70}"', f"Const 'n' has the dim '{2**70}'"),
    ('element_type="i64" shape="1"', f'element_type="i64" shape="{",".join("1" * 40)}"', "40 dims, more than 32"),
    ("<dim>4</dim>", f"<dim>{2**63}</dim>", "has a dim, or a number of elements, beyond 576460752303423487 [P10]"),
    ("<dim>4</dim>", "<dim>4</dim>" * 1_000, "1000 dims, more than 32"),
    ('<layer id="1"', '<layer id="0"', "2 layers have the id 0"),
    ('<port id="1" precision="I64">', '<port id="0" precision="I64">', "2 input ports of Pad 'p' have the id 0"),
    ('to-port="2"', 'to-port="1"', "2 edges lead to the input 1 of layer 2"),
    ('from-layer="0" from-port="0"', 'from-layer="2" from-port="3"', "graph has a cycle of 1 nodes"),
    ('from-layer="0" from-port="0"', 'from-layer="9" from-port="0"',
     "comes from layer 9, port 0, which does not exist"),
    ('from-layer="0" ', "", "an edge has no from-layer"),
    ('name="p" ', "", "layer Pad 'None' has no name"),
    ('name="p"', 'name=""', "layer 2 has an empty name"),
    ('type="Pad"', 'type=""', "layer 2 has an empty type"),
    ('name="p" type="Pad"', 'name="p" type="Parameter"', "has 3 inputs and 1 output, expected 0 and 1"),
    ('<port id="2" precision="I64"><dim>1</dim></port></input>', "</input>",
     "Pad 'p': it has 2 inputs: missing a required argument: 'end'"),
    ('<output><port id="3" precision="FP32"><dim>6</dim></port></output>', "", "comes from layer 2, port 3"),
    ('pad_mode="edge"', 'pad_mode="wrap"', "pad_mode 'wrap' is not one of constant, edge, reflect, symmetric [P9]"),
    ("opset12", "opset99", "its version is 'opset99', expected opset1 or opset12"),
    (' version="11"', ' version=""', "is an IR of version , expected 11"),
    (XML[300:], "", "is damaged: it is not well-formed XML"),
    (XML, "<model/>", "it is a <model>, expected a <net>"),
    ('to-port="1"', 'to-port="9"', "is damaged: input 1 of Pad 'p' has no edge"),
    (' offset="0"', "", "is damaged: Const 'n' has no offset"),
    ("<dim>4</dim>", "<dim>three</dim>", "has the dim 'three'"),
    ('element_type="f32"', 'element_type="nf4"', "has elements of type nf4"),
], ids=short)  # fmt: skip
def test_a_part_of_an_ir_that_is_wrong(old: str, new: str, reason: str) -> None:
    assert reason in refusal(ir(old, new), "m.xml", code=3 if "[P9]" in reason else 1)


def test_a_bin_that_is_missing() -> None:
    assert "Const 'n' needs the weights in m.bin, which does not exist" in refusal({"m.xml": XML.encode()}, "m.xml")


def test_constants_that_share_bytes_ask_for_no_more_than_a_model_has() -> None:
    layer = XML[XML.index('<layer id="1"') : XML.index('<layer id="2"')]
    size = 1 << 24
    large = layer.replace('shape="1" offset="0" size="8"', f'shape="{size // 8}" offset="0" size="{size}"')
    more = "".join(large.replace('id="1" name="n"', f'id="{i}" name="n{i}"') for i in range(10, 210))
    files = {"m.xml": XML.replace("</layers>", f"{more}</layers>").encode(), "m.bin": bytes(size)}
    assert "bytes of weights; padops reads at most 2147483647" in refusal(files, "m.xml")


def test_many_results_of_one_name_take_no_quadratic_time() -> None:
    layer = XML[XML.index('<layer id="3"') : XML.index("</layers>")]
    layers = "".join(layer.replace('id="3"', f'id="{i}"', 1) for i in range(10, 4_010))
    edges = "".join(f'<edge from-layer="2" from-port="3" to-layer="{i}" to-port="0"/>' for i in range(10, 4_010))
    text = XML.replace("</layers>", f"{layers}</layers>").replace("</edges>", f"{edges}</edges>")
    assert ran({"m.xml": text.encode(), "m.bin": WEIGHTS}, "m.xml", "--dry-run").code == 0


def without_last_input(text: str) -> str:
    end = text.index("</input>")
    return text[: text.rindex("<port", 0, end)] + text[end:]


@pytest.mark.parametrize(("name", "damage", "reason"), [
    ("max pool", lambda t: t.replace(' kernel="3, 2"', ""), "it has no kernel"),
    ("max pool", lambda t: t.replace('pads_end="0, 1"', 'pads_end="0"'), "pads_begin has 2 values, pads_end 1"),
    ("max pool", lambda t: t.replace('dilations="1, 2"', 'dilations="1, x"'),
     "dilations='1, x' is not a list of integers"),
    ("max pool", lambda t: t.replace('kernel="3, 2"', f'kernel="{2**70}, 2"'), "is not a list of integers"),
    ("convolution SAME_UPPER with dilations", lambda t: t.replace('strides="2, 1"', 'strides="0, 1"'),
     "stride is 0, expected an integer of 1"),
    ("convolution SAME_UPPER with dilations", lambda t: t.replace('strides="2, 1"', 'strides="2"'),
     "strides or dilations have 1"),
    ("convolution SAME_UPPER with dilations", without_last_input, "it has 1 input: missing a required argument"),
    ("clamp of integers", lambda t: t.replace('min="-1"', 'min="x"'), "min='x' is not a number"),
    ("shape of", lambda t: t.replace('output_type="i64"', 'output_type="f32"'),
     "output_type='f32' is not i32 or i64"),
    ("gather nd", lambda t: t.replace('batch_dims="0"', 'batch_dims="x"'), "GatherND"),
    ("add", without_last_input, "it has 1 input: missing a required argument"),
    ("lstm sequence forward", without_last_input, "it has 6 inputs, expected 7"),
    ("relu", lambda t: t.replace("</output>\n\t\t</layer>\n\t\t<layer id=\"2\"", '<port id="9" precision="FP32"/>'
     "</output></layer><layer id=\"2\""), "it has 2 outputs, expected 1"),
    ("split", lambda t: t.replace('num_splits="2"', 'num_splits="3"'), "num_splits is 3, but the layer has 2 outputs"),
    ("matmul", lambda t: t.replace('transpose_b="true"', 'transpose_b="x"'), "transpose_b='x' is not true or"),
    ("gather of a list of one axis", lambda t: t.replace('shape="1"', 'shape="0"'), "0 elements, expected one"),
    ("deconvolution to a shape, same_upper", lambda t: t.replace('output_padding="0, 0"', 'output_padding="0"'),
     "different numbers of axes"),
    ("interpolate of opset11", without_last_input, "its sizes or scales (2 numbers) do not fit the axes [0, 1, 2, 3]"),
    ("interpolate nearest sizes half_pixel", lambda t: t.replace('"opset4"', '"opset11"'), "it has 4 inputs"),
    ("concat", lambda t: t.replace('axis="1"', 'axis="9999999999999999999999"'),
     "axis='9999999999999999999999' is not a list of integers"),
], ids=short)  # fmt: skip
def test_a_layer_with_a_broken_part(tmp_path: Path, name: str, damage: Callable[[str], str], reason: str) -> None:
    path = save_layers(tmp_path / "m.xml", name)
    changed = damage(path.read_text())
    assert changed != path.read_text()
    said = refusal({"m.xml": changed.encode(), "m.bin": path.with_suffix(".bin").read_bytes()}, "m.xml")
    assert said.startswith("m.xml: 1 of its 1 layer cannot be converted:") and reason in said


def test_ten_thousand_million_numbers_are_not_computed(tmp_path: Path) -> None:
    """OpenVINO, which is to compute the end, may ask for some memory only."""
    end = opset13.range(constant(0, np.int64), constant(78, np.int64), constant(39, np.int64), "i64")
    build = lambda x: opset13.strided_slice(x, i(0, 0), end, i(1, 1), begin_mask=[0, 0], end_mask=[0, 1])
    path = layer(tmp_path / "m.xml", build, (3, 3))
    weights = path.with_suffix(".bin").read_bytes()
    for before, after in ((78, 10**10), (39, 1)):
        weights = weights.replace(np.int64(before).tobytes(), np.int64(after).tobytes())
    said = refusal({"m.xml": path.read_bytes(), "m.bin": weights}, "m.xml")
    assert "is invalid or contradicts the IR's shapes" in said
