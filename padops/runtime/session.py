"""Registers padops in the options of onnxruntime sessions, and prepares the arguments of a session."""

from __future__ import annotations

import os
import weakref
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import onnxruntime

from padops.runtime import model_words, placing
from padops.runtime.chosen import AZURE, Provider, available, chosen_by
from padops.runtime.library import get_library_path
from padops.runtime.provider import CPU, EP_NAMES, FIRST_MINOR, runtime_minor
from padops.runtime.provider_rules import BY_NAME, Rules, warn_once, without_rules
from padops.spec.dialects import OPS

SPINNING = "session.intra_op.allow_spinning"  # "0": threads without work sleep
OPERATORS = "padops.operators"  # the configuration entry that tells the library which operators to register
_named: weakref.WeakKeyDictionary[onnxruntime.SessionOptions, frozenset[str] | None] = weakref.WeakKeyDictionary()


def register(
    session_options: onnxruntime.SessionOptions,
    backend: Literal["native", "pyop"] = "native",
    provider: bool = False,
    provider_options: Mapping[str, str] | None = None,
    providers: Sequence[Provider] | None = None,
    operators: Collection[str] | None = None,
    extensions: bool = True,
    rules: str | os.PathLike[str] | None = None,
) -> None:
    """Register the operators of padops, and on request its execution provider, in the options of future sessions.

    A second call with the same arguments does nothing.

    Args:
        session_options: The options of the future sessions.
        backend: ``"native"``: the compiled library, which has the operators of the domain ``padops``. ``"pyop"``: the
            Python kernel of the domain ``padops.pyop``; it needs ``pip install "padops[pyop]"`` and registers the
            library of onnxruntime-extensions, unless the options already have it. You may register both backends.
        provider: Whether to add padops' execution provider, which runs the standard Pads of unconverted models. It
            comes behind the providers that the options already have, and needs onnxruntime 1.24. Create the session
            without ``providers=``, which would replace all these providers.
        provider_options: The provider's options. ``claim``: ``"all"`` Pads (the default), or ``"needed"``: only Pads
            that onnxruntime's own Pad cannot run or may get wrong. ``float16``: ``"leave"`` (the default) leaves a
            float16 Pad to onnxruntime if onnxruntime's own Pad is surely right, so that the Pad and neighbours without
            float16 kernels can stay in float32. ``"native"`` claims these Pads, too.
        providers: Other providers of the sessions, first choice first, as in ``padops.InferenceSession``. padops adds
            all of them to the options, and its own provider before the CPU's. If a provider is known to fail on some
            Pads, another provider of padops comes before that provider. The options must not have other providers yet.
        operators: The operators of the native library to register, such as ``["Pad_18"]``; by default all. Registering
            all of them adds about a millisecond to the creation of a session.
        extensions: Only for the backend ``"pyop"``: pass ``False`` if you will register the library of
            onnxruntime-extensions in these options yourself. onnxruntime accepts the library only once.
        rules: A file from ``padops probe`` with the rules of one of ``providers``. By default, rules that this user
            has measured with the same versions, devices, processor and options, else padops' own rules.

    Raises:
        OSError: The package has been installed without its library, or ``rules`` cannot be read.
        RuntimeError: onnxruntime refuses the library or is too old for the provider, or the extra ``pyop`` is missing.
        TypeError: ``session_options`` is not SessionOptions, or ``provider`` is neither True nor False.
        ValueError: An argument has a wrong value, contradicts an earlier call or needs a missing argument; or the
            options have the library of onnxruntime-extensions twice, or got it before padops defined its kernel.
    """
    _check_options("session_options", session_options)
    if not isinstance(provider, bool):
        raise TypeError(f"provider is {provider!r}, expected True or False; use provider_options for options")
    if provider_options and not provider:
        raise ValueError(f"provider_options are {dict(provider_options)!r}, but provider is not True")
    if backend not in ("native", "pyop"):
        raise ValueError(f"backend is {backend!r}, expected 'native' or 'pyop'")
    if not extensions and backend != "pyop":
        raise ValueError("extensions is False, but the backend is not 'pyop'")
    named = _known(operators, backend)
    if providers is not None and not provider:
        raise ValueError("providers are given, but provider is not True")
    if rules is not None and not providers:
        raise ValueError("rules are given, but no providers")
    if providers is not None:
        chosen = chosen_by(providers, None)
        found = placing.rules_for(rules, chosen)
        placing.register_provider_library()
        placing.put(session_options, placing.with_padops(chosen, available(), found, provider_options), found)
    elif provider:
        placing.add_provider(session_options, provider_options)
    if backend == "pyop":
        from padops.runtime import pyop

        pyop.register(session_options, extensions)
    elif session_options in _named:
        has = _named[session_options]
        if has is not None and (named is None or not named <= has):
            raise ValueError(
                f"session_options have only {', '.join(sorted(has))} of padops' operators; use new SessionOptions"
            )
    else:
        if named is not None:
            session_options.add_session_config_entry(OPERATORS, ",".join(sorted(named)))
        path = get_library_path()
        try:
            session_options.register_custom_ops_library(path)
        except Exception as error:
            raise RuntimeError(
                f"onnxruntime {onnxruntime.__version__} could not load {path}: {error}. padops needs onnxruntime 1.20 "
                "or newer, on the platform that the wheel was built for; 'padops info' prints version and platform"
            ) from error
        _named[session_options] = named


