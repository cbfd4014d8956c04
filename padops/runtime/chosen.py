"""The providers that a caller chooses, and their versions and devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnxruntime

from padops.plural import plural
from padops.runtime.provider import CPU, EP_NAMES

AZURE = "AzureExecutionProvider"  # every wheel lists it; it runs no standard operator

Device = Any  # onnxruntime.OrtEpDevice, which has no types
Named = str | Device | Sequence[Device]
Provider = Named | tuple[Named, Mapping[Any, Any]]


@dataclass(frozen=True)
class Chosen:
    """One provider of a session."""

    name: str
    options: dict[Any, Any]
    devices: tuple[Device, ...] = ()  # the devices that the caller has chosen; empty if the provider is chosen by name


def chosen_by(providers: Sequence[Provider] | None, options: Sequence[Mapping[Any, Any]] | None) -> list[Chosen]:
    """Return the providers given in any form of onnxruntime or as devices; default: all built-in ones but Azure."""
    if providers is not None and (isinstance(providers, str) or not isinstance(providers, Sequence)):
        raise TypeError(f"providers is {providers!r}, expected a list of names")
    if not providers:
        plugins = {device.ep_name for device in onnxruntime.get_ep_devices()} - {CPU}
        left = (AZURE, *EP_NAMES, *plugins)  # plugin providers are registered, but not chosen
        return [Chosen(name, {}) for name in onnxruntime.get_available_providers() if name not in left]
    if options is not None and len(options) != len(providers):
        raise ValueError(
            f"provider_options has {plural(len(options), 'mapping')} for {plural(len(providers), 'provider')}"
        )
    given = options or [{}] * len(providers)
    return [_chosen(entry, more) for entry, more in zip(providers, given, strict=True)]


def _chosen(entry: Provider, more: Mapping[Any, Any]) -> Chosen:
    named, own = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, {})
    for given in (own, more):
        if not isinstance(given, Mapping):
            raise TypeError(f"the options of provider {named!r} are {given!r}, expected a mapping")
    options = {**own, **more}
    if isinstance(named, str):
        return Chosen(named, options)
    devices = tuple(named) if isinstance(named, Sequence) else (named,)
    if not all(hasattr(device, "ep_name") for device in devices):
        raise TypeError(
            f"an entry of providers is {entry!r}, expected a name, devices of one provider, "
            "or a pair: a name or devices, then the options"
        )
    names = sorted({device.ep_name for device in devices})
    if len(names) != 1:
        raise ValueError(
            f"an entry of providers has devices of {' and '.join(names) or 'no provider'}, expected one provider"
        )
    return Chosen(names[0], options, devices)


def available() -> set[str]:
    """Return the names of the providers that this onnxruntime has: built-in ones, and those of registered libraries."""
    devices: list[Any] = getattr(onnxruntime, "get_ep_devices", list)()  # older releases lack the function
    return {*onnxruntime.get_available_providers(), *(device.ep_name for device in devices)}


def plugin_version(one: Chosen) -> str:
    """Return the version of a plugin provider; "" for a provider that is built into onnxruntime."""
    about = [device.ep_metadata for device in devices_of(one)[:1]]
    return next((row.get("version", "") for row in about if row.get("library_path")), "")


def described(one: Chosen) -> dict[str, Any]:
    """Describe a provider: onnxruntime's version, the plugin's version, and the devices."""
    rows = devices_of(one)
    devices = {f"{row.device.type.name} of {row.device.vendor or row.ep_vendor or 'no vendor'}" for row in rows}
    return {"onnxruntime": onnxruntime.__version__, "plugin": plugin_version(one), "devices": sorted(devices)}


def devices_of(one: Chosen) -> tuple[Device, ...]:
    """Return a provider's chosen devices, by default all its devices; for padops and the CPU, only the first device."""
    found = one.devices or tuple(device for device in onnxruntime.get_ep_devices() if device.ep_name == one.name)
    return found[:1] if one.name in (*EP_NAMES, CPU) else found
