"""A session reads dilations and strides beside their windows without onnx, in every encoding that writers use."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from padops.runtime import model_words


def test_what_looks_like_a_pooling_and_is_no_model() -> None:
    for end in (b"", b"\x07strides", b"\x07stridesB", b"\x0ckernel_shape@\x01\x07strides@\x02", b"\x07strides@\xff"):
        model_words.words_of(b'SAME_"\x07MaxPool' + end)


@pytest.mark.parametrize(("dilations", "looks"), [([1, 1], False), ([1, 2], True), ([300, 1], True)])
@pytest.mark.parametrize("packed", [False, True])
def test_dilations_are_read_without_onnx(dilations: list[int], looks: bool, packed: bool) -> None:
    """As protobuf writes them, and as other writers do."""
    node = onnx.helper.make_node(
        "MaxPool", ["x"], ["y"], auto_pad="SAME_UPPER", kernel_shape=[3, 3], dilations=dilations
    )
    content = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], [])).SerializeToString()
    if packed:
        unpacked = b"".join(b"@" + varint(number) for number in dilations)
        numbers = b"".join(map(varint, dilations))
        content = content.replace(b"\tdilations" + unpacked, b"\tdilationsB" + varint(len(numbers)) + numbers)
    assert (model_words.WRONG_SAME in model_words.words_of(content)) is looks


@pytest.mark.parametrize(
    ("operator", "window", "strides", "looks"),
    [
        ("MaxPool", [3, 3], [2, 3], False),
        ("MaxPool", [3, 2], [2, 3], True),
        ("AveragePool", [200, 300], [100, 301], True),
        ("Conv", [1, 1], [2, 2], False),
        ("Conv", [2, 1], [4, 3], False),
        ("Conv", [2, 1], [4, 4], True),
        ("Conv", None, [1, 4], True),
        ("QLinearConv", [300, 1], [303, 1], True),
        ("ConvTranspose", [1, 1], [9, 9], False),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_strides_are_read_without_onnx(
    operator: str, window: list[int] | None, strides: list[int], looks: bool, packed: bool
) -> None:
    """Strides are read beside their window in each pooling and convolution; only SAME needs them."""
    for auto_pad, expected in (("SAME_LOWER", looks), ("NOTSET", False)):
        attributes: dict[str, Any] = {"auto_pad": auto_pad, "strides": strides}
        attributes |= {} if window is None else {"kernel_shape": window}
        node = onnx.helper.make_node(operator, ["x"], ["y"], **attributes)
        other = onnx.helper.make_node("MaxPool", ["y"], ["z"], auto_pad="SAME_UPPER", kernel_shape=[400, 400])
        body = onnx.helper.make_graph([node, other], "body", [], [])
        graph = onnx.helper.make_graph([onnx.helper.make_node("If", ["c"], ["z"], then_branch=body)], "g", [], [])
        content = onnx.helper.make_model(graph).SerializeToString()
        if packed:
            content = content.replace(*with_packed("strides", strides))
            content = content.replace(*with_packed("kernel_shape", window)) if window is not None else content
        assert (model_words.WRONG_SAME in model_words.words_of(content)) is expected


def with_packed(name: str, values: list[int]) -> tuple[bytes, bytes]:
    """Return two forms of an attribute of two integers: as onnx writes it, and packed, of the same size."""
    unpacked = b"".join(b"@" + varint(number) for number in values)
    numbers = b"".join(map(varint, values))
    return name.encode() + unpacked, name.encode() + b"B" + varint(len(numbers)) + numbers


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


@pytest.mark.parametrize("name", ["auto_pad", "strides"])
def test_windows_whose_attributes_stand_in_the_call_of_a_function(name: str) -> None:
    """The values are elsewhere, so the window may be wrong."""
    given = {"auto_pad": "SAME_UPPER", "kernel_shape": [1], "strides": [1]}
    for by_reference in (False, True):
        node = onnx.helper.make_node("MaxPool", ["x"], ["y"], **given)
        if by_reference:
            row = next(row for row in node.attribute if row.name == name)
            kind = row.type
            row.Clear()
            row.name, row.type, row.ref_attr_name = name, kind, "given"
        function = onnx.helper.make_function(
            "f", "F", ["x"], ["y"], [node], [onnx.helper.make_opsetid("", 17)], ["given"]
        )
        call = onnx.helper.make_node("F", ["x"], ["y"], domain="f", given=given[name])
        made = onnx.helper.make_model(onnx.helper.make_graph([call], "g", [], []), functions=[function])
        assert (model_words.WRONG_SAME in model_words.words_of(made.SerializeToString())) is by_reference


def test_fields_of_all_kinds() -> None:
    """Numbers of any length, of 8 and of 4 bytes stand between what has a length."""
    content = b"\x08" + varint(300) + b"\x11" + b"\xff" * 8 + b"\x1d" + b"\xff" * 4 + b"\x22\x03Pad" + b"\x2a\x00"
    found = [(number, content[first:last]) for number, first, last in model_words.fields(content, 0, len(content))]
    assert found == [(4, b"Pad"), (5, b"")]
