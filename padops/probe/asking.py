"""Asks an execution provider what it does with each probe, each in a process of its own, which may die or hang."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from padops.probe.models import expected_of, feeds_of, model_of
from padops.probe.probes import Probe
from padops.processes import Pickled

SECONDS = 60.0  # that one model may take, the start of its process included
PROGRAM = ("-m", "padops.probe.running")
SURELY_FAILING = "dies", "wrong", "refuses"  # what a provider does with a Pad that it does not run right, worst first


class ProbeError(Exception):
    """A provider cannot be asked; the message says why."""


@dataclass(frozen=True)
class Seen:
    """What a provider did with a probe.

    Attributes:
        probe: The probe.
        does: ``"right"``, or as in a rule; a process that is killed as it does not answer has died.
        why: The error, or what differs; "" if there is nothing to say.
        without_pad: What it did with the same model without its Pad, if it failed; "" if it was not asked.
        is_shared: Whether it ran any node.
    """

    probe: Probe
    does: str
    why: str = ""
    without_pad: str = ""
    is_shared: bool = True

    @property
    def fails(self) -> bool:
        """Whether the provider takes the Pad and does not run it right."""
        return self.does in SURELY_FAILING

    @property
    def is_bare(self) -> bool:
        """Whether it fails without the Pad, too, so that no rule mends it."""
        return self.without_pad in SURELY_FAILING


@dataclass(frozen=True)
class Asked:
    """A provider as the caller names it, and the program that is asked.

    Attributes:
        provider: Its name.
        library: The file of a plugin; "" for a provider that onnxruntime has without it.
        options: Its options.
        seconds: The limit for one model.
        program: The arguments of Python for the process.
    """

    provider: str
    library: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS
    program: Sequence[str] = PROGRAM

    def about(self) -> dict[str, Any]:
        """What onnxruntime tells of the provider: its own version, the plugin's, the devices.

        Raises:
            ProbeError: onnxruntime does not have the provider, or refuses or dies of its library.
        """
        told = self._answer({})
        if told["does"] == "dies":
            raise ProbeError(f"{self.provider}: {told['why']} when its library was loaded")
        if self.provider not in told["providers"]:
            hint = "" if self.library else "; --library names the library of a plugin"
            raise ProbeError(
                f"onnxruntime {told['onnxruntime']} has no provider {self.provider} here; it has "
                f"{', '.join(told['providers'])}{hint}"
            )
        return told

    def model(self, probe: Probe, rules: str | None = None, with_pad: bool = True) -> Seen:
        """What the provider does with a probe.

        Args:
            probe: The probe.
            rules: A file of rules, with which padops stands beside the provider; None for a stock session.
            with_pad: Whether the model has its Pad.

        Raises:
            ProbeError: onnxruntime leaves the provider out of the session.
        """
        feeds = feeds_of(probe.case)
        if not with_pad:
            feeds = {name: array for name, array in feeds.items() if name in ("x", "c")}
        told = self.run(model_of(probe.case, with_pad), feeds, expected_of(probe.case, with_pad), rules)
        return Seen(probe, told["does"], told["why"], is_shared=told.get("is_shared", False))

    def run(
        self, model: bytes, feeds: Mapping[str, np.ndarray], expected: np.ndarray, rules: str | None = None
    ) -> dict[str, Any]:
        """What the provider does with any model: ``does`` and ``why``, as of ``Seen``.

        Args:
            model: The model.
            feeds: Its inputs by name.
            expected: Its first output.
            rules: As of ``model``.

        Raises:
            ProbeError: onnxruntime leaves the provider out of the session.
        """
        return self._answer({"model": model, "feeds": feeds, "expected": expected, "rules": rules})

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        named = {"provider": self.provider, "library": self.library, "options": dict(self.options)}
        with closing(Pickled("the process", self.seconds, self.program)) as process:
            try:
                told: dict[str, Any] = process.ask({**named, **question})
            except RuntimeError as error:
                if process.is_gone:
                    return {"does": "dies", "why": str(error)}
                raise ProbeError(f"{self.provider}: {error}") from error
        return {"does": ""} | told


def ask_all(
    asked: Asked, probes: Sequence[Probe], advance: Callable[[int], None] = lambda done: None
) -> Iterator[Seen]:
    """What the provider does with each probe, and if it fails, with the same model without its Pad.

    Args:
        asked: The provider.
        probes: Those to ask.
        advance: Gets the number of probes that are done.

    Raises:
        ProbeError: The provider cannot be asked.
    """
    for done, probe in enumerate(probes, 1):
        seen = asked.model(probe)
        yield replace(seen, without_pad=asked.model(probe, with_pad=False).does) if seen.fails else seen
        advance(done)
