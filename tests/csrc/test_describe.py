"""The tables of the native library and of Python, two independent implementations, must be the same."""

from __future__ import annotations

from dataclasses import asdict

import padops
from padops.runtime.provider_rules import KNOWN_PROVIDERS, ProviderRule
from padops.spec.dialects import DOMAIN, OPS, VERSION
from padops.spec.dtypes import DTYPES


def test_domain_and_version() -> None:
    described = padops.describe()
    assert (described["domain"], described["version"]) == (DOMAIN, VERSION)
    assert described["library"] == padops.__version__


def test_types() -> None:
    expected = [
        {name: getattr(dtype, name) for name in ("name", "onnx", "ort", "bits", "pad", "since")} for dtype in DTYPES
    ]
    assert padops.describe()["types"] == expected


def test_operators() -> None:
    assert padops.describe()["ops"] == [
        {
            "name": op.name,
            "inputs": [{"name": row.name, "kind": row.kind, "optional": row.optional} for row in op.inputs],
            "attributes": [
                {name: getattr(row, name) for name in ("name", "type", "required", "default")}
                | {"choices": list(row.choices)}
                for row in op.attributes
            ],
            "mode": op.mode,
            "modes": list(op.modes),
            "types": list(op.types),
            "fill": op.fill,
            "crop": op.crop.value,
            "limit": op.limit.value,
            "clamp": op.clamp,
        }
        for op in OPS.values()
    ]


def test_describe_gives_a_new_object() -> None:
    padops.describe()["ops"].clear()
    assert padops.describe()["ops"]


def test_the_library_has_every_rule() -> None:
    """Both read the same files."""
    described = {row["name"]: (row["fuses"], row["rules"]) for row in padops.describe()["providers"]}
    assert described == {
        row.name: (row.fuses, [_without_source(rule) for rule in row.rules]) for row in KNOWN_PROVIDERS
    }


def _without_source(rule: ProviderRule) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(rule).items()
        if name != "source"
    }
