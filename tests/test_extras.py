"""What padops can do with NumPy alone, with whichever onnxruntime, and with which words it asks for the rest."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from sites import make_site, run_python, state_distribution

import padops
from padops.extras import EXTRAS, RUNTIMES, DependencyError

ROOT = Path(__file__).resolve().parent.parent
MODEL = ROOT / "models" / "int16.onnx"
CONVERT = "pip install 'padops[convert]'"
CPU = "pip install 'padops[cpu]', or the onnxruntime package for your hardware, such as onnxruntime-gpu"

WITH_NUMPY = """
import json, numpy as np, padops
from padops.spec.dtypes import by_name, by_numpy
told = {
    "library": padops.get_library_path(),
    "ops": [row["name"] for row in padops.describe()["ops"]] == list(padops.OPS),
    "same": padops.same_padding(7, 3),
    "padded": padops.run_reference("Pad_18", {"mode": "reflect"}, [np.arange(3.0), np.array([2, 2])]).tolist(),
    "unknown": by_numpy(np.dtype(complex)) is None,
}
for name in [*padops.__all__, "bfloat16"]:
    try:
        by_name(name).numpy if name == "bfloat16" else getattr(padops, name)
    except ImportError as error:
        told[name] = f"{type(error).__name__} {error.name}: {error}"
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site") / "packages")


def test_with_numpy_alone(numpy_alone: Path, tmp_path: Path) -> None:
    ran = run_python(numpy_alone, "-c", WITH_NUMPY, cwd=tmp_path)
    assert ran.stderr == ""
    told = json.loads(ran.stdout)
    assert told.pop("library") == str(numpy_alone / "padops" / "libpadops.so")
    assert (told.pop("ops"), told.pop("unknown")) == (True, True)
    assert (told.pop("same"), told.pop("padded")) == ([1, 1], [2, 1, 0, 1, 2, 1, 0])
    of_convert = [name for name, home in padops._HOMES.items() if home.startswith("padops.convert")]
    assert {"convert", "inspect", "verify", "PadopsError"} <= set(of_convert)
    converting = dict.fromkeys(of_convert, "convert")
    onnx = converting | {"register_schemas": "register_schemas"}
    assert told == {
        **{
            name: f"DependencyError onnx: padops.{by} needs onnx, which is not installed: {CONVERT}"
            for name, by in onnx.items()
        },
        **{
            name: f"DependencyError onnxruntime: padops.{name} needs onnxruntime, which is not installed: {CPU}"
            for name in ("InferenceSession", "register")
        },
        "bfloat16": "DependencyError ml_dtypes: the element type bfloat16 needs ml_dtypes, which is not installed: "
        + CONVERT,
    }


