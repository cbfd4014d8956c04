"""``padops info`` and ``padops describe``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from padops.extras import DependencyError, needing
from padops.terminal import fail, json_text, say

FAILED, NOT_RUN = "failed", "not run"  # outcomes of the self-check
SCHEMA = 1  # version of the JSON that --json prints; rises if readers of the old JSON would misread the new JSON


def add_info(commands: Any) -> None:
    parser = commands.add_parser("info", help="print versions, the library and its operators, and run one operator")
    parser.add_argument("--json", action="store_true", help="print the same as JSON")
    parser.set_defaults(run=_run)


def add_describe(commands: Any) -> None:
    parser = commands.add_parser("describe", help="print the operators of the library as JSON")
    parser.set_defaults(run=_describe)


def _describe(options: argparse.Namespace) -> int:
    from padops.runtime.library import describe

    try:
        print(json.dumps(describe(), indent=2))
    except (OSError, RuntimeError) as error:  # RuntimeError: a rebuild has failed
        return fail(error)
    return 0


def _run(options: argparse.Namespace) -> int:
    told = _told()
    if options.json:
        print(json_text(told))
    else:
        for name, version in (told["versions"] | {"library": told["library"]}).items():
            print(f"{name:24} {version or 'not installed'}")
        if told["operators"]:
            print(f"domain {told['domain']}, version {told['version']}: {', '.join(told['operators'])}")
        if told["why"] and told["error"] is None:
            print(f"self-check: not run: {told['why']}")
        elif told["error"] is None:
            print(f"self-check: padops::Pad_18 of int16 in a session: {told['self_check']} to the reference")
        say(*(f"{name}: {said}" for name, said in told["providers"].items()))
    return 0 if told["error"] is None else fail(told["error"])


def _told() -> dict[str, Any]:
    """Returns the content of ``--json``, with all fields even after a failure."""
    from padops.runtime.installed import versions
    from padops.runtime.library import describe, get_library_path

    told: dict[str, Any] = {"schema": SCHEMA, "versions": versions(), "library": None, "domain": None, "version": None,
                            "operators": {}, "providers": {}, "self_check": NOT_RUN, "why": None,
                            "error": None}  # fmt: skip
    try:
        told["library"] = get_library_path()
        described = describe()
    except (OSError, RuntimeError) as error:  # RuntimeError: a rebuild has failed
        return told | {"error": str(error)}
    told |= {name: described[name] for name in ("domain", "version")}
    told["operators"] = {op["name"]: op["types"] for op in described["ops"]}
    outcome, why = _self_check()
    told |= {"self_check": outcome, "why": why or None, "error": why if outcome == FAILED else None}
    if outcome != NOT_RUN:
        from padops.runtime.placing import told_of_providers  # it needs onnxruntime

        told["providers"] = told_of_providers()
    return told


def _self_check() -> tuple[str, str]:
    """Converts and runs a model that ONNX Runtime refuses, and compares the output with the reference.

    Returns ``"equal"`` and an empty text, or another outcome and the reason.
    """
    try:
        with needing("the self-check"):
            import numpy as np
            from onnx import parser

            from padops.convert import convert
            from padops.session import InferenceSession
            from padops.spec import reference

            model = parser.parse_model(
                '<ir_version: 8, opset_import: ["" : 18]> '
                "check (int16[2, 3] x) => (int16[2, 8] y) "
                '<int64[4] pads = {0, 2, 0, 3}> { y = Pad <mode = "reflect"> (x, pads) }'
            )
            data = np.arange(6, dtype=np.int16).reshape(2, 3)
            converted = convert(model).proto().SerializeToString()
            (found,) = InferenceSession(converted, providers=["CPUExecutionProvider"]).run(None, {"x": data})
    except DependencyError as error:
        return NOT_RUN, str(error)
    except Exception as error:  # onnxruntime's errors have no common class of their own
        return FAILED, f"the self-check failed: {error}"
    wanted = reference.run("Pad_18", {"mode": "reflect"}, [data, np.array([0, 2, 0, 3])])
    if np.array_equal(found, wanted):
        return "equal", ""
    return FAILED, f"the self-check failed: {found.tolist()} instead of {wanted.tolist()}"
