"""Prepares the arguments of an onnxruntime session so that padops runs its Pads: providers, operators, optimizers."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from padops.extras import needing_onnxruntime
from padops.runtime.model_words import DOMAIN, FOLDING, PYTHON_DOMAIN, pads_constants, wrong_optimizers
from padops.runtime.provider import CPU, FIRST_MINOR, is_provided, runtime_minor
from padops.runtime.provider_rules import BY_NAME, Rules, warn_once, without_rules
from padops.runtime.session import register
from padops.spec.dialects import OPS

with needing_onnxruntime("padops.InferenceSession"):
    import onnxruntime

    from padops.runtime import placing
    from padops.runtime.chosen import AZURE, OURS, Provider, available, chosen_by

SPINNING = "session.intra_op.allow_spinning"  # "0": threads without work sleep

# Options of callers, with their own providers, to which padops has been added.
_LIKE_THE_CALLERS: weakref.WeakSet[onnxruntime.SessionOptions] = weakref.WeakSet()


def prepare(
    model: str | bytes | os.PathLike[str],
    words: frozenset[bytes],
    sess_options: onnxruntime.SessionOptions | None,
    providers: Sequence[Provider] | None,
    provider_options: Sequence[Mapping[Any, Any]] | None = None,
    named: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], Rules, bool]:
    """Add padops to the session arguments for a model that contains ``words``.

    Returns:
        The arguments of ``onnxruntime.InferenceSession`` after the model; the rules of the providers, by their names
        (empty if padops is no provider); and whether the options have providers of the caller.

    Raises:
        Exception: As ``padops.InferenceSession`` for wrong arguments.
    """
    if not isinstance(sess_options, onnxruntime.SessionOptions | None):
        raise TypeError(f"sess_options is {type(sess_options).__name__}, expected onnxruntime.SessionOptions")
    kwargs = dict(named or {})
    file, rules, minor = kwargs.pop("rules", None), BY_NAME, runtime_minor()
    if file is not None and (not providers or minor < FIRST_MINOR):
        raise ValueError(f"rules needs onnxruntime 1.{FIRST_MINOR} or newer, and the rules' provider among providers")
    options = onnxruntime.SessionOptions() if sess_options is None else sess_options
    of_the_caller = not providers and options in _LIKE_THE_CALLERS
    if minor >= FIRST_MINOR:
        if not providers and options.has_providers() and not (is_provided(options) or placing.placed_rules(options)):
            options = placing.with_own_providers(model, options, b"Pad" in words, minor)
            _LIKE_THE_CALLERS.add(options)
            of_the_caller = True
        elif of_the_caller:
            pass  # these options have padops already: from another session, or from before a conversion
        elif providers or placing.placed_rules(options) is None:
            chosen = chosen_by(providers, provider_options)
            # onnxruntime warns about known providers that this build lacks, and omits them.
            placing.check_there([row.name for row in chosen if not row.devices], onnxruntime.get_all_providers())
            rules = placing.rules_for(file, chosen)
            for row in chosen if b"Pad" in words else ():
                if row.name in available() and row.name not in (*rules, *OURS, CPU, AZURE):
                    warn_once(f"{row.name}: {without_rules(row.name)}")
            chosen = placing.with_padops(chosen, available(), rules)
            if sess_options is None and b"Pad" in words and placing.stands_before_threads(chosen, rules):
                options.add_session_config_entry(SPINNING, "0")
            providers, provider_options = placing.place(options, chosen, minor, rules), None
        rules = placing.placed_rules(options) or rules
        kwargs.setdefault("enable_fallback", 0)
    if DOMAIN in words:
        # The caller may use the options for other models, too.
        register(options, operators=[name for name in OPS if name.encode() in words] if sess_options is None else None)
    if PYTHON_DOMAIN in words:
        register(options, backend="pyop")
    wrong = wrong_optimizers(words, minor)
    if FOLDING in wrong and not pads_constants(model):
        # Without ConstantFolding, OpenVINO gets constant parts and cannot run some of them.
        wrong.remove(FOLDING)
    if wrong:
        kwargs["disabled_optimizers"] = {*(kwargs.get("disabled_optimizers") or ()), *wrong}
    arguments = {"sess_options": options, "providers": providers, "provider_options": provider_options, **kwargs}
    return arguments, rules if minor >= FIRST_MINOR else {}, of_the_caller
