"""onnxruntime's InferenceSession with everything of padops in it."""

from __future__ import annotations

import mmap
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from padops.extras import NeedingOnnxruntime
from padops.runtime.provider import (
    CPU,
    EP_NAME,
    FIRST_MINOR,
    FIRST_MINOR_BY_NAME,
    add_provider,
    check_options,
    register_provider_library,
    runtime_minor,
)
from padops.runtime.session import register

with NeedingOnnxruntime("padops.InferenceSession"):
    import onnxruntime

AZURE = "AzureExecutionProvider"  # every wheel lists it; it runs no operator of the standard

Provider = str | tuple[str, Mapping[Any, Any]]

AXES = b"a Pad with axes"  # no word of the model: it stands for a Pad that has this input

# What onnxruntime does to Pads before it asks a provider, the words that a model with such Pads contains, and the first
# onnxruntime 1.x that does it right (None: not yet). docs/fusions.md has what was measured.
WRONG_OPTIMIZERS: tuple[tuple[str, tuple[bytes, ...], int | None], ...] = (
    # A constant Pad of 0 becomes the padding of a MaxPool, which is minus infinity.
    ("Pad_Fusion", (b"Pad", b"MaxPool"), 32),
    # It becomes the padding of an AveragePool, which ceil_mode counts otherwise, and which must be less than the kernel.
    ("Pad_Fusion", (b"Pad", b"AveragePool"), 32),
    # Its own kernel runs a Pad of constant data: it reads past them, or refuses the model, to reflect more than once;
    # it leaves zeros behind the first period of a wrap.
    ("ConstantFolding", (b"Pad", b"reflect"), 27),
    ("ConstantFolding", (b"Pad", b"wrap"), 31),
    # A Transpose is moved through a Pad, whose amounts are reordered as though they were those of all axes.
    ("TransposeOptimizer", (AXES, b"Transpose"), None),
    ("TransposeOptimizer_CPUExecutionProvider", (AXES, b"Transpose"), None),
    # The same with Transposes that it puts around quantized convolutions.
    ("NhwcTransformer", (AXES, b"QLinearConv"), None),
    ("NhwcTransformer", (AXES, b"QuantizeLinear"), None),
)

DOMAIN = b"padops"  # of the operators
WORDS = (DOMAIN, *sorted({word for _, words, _ in WRONG_OPTIMIZERS for word in words} - {AXES}))

# Where nodes are in a model, by the numbers of the fields; and what else of a node is read.
WITHIN = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {6: "graph", 11: "graph"},
}
INPUT, OPERATOR = 1, 4


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]  # onnxruntime has no types
    """``onnxruntime.InferenceSession``, for models with any Pad, converted or not.

    It has the operators of the domain ``padops`` where the model uses them, and from onnxruntime 1.24 on padops' execution
    provider, which runs the Pads of the model as it is. Older releases have the operators alone, and a warning says so: convert
    the model for them.

    The provider stands directly before ``CPUExecutionProvider``, so it takes what the processor would run, and no node from
    providers before it. Name ``"PadopsExecutionProvider"`` in ``providers`` to put it elsewhere or to give it options: see
    ``padops.register``.

    Some optimizers of onnxruntime change Pads before any provider is asked, and are wrong. They are disabled for models that
    may meet them: ``Pad_Fusion`` before onnxruntime 1.32 where the model has a MaxPool or an AveragePool; ``ConstantFolding``
    before 1.27 where it has mode reflect, and before 1.31 where it has mode wrap; ``TransposeOptimizer`` where it has a Pad
    with axes and a Transpose, and ``NhwcTransformer`` where it has such a Pad and quantized operators.

    Where a provider cannot be created, the error is raised: onnxruntime's own class would print it and go on with the CPU's
    provider alone, without padops. ``enable_fallback=1`` makes it so here.

    Args:
        path_or_bytes: The model: its file, or its content.
        sess_options: The session's options. They keep what is registered in them; take others for other providers.
        providers: Execution providers, first choice first; by default all that this onnxruntime has.
        provider_options: One mapping for each provider, where ``providers`` has names alone.
        **kwargs: As ``onnxruntime.InferenceSession`` takes them.

    Raises:
        FileNotFoundError: padops has been installed without its library.
        RuntimeError: onnxruntime refuses the library.
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
        if not isinstance(sess_options, onnxruntime.SessionOptions | None):
            raise TypeError(f"sess_options is {type(sess_options).__name__}, expected onnxruntime.SessionOptions")
        self._padops_arguments = (path_or_bytes, sess_options, dict(kwargs))
        options = onnxruntime.SessionOptions() if sess_options is None else sess_options
        words = words_of(path_or_bytes)
        if DOMAIN in words:
            register(options)  # it takes longer than all else here: 16 operators with a kernel for each type
        minor = runtime_minor()
        if minor >= FIRST_MINOR:
            chosen = _with_padops(_pairs(providers, provider_options))
            providers, provider_options = _place(options, chosen, minor), None
            kwargs.setdefault("enable_fallback", 0)
        elif b"Pad" in words and DOMAIN not in words:
            warnings.warn(
                f"onnxruntime {onnxruntime.__version__} has no execution providers of libraries, so its own kernels run the Pads "
                f"of this model; padops runs them from 1.{FIRST_MINOR} on, or after 'padops convert'",
                stacklevel=2,
            )
        if wrong := wrong_optimizers(words, minor):
            kwargs["disabled_optimizers"] = {*(kwargs.get("disabled_optimizers") or ()), *wrong}
        super().__init__(path_or_bytes, options, providers, provider_options, **kwargs)

    def set_providers(
        self, providers: Sequence[Provider] | None = None, provider_options: Sequence[Mapping[Any, Any]] | None = None
    ) -> None:
        """Creates the session anew with other providers, as the constructor does.

        Args:
            providers: As for the constructor.
            provider_options: As for the constructor.

        Raises:
            ValueError: The session was created with options of the caller's, which keep their providers.
            Exception: As the constructor.
        """
        model, options, kwargs = self._padops_arguments
        if options is not None:
            raise ValueError(
                "this session has SessionOptions of yours, which keep their providers; create a new session with new ones"
            )
        InferenceSession.__init__(self, model, None, providers, provider_options, **kwargs)


def words_of(model: str | bytes | os.PathLike[str]) -> frozenset[bytes]:
    """Which of the words that matter here stand in a model; all of them where it cannot be read.

    A node's operator, its domain and its mode stand in a model as they are written. So a model without the word has no such
    node, and one with it may have one.
    """
    if isinstance(model, bytes):
        return _words_in(model)
    try:
        with open(os.fspath(model), "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _words_in(content)
    except (OSError, ValueError, TypeError):  # no file, an empty one, no path: onnxruntime says what is wrong with it
        return frozenset((*WORDS, AXES))


def _words_in(content: bytes | mmap.mmap) -> frozenset[bytes]:
    found = {word for word in WORDS if content.find(word) >= 0}
    asked = {word for _, words, _ in WRONG_OPTIMIZERS if AXES in words for word in words}
    try:
        has_axes = bool(found & asked) and _has_axes(content, 0, len(content))
    except (IndexError, KeyError, RecursionError):  # it is no model: onnxruntime says so
        has_axes = True
    return frozenset(found | {AXES} if has_axes else found)


def _has_axes(content: bytes | mmap.mmap, start: int, end: int, kind: str = "model") -> bool:
    """Whether part of a model is, or holds, a Pad with a fourth input, which is its axes."""
    if content.find(b"Pad", start, end) < 0:
        return False
    inputs, operator = 0, b""
    for number, first, last in _fields(content, start, end):
        inner = WITHIN[kind].get(number)
        if inner is not None and _has_axes(content, first, last, inner):
            return True
        if kind == "node" and number == INPUT:
            inputs += 1
        elif kind == "node" and number == OPERATOR:
            operator = content[first:last]
    return operator == b"Pad" and inputs > 3


def _fields(content: bytes | mmap.mmap, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a message that have a length: the number, and where the content begins and ends."""
    while at < end:
        key, at = _varint(content, at)
        if key & 7 == 2:
            size, at = _varint(content, at)
            yield key >> 3, at, at + size
            at += size
        elif key & 7 == 0:
            _, at = _varint(content, at)
        else:
            at += {1: 8, 5: 4}[key & 7]


