"""The rules that follow from what a provider does, and the file of them: fakes say what they do by the node alone."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_providers import FAKES, Fake, answer_of, node_of

import padops
from padops.convert.errors import PadopsError
from padops.probe.outcome import OF_LAYOUT, Outcome, Seen, is_held, probe, rules_of, text_of
from padops.probe.probes import LIMITED, MODES, PROBES, TYPES, Case, Probe, expected_of, feeds_of, model_of
from padops.runtime.provider_rules import CONDITIONS, ProviderRule, known_by

UNASKED = {"beyond all", "sizes above"}  # "beyond" and "rank above" hold for the same models


def rows(found: Outcome) -> list[dict]:
    return json.loads(text_of(found))["rules"]


def all_types_but(*names: str) -> list[str]:
    from padops.spec.dtypes import DTYPES

    return [row.name for row in DTYPES if row.name not in names]


def test_every_condition_has_models() -> None:
    assert {row.when for row in PROBES} | UNASKED == set(CONDITIONS)
    assert len({row.case.name for row in PROBES}) == len(PROBES)


@pytest.mark.parametrize("row", PROBES, ids=lambda row: row.case.name)
def test_a_probe_is_of_its_condition(row: Probe) -> None:
    """A rule of the condition holds for it, and none of most others: so it is seen which condition fails."""
    limit = row.number + (1 if row.when in ("below", "rank below") else -1) if row.when in LIMITED else 0
    types = {"axes beside": OF_LAYOUT, "other types": tuple(all_types_but(row.case.type))}.get(row.when, ())
    assert is_held(row, [ProviderRule("wrong", row.when, "", (row.case.mode,), limit, types)])
    if row.when in ("always", "below", "above", "axes", "crop", "rank below", "rank above", "other types"):
        others = ("empty", "single", "crop beyond", "endless value", "fill not one", "rounded fill", "open dims")
        plain = [when for when in others if row.case.shape]
        assert not is_held(row, [ProviderRule("wrong", when, "") for when in plain])


@pytest.mark.parametrize("with_pad", [True, False])
def test_the_models_are_right_in_padops(with_pad: bool) -> None:
    """Without its Pad a model is one that any provider should run."""
    for row in PROBES:
        session = padops.InferenceSession(model_of(row.case, with_pad), providers=["CPUExecutionProvider"])
        names = {given.name for given in session.get_inputs()}
        (output,) = session.run(None, {name: array for name, array in feeds_of(row.case).items() if name in names})
        np.testing.assert_array_equal(output, expected_of(row.case, with_pad), err_msg=row.case.name)


def test_a_fill_of_half_floats() -> None:
    """In onnx's text form it would be the bits."""
    case = replace(PROBES[0].case, type="float16", fill=(7,), doubled=True)
    session = padops.InferenceSession(model_of(case), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, feeds_of(case))[0], expected_of(case))


def test_what_a_fake_does_is_in_the_file() -> None:
    found = probe(Fake("Fake", "mixed"))
    some, most = ["constant", "edge", "reflect"], all_types_but("double")
    assert rows(found) == [
        {"does": "dies", "when": "crop", "modes": ["edge"]},
        {"does": "leaves", "when": "above", "modes": some, "limit": 23},
        {"does": "leaves", "when": "other types", "types": all_types_but("uint64")},
        {"does": "wrong", "when": "beyond", "modes": ["reflect"]},
        {"does": "refuses", "when": "always", "modes": ["wrap"]},
        {"does": "refuses", "when": "other types", "modes": some, "types": most},
    ]
    assert found.unexplained == () and {row.does for row in found.beside} == {"right"} and len(found.beside) > 8
    content = json.loads(text_of(found))
    assert content["version"] == "onnxruntime 1.32.0, plugin 1.2.3" and "fuses" not in content
    assert content["measured"].keys() == {
        "padops", "onnxruntime", "plugin", "processor", "devices", "options", "models"
    }  # fmt: skip
    (row,) = known_by(content, "mine.json")
    assert [rule.does for rule in row.rules] == [rule.does for rule in found.rules]


