"""What other execution providers of onnxruntime do with Pads: one table, with the source of each row.

The library has the same table (``csrc/core/known_providers.cpp``), for the moment at which onnxruntime asks it which nodes it
takes; a test compares the two. ``convert/sources/beside_rules.py`` judges a Pad by it, as ``builtin_rules.py`` does for
onnxruntime's own. ``python3 scripts/providers.py NAME`` runs the cases on a machine that has the provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Does = Literal["leaves", "refuses", "wrong", "dies"]
When = Literal[
    "always", "axes", "crop", "beyond", "open dims", "computed", "rank above", "above", "below", "other types"
]

MEASURED = "measured: python3 scripts/providers.py"


@dataclass(frozen=True)
class ProviderRule:
    """Pads that a provider does not run right.

    Attributes:
        does: ``"leaves"``: it does not take them, and the next provider is asked; ``"refuses"``: the session is not created,
            or fails when it runs; ``"wrong"``; ``"dies"``, with the process.
        when: Which Pads: ``"always"``; ``"axes"``, those with that input; ``"crop"``, with a negative amount; ``"beyond"``,
            with an amount beyond n - 1 in mode reflect, or n in mode wrap; ``"open dims"``, of data with a dim that is not
            known; ``"computed"``, whose amounts or axes are; ``"rank above"`` the limit; ``"above"`` and ``"below"``, of a
            version of Pad other than the limit; ``"other types"``, of none of ``types``.
        source: How that is known.
        modes: Of the Pads; empty for any.
        limit: For ``when``.
        types: For ``when``.
        before: The first onnxruntime 1.x without it; 0 where there is none.
    """

    does: Does
    when: When
    source: str
    modes: tuple[str, ...] = ()
    limit: int = 0
    types: tuple[str, ...] = ()
    before: int = 0


@dataclass(frozen=True)
class KnownProvider:
    """One provider.

    Attributes:
        name: As ``providers=[...]`` takes it.
        version: What the rules are of; ``"not run"`` where they have been read in its source.
        fuses: Whether it asks for nodes that another one has, so that padops must put others in their place.
        rules: The first one that holds counts. Where none does, the provider runs the Pad right.
    """

    name: str
    version: str
    fuses: bool
    rules: tuple[ProviderRule, ...]


_OPENVINO = f"{MEASURED} ort-openvino"
_WEBGPU = f"{MEASURED} ort-webgpu"
_QNN = f"{MEASURED} ort-qnn"

KNOWN_PROVIDERS = (
    KnownProvider(
        "OpenVINOExecutionProvider",
        "onnxruntime-openvino 1.24.1",
        True,
        (
            ProviderRule("refuses", "axes", _OPENVINO),
            ProviderRule("refuses", "always", _OPENVINO, ("wrap",)),
            ProviderRule("refuses", "beyond", _OPENVINO, ("reflect",)),
        ),
    ),
    KnownProvider(
        "WebGpuExecutionProvider",
        "onnxruntime-webgpu 1.27.0",
        False,
        (
            ProviderRule("leaves", "above", _WEBGPU, limit=23),
            ProviderRule("wrong", "beyond", _WEBGPU, ("wrap",)),
            ProviderRule("wrong", "crop", _WEBGPU, ("wrap",)),
        ),
    ),
    KnownProvider(
        "QNNExecutionProvider",
        "onnxruntime-qnn 2.7.0",
        False,
        (
            ProviderRule("leaves", "axes", _QNN),
            ProviderRule("leaves", "open dims", _QNN),
            ProviderRule("leaves", "computed", _QNN),
            ProviderRule("leaves", "always", _QNN, ("wrap",)),
            ProviderRule("refuses", "always", _QNN, ("edge",)),
            ProviderRule("dies", "rank above", _QNN, limit=4),
        ),
    ),
)
BY_NAME = {row.name: row for row in KNOWN_PROVIDERS}


def needing_padops(names: Iterable[str]) -> list[str]:
    """The providers among these that do something else with a Pad than run it or leave it to the next one."""
    return [name for name in names if name in BY_NAME and any(rule.does != "leaves" for rule in BY_NAME[name].rules)]