def _known(operators: Collection[str] | None, backend: str) -> frozenset[str] | None:
    """Check and return the names in ``operators``; None stands for all."""
    if operators is None:
        return None
    if backend != "native":
        raise ValueError(f"operators are {operators!r}, but the backend 'pyop' has only one operator")
    if isinstance(operators, (str, bytes)) or not isinstance(operators, Collection):
        raise ValueError(f"operators is {operators!r}, expected a list of names")
    if unknown := [name for name in operators if name not in OPS]:
        raise ValueError(f"operators has {', '.join(map(repr, unknown))}; expected some of {', '.join(OPS)}")
    return frozenset(operators)


def _check_options(name: str, options: object) -> None:
    if not isinstance(options, onnxruntime.SessionOptions):
        raise TypeError(f"{name} is {type(options).__name__}, expected onnxruntime.SessionOptions")


def prepare(
    model: str | bytes | os.PathLike[str],
    words: frozenset[bytes],
    sess_options: onnxruntime.SessionOptions | None,
    providers: Sequence[Provider] | None,
    provider_options: Sequence[Mapping[Any, Any]] | None = None,
    named: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], Rules, bool]:
    """Add padops to the arguments of ``padops.InferenceSession`` for a model that contains ``words``.

    Returns:
        The arguments of ``onnxruntime.InferenceSession`` after the model; the rules of the providers, by their names
        (empty if onnxruntime is too old for padops' provider); and whether the caller added providers to the options.
    """
    options = onnxruntime.SessionOptions() if sess_options is None else sess_options
    _check_options("sess_options", options)
    kwargs, has_pad = dict(named or {}), b"Pad" in words
    file, rules, minor = kwargs.pop("rules", None), BY_NAME, runtime_minor()
    if file is not None and (not providers or minor < FIRST_MINOR):
        raise ValueError(f"rules= needs onnxruntime 1.{FIRST_MINOR} or newer, and the rules' provider in providers=")
    of_the_caller = False
    if minor >= FIRST_MINOR:
        before = placing.placed.get(options)
        of_the_caller = not providers and options.has_providers() and (before is None or before.of_the_caller)
        if of_the_caller and before is None:
            options = placing.with_own_providers(model, options, has_pad, minor)
            placing.placed[options].of_the_caller = True
        elif not of_the_caller and (providers or before is None or before.rules is None):
            chosen = chosen_by(providers, provider_options)
            # onnxruntime warns about known providers that this build lacks, and omits them.
            placing.check_there([row.name for row in chosen if not row.devices], onnxruntime.get_all_providers())
            rules = placing.rules_for(file, chosen)
            for row in chosen if has_pad else ():
                if row.name in available() and row.name not in (*rules, *EP_NAMES, CPU, AZURE):
                    warn_once(f"{row.name}: {without_rules(row.name)}")
            chosen = placing.with_padops(chosen, available(), rules)
            if sess_options is None and has_pad and placing.stands_before_threads(chosen, rules):
                options.add_session_config_entry(SPINNING, "0")
            providers, provider_options = placing.place(options, chosen, minor, rules), None
        after = placing.placed.get(options)
        rules = (after and after.rules) or rules
        kwargs.setdefault("enable_fallback", 0)
    if model_words.DOMAIN in words:
        # The caller may use the options for other models, too.
        register(options, operators=[name for name in OPS if name.encode() in words] if sess_options is None else None)
    if model_words.PYTHON_DOMAIN in words:
        register(options, backend="pyop")
    wrong = model_words.wrong_optimizers(words, minor)
    if model_words.FOLDING in wrong and not model_words.pads_constants(model):
        # Without ConstantFolding, OpenVINO gets constant parts and cannot run some of them.
        wrong.remove(model_words.FOLDING)
    if wrong:
        kwargs["disabled_optimizers"] = {*(kwargs.get("disabled_optimizers") or ()), *wrong}
    arguments = {"sess_options": options, "providers": providers, "provider_options": provider_options, **kwargs}
    return arguments, rules if minor >= FIRST_MINOR else {}, of_the_caller