def test_a_session_with_the_file_avoids_what_the_fake_does(tmp_path: Path) -> None:
    """padops' library takes, by the rules, each Pad of 50 others that the fake refuses, gets wrong or dies of."""
    file = tmp_path / "rules.json"
    file.write_text(text_of(probe(Fake("Fake", "mixed"))))
    random, failed = np.random.default_rng(0), 0
    for _ in range(50):
        mode, shape = random.choice(MODES), tuple(map(int, random.integers(2, 6, random.integers(1, 5))))
        low = 0 if mode in ("reflect", "wrap") else -1
        amounts = tuple(map(int, random.integers(low, 5 if mode == "reflect" else 3, 2 * len(shape))))
        kind = str(random.choice(["float", "double", *TYPES[2:4]]))
        case = Case("random", str(mode), shape, amounts, 19, kind, doubled=True)
        pad = node_of(model_of(case))
        assert pad is not None
        question = {"model": model_of(case), "rules": str(file)}
        failed += FAKES["mixed"](pad) not in ("right", "leaves")
        assert answer_of("mixed", question)["does"] in ("right", "leaves"), case
    assert failed > 20


def test_a_provider_that_loses_its_nodes_fuses() -> None:
    """All modes fail at axes, so that the rule has no modes."""
    found = probe(Fake("Fake", "axes"))
    assert found.fuses and json.loads(text_of(found))["fuses"] is True
    assert rows(found) == [
        {"does": "wrong", "when": "open dims", "modes": ["edge", "reflect", "wrap"]},
        {"does": "refuses", "when": "axes"},
    ]


def test_what_rules_do_not_mend_is_told() -> None:
    found = probe(Fake("Fake", "stubborn"))
    assert rows(found) == [{"does": "wrong", "when": "crop", "modes": ["constant"]}]
    said = "with padops and these rules beside it, the session gets it wrong"
    assert f"constant crop (crop): {said}: " in found.unexplained
    assert json.loads(text_of(found))["unexplained"] == list(found.unexplained)


def seen(name: str, does: str, without_pad: str = "right") -> Seen:
    (row,) = (row for row in PROBES if row.case.name == name)
    return Seen(row, does, "why", without_pad)


def test_the_worst_counts() -> None:
    found = rules_of([seen("reflect beyond n - 1", "refuses"), seen("reflect far beyond", "dies")])
    assert [(rule.does, rule.when, rule.modes) for rule in found] == [("dies", "beyond", ("reflect",))]


@pytest.mark.parametrize(
    ("names", "when", "limit"),
    [
        (["edge of rank 0", "edge of rank 1"], "rank below", 2),
        (["edge of rank 5", "edge of rank 6"], "rank above", 4),
        (["edge of rank 6"], "rank above", 5),
        (["edge of version 11", "edge of version 2"], "below", 12),
        (["edge of version 24"], "above", 23),
    ],
)
def test_limits(names: list[str], when: str, limit: int) -> None:
    (rule,) = rules_of([seen(name, "refuses") for name in names])
    assert (rule.when, rule.limit, rule.modes) == (when, limit, ("edge",))


def test_a_type_that_is_asked_in_one_mode_fails_in_all() -> None:
    (rule,) = rules_of([seen("constant of int8", "wrong")])
    assert (rule.modes, list(rule.types)) == ((), all_types_but("int8"))
    (rule,) = rules_of([seen("constant of int32", "wrong")])
    assert (rule.modes, list(rule.types)) == (("constant",), all_types_but("int32"))


def test_a_death_has_a_rule_of_its_own() -> None:
    """padops compiles such a Pad; a provider that is asked for it would die, though another rule holds for it."""
    found = rules_of([seen("edge around", "refuses"), seen("edge fill of 0", "dies"), seen("edge crop", "refuses")])
    told = [(rule.does, rule.when, rule.modes) for rule in found]
    assert told == [("dies", "fill empty", ("edge",)), ("refuses", "always", ("edge",))]


def test_what_is_left_comes_before_what_fails_but_not_before_what_is_spoilt() -> None:
    """QNN leaves each Pad with axes, but among Convs onnxruntime turns the axes, and the session is refused."""
    spoilt = seen("edge some axes among Convs", "refuses")
    rows = [seen("edge around", "refuses"), seen("edge all axes", "leaves"), seen("edge some axes", "leaves"), spoilt]
    told = [(rule.does, rule.when) for rule in rules_of(rows)]
    assert told == [("refuses", "axes beside"), ("leaves", "axes"), ("refuses", "always")]


