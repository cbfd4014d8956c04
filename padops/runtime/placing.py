"""Places padops' providers among the providers of a session.

A session accepts providers in two ways. ``providers=`` accepts names and leaves the options unchanged, but silently
drops a name that onnxruntime knows and this build lacks. ``SessionOptions.add_provider_for_devices`` accepts devices,
and appends them to the providers that the options already have. So padops uses names if they work, else devices.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import warnings
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnxruntime

from padops.plural import plural
from padops.runtime.chosen import AZURE, Chosen, available, devices_of, plugin_version
from padops.runtime.library import get_library_path
from padops.runtime.model_words import dim_names
from padops.runtime.provider import CPU, EP_NAME, EP_NAMES, FIRST_MINOR, FIRST_MINOR_BY_NAME, FIRST_NAME, runtime_minor
from padops.runtime.provider_rules import BY_NAME, RULED, Rules, of_plugin, rules_with, with_measured, without_rules

_LIBRARY = "padops.python"  # the library's name in onnxruntime; callers who register it themselves may use "padops"
_registering = threading.Lock()


@dataclass
class Placed:
    """The providers that padops has added to SessionOptions; several sessions may use the same options."""

    chosen: list[Chosen]
    rules: Rules | None = None  # the rules of these providers; None for padops' provider alone
    of_the_caller: bool = False  # whether the options have providers of the caller, too


placed: weakref.WeakKeyDictionary[onnxruntime.SessionOptions, Placed] = weakref.WeakKeyDictionary()


def register_provider_library() -> dict[str, onnxruntime.OrtEpDevice]:
    """Register the library, once per process; return each provider's first device, by the provider's name."""
    if runtime_minor() < FIRST_MINOR:
        raise RuntimeError(
            f"padops' execution provider needs onnxruntime 1.{FIRST_MINOR} or newer, this is "
            f"{onnxruntime.__version__}; 'padops convert' and padops.register(options) work without the provider"
        )
    with _registering:
        if all(device.ep_name != EP_NAME for device in onnxruntime.get_ep_devices()):
            path = get_library_path()
            try:
                onnxruntime.register_execution_provider_library(_LIBRARY, path)
            except Exception as error:
                raise RuntimeError(f"onnxruntime {onnxruntime.__version__} could not load {path}: {error}") from error
        return {device.ep_name: device for device in reversed(onnxruntime.get_ep_devices())}


# The provider's options and their values, the default first. Only Python reads the last option.
OPTIONS = {"claim": ("all", "needed"), "float16": ("leave", "native"), "in_front": ("needed", "never")}


def check_options(provider_options: Mapping[str, str]) -> None:
    """Raise ValueError if padops' provider does not know an option, or if an option has a forbidden value."""
    for name, value in provider_options.items():
        if name not in OPTIONS:
            *names, last = OPTIONS
            raise ValueError(f"{EP_NAME}: there is no option {name}, only {', '.join(names)} and {last}")
        if value not in OPTIONS[name]:
            raise ValueError(f"{EP_NAME}: option {name} is {value!r}, expected {' or '.join(OPTIONS[name])}")


def add_provider(
    session_options: onnxruntime.SessionOptions, provider_options: Mapping[str, str] | None = None
) -> None:
    """Append padops' provider to options, and the CPU's if they had no providers; a second call adds nothing."""
    own = Chosen(EP_NAME, dict(provider_options or {}))
    check_options(own.options)
    devices = register_provider_library()
    if session_options in placed:
        before = next((one.options for one in placed[session_options].chosen if one.name == EP_NAME), {})
        if own.options and own.options != before:
            raise ValueError(
                f"these SessionOptions have {EP_NAME} with {before} already; use new SessionOptions for {own.options}"
            )
        return
    # If the options have providers, the CPU's may be among them; onnxruntime puts the CPU's last anyway.
    chosen = [own] if session_options.has_providers() else [own, Chosen(CPU, {})]
    for one in chosen:
        session_options.add_provider_for_devices([devices[one.name]], one.options)
    placed[session_options] = Placed(chosen)


