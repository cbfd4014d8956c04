"""OpenVINO IRs with wrong parts. Their layers are those of the tests, so this kind needs OpenVINO."""

from __future__ import annotations

import codecs
import copy
import random
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from openvino_irs import SHAPE, constant, pad_model
from openvino_layers import LAYERS, save_layers

from .runner import Mutant

OPTIONS = ("", "", "", "--no-fold", "--target onnx", "--select needed --report report.json")
COMMANDS = [*(("-o", "out.onnx", *options.split()) for options in OPTIONS), ("--dry-run", "--strict")]
# What a text may become; some numbers are beyond what any type holds.
NUMBERS = [*"0 -0 1 -1 2 3 7 16 33 256 65536 1000000000 1e9 1e400 -1e400 1.5 nan inf 0x10 1_0 ٣ ? 1..2".split()]
NUMBERS += [str(sign * 2**power + more) for power in (31, 32, 59, 63, 64, 70) for sign in (1, -1) for more in (-1, 0)]
NUMBERS += [" 4 ", "", "9" * 400, "9" * 5_000]
WORDS = ["", "1, x", "\t", "é" * 300]
WORDS += ".. ... f32 FP32 i64 boolean string nf4 explicit same_upper opset1 opset12".split()
WORDS += "true 1,1 1,1,1,1,1 0,0 -1,-1 a\\,b,c Parameter Const Result Pad Split".split()
NESTED = "nested"  # the tag that stands for many elements, one in the other, until it is written
TAGS = ("layer", "layers", "edges", "edge", "port", "dim", "data", "input", "output", "net", "other", NESTED)
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi"))
ENCODINGS = ("utf-16", "latin-1", "utf-7", "shift_jis", "nonsense", "rot13", "undefined", "unicode_escape", "")
PROLOGS = (
    *(f'<?xml version="1.0" encoding="{name}"?>' for name in ENCODINGS),
    f'<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]>',
    '<!DOCTYPE net [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE net SYSTEM "file:///dev/zero">',
)
INSERTED = (b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"<", b">", b"&", b'"', b"[", b"}", b",")


