"""Adds padops to SessionOptions that already have providers: devices, a device policy, or built-in providers.

onnxruntime neither exposes the providers of options nor inserts a provider before them. But it exposes the providers of
a session, and passes the configuration to padops' provider. So padops copies the caller's options if padops must stand
in front, or if an added provider would override the policy. It raises an error if it cannot copy a part of them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from padops.extras import NeedingOnnxruntime
from padops.plural import plural
from padops.runtime.chosen import AZURE, OURS, Chosen, devices_of
from padops.runtime.model_words import dim_names
from padops.runtime.placing import place, put, rules_for, with_padops
from padops.runtime.provider import CPU, FIRST_MINOR_BY_NAME, FIRST_NAME, add_provider, register_provider_library
from padops.runtime.provider_rules import needing_padops

with NeedingOnnxruntime("padops.InferenceSession"):
    import onnxruntime

WEBGPU = "WebGpuExecutionProvider"
WAY = (
    "take new SessionOptions and name them in providers= instead, with their options or as devices: "
    "padops.InferenceSession(model, options, providers=[(name or devices, {...}), 'CPUExecutionProvider'])"
)


def with_own_providers(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, has_pad: bool, minor: int
) -> onnxruntime.SessionOptions:
    """Return the caller's options with padops after their providers, or new options with both.

    Raises:
        RuntimeError: New options would lose a part of the caller's; the message suggests a remedy.
    """
    register_provider_library()
    plugins = {device.ep_name for device in onnxruntime.get_ep_devices()} - {CPU, *OURS}
    built_in = [name for name in onnxruntime.get_available_providers() if name not in (CPU, AZURE, *OURS, *plugins)]
    if not plugins:
        _check_in_front(model, options, built_in if has_pad else [], minor)
        add_provider(options)
        return options
    if WEBGPU in built_in or minor < FIRST_MINOR_BY_NAME:
        # Two WebGPU sessions with the same options end the process; older releases do not expose the configuration.
        raise RuntimeError(
            f"onnxruntime {onnxruntime.__version__} does not tell which providers these options have; {WAY}"
        )
    return _twin(model, options, set(built_in))


def _check_in_front(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, built_in: Sequence[str], minor: int
) -> None:
    """Raise RuntimeError if padops must stand before a provider of ``built_in``, which the options may have."""
    behind = needing_padops(built_in)
    alone = onnxruntime.SessionOptions()
    alone.log_severity_level = 4
    if behind and (pads := _report(model, alone if minor < FIRST_MINOR_BY_NAME else options, behind, minor)[1]):
        raise RuntimeError(
            f"{' or '.join(behind)} does not run {plural(len(pads), 'Pad')} of this model right "
            f"({', '.join(map(repr, pads[:5]))}), and padops cannot stand before a provider that SessionOptions have "
            f"already; {WAY}"
        )


def _twin(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, built_in: set[str]
) -> onnxruntime.SessionOptions:
    """Copy the options with padops added; if they have only the CPU's provider, add padops to them."""
    dims = dim_names(model)
    profiling, options.enable_profiling = options.enable_profiling, False
    saved, options.optimized_model_filepath = options.optimized_model_filepath, ""
    try:
        seen = onnxruntime.InferenceSession(_identity(dims), options, enable_fallback=0)
        entries, _ = _report(_identity(()), options, (), FIRST_MINOR_BY_NAME)
    except Exception as error:
        raise RuntimeError(
            f"these options have providers, and not even one Identity runs with them ({error}); {WAY}"
        ) from error
    finally:
        options.enable_profiling, options.optimized_model_filepath = profiling, saved
    names, given = seen.get_providers(), seen.get_provider_options()
    others = [name for name in names if name not in (CPU, AZURE, *OURS)]
    if not others:
        add_provider(options)
        return options
    if lost := sorted(built_in.intersection(others)):
        raise RuntimeError(f"onnxruntime does not tell the options of {' and '.join(lost)}; {WAY}")
    # A session of onnxruntime 1.25 does not expose the options of plugin providers, but the configuration has them.
    prefixes = {name: f"ep.{name.lower()}." for name in names}
    chosen = []
    for name, prefix in prefixes.items():
        own = {key.removeprefix(prefix): value for key, value in entries.items() if key.startswith(prefix)}
        if name not in OURS:
            chosen.append(Chosen(name, {**own, **given[name]}))
            if len(devices_of(chosen[-1])) != 1:
                raise RuntimeError(f"onnxruntime does not tell which devices of {name} these options have; {WAY}")
    made = onnxruntime.SessionOptions()
    for name, kind in vars(onnxruntime.SessionOptions).items():
        if isinstance(kind, property):
            setattr(made, name, getattr(options, name))
    for key, value in entries.items():
        if not key.startswith(tuple(prefixes.values())):
            made.add_session_config_entry(key, value)
    for name, size in zip(dims, seen.get_inputs()[0].shape, strict=True):
        if isinstance(size, int):
            made.add_free_dimension_override_by_name(name, size)
    rules = rules_for(None, chosen)
    put(made, with_padops(chosen, rules=rules), rules)
    return made


def _report(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, behind: Sequence[str], minor: int
) -> tuple[dict[str, str], list[str]]:
    """Return the configuration of options, and the Pads that padops would claim before the providers ``behind``.

    Both come from a temporary session without the options' own providers.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report")
        chosen = [Chosen(FIRST_NAME, {"before": ",".join(behind), "report": str(file)}), Chosen(CPU, {})]
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")  # onnxruntime warns that the options have other providers
            # The caller's own session raises the errors of the model.
            onnxruntime.InferenceSession(model, options, place(options, chosen, minor), enable_fallback=0)
        parts = file.read_bytes().decode().split("\0") if file.is_file() else []
    entries, pads, rest = {}, [], iter(parts)
    for kind in rest:
        if kind == "pad":
            pads.append(next(rest))
        elif kind:  # the last part is empty
            entries[next(rest)] = next(rest)
    return entries, pads


def _identity(dims: Sequence[str]) -> bytes:
    """Serialize a model of one Identity whose input has dims with these names."""
    shape = b"".join(_field(1, _field(2, name.encode())) for name in dims)
    kind = _field(2, _field(1, _field(1, 1), _field(2, shape)))  # a tensor of float
    values = [_field(number, _field(1, name), kind) for number, name in ((11, b"x"), (12, b"y"))]
    node = _field(1, _field(1, b"x"), _field(2, b"y"), _field(4, b"Identity"))
    graph = _field(7, node, _field(2, b"identity"), *values)
    return _field(1, 8) + graph + _field(8, _field(2, 13))  # IR version 8, opset 13


def _field(number: int, *content: bytes | int) -> bytes:
    """Return a field of a protobuf message: a number, or bytes with their length."""
    if isinstance(content[0], int):
        return _varint(number << 3) + _varint(content[0])
    whole = b"".join(part for part in content if isinstance(part, bytes))
    return _varint(number << 3 | 2) + _varint(len(whole)) + whole


def _varint(number: int) -> bytes:
    content = bytearray()
    while number > 127:
        content.append(number & 127 | 128)
        number >>= 7
    return bytes([*content, number])
