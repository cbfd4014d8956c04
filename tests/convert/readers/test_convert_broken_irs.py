"""Broken IRs of Pads alone, which need no OpenVINO; ``test_convert_openvino_files.py`` has others."""

from __future__ import annotations

import pytest
from broken_files import ran, refusal, short
from small_irs import PAD_IR as XML
from small_irs import PAD_IR_WEIGHTS as WEIGHTS

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
        ('from-layer="0" from-port="0"', 'from-layer="9" from-port="0"',
         "comes from layer 9, port 0, which does not exist"),
        ('from-layer="0" ', "", "an edge has no from-layer"),
        ('name="p" ', "", "layer Pad 'None' has no name"),
        ('name="p"', 'name=""', "layer 2 has an empty name"),
        ('type="Pad"', 'type=""', "layer 2 has an empty type"),
        ('name="p" type="Pad"', 'name="p" type="Parameter"', "Parameter 'p' has 3 inputs, expected none"),
        ('<port id="2" precision="I64"><dim>1</dim></port></input>', "</input>",
         "Pad 'p': it has 2 inputs, expected 3 to 4"),
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