def test_what_is_left_is_not_taken_for_what_may_be() -> None:
    """Of an open rank it is not known whether a crop takes more than there is; the provider leaves it anyway."""
    found = rules_of([seen("constant cut beyond", "dies"), seen("constant of open rank", "leaves")])
    assert [(rule.does, rule.when) for rule in found] == [("leaves", "open rank"), ("dies", "cut beyond")]
    spoilt = seen("edge fill of 0", "dies")
    found = rules_of([spoilt, seen("edge around", "leaves"), seen("edge of open rank", "leaves")])
    assert [(rule.does, rule.when) for rule in found] == [("dies", "fill empty"), ("leaves", "always")]


def test_what_fails_without_its_pad_has_a_rule() -> None:
    """But for a Conv: a rule of the nodes behind would hold for every Pad."""
    conv = seen("edge before Conv", "refuses", "refuses")
    rows = (seen("edge of rank 5", "dies", "dies"), seen("edge of rank 6", "leaves", ""), conv)
    about = {"onnxruntime": "1.32.0", "plugin": "", "devices": []}
    found = Outcome(Fake("Fake"), about, rows, rules_of(rows), beside=(rows[0],))
    told = [(rule.does, rule.when, rule.limit) for rule in found.rules]
    assert told == [("dies", "rank above", 4), ("leaves", "rank above", 5)]
    assert found.unexplained == ()
    (rule,) = rules_of([replace(conv, without_pad="right")])
    assert rule.when == "nodes behind" and is_held(conv.probe, [rule])
    assert not is_held(seen("edge around", "right").probe, [rule]), "its neighbours are Relus"


def test_a_fault_that_no_condition_holds_for_is_told() -> None:
    row = seen("edge of rank 5", "wrong")
    found = Outcome(Fake("Fake"), {"plugin": ""}, (row,), ())
    told = "edge of rank 5 (rank above): no condition holds for it, and the session gets it wrong: why"
    assert found.unexplained == (told,)


class Hopeless(Fake):
    def _answer(self, question):
        return super()._answer(question) | ({"does": "refuses", "why": "no device"} if "model" in question else {})


def test_a_provider_that_runs_nothing() -> None:
    said = "Fake: a model without Pads does not run: it refuses it: no device"
    with pytest.raises(PadopsError, match=said):
        probe(Hopeless("Fake", "mixed"))


class Stubborn:
    """Wrong alone, and with padops; right with padops in the place of every Pad."""

    def __init__(self, *_) -> None:
        self.asked = 0

    def run(self, model: bytes, feeds: dict[str, np.ndarray], expected: np.ndarray, rules: str | None = None) -> dict:
        self.asked += 1
        of_all = rules is not None and '"always"' in Path(rules).read_text()
        right = of_all or (rules is not None and self.asked > 3)
        got = padops.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
        np.testing.assert_array_equal(got, expected)
        return {"does": "right" if right else "wrong", "why": "" if right else "a stub"}


def test_random_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one is not right with the rules, though padops in its place is: the rules lack something."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "scripts")
    script = importlib.import_module("provider_random")
    monkeypatch.setattr(script, "Asked", Stubborn)
    file = tmp_path / "rules.json"
    file.write_text('{"names": ["Fake"], "version": "1", "sources": {"default": ""}, "rules": []}')
    assert script.main(["Fake", str(file), "--models", "3"]) == 1
    first, *counts = capsys.readouterr().out.splitlines()
    assert first.endswith(": stock wrong, beside wrong: a stub")
    assert counts == [
        "   2 stock wrong, with padops and the rules right",
        "   1 stock wrong, with padops and the rules wrong",
    ]
    models = dict(script.drawn(1, 2))
    dims = [row.type.tensor_type.shape.dim for model in models.values() for row in model.proto.graph.input]
    assert all(dim.HasField("dim_value") for dim in dims[-1]) and max(models) < 50
