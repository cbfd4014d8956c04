"""Checks the arguments of ``padops.convert`` before padops reads the model's file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping
from typing import Any

import onnx

from padops.convert import matchers
from padops.convert.errors import UsageError, kind_of
from padops.convert.rewrite import TARGETS
from padops.extras import needing_onnxruntime
from padops.runtime.installed import NEWEST_MINOR, OLDEST_MINOR
from padops.runtime.provider_rules import RULED, Rules, full_names, rules_with

FIRST_OPSET = 7  # the first version that onnxruntime runs


def check_kinds(switches: Mapping[str, Any], paths: Mapping[str, Any], inputs: Any, seed: Any) -> None:
    """Refuses arguments of the wrong type."""
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise UsageError(f"{name} is {value!r}, expected True or False")
    for name, value in paths.items():
        if value is not None and not isinstance(value, (str, os.PathLike)):
            raise UsageError(f"{name} is {kind_of(value)}, expected a path")
    if inputs is not None and not isinstance(inputs, (str, os.PathLike, Mapping)):
        raise UsageError(f"inputs is {kind_of(inputs)}, expected arrays by input name, or the path of an .npz")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed is {seed!r}, expected an integer")


def check_tolerance(rtol: Any, atol: Any) -> None:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise UsageError(f"{name} is {value!r}, expected a number")
        if value is not None and not 0 <= value < math.inf:
            raise UsageError(f"{name} is {value:g}, expected a finite number of 0 or more")


def check_options(
    target: str, without_pad: bool, select: str, opset: Any, verify: bool, for_runs: Mapping[str, Any], seed: int
) -> None:
    """Refuses invalid options, and options without their prerequisite; the options in ``for_runs`` need ``verify``."""
    check_tolerance(for_runs["rtol"], for_runs["atol"])
    if target not in TARGETS:
        raise UsageError(f"target is {target!r}, expected one of {', '.join(TARGETS)}")
    for name, value, wanted in (("target", target, "onnx"), ("select", select, "all")):
        if without_pad and value != wanted:
            raise UsageError(f"without_pad needs {name}='{wanted}'", f"--without-pad needs --{name} {wanted}")
    if opset is not None:
        newest = onnx.defs.onnx_opset_version()
        if isinstance(opset, bool) or not isinstance(opset, int) or not FIRST_OPSET <= opset <= newest:
            raise UsageError(f"opset is {opset!r}, expected a number from {FIRST_OPSET} to {newest}")
        if target != "onnx" or select != "all":
            raise UsageError("opset needs target='onnx' and select='all'", "--opset needs --target onnx --select all")
    if select not in ("all", "needed"):
        raise UsageError(f"select is {select!r}, expected 'all' or 'needed'")
    if seed < 0:
        raise UsageError(f"seed is {seed}, expected 0 or more")
    for name, value in for_runs.items():
        if value is not None and not verify:
            raise UsageError(f"{name} needs verify=True", f"--{name} needs --verify")


def choose_lowering(
    target: str, without_pad: bool, select: str, provider: Any, rules: str | os.PathLike[str] | None
) -> dict[str, Any]:
    """Returns the options of the target ``"onnx"``."""
    if provider is None:
        if rules is not None:
            raise UsageError("rules needs provider", "--rules needs --for")
        return {"without_pad": True} if without_pad else {}
    if not isinstance(provider, str):
        raise UsageError(f"provider is {kind_of(provider)}, expected the name of an execution provider")
    known = _rules_of([provider], rules)
    (name,) = full_names([provider], known)
    if name not in known:
        raise UsageError(f"padops has no rules for provider {provider!r}, only for {', '.join(known)}")
    if target != "onnx":
        raise UsageError("provider needs target='onnx'", "--for needs --target onnx")
    if without_pad:
        why = f"exclude each other: {name} runs some Pads, which stay"
        raise UsageError(f"provider and without_pad {why}", f"--for and --without-pad {why}")
    if select != "all":
        raise UsageError("provider needs select='all'", "--for needs --select all")
    return {"provider": known[name]}


def rules_of_session(providers: Any, rules: str | os.PathLike[str] | None) -> Rules:
    """Returns the rules for a session with ``providers``, by the providers' names."""
    if isinstance(providers, str) or not all(isinstance(name, str) for name in providers):
        raise UsageError(f"providers is {providers!r}, expected names of execution providers")
    if rules is not None and not providers:
        raise UsageError("rules needs providers", "--rules needs --providers")
    return _rules_of(providers, rules)


def check_known(providers: Collection[str], rules: Collection[str]) -> None:
    """Refuses a provider that neither padops nor onnxruntime knows; asks onnxruntime only if rules are missing."""
    if names := [name for name in providers if name not in RULED and name not in rules]:
        with needing_onnxruntime("a provider without rules"):
            from padops.runtime.placing import unknown_provider

        if why := unknown_provider(names):
            raise UsageError(f"providers: {why}", f"--providers: {why}")


def _rules_of(providers: Collection[str], rules: str | os.PathLike[str] | None) -> Rules:
    """Returns the rules by provider; the rules of a file replace padops' own rules for the file's providers."""
    try:
        return rules_with(rules, providers)
    except FileNotFoundError as error:
        raise UsageError(f"rules: {rules} does not exist", f"--rules: {rules} does not exist") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"rules: {error}", f"--rules: {error}") from error


def choose_matchers(
    auto_pad: str, custom_domains: Collection[str], emulations: bool, emulated: str = "convert"
) -> tuple[matchers.Matcher, ...]:
    if auto_pad not in ("keep", "explicit"):
        raise UsageError(f"auto_pad is {auto_pad!r}, expected 'keep' or 'explicit'")
    if emulated not in ("convert", "keep"):
        raise UsageError(f"emulated is {emulated!r}, expected 'convert' or 'keep'")
    listed = isinstance(custom_domains, Collection) and not isinstance(custom_domains, (str, bytes))
    if not listed or not all(isinstance(name, str) for name in custom_domains):
        raise UsageError(f"custom_domains is {custom_domains!r}, expected a list of names")
    if known := sorted(set(custom_domains) & matchers.KNOWN_DOMAINS):
        raise UsageError(f"'{known[0]}' is not a custom domain: padops knows this domain's operators")
    return matchers.choose(auto_pad == "explicit", tuple(custom_domains), emulations)


def stated_minor(release: str) -> int:
    """Returns the N of a release ``"1.N"`` or ``"1.N.M"`` of onnxruntime."""
    found = re.fullmatch(r"1\.(\d{1,4})(?:\.\d{1,4})?", release, re.ASCII) if isinstance(release, str) else None
    if found is None or not OLDEST_MINOR <= int(found[1]) <= NEWEST_MINOR:
        words = f"is {release!r}, expected a release from 1.{OLDEST_MINOR} to 1.{NEWEST_MINOR}"
        raise UsageError(f"onnxruntime {words}", f"--onnxruntime {words}")
    return int(found[1])