def told_of_providers() -> dict[str, str]:
    """Return the source of the rules for each of onnxruntime's providers, except the CPU's, Azure's and padops'."""
    if runtime_minor() < FIRST_MINOR:
        return {}
    names = [*onnxruntime.get_available_providers(), *(device.ep_name for device in onnxruntime.get_ep_devices())]
    others = dict.fromkeys(name for name in names if name not in (CPU, AZURE, *EP_NAMES))
    rules = with_measured(BY_NAME, [Chosen(name, {}) for name in others])
    told = dict.fromkeys(others, "")
    for name in others:
        if (row := rules.get(name)) is None:
            told[name] = without_rules(name)
        elif row is not BY_NAME.get(name):
            told[name] = f"rules measured here: {row.file}"
        else:
            told[name] = f"rules of {row.version}" if row.was_run else "rules read in its source, not run"
    return told


def unknown_provider(names: Iterable[str]) -> str:
    """Return the error for the first name that neither padops nor onnxruntime knows; "" if there is none.

    A known provider need not be installed.
    """
    known = dict.fromkeys((*RULED, *onnxruntime.get_all_providers(), *available()))
    unknown = next((name for name in names if name not in known), None)
    told = f"onnxruntime {onnxruntime.__version__} knows no provider {unknown}; expected one of "
    return "" if unknown is None else told + ", ".join(known)


def check_there(names: Iterable[str], also: Collection[str] = ()) -> None:
    """Raise ValueError for a named provider that is neither in this onnxruntime nor in ``also``."""
    there = available()
    if absent := [name for name in names if name not in there and name not in (*EP_NAMES, *also)]:
        has = ", ".join(sorted(there))
        raise ValueError(f"onnxruntime {onnxruntime.__version__} has no provider {absent[0]} here; it has {has}")


def with_padops(
    chosen: Sequence[Chosen],
    there: Collection[str] | None = None,
    rules: Rules = BY_NAME,
    options: Mapping[str, str] | None = None,
) -> list[Chosen]:
    """Return the chosen providers with padops among them; padops has ``options`` unless the caller has named padops.

    padops comes directly before the CPU's provider, which is appended if it is absent. If a provider refuses
    some Pads, computes them wrong or crashes on them, another provider of padops comes before the first such provider.
    This choice ignores providers that are not in ``there``, because onnxruntime omits them; if ``there`` is None, it
    considers all.
    """
    names = [one.name for one in chosen]
    among = list(chosen)
    if EP_NAME not in names:
        at = names.index(CPU) if CPU in names else len(names)
        among.insert(at, Chosen(EP_NAME, dict(options or {})))
    if CPU not in names:
        among.append(Chosen(CPU, {}))
    names = [one.name for one in among]
    own = names.index(EP_NAME)
    check_options(among[own].options)
    asked = [one for one in among[:own] if one.name in rules and (there is None or one.name in there)]
    versions = {one.name: plugin_version(one) for one in asked}
    behind = {name: version for name, version in versions.items() if of_plugin(rules[name], version).needs_padops}
    if behind and FIRST_NAME not in names and among[own].options.get("in_front") != "never":
        among.insert(names.index(next(iter(behind))), Chosen(FIRST_NAME, in_front_of(behind, rules)))
    return among


def in_front_of(versions: Mapping[str, str], rules: Rules) -> dict[str, str]:
    """Return ``PadopsFirstExecutionProvider``'s options: the providers behind it, their versions, and rule files."""
    files = [os.path.abspath(rules[name].file) for name in versions if rules[name] is not BY_NAME.get(name)]
    before = ",".join(f"{name} {version}".rstrip() for name, version in versions.items())
    return {"before": before} | ({"rules": "\n".join(dict.fromkeys(files))} if files else {})


