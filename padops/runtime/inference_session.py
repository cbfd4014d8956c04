"""onnxruntime's InferenceSession with the operators and providers of padops; it does not convert models."""

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
from padops.runtime.provider_rules import BY_NAME
from padops.runtime.session import register
from padops.runtime.session_rules import said_of_rules, tell_without_rules

with NeedingOnnxruntime("padops.InferenceSession"):
    import onnxruntime

    from padops.runtime.callers_options import WAY, with_own_providers
    from padops.runtime.chosen import Chosen, Provider, available, chosen_by, plugin_version
    from padops.runtime.placing import (
        check_there,
        lacking_rules,
        place,
        placed_rules,
        rules_for,
        stands_before_threads,
        with_padops,
    )

SPINNING = "session.intra_op.allow_spinning"  # "0": threads without work sleep


# Options with providers of the caller, once padops is among them.
_LIKE_THE_CALLERS: weakref.WeakSet[onnxruntime.SessionOptions] = weakref.WeakSet()


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]  # onnxruntime has no types
    """``onnxruntime.InferenceSession``, for models with any Pad, converted or not.

    It has the operators of the domains ``padops`` and ``padops.pyop`` if the model uses them. With onnxruntime 1.24 or
    newer, it also has padops' execution provider, which runs the Pads of the model as it is.

    The provider stands directly before ``CPUExecutionProvider``, so it takes Pads that the CPU would run. A second
    provider, ``PadopsFirstExecutionProvider``, stands before the first provider that is known not to run every Pad
    right. It takes only the Pads that the other provider would refuse, get wrong or die of
    (``padops/rules/``). To put padops elsewhere or to give it options, name
    ``"PadopsExecutionProvider"`` in ``providers``: see ``padops.register``.

    Providers in ``providers`` or ``sess_options`` keep their options and their order. Plugin providers are found among
    ``onnxruntime.get_ep_devices()``; onnxruntime's own class silently leaves some of them out. If ``sess_options`` have
    plugin providers already, the session gets new options with everything that onnxruntime tells of them, its
    configuration and the overrides of dims by name. It does not tell initializers and operators of other libraries; if
    you use these, name the providers in ``providers``.

    Some optimizers of onnxruntime change Pads wrongly before any provider is asked. They are disabled if the model may
    meet them. ``Pad_Fusion``: before onnxruntime 1.32, for models with a MaxPool or AveragePool. ``ConstantFolding``:
    for Pads of data that may be constant, with mode reflect before 1.27 and with mode wrap before 1.31.
    ``TransposeOptimizer``: for models with a Transpose and a Pad with axes. ``NhwcTransformer``: for models with
    quantized operators and a Pad with axes.

    With OpenVINO's provider behind padops, a session without ``sess_options`` sets ``session.intra_op.allow_spinning``
    to
    ``"0"``: else onnxruntime's idle threads would keep the CPUs busy on which OpenVINO computes. In options of your
    own, set it yourself.

    If a provider cannot be created, the error is raised. onnxruntime's own class would print it and continue with the
    CPU's provider alone, without padops; ``enable_fallback=1`` does the same here.

    Args:
        path_or_bytes: The model: its file, or its content.
        sess_options: The session's options. They keep the providers and operators that this session registers in them;
            use new options for other providers.
        providers: Execution providers, first choice first; by default all that this onnxruntime has built in. Each is a
            name, or one or several ``onnxruntime.OrtEpDevice`` of one provider, or a pair of one of these and options.
        provider_options: One mapping for each provider, if ``providers`` has no pairs.
        rules: A file with the rules of a provider in ``providers``, as ``padops probe`` writes it. By default, those
            that were measured for this user and this version and device, or padops' own.
        **kwargs: As ``onnxruntime.InferenceSession`` takes them.

    Attributes:
        padops_rules: By the name of each provider that padops has rules for: which rules.

    Raises:
        DependencyError: The model has kernels in Python, and the extra ``pyop`` is not installed.
        OSError: padops has been installed without its library, or ``rules`` cannot be read.
        RuntimeError: onnxruntime refuses the library; or ``sess_options`` have providers that new options could not
            reproduce, and the message says what to do.
        TypeError: An argument has another type.
        ValueError: onnxruntime knows no such provider; an option of the provider is wrong; ``rules`` is no file of
            rules, of none of ``providers``, or given without them; or the session's options already have the provider
            with other options.
        Exception: Any error of onnxruntime for the model. For a Pad that breaks a rule, it names the node and the rule.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        sess_options: onnxruntime.SessionOptions | None = None,
        providers: Sequence[Provider] | None = None,
        provider_options: Sequence[Mapping[Any, Any]] | None = None,
        *,
        rules: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> None:
        named = {**kwargs, "rules": rules}
        self._create(path_or_bytes, words_of(path_or_bytes), sess_options, providers, provider_options, named)

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
        """Creates the session of a model that contains ``words``. ``named`` are the constructor's keyword arguments.

        ``entries`` are in the options' configuration only while the session is created.
        """
        if not isinstance(sess_options, onnxruntime.SessionOptions | None):
            raise TypeError(f"sess_options is {type(sess_options).__name__}, expected onnxruntime.SessionOptions")
        kwargs = dict(named)
        self._padops_arguments = (path_or_bytes, sess_options, named, entries)
        file, rules, minor = _checked(kwargs.pop("rules", None), providers), BY_NAME, runtime_minor()
        options = onnxruntime.SessionOptions() if sess_options is None else sess_options
        of_the_caller = not providers and options in _LIKE_THE_CALLERS
        if minor >= FIRST_MINOR:
            if not providers and options.has_providers() and not (is_provided(options) or placed_rules(options)):
                options = with_own_providers(path_or_bytes, options, b"Pad" in words, minor)
                _LIKE_THE_CALLERS.add(options)
                of_the_caller = True
            elif of_the_caller:
                pass  # these options have padops already: from another session, or from before a conversion
            elif providers or placed_rules(options) is None:
                chosen = chosen_by(providers, provider_options)
                # Of providers that it knows and this build lacks, onnxruntime warns, and leaves them out.
                check_there([row.name for row in chosen if not row.devices], onnxruntime.get_all_providers())
                rules = rules_for(file, chosen)
                tell_without_rules(lacking_rules(chosen, available(), rules) if b"Pad" in words else ())
                chosen = with_padops(chosen, available(), rules)
                if sess_options is None and b"Pad" in words and stands_before_threads(chosen, rules):
                    options.add_session_config_entry(SPINNING, "0")
                providers, provider_options = place(options, chosen, minor, rules), None
            rules = placed_rules(options) or rules
            kwargs.setdefault("enable_fallback", 0)
        if DOMAIN in words:
            # The caller's options may be used for other models, too.
            register(options, operators=named_operators(words) if sess_options is None else None)
        if PYTHON_DOMAIN in words:
            register(options, backend="pyop")
        wrong = wrong_optimizers(words, minor)
        if FOLDING in wrong and not pads_constants(path_or_bytes):
            # Without ConstantFolding, OpenVINO gets constant parts and cannot run some of them.
            wrong.remove(FOLDING)
        if wrong:
            kwargs["disabled_optimizers"] = {*(kwargs.get("disabled_optimizers") or ()), *wrong}
        with _having(options, entries, restored=sess_options is not None):
            onnxruntime.InferenceSession.__init__(self, path_or_bytes, options, providers, provider_options, **kwargs)
        names = self.get_providers()
        ruled = [name for name in names if name in rules and minor >= FIRST_MINOR]
        self.padops_rules: dict[str, str] = {
            name: said_of_rules(rules[name], plugin_version(Chosen(name, {}))) for name in ruled
        }
        if of_the_caller and EP_NAME in names and names.index(CPU) < names.index(EP_NAME):
            warnings.warn(
                f"these options name {CPU}, so its own Pad runs what it takes, right or wrong, and padops runs the "
                f"rest; {WAY}",
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
            ValueError: The session was created with the caller's options, which keep their providers.
            Exception: As for the constructor.
        """
        model, options, kwargs, entries = self._padops_arguments
        if options is not None:
            raise ValueError(
                "this session has SessionOptions of yours, which keep their providers; create a new session with new "
                "SessionOptions"
            )
        self._create(model, words_of(model), None, providers, provider_options, kwargs, entries)


def _checked(file: str | os.PathLike[str] | None, providers: Sequence[Provider] | None) -> Any:
    """The caller's file of rules, which needs providers."""
    if file is not None and (not providers or runtime_minor() < FIRST_MINOR):
        raise ValueError(
            f"rules needs onnxruntime 1.{FIRST_MINOR} or newer, and providers with the one that the rules are of"
        )
    return file


@contextlib.contextmanager
def _having(options: onnxruntime.SessionOptions, entries: Mapping[str, str], restored: bool) -> Iterator[None]:
    """A context in which options have these configuration entries.

    ``restored``: the options are the caller's, who may use them again. onnxruntime warns of each restored entry.
    """
    before = {}
    for key, value in entries.items():
        try:
            before[key] = options.get_session_config_entry(key)
        except RuntimeError:  # no such entry; none can be removed, but onnxruntime treats an empty one as absent
            before[key] = ""
        options.add_session_config_entry(key, value)
    try:
        yield
    finally:
        for key, value in before.items() if restored else ():
            options.add_session_config_entry(key, value)
