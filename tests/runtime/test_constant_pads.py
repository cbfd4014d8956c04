"""onnxruntime folds constants before its providers are asked, but where it may fold a Pad that it runs wrongly."""

from __future__ import annotations

import sys
from pathlib import Path

import onnx
import onnxruntime
import pytest
from provider_sessions import model, recording_options

import padops
from padops.runtime import session as preparing
from padops.runtime.model_words import pads_constants

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

GRAPH = (
    "g (float[1, 8] x, float[1, 8] v, bool c) => (float[a, b] y) "
    "<int64[4] p = {0, 2, 0, 2}, float[1, 3] w = {1, 2, 3}, float[1, 8] v = {1, 1, 1, 1, 1, 1, 1, 1}>"
)
IF = (
    'y = If (c) <then_branch = t () => (float[d, e] r) { [inner] r = Pad <mode = "reflect"> (DATA, p) }, '
    "else_branch = k () => (float[f, h] s) { s = Relu (x) }>"
)
CALL = '<opset_import: ["" : 18], domain: "local"> f (z, q) => (o) { o = Pad <mode = "reflect"> (z, q) }'
LOOP = (
    "g (float[1, 8] x) => (float[a, b] y) <int64[4] p = {0, 2, 0, 2}, int64 n = {2}, bool t = {1}, "
    "float[1, 3] w = {1, 2, 3}> "
    "{ y = Loop (n, t, x) <body = l (int64 i, bool k, float[d, e] z) => (bool o, float[f, h] r) "
    '{ o = Identity (k) r = Pad <mode = "reflect"> (DATA, p) }> }'
)
BODIES = {
    "an input": ("y = Pad (x, p)", False),
    "an initializer": ("y = Pad (w, p)", True),
    "an initializer that is an input": ("y = Pad (v, p)", True),
    "a Constant": ("k = Constant <value = float[1, 3] {1, 2, 3}> () y = Pad (k, p)", True),
    "what is computed of one": ("k = Relu (w) y = Pad (k, p)", True),
    "what is computed of one and of an input": ("k = Concat <axis = 1> (w, x) y = Pad (k, p)", False),
    "a shape": ("k = Shape (x) m = Cast <to = 1> (k) y = Pad (m, p)", True),
    "an input, and of an initializer": ("k = Pad (x, p) y = Pad (w, p)", True),
    "an initializer in a branch": (IF.replace("DATA", "w"), True),
    "an input in a branch": (IF.replace("DATA", "x"), False),
    "an input of a function": ("y = local.f (x, p)", True),
    "nothing": ("y = Relu (x)", False),
}


def built(name: str) -> onnx.ModelProto:
    body, _ = BODIES[name]
    return model(f"{GRAPH} {{ {body} }}", functions=CALL if "function" in name else "")


@pytest.mark.parametrize("name", BODIES)
def test_what_may_be_constant(name: str, tmp_path: Path) -> None:
    content = built(name).SerializeToString()
    (tmp_path / "model.onnx").write_bytes(content)
    for source in (content, tmp_path / "model.onnx", str(tmp_path / "model.onnx")):
        assert pads_constants(source) is BODIES[name][1]


def test_a_body_has_inputs_of_its_own() -> None:
    """A body's inputs change with each iteration; a value from outside may be constant in the body."""
    for data, expected in (("z", False), ("x", False), ("w", True)):
        assert pads_constants(model(LOOP.replace("DATA", data)).SerializeToString()) is expected


def test_what_cannot_be_read(tmp_path: Path) -> None:
    content = built("an input").SerializeToString()
    (tmp_path / "empty.onnx").write_bytes(b"")
    for unread in (content[:40], tmp_path / "absent.onnx", tmp_path / "empty.onnx", tmp_path, 7.5):
        assert pads_constants(unread) is True


@pytest.mark.parametrize("name, disabled", [("an input", False), ("an initializer", True)])
def test_constants_are_folded_where_no_pad_is_constant(
    name: str, disabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Constants fold on a release whose own kernel reflects wrongly, since no Pad is constant."""
    given, create = [], onnxruntime.InferenceSession.__init__

    def record(self, *arguments, **named) -> None:
        given.append(named.get("disabled_optimizers") or set())
        create(self, *arguments, **named)

    monkeypatch.setattr(preparing, "runtime_minor", lambda: 26)
    monkeypatch.setattr(onnxruntime.InferenceSession, "__init__", record)
    content = built(name)
    content.graph.node[-1].attribute.append(onnx.helper.make_attribute("mode", "reflect"))
    padops.InferenceSession(content.SerializeToString(), recording_options())
    assert [("ConstantFolding" in names) for names in given] == [disabled]
