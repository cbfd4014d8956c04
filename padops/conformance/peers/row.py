"""What a peer is, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from padops.conformance.features import CaseFeatures

ALL = ("onnx", "openvino", "ngraph", "same")  # families of operators

# Rules that functions do not know: limits of one specification, and how amounts, modes and fills are written down.
RULES_OF_OPERATORS = ("P4", "P6", "P7", "P8", "P9", "S1")


@dataclass(frozen=True)
class PeerRow:
    """One peer.

    Attributes:
        name: What ``--peer`` and reports call it.
        entry_point: ``"module:function"``, the module in this package; empty for a peer with a command.
        families: Of the operators that it is asked for, some of ``ALL``.
        in_house: Whether it is part of padops, and so may have no divergence.
        extra: Of padops' own, which its implementation needs; a part of padops without one is never absent.
        labels: Whether its errors name the rule, as in ``[P8]``: another error than the expected one is a wrong answer.
        before: What an error says where another one has refused the model before this peer has seen it.
        function_only: Whether it is a function of numbers, which is not asked for what only an operator can get wrong.
        versions: The oldest and newest version of the operators.
        max_cases: How many cases it is asked for in a run of the default level, a third of them in a quick one; 0 for
            all.
        seconds: How long one case may take, the import included.
        forks: Whether its process works in copies of itself, for a peer that crashes often and can be copied.
        environment: The name of its environment, which ``scripts/peers.py`` makes; empty for one that runs beside
            padops.
        command: The program that answers in the protocol of ``lines.py``, for a peer in another language.
        lowered: Whether such a program gets models that ``padops convert --target onnx`` has made: for ``provider``
            where it is about one, else ``--without-pad``.
        provider: The execution provider of onnxruntime that it is about, in an environment of that provider's package.
        within: By how much a float may differ from the expected one, relative to it: 0 for not a bit. Only for a
            provider that computes in another type than the model's.
        form: How a case is prepared for it: ``"declared"`` states the shapes of the inputs, which it needs; ``"fixed"``
            also makes all inputs but the data constants, since it takes no others.
    """

    name: str
    entry_point: str
    families: tuple[str, ...]
    in_house: bool = False
    extra: str = ""
    labels: bool = False
    before: str = ""
    function_only: bool = False
    versions: tuple[int, int] = (0, 1 << 31)
    max_cases: int = 0
    seconds: float = 60
    forks: bool = False
    environment: str = ""
    command: tuple[str, ...] = ()
    lowered: bool = False
    provider: str = ""
    within: float = 0
    form: str = ""

    def __post_init__(self) -> None:
        if self.form not in ("", "declared", "fixed"):
            raise ValueError(f"peer {self.name}: form {self.form!r}, expected declared or fixed")

    @property
    def ours(self) -> bool:
        """Whether it is padops that answers, in whichever runtime."""
        return self.in_house or self.name.startswith("padops-")

    @property
    def runs_pads(self) -> bool:
        """Whether the implementation's own Pad answers: it may refuse what the standard leaves open."""
        return not self.ours and not self.name.startswith("without-pad-")

    @property
    def isolated(self) -> bool:
        """Whether it runs in an environment that is not padops' own."""
        return bool(self.environment)

    def prepared(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """A case that ``Case.request`` has given, as this peer is asked it, by the suite and by scripts."""
        asked = {**sent, "static": sent["static"] or bool(self.form)}
        if self.form == "fixed":
            asked["constant_inputs"] = tuple(i for i, packed in enumerate(sent["inputs"]) if i and packed is not None)
        return asked

    def takes(self, features: CaseFeatures) -> bool:
        """Whether it is asked for a case."""
        return (
            features.family in self.families
            and self.versions[0] <= features.version <= self.versions[1]
            and not (self.function_only and features.rule in RULES_OF_OPERATORS)
        )
