"""The rules that follow from what a provider does, and the file of them: fakes say what they do by the node alone."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_providers import FAKES, Fake, answer_of, node_of

import padops
from padops.convert.errors import PadopsError
from padops.probe.outcome import OF_LAYOUT, Outcome, Seen, is_held, probe, rules_of, text_of
from padops.probe.probes import LIMITED, MODES, PROBES, TYPES, Case, expected_of, feeds_of, model_of
from padops.runtime.provider_rules import CONDITIONS, ProviderRule, known_by
from padops.spec.dtypes import DTYPES

UNASKED = {"beyond all", "sizes above"}  # "beyond" and "rank above" hold for the same models


def rows(found: Outcome) -> list[dict]:
    return json.loads(text_of(found))["rules"]


def all_types_but(*names: str) -> list[str]:
    return [row.name for row in DTYPES if row.name not in names]


def test_a_probe_is_of_its_condition() -> None:
    """A rule of the condition holds for it, and none of most others: so it is seen which condition fails."""
    assert {row.when for row in PROBES} | UNASKED == set(CONDITIONS)
    assert len({row.name for row in PROBES}) == len(PROBES)
    others = ("empty", "single", "crop beyond", "endless value", "fill not one", "rounded fill", "open dims")
    for row in PROBES:
        limit = row.number + (1 if row.when in ("below", "rank below") else -1) if row.when in LIMITED else 0
        types = {"axes beside": OF_LAYOUT, "other types": tuple(all_types_but(row.type))}.get(row.when, ())
        assert is_held(row, [ProviderRule("wrong", row.when, "", (row.mode,), limit, types)]), row.name
        if row.when in ("always", "below", "above", "axes", "crop", "rank below", "rank above", "other types"):
            assert not row.shape or not is_held(row, [ProviderRule("wrong", when, "") for when in others]), row.name


def test_the_models_are_right_in_padops() -> None:
    """Without its Pad, a model is one that any provider should run; in onnx's text, half floats would be bits."""
    half = replace(PROBES[0], type="float16", fill=(7,), doubled=True)
    for row, with_pad in [*itertools.product(PROBES, (True, False)), (half, True)]:
        session = padops.InferenceSession(model_of(row, with_pad), providers=["CPUExecutionProvider"])
        names = {given.name for given in session.get_inputs()}
        (output,) = session.run(None, {name: array for name, array in feeds_of(row).items() if name in names})
        np.testing.assert_array_equal(output, expected_of(row, with_pad), err_msg=row.name)


def test_what_a_fake_does_is_in_the_file() -> None:
    found = probe(Fake("Fake", "mixed"))
    some, most = ["constant", "edge", "reflect"], all_types_but("double")
    assert rows(found) == [{"does": "dies", "when": "crop", "modes": ["edge"]},
                           {"does": "leaves", "when": "above", "modes": some, "limit": 23},
                           {"does": "leaves", "when": "other types", "types": all_types_but("uint64")},
                           {"does": "wrong", "when": "beyond", "modes": ["reflect"]},
                           {"does": "refuses", "when": "always", "modes": ["wrap"]},
                           {"does": "refuses", "when": "other types", "modes": some, "types": most}]  # fmt: skip
    assert found.unexplained == () and {row.does for row in found.beside} == {"right"} and len(found.beside) > 8
    content = json.loads(text_of(found))
    assert content["version"] == "onnxruntime 1.32.0, plugin 1.2.3" and "fuses" not in content
    measured = "padops onnxruntime plugin processor devices options models"
    assert content["measured"].keys() == set(measured.split())
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