def stands_before_threads(chosen: Sequence[Chosen], rules: Rules) -> bool:
    """Return whether padops comes before OpenVINO's provider, which computes on the CPU with its own threads.

    onnxruntime's threads spin after each node, and take CPU time from OpenVINO's threads. If no Pad of padops stood
    between OpenVINO's nodes, OpenVINO would run the whole network, and onnxruntime's threads would sleep.
    """
    before = ",".join(str(one.options.get("before", "")) for one in chosen if one.name == FIRST_NAME)
    names = {part.partition(" ")[0] for part in before.split(",")}
    return any(rules[name].fuses for name in names.intersection(rules))


def place(
    options: onnxruntime.SessionOptions, chosen: list[Chosen], minor: int, rules: Rules = BY_NAME
) -> list[tuple[str, dict[Any, Any]]] | None:
    """Return the value for ``providers=`` if names suffice; else add the providers to the options, and return None.

    The options have no providers except those that this function has added.
    """
    before = placed.get(options)
    if [one.name for one in chosen] == [EP_NAME, CPU] and not chosen[1].options and not (before and before.rules):
        add_provider(options, chosen[0].options)
        return None
    register_provider_library()
    if minor >= FIRST_MINOR_BY_NAME and not any(one.name not in (*EP_NAMES, CPU) and devices_of(one) for one in chosen):
        return [(one.name, one.options) for one in chosen]
    put(options, chosen, rules)
    return None


def rules_for(file: str | os.PathLike[str] | None, chosen: Sequence[Chosen]) -> Rules:
    """Return a session's rules: from the caller's file, else the user's measured rules, else padops' own."""
    rules = rules_with(file, [one.name for one in chosen])
    there = available()
    return with_measured(rules, [one for one in chosen if one.name in there])


def put(options: onnxruntime.SessionOptions, chosen: list[Chosen], rules: Rules) -> None:
    """Add providers to options, in order; a second call with the same providers does nothing."""
    before = placed.get(options)
    if before and before.rules and before.chosen == chosen:
        return
    if before or options.has_providers():
        names = ", ".join(one.name for one in before.chosen) if before else "of another caller"
        raise ValueError(f"these SessionOptions already have providers ({names}); use new SessionOptions")
    known = onnxruntime.get_all_providers()
    for one in chosen:
        devices, own = devices_of(one), {str(key): str(value) for key, value in one.options.items()}
        if devices:
            options.add_provider_for_devices(list(devices), own)
        elif one.name in onnxruntime.get_available_providers() and one.name != AZURE:
            options.add_provider(one.name, own)
        elif one.name not in known:
            raise ValueError(f"onnxruntime {onnxruntime.__version__} knows no provider {one.name}")
    placed[options] = Placed(list(chosen), rules)


def one_name_before(error: Exception) -> str:
    """Return the provider for which padops compiled two Pads with one name; "" if ``error`` is another error."""
    if f"Failed to add kernel for {FIRST_NAME}" not in str(error):
        return ""
    return next((name for name in sorted(available()) if name in BY_NAME and BY_NAME[name].fuses), "")


# ---- Options that already have providers: devices, a device policy, or built-in providers. onnxruntime neither exposes
# the providers of options nor inserts a provider before them. But it exposes the providers of a session, and passes the
# configuration to padops' provider. So padops copies the caller's options if padops must come first, or if an added
# provider would override the policy. It raises an error if it cannot copy a part of the options.

WEBGPU = "WebGpuExecutionProvider"
WAY = (
    "use new SessionOptions and name the providers in providers= instead, with their options or as devices: "
    "padops.InferenceSession(model, options, providers=[(name or devices, {...}), 'CPUExecutionProvider'])"
)


