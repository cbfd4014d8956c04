"""OpenVINO IRs with wrong parts. Their layers are those of the tests, so this kind needs OpenVINO."""

from __future__ import annotations

import copy
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from openvino_irs import SHAPE, constant, pad_model
from openvino_layers import LAYERS, save_layer

from .mutant import Mutant
from .texts import NUMBERS, change_text

COMMANDS = (
    *[("-o", "out.onnx")] * 4,
    ("-o", "out.onnx", "--no-fold"),
    ("-o", "out.onnx", "--target", "onnx"),
    ("-o", "out.onnx", "--select", "needed", "--report", "report.json"),
    ("--dry-run", "--strict"),
)
NESTED = "nested"  # the tag that stands for many elements, one in the other, until it is written
WORDS = ("", "x", "..", "...", "f32", "FP32", "i64", "boolean", "string", "nf4", "explicit", "same_upper", "opset1",
         "opset12", "true", "1,1", "1,1,1,1,1", "0,0", "-1,-1", "1, x", "\t", "é" * 300, "a\\,b,c",
         "Parameter", "Const", "Result", "Pad", "Split")  # fmt: skip
TAGS = ("layer", "layers", "edges", "edge", "port", "dim", "data", "input", "output", "net", "other", NESTED)
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi"))
PROLOGS = (
    *(f'<?xml version="1.0" encoding="{name}"?>' for name in
      ("utf-16", "latin-1", "ascii", "utf-7", "shift_jis", "nonsense", "idna", "rot13", "undefined", "zlib",
       "unicode_escape", "")),
    '<?xml version="9.9"?>',
    f'<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]>',
    '<!DOCTYPE net [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE net SYSTEM "file:///dev/zero">',
)  # fmt: skip


@dataclass(frozen=True)
class _Base:
    """A right IR."""

    name: str
    text: str
    weights: bytes


