"""The tables of the native library and of Python, two independent implementations, must be the same."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import padops
from padops.runtime.provider_rules import KNOWN_PROVIDERS
from padops.spec.dialects import DOMAIN, OPS, VERSION
from padops.spec.dtypes import DTYPES


def test_domain_version_and_types() -> None:
    described = padops.describe()
    found = [described[name] for name in ("domain", "version", "library")]
    assert found == [DOMAIN, VERSION, padops.__version__]
    names = ("name", "onnx", "ort", "bits", "pad", "since")
    assert described["types"] == [{name: getattr(dtype, name) for name in names} for dtype in DTYPES]
    described["ops"].clear()  # a new object each time
    assert padops.describe()["ops"]


def test_operators() -> None:
    rows = [asdict(replace(op, crop=op.crop.value, limit=op.limit.value, amounts=None)) for op in OPS.values()]
    described = [row | {"amounts": None} for row in padops.describe()["ops"]]
    assert described == json.loads(json.dumps(rows))


def test_the_library_has_every_rule() -> None:
    """Both read the same files."""
    rules = {row.name: (row.fuses, [asdict(replace(rule, source="")) for rule in row.rules]) for row in KNOWN_PROVIDERS}
    rows = padops.describe()["providers"]
    described = {row["name"]: [row["fuses"], [{"source": ""} | rule for rule in row["rules"]]] for row in rows}
    assert described == json.loads(json.dumps(rules))
