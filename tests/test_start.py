"""What a command and an import load: no module that they hardly ever need. No clock tells; the loaded modules do."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from command_lines import MODELS

# Runs the command, then prints on the last line which of the modules are loaded.
PROGRAM = """
import json, sys
from padops.cli import main
heavy, arguments = map(json.loads, sys.argv[1:])
try:
    code = main(arguments)
except SystemExit as ended:
    code = ended.code
print()
print(json.dumps([code, [name for name in heavy if name in sys.modules]]))
"""
COMPUTING = ("sympy", "mpmath")  # what onnx_ir computes with symbolic dims with
RUNNING = ("onnxruntime", "onnxruntime_extensions")
ALL = (*COMPUTING, *RUNNING, "onnx", "onnx_ir", "ml_dtypes", "numpy", "importlib.metadata")


def python(program: str, *arguments: str) -> str:
    ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize(("arguments", "heavy"), [
    (["--help"], ALL),
    (["--version"], ALL[:-1]),
    (["describe"], ALL[:-1]),
    (["inspect", str(MODELS / "nested.onnx")], COMPUTING + RUNNING),
    (["convert", str(MODELS), "--dry-run"], COMPUTING + RUNNING),
    (["convert", str(MODELS / "tokens.onnx"), "--dry-run", "--verify", "--run"], COMPUTING),
    (["info"], COMPUTING),
], ids=lambda value: "-".join(map(str, value)).replace(str(MODELS), "models"))  # fmt: skip
def test_a_command_loads_what_it_needs(arguments: list[str], heavy: tuple[str, ...]) -> None:
    assert json.loads(python(PROGRAM, json.dumps(heavy), json.dumps(arguments))) == [0, []]


def test_the_import_loads_nothing() -> None:
    program = f"import json, sys, padops; print(json.dumps([name for name in {ALL} if name in sys.modules]))"
    assert json.loads(python(program)) == []


# A program, and what it prints: each module is loaded when it is used, and a loaded one stays.
DEFERRED = [
    (
        "with deferring('colorsys'):\n    import colorsys as late\n"
        "print('colorsys' in sys.modules, late.ONE_THIRD == 1 / 3, 'colorsys' in sys.modules)",
        "False True True",
    ),
    (
        "with deferring('no_such_module'):\n    import no_such_module as missing\n"
        "try: missing.anything\nexcept ModuleNotFoundError as error: print(error)",
        "No module named 'no_such_module'",
    ),
    (  # what is used at once
        "with deferring('colorsys'):\n    from colorsys import ONE_THIRD\n"
        "    print(type(sys.modules['colorsys']).__name__)",
        "module",
    ),
    (
        "import colorsys\nwith deferring('colorsys'):\n    import colorsys as same\n"
        "print(same is colorsys is sys.modules['colorsys'], type(same).__name__)",
        "True module",
    ),
    (  # a submodule, which another thread may import
        "with deferring('email'):\n    import email.charset\n"
        "import email; print(type(email).__name__, email.charset.__name__)",
        "module email.charset",
    ),
    (  # sympy, with which onnx_ir still computes with symbolic dims
        "import padops.convert, onnx_ir as ir; before = 'sympy' in sys.modules; "
        "text = (ir.SymbolicDim('n') + 1).value; "
        "import sympy; from onnx_ir import _symbolic_shapes; "
        "print(before, text, ir.SymbolicDim(sympy.Max(3, sympy.Symbol('k'))).value, "
        "_symbolic_shapes.parse_symbolic_expression('max(2, 3)'), type(sympy).__name__)",
        "False n + 1 Max(3, k) 3 module",
    ),
]


@pytest.mark.parametrize(("program", "told"), DEFERRED)
def test_deferring(program: str, told: str) -> None:
    assert python(f"import sys; from padops.deferred import deferring\n{program}") == told
