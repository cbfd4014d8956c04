"""What padops can do with NumPy alone, with whichever onnxruntime, or in a clone, and how it asks for the rest."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import metadata, requires
from pathlib import Path

import numpy as np
import pytest
from command_lines import MODELS, ROOT

import padops
from padops.extras import EXTRAS, RUNTIMES, DependencyError

MODEL = MODELS / "int16.onnx"
NOT_THERE = "which is not installed: pip install 'padops[convert]'"
CPU = "pip install 'padops[cpu]', or the onnxruntime package for your hardware, such as onnxruntime-gpu"
NO_RUNTIME = f"needs onnxruntime, which is not installed: {CPU}"

INSTALLED = Path(np.__file__).resolve().parents[1]  # where this environment has its packages
NOT_INSTALLED = shutil.ignore_patterns("csrc", "__pycache__")

# --- folders of packages for a Python without site-packages ----------------------------------------------------------


def make_site(folder: Path, *packages: str, library: bool = True) -> Path:
    """A folder with an installed padops, perhaps without its library, NumPy and packages of this environment."""
    shutil.copytree(ROOT / "padops", folder / "padops", ignore=NOT_INSTALLED)
    if library:
        shutil.copy(padops.get_library_path(), folder / "padops")
    state_distribution(folder, "padops", padops.__version__)
    for package in ("numpy", "numpy.libs", *packages):
        if (INSTALLED / package).is_dir():  # a platform may not have it
            (folder / package).symlink_to(INSTALLED / package)
    return folder


def state_distribution(folder: Path, name: str, version: str) -> None:
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def run_python(site: Path, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    variables = {name: value for name, value in os.environ.items() if name != "PADOPS_LIBRARY"}
    command = [sys.executable, "-S", *map(str, arguments)]
    variables["PYTHONPATH"] = str(site)
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=600)


# --- with NumPy alone -------------------------------------------------------------------------------------------------

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
    of_convert = [name for name, home in padops._HOMES.items() if home.startswith("padops.convert")]
    assert {"convert", "inspect", "verify", "PadopsError"} <= set(of_convert)
    onnx = dict.fromkeys(of_convert, "convert") | {"register_schemas": "register_schemas"}
    lacking = {name: f"onnx: padops.{by} needs onnx, {NOT_THERE}" for name, by in onnx.items()}
    lacking |= {name: f"onnxruntime: padops.{name} {NO_RUNTIME}" for name in ("InferenceSession", "register")}
    lacking |= {"bfloat16": f"ml_dtypes: the element type bfloat16 needs ml_dtypes, {NOT_THERE}"}
    assert json.loads(ran.stdout) == {
        "library": str(numpy_alone / "padops" / "libpadops.so"), "ops": True, "same": [1, 1],
        "padded": [2, 1, 0, 1, 2, 1, 0], "unknown": True,
        **{name: f"DependencyError {text}" for name, text in lacking.items()},
    }  # fmt: skip


@pytest.mark.parametrize(("arguments", "code"), [
    (("--help",), 0),
    (("convert", "--help"), 0),
    (("describe",), 0),
    (("convert", MODEL, "-o", "out.onnx"), 1),
    (("verify", MODEL, MODEL), 1),
    (("conformance", "--quick", "--out", "report"), 1),
])  # fmt: skip
def test_commands(arguments: tuple[object, ...], code: int, numpy_alone: Path, tmp_path: Path) -> None:
    ran = run_python(numpy_alone, "-m", "padops", *arguments, cwd=tmp_path)
    assert (ran.returncode, bool(ran.stdout), bool(ran.stderr)) == (code, not code, bool(code))
    if code:
        assert re.fullmatch(rf"error: [\w. ]+ needs onnx, {re.escape(NOT_THERE)}\n", ran.stderr)
    assert list(tmp_path.iterdir()) == []


def test_info_needs_nothing_but_for_its_self_check(numpy_alone: Path, tmp_path: Path) -> None:
    ran = run_python(numpy_alone, "-m", "padops", "info", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in ran.stdout.splitlines()]
    assert {"onnxruntime not installed", f"library {numpy_alone / 'padops' / 'libpadops.so'}"} <= {*lines}
    why = f"the self-check needs onnx, {NOT_THERE}"
    assert lines[-1] == f"self-check: not run: {why}"
    ran = run_python(numpy_alone, "-m", "padops", "info", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["self_check"], told["why"], told["error"]) == (0, "not run", why, None)


@pytest.mark.parametrize("module", ["torch", "onnxscript", "jax2onnx.plugins"])
def test_exporters_without_their_packages(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, extra = ("jax_pads", "jax") if module.startswith("jax") else ("torch_translations", "torch")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "padops.exporters.torch_functions", raising=False)
    monkeypatch.delattr("padops.exporters.torch_functions", raising=False)
    with pytest.raises(DependencyError, match=rf"padops\.{call} needs .*: pip install 'padops\[{extra}\]'"):
        getattr(padops, call)().__enter__()


def test_the_extras_are_those_of_the_package() -> None:
    """Each has its module of ``EXTRAS``, messages name no other, and none but ``cpu`` brings an onnxruntime."""
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
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "padops").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"pip install ['\"]padops\[(\w+)\]", text)}
    assert {"openvino", "pyop"} <= named <= set(needs)
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for row in rows for name in re.findall("`([a-z]+)`", row)}
    assert set(needs) <= listed, "a row of docs/index.md is missing"


# --- without an onnxruntime, or with one that will not do -------------------------------------------------------------

INCOMPLETE = "onnxruntime, but the one in {} is incomplete (onnxruntime-gpu installed): uninstall every onnxruntime "


@pytest.mark.parametrize(("content", "told"), [
    ('__version__ = "1.19.2"\nclass InferenceSession: pass\n',
     "onnxruntime 1.20 or newer, but onnxruntime-gpu is 1.19.2: pip install --upgrade onnxruntime-gpu"),
    ("", f"{INCOMPLETE}package, then install one"),
])  # fmt: skip
def test_an_onnxruntime_that_will_not_do(content: str, told: str, numpy_alone: Path, tmp_path: Path) -> None:
    package = tmp_path / "onnxruntime"
    package.mkdir()
    (package / "__init__.py").write_text(content)
    state_distribution(tmp_path, "onnxruntime-gpu", "1.19.2")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); import padops; padops.InferenceSession"
    ran = run_python(numpy_alone, "-c", code, cwd=numpy_alone)
    expected = f"padops.extras.DependencyError: padops.InferenceSession needs {told.format(package)}"
    assert ran.stderr.splitlines()[-1] == expected


WITHOUT = "import sys; sys.modules['onnxruntime'] = None; from padops.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(("words", "told"), [
    ("convert {} -q -o out.onnx", ""),
    ("convert {} -q -o out.onnx --verify --strict", ""),  # what is proved needs no run
    ("convert {} -q -o out.onnx --verify --run", f"error: verifying a model {NO_RUNTIME}\n"),
    ("inspect {} --providers FooExecutionProvider", f"error: a provider without rules {NO_RUNTIME}\n"),
])  # fmt: skip
def test_converting_needs_no_onnxruntime_and_verifying_does(words: str, told: str, here: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, *words.format(MODEL).split()]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (int(bool(told)), "", told)
    assert [path.name for path in here.iterdir()] == ([] if told else ["out.onnx"])


# --- the quick start in a clone: Python imports the sources that lie there, which have no library ---------------------

QUICK_START = f"""
import numpy as np, padops
session = padops.InferenceSession({str(MODEL)!r})
print(session.run(None, {{"sound": np.arange(6, dtype=np.int16)[None]}})[0].tolist())
print(padops.__file__, padops.get_library_path(), sep="\\n")
"""
ASK = "import padops; padops.get_library_path()"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "padops", folder / "padops", ignore=NOT_INSTALLED)
    (folder / "padops" / "csrc").mkdir()
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_site(tmp_path_factory.mktemp("site") / "packages", "onnxruntime")


def test_the_installed_library_serves_the_sources(clone: Path, installed: Path) -> None:
    ran = run_python(installed, "-c", QUICK_START, cwd=clone)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == ["[[4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 4, 3, 2, 1]]",
                                       str(clone / "padops" / "__init__.py"),
                                       str(installed / "padops" / "libpadops.so")]  # fmt: skip


def refusal(clone: Path, site: Path) -> str:
    ran = run_python(site, "-c", ASK, cwd=clone)
    last = ran.stderr.splitlines()[-1]
    start = f"FileNotFoundError: libpadops.so is not in {clone / 'padops'}, a source tree of padops "
    assert ran.returncode == 1 and last.startswith(start)
    assert last.endswith("; run 'pip install .' in the source tree")
    return last.removeprefix(start)


def test_a_library_of_another_version_does_not(clone: Path, installed: Path) -> None:
    project = clone / "pyproject.toml"
    project.write_text(project.read_text().replace(f'version = "{padops.__version__}"', 'version = "9.9"'))
    told = refusal(clone, installed)
    assert told.startswith("9.9, and ")
    assert f"the installed library, {installed / 'padops' / 'libpadops.so'}, has version {padops.__version__};" in told


def test_what_is_installed_has_no_library_either(clone: Path, tmp_path: Path) -> None:
    site = make_site(tmp_path / "broken", library=False)
    place = site / "padops" / "libpadops.so"
    assert f", and the installed padops {padops.__version__} has no library at {place};" in refusal(clone, site)
    ran = run_python(site, "-c", ASK, cwd=tmp_path)
    assert "padops was installed without its native library; install it anew" in ran.stderr.splitlines()[-1]