def _varint(content: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    """A number as a message has it, and where it ends."""
    number = shift = 0
    while content[at] & 128:
        number |= (content[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return number | content[at] << shift, at + 1


def wrong_optimizers(words: frozenset[bytes], minor: int) -> set[str]:
    """The optimizers of onnxruntime 1.``minor`` that may change a Pad wrongly, of a model with these words."""
    suspects = [row for row in WRONG_OPTIMIZERS if row[2] is None or minor < row[2]]
    return {name for name, needed, _ in suspects if words.issuperset(needed)}


def _pairs(
    providers: Sequence[Provider] | None, options: Sequence[Mapping[Any, Any]] | None
) -> list[tuple[str, dict[Any, Any]]]:
    """Names and options, of whatever form that onnxruntime takes."""
    if isinstance(providers, str):
        raise TypeError(f"providers is {providers!r}, expected a list of names")
    if not providers:
        # padops is listed last once it is registered.
        left = (AZURE, EP_NAME)
        return [(name, {}) for name in onnxruntime.get_available_providers() if name not in left]
    named = [(entry, {}) if isinstance(entry, str) else (entry[0], dict(entry[1])) for entry in providers]
    if options is None:
        return named
    if len(options) != len(named):
        raise ValueError(f"provider_options has {len(options)} entries, providers {len(named)}")
    return [(name, {**own, **given}) for (name, own), given in zip(named, options)]


def _with_padops(pairs: list[tuple[str, dict[Any, Any]]]) -> list[tuple[str, dict[Any, Any]]]:
    """The same with padops before the CPU's, which comes last by itself."""
    names = [name for name, _ in pairs]
    if EP_NAME in names:
        return pairs if CPU in names else [*pairs, (CPU, {})]
    at = names.index(CPU) if CPU in names else len(names)
    own: list[tuple[str, dict[Any, Any]]] = [(EP_NAME, {})]
    return [*pairs[:at], *own, *(pairs[at:] or [(CPU, {})])]


def _place(
    options: onnxruntime.SessionOptions, chosen: list[tuple[str, dict[Any, Any]]], minor: int
) -> list[tuple[str, dict[Any, Any]]] | None:
    """Puts the providers into the options where they can go there; else returns what ``providers=`` is to be."""
    names = [name for name, _ in chosen]
    if names == [EP_NAME, CPU] and not chosen[1][1]:
        add_provider(options, chosen[0][1])
        return None
    devices = register_provider_library()
    check_options(dict(chosen).get(EP_NAME, {}))
    if minor >= FIRST_MINOR_BY_NAME:
        return chosen
    if not options.has_providers():  # else these are theirs from an earlier session
        for name, given in chosen:  # of these, onnxruntime leaves out what it knows and this build does not have
            own = {str(key): str(value) for key, value in given.items()}
            if name in (EP_NAME, CPU):
                options.add_provider_for_devices([devices[name]], own)
            elif name in onnxruntime.get_available_providers() and name != AZURE:
                options.add_provider(name, own)
            elif name not in onnxruntime.get_all_providers():
                raise ValueError(f"onnxruntime {onnxruntime.__version__} knows no provider {name}")
    return None
