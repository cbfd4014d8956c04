"""The peers: files with functions that run a :class:`Request` on an implementation of Pad.

docs/conformance.md describes the parts of a file. A peer raises :class:`Unsupported` for features that it reports as
missing, :class:`Skipped` for cases that it cannot express, and an exception of ``REFUSALS`` or :class:`Refused` for
wrong cases. Any other exception is a fault, never the right answer. ``worker.py`` imports a peer in a separate process,
perhaps with another Python: a peer needs only NumPy, ml_dtypes, onnx and the implementation.

This folder has the implementations that are installed beside padops. A file elsewhere declares its peers in a literal
``ENVIRONMENT``, which padops reads without importing the file:

- ``name`` and the fields of ``Peer`` that differ from their defaults;
- ``requires``: packages for pip, each with its version. padops' own files need NumPy, ml_dtypes and onnx, and the
  converter needs onnx-ir. ``node`` replaces ``requires`` and lists npm packages with their versions;
- ``program``: the file in the same folder that node runs in place of ``pad``. For a further peer (see below),
  the argument of the program is that peer's key in ``ENVIRONMENT``;
- ``debian``: Debian packages, which are unpacked into the folder ``debian`` of the environment, but not installed;
- ``provider``: the execution provider of onnxruntime in the environment, if any. All peers of the environment share
  ``provider``, ``within`` and ``form``;
- ``without_pad``, ``beside`` and ``lowered_for``: each has the fields of a further peer of the environment.
  ``without_pad`` runs models without Pad, ``beside`` runs padops beside the provider, and ``lowered_for`` runs models
  that padops has lowered for the provider.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from padops.conformance.peers.parts import PEERS_FOLDER, has, value_of

if TYPE_CHECKING:
    from padops.conformance.features import Prepared
    from padops.conformance.peers.request import Request

ALL = ("onnx", "openvino", "ngraph", "same")  # families of operators
STATED = ALL[:3]
# Rules that do not apply to functions: limits of one specification, and the forms of amounts, modes and fills.
RULES_OF_OPERATORS = ("P4", "P6", "P7", "P8", "P9", "S1")


@dataclass(frozen=True)
class Peer:
    """One peer. The user may choose another interpreter for the peer; the name then includes the interpreter."""

    name: str  # its name in ``--peer`` and reports
    # ``"file:function"``; the file is a module of this package, or a path that ends in ``.py``; empty for a command
    entry_point: str
    families: tuple[str, ...]  # the operators that it runs, some of ``ALL``
    required: bool = False  # whether a run without it fails: a part of padops that needs no extra
    labels: bool = False  # whether its errors name the rule, as in ``[P8]``: an error with the wrong rule is wrong
    before: str = ""  # text in the errors of other code that refuses a model before this peer sees it
    function_only: bool = False  # whether it is a function of numbers: ``RULES_OF_OPERATORS`` do not apply
    versions: tuple[int, int] = (0, 1 << 31)  # the oldest and newest version of the operators
    max_cases: int = 0  # the most cases at the default level; at the quick level, a third of these; 0 for all cases
    seconds: float = 60  # the limit for one case, including the import
    forks: bool = False  # whether its process answers in forked children, for a peer that crashes often and can fork
    environment: str = ""  # its environment, which ``scripts/peers.py`` makes; empty for a peer that runs beside padops
    command: tuple[str, ...] = ()  # the program with the protocol of ``lines.py``, for a peer in another language
    # Whether such a program receives models from ``padops convert --target onnx``: for ``provider`` if the peer has a
    # provider, else with ``--without-pad``.
    lowered: bool = False
    provider: str = ""  # the execution provider of onnxruntime that it tests, in an environment with its package
    # The relative tolerance of floats; 0 requires equal bits. Only for a provider that computes in another type than
    # the model's.
    within: float = 0
    # The form of its cases: ``"declared"`` declares the shapes of the inputs, which the peer needs; ``"fixed"`` also
    # turns all inputs but the data into constants, because the peer accepts no other inputs.
    form: str = ""
    python: str | None = None  # the interpreter that the user has named

    def __post_init__(self) -> None:
        if self.form not in ("", "declared", "fixed"):
            raise ValueError(f"peer {self.name}: form {self.form!r}, expected declared or fixed")

    @property
    def file(self) -> Path:
        place = self.entry_point.rpartition(":")[0]
        return Path(place) if place.endswith(".py") else PEERS_FOLDER / f"{place}.py"

    @property
    def asked_as(self) -> str:
        """The peer's name in ``--peer``; for a file elsewhere, the file's path from the current folder."""
        return self.name if self.file.parent == PEERS_FOLDER else os.path.relpath(self.file)

    @property
    def is_listed(self) -> bool:
        """Whether the peer is one of ``PEERS``, in any interpreter; a user's peer of the same name is not."""
        known = PEERS.get(self.name.partition("@")[0])
        return known is not None and known.entry_point == self.entry_point

    @property
    def stands_alone(self) -> bool:
        """Whether the peer's scripts run without padops.

        Such a script contains the function ``pad`` of the peer's file, or the function ``script`` of that file writes
        the script.
        """
        if self.command:
            return not self.lowered and has(self.file, "script")
        return self.entry_point.endswith(":run_case") and has(self.file, "pad")

    @property
    def has_script(self) -> bool:
        """Whether ``padops conformance repro`` has scripts for the peer."""
        return self.is_listed and (self.stands_alone or self.file.parent == PEERS_FOLDER)

    @property
    def ours(self) -> bool:
        """Whether the peer is a part of padops, in any runtime."""
        return self.name.partition("@")[0] == "reference" or self.name.startswith("padops-")

    def prepared(self, case: Request) -> Request:
        """Return the case with the declared shapes and the constant inputs that the peer's ``form`` requires."""
        given = tuple(i for i, array in enumerate(case.inputs) if i and array is not None)
        constants = given if self.form == "fixed" else case.constant_inputs
        return replace(case, static=case.static or bool(self.form), constant_inputs=constants)

    def takes(self, item: Prepared) -> bool:
        return (
            item.family in self.families
            and self.versions[0] <= int(item.case.op.split("_")[1]) <= self.versions[1]
            and not (self.function_only and item.expected.rule in RULES_OF_OPERATORS)
        )


