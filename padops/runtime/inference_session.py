"""onnxruntime's InferenceSession with the operators and the providers of padops in it, for a model as it is."""

from __future__ import annotations

import contextlib
import os
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from padops.extras import NeedingOnnxruntime
from padops.runtime.constant_pads import pads_constants
from padops.runtime.model_words import DOMAIN, FOLDING, PYTHON_DOMAIN, named_operators, words_of, wrong_optimizers
from padops.runtime.provider import CPU, EP_NAME, FIRST_MINOR, is_provided, runtime_minor
from padops.runtime.session import register

with NeedingOnnxruntime("padops.InferenceSession"):
    import onnxruntime

    from padops.runtime.callers_options import WAY, with_own_providers
    from padops.runtime.placing import (
        Provider,
        available,
        chosen_by,
        is_placed,
        place,
        stands_before_threads,
        with_padops,
    )

SPINNING = "session.intra_op.allow_spinning"  # "0" where threads without work shall leave their processors


# Options that a caller has put providers into, once padops is among these.
_LIKE_THE_CALLERS: weakref.WeakSet[onnxruntime.SessionOptions] = weakref.WeakSet()


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]  # onnxruntime has no types
    """``onnxruntime.InferenceSession``, for models with any Pad, converted or not.

    It has the operators of the domains ``padops`` and ``padops.pyop`` where the model uses them, and from onnxruntime 1.24 on padops' execution
    provider, which runs the Pads of the model as it is. Older releases have the operators alone.

    The provider stands directly before ``CPUExecutionProvider``, so it takes what the processor would run. A second one,
    ``PadopsFirstExecutionProvider``, stands before the first provider that is known not to run every Pad right, and takes those
    Pads alone that it would refuse, get wrong or die of (``padops.runtime.provider_rules``). Name
    ``"PadopsExecutionProvider"`` in ``providers`` to put it elsewhere or to give it options: see ``padops.register``.

    Providers, their options and their order stay as they are given, in ``providers`` or in ``sess_options``. Providers of
    libraries are found among ``onnxruntime.get_ep_devices()``, where onnxruntime's own class would leave some out without a
    word. Where ``sess_options`` have providers of libraries already, the session gets new options like them: what
    onnxruntime tells of them, its configuration and the overrides of dims by name. It does not tell operators of other
    libraries and initializers; with these, name the providers in ``providers``.

    Some optimizers of onnxruntime change Pads before any provider is asked, and are wrong. They are disabled for models that
    may meet them: ``Pad_Fusion`` before onnxruntime 1.32 where the model has a MaxPool or an AveragePool; ``ConstantFolding``
    before 1.27 where it has mode reflect, and before 1.31 where it has mode wrap, if data that are padded may be constant; ``TransposeOptimizer`` where it has a Pad
    with axes and a Transpose, and ``NhwcTransformer`` where it has such a Pad and quantized operators.

    Before OpenVINO's provider, a session without ``sess_options`` has ``session.intra_op.allow_spinning`` set to ``"0"``:
    onnxruntime's threads would wait actively on the processors on which OpenVINO computes. Set it in options of your own.

    Where a provider cannot be created, the error is raised: onnxruntime's own class would print it and go on with the CPU's
    provider alone, without padops. ``enable_fallback=1`` makes it so here.

    Args:
        path_or_bytes: The model: its file, or its content.
        sess_options: The session's options. They keep what is registered in them; take others for other providers.
        providers: Execution providers, first choice first; by default all that this onnxruntime has built in. Each is a name,
            or one or several ``onnxruntime.OrtEpDevice`` of one provider; or a pair of that and options.
        provider_options: One mapping for each provider, where ``providers`` has names alone.
        **kwargs: As ``onnxruntime.InferenceSession`` takes them.

    Raises:
        DependencyError: The model has kernels in Python, and the extra ``pyop`` is not installed.
        FileNotFoundError: padops has been installed without its library.
        RuntimeError: onnxruntime refuses the library; or ``sess_options`` have providers of which something would be lost,
            and the message says what to do.
        TypeError: An argument has another type.
        ValueError: An option of the provider is wrong, or the session's options have it with others.
        Exception: Whatever onnxruntime raises for the model. A Pad that breaks a rule names the node and the rule.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        sess_options: onnxruntime.SessionOptions | None = None,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[Any, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        self._create(path_or_bytes, words_of(path_or_bytes), sess_options, providers, provider_options, kwargs)

    def _create(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        words: frozenset[bytes],
        sess_options: onnxruntime.SessionOptions | None,
        providers: Sequence[Provider] | None,
        provider_options: Sequence[Mapping[Any, Any]] | None,
        named: Mapping[str, Any],
        entries: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Creates the session of a model that has these words; the other arguments are the constructor's.

        The entries stand in the configuration of the options while the session is created.
        """
        if not isinstance(sess_options, onnxruntime.SessionOptions | None):
            raise TypeError(f"sess_options is {type(sess_options).__name__}, expected onnxruntime.SessionOptions")
        kwargs = dict(named)
        self._padops_arguments = (path_or_bytes, sess_options, dict(kwargs), entries)
        options = onnxruntime.SessionOptions() if sess_options is None else sess_options
        minor = runtime_minor()
        of_the_caller = not providers and options in _LIKE_THE_CALLERS
        if minor >= FIRST_MINOR:
            if not providers and options.has_providers() and not (is_provided(options) or is_placed(options)):
                options = with_own_providers(path_or_bytes, options, b"Pad" in words, minor)
                _LIKE_THE_CALLERS.add(options)
                of_the_caller = True
            elif of_the_caller:
                pass  # for another model, or for this one once it was converted
            elif providers or not is_placed(options):
                chosen = with_padops(chosen_by(providers, provider_options), available())
                if sess_options is None and b"Pad" in words and stands_before_threads(chosen):
                    options.add_session_config_entry(SPINNING, "0")
                providers, provider_options = place(options, chosen, minor), None
            kwargs.setdefault("enable_fallback", 0)
        if DOMAIN in words:
            # Options of the caller's may serve other models, too.
            register(options, operators=named_operators(words) if sess_options is None else None)
        if PYTHON_DOMAIN in words:
            register(options, backend="pyop")
        wrong = wrong_optimizers(words, minor)
        if FOLDING in wrong and not pads_constants(path_or_bytes):
            # Without it OpenVINO gets parts that are constant, and cannot run some of them.
            wrong.remove(FOLDING)
        if wrong:
            kwargs["disabled_optimizers"] = {*(kwargs.get("disabled_optimizers") or ()), *wrong}
        with _having(options, entries):
            onnxruntime.InferenceSession.__init__(self, path_or_bytes, options, providers, provider_options, **kwargs)
        names = self.get_providers()
        if of_the_caller and EP_NAME in names and names.index(CPU) < names.index(EP_NAME):
            warnings.warn(
                f"these options name {CPU}, so its own Pad runs what it takes, right or wrong, and padops the rest; {WAY}",
                stacklevel=3,
            )

    def set_providers(
        self, providers: Sequence[Provider] | None = None, provider_options: Sequence[Mapping[Any, Any]] | None = None
    ) -> None:
        """Creates the session anew with other providers, as the constructor does; a converted model stays converted.

        Args:
            providers: As for the constructor.
            provider_options: As for the constructor.

        Raises:
            ValueError: The session was created with options of the caller's, which keep their providers.
            Exception: As the constructor.
        """
        model, options, kwargs, entries = self._padops_arguments
        if options is not None:
            raise ValueError(
                "this session has SessionOptions of yours, which keep their providers; create a new session with new ones"
            )
        self._create(model, words_of(model), None, providers, provider_options, kwargs, entries)


@contextlib.contextmanager
def _having(options: onnxruntime.SessionOptions, entries: Mapping[str, str]) -> Iterator[None]:
    """While options have these entries of configuration. Options of a caller's may serve other models afterwards."""
    before = {}
    for key, value in entries.items():
        try:
            before[key] = options.get_session_config_entry(key)
        except RuntimeError:  # there is none, and none can be taken out: onnxruntime takes an empty one for none
            before[key] = ""
        options.add_session_config_entry(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            options.add_session_config_entry(key, value)