@cache
def _bases() -> tuple[_Base, ...]:
    """IRs of a layer or a Pad each."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: save_layer(Path(folder, f"{number}.xml"), name) for number, name in enumerate(LAYERS)}
        amounts = constant([1, 0, 2]), constant([0, 2, 1])
        for mode in ("constant", "edge", "reflect", "symmetric") * 4:  # as many as matter beside the layers
            name = f"pad {mode} {len(paths)}"
            paths[name] = pad_model(Path(folder, f"{len(paths)}.xml"), mode, SHAPE, *amounts, 7.5)
        return tuple(
            _Base(name, _named(path.read_text()), path.with_suffix(".bin").read_bytes()) for name, path in paths.items()
        )


def _named(text: str) -> str:
    """An IR with names that are the same in every run: OpenVINO counts the nodes of the process."""
    net = ElementTree.fromstring(text)
    for layer in net.iterfind("layers/layer"):
        layer.set("name", f"{layer.get('type')}_{layer.get('id')}")
    return re.sub(r' names="[^"]*"', "", ElementTree.tostring(net, encoding="unicode"))


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        base = rng.choice(_bases())
        if rng.random() < 0.2:
            done, content = change_text(base.text.encode(), rng)
        else:
            net = ElementTree.fromstring(base.text)
            done = "; ".join(_change(net, rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
            content, said = _write(net, rng)
            done += said
        files = {"m.xml": content, "m.bin": base.weights}
        if rng.random() < 0.1:
            done += f"; {_change_weights(files, rng)}"
        yield Mutant(f"{base.name}: {done}", files, ("convert", "m.xml", *rng.choice(COMMANDS)))


def _change(net: ElementTree.Element, rng: random.Random) -> str:
    """Changes one element; says which and how."""
    parents = [parent for parent in net.iter() if len(parent) and parent.tag != NESTED]
    kinds = sorted({child.tag for parent in parents for child in parent})
    kind = rng.choice(kinds)
    parent, at = rng.choice(
        [(parent, at) for parent in parents for at, child in enumerate(parent) if child.tag == kind]
    )
    child = parent[at]
    place = f"{parent.tag} {parent.get('name', parent.get('id', ''))}/{kind}[{at}]"
    act = rng.choice((_set, _set, _set, _set, _unset, _tag, _text, "gone", "twice", "move", "swap", "many"))
    if not isinstance(act, str):
        return f"{place}: {act(child, net, rng)}"
    if act in ("gone", "move"):
        parent.remove(child)
    if act == "move":
        rng.choice(parents).append(child)
    if act == "twice":
        parent.insert(at, copy.deepcopy(child))
    if act == "many":
        parent.extend(copy.deepcopy(child) for _ in range(rng.choice((2, 40, 300))))
    if act == "swap":
        parent[at], parent[0] = parent[0], child
    return f"{place}: {act}"


def _set(element: ElementTree.Element, net: ElementTree.Element, rng: random.Random) -> str:
    """Gives an attribute, or the text, another value: an odd one, or one of another element."""
    names = sorted(element.keys())
    if not names:
        return _text(element, net, rng)
    name = rng.choice(names)
    others = [other.get(name) for other in net.iter() if name in other.keys()]
    value = rng.choice((rng.choice(NUMBERS), rng.choice(WORDS), rng.choice(others), _edited(element.get(name), rng)))
    element.set(name, value)
    return f"{name} -> {ascii(value[:40])}"


def _edited(value: str, rng: random.Random) -> str:
    """A list with another number in it, fewer or more of them."""
    parts = value.split(",")
    at = rng.randrange(len(parts))
    parts[at : at + 1] = rng.choice(
        ([], [parts[at]] * 2, [rng.choice(NUMBERS)], [rng.choice(NUMBERS)], [f"-{parts[at]}"])
    )
    return ",".join(parts)


def _unset(element: ElementTree.Element, net: ElementTree.Element, rng: random.Random) -> str:
    names = sorted(element.keys())
    if not names:
        return _text(element, net, rng)
    name = rng.choice(names)
    del element.attrib[name]
    return f"no {name}"


def _tag(element: ElementTree.Element, net: ElementTree.Element, rng: random.Random) -> str:
    element.tag = rng.choice(TAGS)
    return f"is a {element.tag}"


def _text(element: ElementTree.Element, net: ElementTree.Element, rng: random.Random) -> str:
    element.text = rng.choice((*NUMBERS, *WORDS))
    return f"text {ascii(element.text[:40])}"


def _write(net: ElementTree.Element, rng: random.Random) -> tuple[bytes, str]:
    """The file, at times behind a beginning that is not its own; and what was done to it."""
    text = ElementTree.tostring(net, encoding="unicode")
    if f"<{NESTED}" in text:
        levels = rng.choice((100, 100_000))
        text = re.sub(
            rf"<{NESTED}\b[^>]*>",
            lambda match: match[0].replace("/", "") + "<a>" * levels + "</a>" * levels,
            text,
            count=1,
        )
    if rng.random() > 0.06:
        return text.encode(), ""
    prolog = rng.choice(PROLOGS)
    text = prolog + (text.replace("</net>", "&i;</net>") if "ENTITY" in prolog else text)
    coded = rng.choice(("utf-8", "utf-8", "utf-16", "latin-1"))
    return text.encode(coded, "xmlcharrefreplace"), f"; as {coded} behind {prolog[:60]}"


def _change_weights(files: dict[str, bytes], rng: random.Random) -> str:
    """Changes the file of constants."""
    weights = files["m.bin"]
    if not weights or rng.random() < 0.2:
        del files["m.bin"]
        return "no .bin"
    if rng.random() < 0.3:
        files["m.bin"] = weights[: rng.randrange(len(weights))]
        return f".bin of {len(files['m.bin'])} bytes"
    made = bytearray(weights)
    for _ in range(rng.choice((1, 8, 64))):
        made[rng.randrange(len(made))] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    files["m.bin"] = bytes(made)
    return "odd numbers in the .bin"