def with_own_providers(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, has_pad: bool, minor: int
) -> onnxruntime.SessionOptions:
    """Append padops to the caller's options, and return them; if plugins are registered, return ``_twin``'s options."""
    register_provider_library()
    plugins = {device.ep_name for device in onnxruntime.get_ep_devices()} - {CPU, *EP_NAMES}
    built_in = [name for name in onnxruntime.get_available_providers() if name not in (CPU, AZURE, *EP_NAMES, *plugins)]
    needing = [name for name in built_in if name in BY_NAME and BY_NAME[name].needs_padops]
    behind = needing if has_pad and not plugins else []
    alone = onnxruntime.SessionOptions()
    alone.log_severity_level = 4
    if behind and (pads := _report(model, alone if minor < FIRST_MINOR_BY_NAME else options, behind, minor)[1]):
        raise RuntimeError(
            f"{' or '.join(behind)} does not run {plural(len(pads), 'Pad')} of this model correctly "
            f"({', '.join(map(repr, pads[:5]))}), and padops cannot come before a provider that is already in "
            f"SessionOptions; {WAY}"
        )
    if not plugins:
        add_provider(options)
        return options
    if WEBGPU in built_in or minor < FIRST_MINOR_BY_NAME:
        # Two WebGPU sessions with the same options end the process; older releases do not expose the configuration.
        raise RuntimeError(
            f"onnxruntime {onnxruntime.__version__} does not report which providers these options have; {WAY}"
        )
    return _twin(model, options, set(built_in))


def _twin(
    model: str | bytes | os.PathLike[str], options: onnxruntime.SessionOptions, built_in: set[str]
) -> onnxruntime.SessionOptions:
    """Return the options with padops added: a copy if they name a provider besides the CPU's, else the same object."""
    dims = dim_names(model)
    profiling, options.enable_profiling = options.enable_profiling, False
    saved, options.optimized_model_filepath = options.optimized_model_filepath, ""
    try:
        seen = onnxruntime.InferenceSession(_identity(dims), options, enable_fallback=0)
        entries, _ = _report(_identity(()), options, (), FIRST_MINOR_BY_NAME)
    except Exception as error:
        raise RuntimeError(
            f"with the providers of these options, not even a model of one Identity runs ({error}); {WAY}"
        ) from error
    finally:
        options.enable_profiling, options.optimized_model_filepath = profiling, saved
    names, given = seen.get_providers(), seen.get_provider_options()
    others = [name for name in names if name not in (CPU, AZURE, *EP_NAMES)]
    if not others:
        add_provider(options)
        return options
    if lost := sorted(built_in.intersection(others)):
        raise RuntimeError(f"onnxruntime does not report the options of {' and '.join(lost)}; {WAY}")
    # A session of onnxruntime 1.25 does not expose the options of plugin providers, but the configuration has them.
    prefixes = {name: f"ep.{name.lower()}." for name in names}
    chosen = []
    for name, prefix in prefixes.items():
        own = {key.removeprefix(prefix): value for key, value in entries.items() if key.startswith(prefix)}
        if name not in EP_NAMES:
            chosen.append(Chosen(name, {**own, **given[name]}))
            if len(devices_of(chosen[-1])) != 1:
                raise RuntimeError(f"onnxruntime does not report which devices of {name} these options have; {WAY}")
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
    """Return the options' configuration entries, and the Pads that padops would claim before providers ``behind``."""
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
            name = next(rest)
            entries[name] = next(rest)
    return entries, pads


def _identity(dims: Sequence[str]) -> bytes:
    """Serialize a model of one Identity whose input has dims with these names."""
    shape = b"".join(_field(1, _field(2, name.encode())) for name in dims)
    kind = _field(2, _field(1, b"\x08\x01", _field(2, shape)))  # a tensor of float
    values = [_field(number, _field(1, name), kind) for number, name in ((11, b"x"), (12, b"y"))]
    node = _field(1, _field(1, b"x"), _field(2, b"y"), _field(4, b"Identity"))
    graph = _field(7, node, _field(2, b"identity"), *values)
    return b"\x08\x08" + graph + _field(8, b"\x10\x0d")  # IR version 8, opset 13


def _field(number: int, *content: bytes) -> bytes:
    """Return a field of a protobuf message: its key, the length in four bytes, and the bytes."""
    whole = b"".join(content)
    size = [len(whole) >> shift & 127 | 128 for shift in (0, 7, 14)]
    return bytes([number << 3 | 2, *size, len(whole) >> 21]) + whole