PEERS = {
    row.name: row
    for row in (
        Peer("padops-native", "own:run_native", ALL, required=True, labels=True),
        # onnxruntime infers shapes when it loads a model, before it asks a provider.
        Peer("padops-provider", "own:run_provider", ("onnx",), labels=True, before="[ShapeInferenceError]"),
        Peer("padops-fallback", "own:run_fallback", ALL),
        Peer("padops-lowered", "own:run_lowered", ALL),
        Peer("padops-without-pad", "own:run_without_pad", ALL, max_cases=3000),
        # The same models in other runtimes.
        Peer("without-pad-reference", "onnx_reference:run_without_pad", ALL, max_cases=1500),
        Peer("without-pad-openvino", "openvino_onnx:run_without_pad", ALL, max_cases=300, forks=True, form="declared"),
        Peer("padops-pyop", "own:run_pyop", ALL, labels=True),
        Peer("reference", "independent:run_case", ALL, required=True, labels=True),
        Peer("ort-builtin", "ort:run_case", ("onnx",)),
        Peer("onnx-reference", "onnx_reference:run_case", ("onnx",)),
        Peer("openvino-1", "openvino:run_case", ("openvino",), versions=(1, 1), forks=True),
        Peer("openvino-12", "openvino:run_case", ("openvino",), versions=(12, 12), forks=True),
        # The CPU device accepts no unknown ranks.
        Peer("openvino-onnx", "openvino_onnx:run_case", ("onnx",), max_cases=1800, forks=True, form="declared"),
        Peer("numpy", "numpy_pad:run_case", STATED, function_only=True),
        Peer("torch", "torch_pad:run_case", STATED, function_only=True),
        # JAX compiles every shape anew.
        Peer("jax", "jax_pad:run_case", ALL, function_only=True, max_cases=1000),
        Peer("tensorflow", "tensorflow_pad:run_case", STATED, function_only=True),
    )
}  # divergences.add_peers adds the peers of files elsewhere

# The further peers that share an environment, by their keys in ENVIRONMENT: the function, and the default families.
SHARING = {
    "without_pad": ("run_without_pad", ALL),
    "beside": ("run_beside", ("onnx",)),
    "lowered_for": ("run_lowered_for", ALL),
}
OF_FILE = ("requires", "debian", "node", "program", *SHARING)  # not fields of ``Peer``
STAMP = "padops-stamp.json"  # scripts/peers.py writes this file last


def rows_of(file: Path) -> Iterator[Peer]:
    """Yield a row for the peer of a file, and for each peer that shares the environment."""
    about = value_of(file, "ENVIRONMENT")
    if about is None:
        raise ValueError(f"{file}: there is no ENVIRONMENT")
    shared = ("provider", "within", "form") if "provider" in about else ()  # fields of all peers of a provider
    of_provider = {name: about[name] for name in shared if name in about}
    rows: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
        ("run_case", (), {key: value for key, value in about.items() if key not in OF_FILE})
    ]
    for key, (function, families) in SHARING.items():
        if key in about:
            rows.append((function, (key,), {"families": families, **of_provider, **about[key]}))
    environment = about["name"] if {"requires", "node"} & about.keys() else ""
    for function, words, fields in rows:
        command = ("node", str(file.with_name(about["program"])), *words) if "program" in about else ()
        yield Peer(entry_point=f"{file}:{function}", environment=environment, command=command, **fields)


def environments() -> Path:
    """Return the folder of the environments: ``PADOPS_ENVIRONMENTS``, or ``build/peers`` of the checkout."""
    stated = os.environ.get("PADOPS_ENVIRONMENTS")
    return Path(stated) if stated else Path(__file__).resolve().parents[3] / "build" / "peers"


def is_made(name: str) -> bool:
    """Return whether an environment exists and is complete."""
    return (environments() / name / STAMP).is_file()


def python_of(name: str) -> Path:
    """Return the interpreter of an environment."""
    return environments() / name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