@pytest.mark.parametrize(
    "arguments",
    [("convert", MODEL, "-o", "out.onnx"), ("verify", MODEL, MODEL), ("conformance", "--quick", "--out", "report")],
    ids=lambda arguments: arguments[0],
)
def test_a_command_without_its_packages(numpy_alone: Path, arguments: tuple[object, ...], tmp_path: Path) -> None:
    ran = run_python(numpy_alone, "-m", "padops", *arguments, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert re.fullmatch(rf"error: [\w. ]+ needs onnx, which is not installed: {re.escape(CONVERT)}\n", ran.stderr)
    assert list(tmp_path.iterdir()) == []


def test_commands_that_need_nothing(numpy_alone: Path, tmp_path: Path) -> None:
    for arguments in (["--help"], ["convert", "--help"], ["describe"]):
        ran = run_python(numpy_alone, "-m", "padops", *arguments, cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "") and ran.stdout


@pytest.mark.parametrize("module", ["torch", "onnxscript", "jax2onnx.plugins"])
def test_exporters_without_their_packages(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, extra = ("jax_pads", "jax") if module.startswith("jax") else ("torch_translations", "torch")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "padops.exporters.torch_functions", raising=False)
    monkeypatch.delattr("padops.exporters.torch_functions", raising=False)
    with pytest.raises(DependencyError, match=rf"padops\.{call} needs .*: pip install 'padops\[{extra}\]'"):
        getattr(padops, call)().__enter__()


def test_info_needs_nothing_but_for_its_self_check(numpy_alone: Path, tmp_path: Path) -> None:
    ran = run_python(numpy_alone, "-m", "padops", "info", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert any(line.split() == ["onnxruntime", "not", "installed"] for line in lines)
    assert any(line.split() == ["library", str(numpy_alone / "padops" / "libpadops.so")] for line in lines)
    why = f"the self-check needs onnx, which is not installed: {CONVERT}"
    assert lines[-1] == f"self-check: not run: {why}"
    ran = run_python(numpy_alone, "-m", "padops", "info", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["self_check"], told["why"], told["error"]) == (0, "not run", why, None)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            '__version__ = "1.19.2"\nclass InferenceSession: pass\n',
            "onnxruntime 1.20 or newer, but onnxruntime-gpu is 1.19.2: pip install --upgrade onnxruntime-gpu",
        ),
        (
            "",
            "onnxruntime, but the one in {} is incomplete (onnxruntime-gpu installed): "
            "uninstall every onnxruntime package, "
            "then install one",
        ),
    ],
    ids=["too old", "not whole"],
)
def test_an_onnxruntime_that_will_not_do(content: str, told: str, numpy_alone: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "onnxruntime").mkdir(parents=True)
    (other / "onnxruntime" / "__init__.py").write_text(content)
    state_distribution(other, "onnxruntime-gpu", "1.19.2")
    code = f"import sys; sys.path.append({str(other)!r}); import padops; padops.InferenceSession"
    ran = run_python(numpy_alone, "-c", code, cwd=tmp_path)
    text = told.format(other / "onnxruntime")
    assert ran.stderr.splitlines()[-1] == f"padops.extras.DependencyError: padops.InferenceSession needs {text}"


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "onnxruntime":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from padops.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_converting_needs_no_onnxruntime_and_verifying_does(tmp_path: Path) -> None:
    output = tmp_path / "out.onnx"

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT, "convert", str(MODEL), "-q", "-o", str(output), *more]
        return subprocess.run(command, capture_output=True, text=True)

    ran = run("--verify", "--strict")  # what is proved needs no run
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    output.unlink()
    ran = run("--verify", "--run")
    told = f"error: verifying a model needs onnxruntime, which is not installed: {CPU}\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", told)
    assert list(tmp_path.iterdir()) == []
    ran = run()
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert output.is_file()
    command = [sys.executable, "-c", WITHOUT, "inspect", str(MODEL), "--providers", "FooExecutionProvider"]
    ran = subprocess.run(command, capture_output=True, text=True)
    told = f"error: a provider without rules needs onnxruntime, which is not installed: {CPU}\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", told)


def test_the_extras_are_those_of_the_package() -> None:
    """Every module of ``EXTRAS`` comes with its extra, and no installation brings an onnxruntime unasked."""
    needs: dict[str, set[str]] = {}
    for row in requires("padops") or []:
        (name,) = re.findall(r"^[\w-]+", row)
        (extra,) = re.findall(r"extra == ['\"](\w+)['\"]", row) or [""]
        needs.setdefault(extra, set()).add(re.sub("[-_.]+", "-", name).lower())
    assert needs.pop("") == {"numpy"}
    assert set(needs) == set(metadata("padops").get_all("Provides-Extra"))
    brought = {"google": "onnx", "jaxlib": "jax"}  # modules that come with another package
    for extra, modules in EXTRAS.items():
        assert {brought.get(name, name).replace("_", "-") for name in modules} <= needs[extra]
    assert {extra for extra, names in needs.items() if names & set(RUNTIMES)} == {"cpu"}
    assert {"all", "conformance", "peers", "test", "lint"} <= set(needs)
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(needs) <= {name for row in rows for name in re.findall("`([a-z]+)`", row)}, (
        "a row of docs/index.md is missing"
    )