def test_a_provider_that_loses_its_nodes_and_one_that_rules_do_not_mend() -> None:
    found = probe(Fake("Fake", "axes"))
    assert found.fuses and json.loads(text_of(found))["fuses"] is True
    assert rows(found) == [{"does": "wrong", "when": "open dims", "modes": ["edge", "reflect", "wrap"]},
                           {"does": "refuses", "when": "axes"}]  # fmt: skip
    found = probe(Fake("Fake", "stubborn"))
    assert rows(found) == [{"does": "wrong", "when": "crop", "modes": ["constant"]}]
    said = "constant crop (crop): with padops and these rules beside it, the session gets it wrong: "
    assert said in found.unexplained
    assert json.loads(text_of(found))["unexplained"] == list(found.unexplained)


def seen(name: str, does: str, without_pad: str = "right") -> Seen:
    (row,) = (row for row in PROBES if row.name == name)
    return Seen(row, does, "why", without_pad)


# What is seen, and what the rules say: what happens, when, in which modes, to what limit.
FOUND = [
    # The worst counts.
    ("reflect beyond n - 1: refuses, reflect far beyond: dies", [("dies", "beyond", "reflect", 0)]),
    ("edge around: wrong, edge crop: refuses", [("wrong", "always", "edge", 0)]),
    ("edge around: refuses, edge crop: wrong", [("wrong", "crop", "edge", 0), ("refuses", "always", "edge", 0)]),
    ("edge of rank 0: refuses, edge of rank 1: refuses", [("refuses", "rank below", "edge", 2)]),
    ("edge of rank 5: refuses, edge of rank 6: refuses", [("refuses", "rank above", "edge", 4)]),
    ("edge of rank 6: refuses", [("refuses", "rank above", "edge", 5)]),
    ("edge of version 11: refuses, edge of version 2: refuses", [("refuses", "below", "edge", 12)]),
    ("edge of version 24: refuses", [("refuses", "above", "edge", 23)]),
    # padops compiles a Pad of which a provider dies: its rule comes first, though another one holds.
    ("edge around: refuses, edge fill of 0: dies, edge crop: refuses",
     [("dies", "fill empty", "edge", 0), ("refuses", "always", "edge", 0)]),
    # QNN leaves each Pad with axes, but among Convs onnxruntime turns the axes, and the session is refused.
    ("edge around: refuses, edge all axes: leaves, edge some axes: leaves, edge some axes among Convs: refuses",
     [("refuses", "axes beside", "edge", 0), ("leaves", "axes", "edge", 0), ("refuses", "always", "edge", 0)]),
    # Of an open rank it is not known whether a crop takes more than there is; the provider leaves it anyway.
    ("constant cut beyond: dies, constant of open rank: leaves",
     [("leaves", "open rank", "constant", 0), ("dies", "cut beyond", "constant", 0)]),
    ("edge fill of 0: dies, edge around: leaves, edge of open rank: leaves",
     [("dies", "fill empty", "edge", 0), ("leaves", "always", "edge", 0)]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "told"), FOUND)
def test_rules_of_what_is_seen(rows: str, told: list) -> None:
    found = rules_of([seen(*row.split(": ")) for row in rows.split(", ")])
    assert [(rule.does, rule.when, *rule.modes, rule.limit) for rule in found] == told


def test_a_type_that_is_asked_in_one_mode_fails_in_all() -> None:
    for name, modes in (("int8", ()), ("int32", ("constant",))):
        (rule,) = rules_of([seen(f"constant of {name}", "wrong")])
        assert (rule.modes, list(rule.types)) == (modes, all_types_but(name))


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
    row = seen("edge of rank 5", "wrong")
    told = "edge of rank 5 (rank above): no condition holds for it, and the session gets it wrong: why"
    assert Outcome(Fake("Fake"), {"plugin": ""}, (row,), ()).unexplained == (told,)


def test_a_provider_that_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"does": "refuses", "why": "no device", "providers": ["Fake"]}
    monkeypatch.setattr(Fake, "_answer", lambda self, question: told)
    with pytest.raises(PadopsError, match="Fake: a model without Pads does not run: the provider refuses it: no"):
        probe(Fake("Fake", "mixed"))