@cache
def _bases() -> list[tuple[str, str, bytes]]:
    """IRs of a layer or a Pad each: name, text and weights."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: save_layers(Path(folder, f"{number}.xml"), name) for number, name in enumerate(LAYERS)}
        amounts = constant([1, 0, 2]), constant([0, 2, 1])
        for mode in ("constant", "edge", "reflect", "symmetric") * 4:  # as many as matter beside the layers
            path = Path(folder, f"{len(paths)}.xml")
            paths[f"pad {mode} {len(paths)}"] = pad_model(path, mode, SHAPE, *amounts, 7.5)
        return [(name, _named(path.read_text()), path.with_suffix(".bin").read_bytes()) for name, path in paths.items()]


def _named(text: str) -> str:
    """An IR with names that are the same in every run: OpenVINO counts the nodes of the process."""
    net = ElementTree.fromstring(text)
    for layer in net.iterfind("layers/layer"):
        layer.set("name", f"{layer.get('type')}_{layer.get('id')}")
    return re.sub(r' (?:output_)?names="[^"]*"', "", ElementTree.tostring(net, encoding="unicode"))


def mutants(seed: int) -> Iterator[Mutant]:
    """Mutants without an end, the same for the same seed."""
    rng = random.Random(seed)
    while True:
        name, text, weights = rng.choice(_bases())
        if rng.random() < 0.2:
            done, content = _changed_text(text.encode(), rng)
        else:
            net = ElementTree.fromstring(text)
            done = "; ".join(_change(net, rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
            content = _written(net, rng)
        files = {"m.xml": content, "m.bin": weights}
        if rng.random() < 0.1:
            place = rng.randrange(len(weights) + 1)
            odd = weights[:place] + rng.randbytes(len(weights) - place)
            files = rng.choice([{"m.xml": content}, files | {"m.bin": weights[:place]}, files | {"m.bin": odd}])
            done += f"; another .bin from {place} on"
        yield Mutant(f"{name}: {done}", files, ("convert", "m.xml", *rng.choice(COMMANDS)))


def _change(net: ElementTree.Element, rng: random.Random) -> str:
    """Changes one element; says which and how."""
    parents = [parent for parent in net.iter() if len(parent) and parent.tag != NESTED]
    kind = rng.choice(sorted({child.tag for parent in parents for child in parent}))
    rows = [(parent, at) for parent in parents for at, child in enumerate(parent) if child.tag == kind]
    parent, at = rng.choice(rows)
    child = parent[at]
    act = rng.choice(("set", "set", "set", "set", "unset", "tag", "text", "gone", "twice", "move", "swap", "many"))
    done = f"{parent.tag} {parent.get('name', parent.get('id', ''))}/{kind}[{at}]: {act}"
    if act in ("set", "unset") and child.keys():
        name = rng.choice(sorted(child.keys()))
        value = child.attrib.pop(name)
        if act == "set":
            others = [other.get(name) for other in net.iter() if name in other.keys()]
            listed = value.split(",")
            listed[rng.randrange(len(listed))] = rng.choice(NUMBERS)
            edited = ",".join(rng.choice(([*listed, rng.choice(NUMBERS)], listed[1:], [f"-{value}"])))
            child.set(name, rng.choice((rng.choice(NUMBERS), rng.choice(WORDS), rng.choice([*others, value]), edited)))
        return f"{done} {name} {ascii(child.get(name))[:40]}"
    if act in ("set", "unset", "text"):
        child.text = rng.choice((*NUMBERS, *WORDS))
    elif act == "tag":
        child.tag = rng.choice(TAGS)
    elif act in ("gone", "move"):
        parent.remove(child)
        rng.choice(parents).extend([child] * (act == "move"))
    elif act == "twice":
        parent.insert(at, copy.deepcopy(child))
    elif act == "many":
        parent.extend(copy.deepcopy(child) for _ in range(rng.choice((2, 40, 300))))
    else:
        parent[at], parent[0] = parent[0], child
    return done


def _written(net: ElementTree.Element, rng: random.Random) -> bytes:
    """The file, at times behind a beginning that is not its own."""
    text = ElementTree.tostring(net, encoding="unicode")
    levels = rng.choice((100, 100_000))
    nested = "<a>" * levels + "</a>" * levels
    text = re.sub(rf"<{NESTED}\b[^>]*>", lambda match: match[0].replace("/", "") + nested, text, count=1)
    if rng.random() > 0.06:
        return text.encode()
    prolog = rng.choice(PROLOGS)
    text = prolog + (text.replace("</net>", "&i;</net>") if "ENTITY" in prolog else text)
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-16", "latin-1")), "xmlcharrefreplace")


def _changed_text(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Changes a file of text in one way; says in which."""
    act = rng.choice(("number", "number", "insert", "cut", "remove", "repeat", "move", "encode"))
    first = rng.randrange(len(content))
    last = first + rng.choice((1, 2, 5, 20, 200))
    before, part, after = content[:first], content[first:last], content[last:]
    if act == "number":
        match = rng.choice(list(re.finditer(rb"\d+", content)))
        before, part, after = content[: match.start()], rng.choice(NUMBERS).encode(), content[match.end() :]
    if act == "encode":
        mark = rng.choice((b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        before, part = mark, content.decode().encode(rng.choice(("utf-16", "utf-32", "utf-7", "cp037")), "replace")
    made = {
        "insert": before + rng.choice(INSERTED) * rng.choice((1, 1, 70)) + part + after,
        "cut": before,
        "remove": before + after,
        "repeat": before + part * rng.choice((2, 50, 2_000)) + after,
        "move": before + after[:20] + part + after[20:],
        "encode": before + part,
    }
    return f"{act} at {first}", made.get(act, before + part + after)
