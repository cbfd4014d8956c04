"""The proof of two models, region by region."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx

from padops.convert.proof import bodies, pads
from padops.convert.proof.build import TOP, Builder, Built, overridable_inputs
from padops.convert.proof.constants import Constants
from padops.convert.proof.facts import Shape, bare_type, dims_of
from padops.convert.proof.matching import Matcher
from padops.convert.proof.pads import Spelling
from padops.convert.proof.refusals import check_calls, refusals
from padops.convert.proof.result import Limits, Outcome, Proof, Region, Verdict
from padops.convert.proof.schemas import takes, type_name
from padops.convert.proof.terms import Kind, Terms

Model = onnx.ModelProto
Folders = tuple[Path | None, Path | None]
# Exceptions of a proof that meets missing, mistyped or too large attributes or inputs.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
Run = Callable[[Terms, Built, Built, tuple[int, int], Outcome], Outcome]


def prove(
    original: onnx.ModelProto,
    converted: onnx.ModelProto,
    *,
    limits: Limits | None = None,
    folders: Folders = (None, None),
    run: Run | None = None,
    functions: bool = True,
) -> Proof:
    """Proves that wherever the original runs, the converted model gives the same bits.

    Neither model is run, except by ``run``, nor changed. External data are read block by block.

    Args:
        folders: The folders of each model's external data.
        run: Runs a pair of terms of the main graphs that no rule proves, given the rules' outcome, and returns its own.
        functions: Whether to prove the fallback functions as well, which run if the library is absent.

    Raises:
        PadopsError: A constant cannot be read, or functions call each other without end or too often.
    """
    for model in (original, converted):
        check_calls(model)
    try:
        why = refusals(original, converted)
        if not why:
            return _prove(original, converted, limits or Limits(), folders, run, functions)
    except UNREADABLE as error:
        why = [f"a node of the models is not as its operator needs it: {type(error).__name__}: {error}"]
    return Proof(Verdict.UNKNOWN, why="; ".join(why))


def _prove(
    original: onnx.ModelProto,
    converted: onnx.ModelProto,
    limits: Limits,
    folders: Folders,
    run: Run | None,
    functions: bool,
) -> Proof:
    """As ``prove``, for models that a runtime does not reject."""
    terms = Terms()
    constants, overridable = Constants(terms), overridable_inputs(original)
    first = Builder(terms, constants, original, folders[0], overridable, original=True).build()
    second = Builder(terms, constants, converted, folders[1], overridable, original=False).build()
    why = differences(first, second)
    if why:
        return Proof(Verdict.UNKNOWN, why="; ".join(why))
    matcher = Matcher(terms, first, second, limits)
    failed, reasons = _match(matcher, terms, first, second)
    if (failed or reasons) and run is not None:
        matcher.start_running(lambda a, b, said: run(terms, first, second, (a, b), said))
        failed, reasons = _match(matcher, terms, first, second)
    reasons += _leftovers(terms, matcher, first, second)
    if functions:
        sides = folders[1], (original, folders[0])
        failed += bodies.prove_bodies(converted, lambda one, other: prove(one, other, limits=limits), limits, *sides)
    regions = tuple({(region.terms, region.name): region for region in (*matcher.proved, *failed)}.values())
    failed = [region for region in failed if region.verdict is not Verdict.PROVED]
    assumed = (f"dims of the inputs that have the name '{name}' are equal" for name in shared_symbols(first))
    return Proof(
        _verdict(failed, reasons, matcher.proved),
        regions,
        (*assumed, *terms.assumed),
        _shared(terms, first, second),
        sum(region.new_errors for region in regions),
        "; ".join(reasons),
    )


def _match(matcher: Matcher, terms: Terms, first: Built, second: Built) -> tuple[list[Region], list[str]]:
    """Proves the outputs and the values before them; returns the failed regions and other reasons."""
    matcher.hint(TOP, TOP)
    failed: list[Region] = []
    pairs = [(one, other) for (_, _, one), (_, _, other) in zip(first.outputs, second.outputs)]
    for one, other in pairs:
        if not matcher.prove(one, other):
            failed += matcher.causes(one, other)
    unsaid = any(terms.find(one) != terms.find(other) for one, other in pairs) and not failed
    return failed, ["an output is not proved equal"] if unsaid else []


def _verdict(failed: list[Region], reasons: list[str], decided: list[Region]) -> Verdict:
    if any(region.verdict is Verdict.DIFFERENT for region in failed):
        return Verdict.DIFFERENT
    if failed or reasons:
        return Verdict.UNKNOWN
    return Verdict.TESTED if any(region.verdict is Verdict.TESTED for region in decided) else Verdict.PROVED


def _leftovers(terms: Terms, matcher: Matcher, first: Built, second: Built) -> list[str]:
    """Risks of the converted model beside its outputs: unused values that may fail, and Pads that no runtime takes."""
    reasons = []
    for term in matcher.uncovered(second.unused, first.scopes[TOP]):
        name = terms.names.get(term, "")
        reasons.append(f"the converted model computes the value '{name}', which no output needs and which might fail")
    for term, spellings in second.pads.items():
        dtype, mode = terms.dtype(terms.inputs(term)[0]), terms.head(term).mode
        for spelling in spellings - first.pads.get(term, set()):
            name = f"{spelling.domain or 'ai.onnx'}::Pad of version {spelling.version}"
            if not pads.is_regular(spelling, mode):
                reasons.append(f"the converted model has a {name} in a form that this version does not have")
            if spelling.version and dtype is not None and not takes("Pad", spelling.version, dtype):
                kind = type_name(dtype)
                reasons.append(f"the converted model has a {name} of {kind}, which this version does not take")
        # Terms of bodies are never shared with the original: there, the types of any Pad of the original count.
        others = first.pads.get(term) or {spelling for known in first.pads.values() for spelling in known}
        if dtype is None and not _takes_all_types(spellings - others, others):
            reasons.append("the converted model has a Pad of a type that is not known, and that it may not take")
    for spelling in second.refused - first.refused:  # in a branch that is never taken, perhaps
        name = f"{spelling.domain or 'ai.onnx'}::Pad of version {spelling.version}"
        reasons.append(f"the converted model has a {name} with inputs or attributes that it does not take")
    return list(dict.fromkeys(reasons))


def _takes_all_types(spellings: set[Spelling], others: set[Spelling]) -> bool:
    """Whether each spelling takes every type that some spelling of the original (``others``) takes."""
    wanted = [pads.types_of(spelling) for spelling in others]
    return all(any(pads.types_of(one) >= types for types in wanted) for one in spellings)


def _shared(terms: Terms, first: Built, second: Built) -> int:
    """The number of the original's operators that the converted model has unchanged."""
    one, other = ({term for names in built.scopes.values() for term in names.values()} for built in (first, second))
    return sum(terms.head(term).kind in (Kind.OPERATOR, Kind.PAD) for term in one & other)


def differences(first: Built, second: Built) -> list[str]:
    """Where callers of the original cannot call the converted model, or get outputs of other names or types."""
    found = []
    if first.inputs != second.inputs:
        names = sorted({*first.inputs.items()} ^ {*second.inputs.items()})
        found.append(f"the inputs differ: {', '.join(sorted({repr(name) for name, _ in names}))}")
    else:
        found += [
            f"the converted model declares other dims of the input '{name}'"
            for name in first.inputs
            if is_stricter(dims_of(first.declared[name]), dims_of(second.declared[name]))
        ]
        if list(first.inputs) != list(second.inputs):
            found.append("the inputs have another order")
    for name, default in first.defaults.items():
        if name in second.inputs and second.defaults.get(name) != default:
            found.append(f"the default of the input '{name}' differs")
    if [name for name, _, _ in first.outputs] != [name for name, _, _ in second.outputs]:
        found.append("the names of the outputs differ")
    else:
        found += [
            f"the type of the output '{name}' differs"
            for (name, one, _), (_, other, _) in zip(first.outputs, second.outputs)
            if bare_type(one) != bare_type(other)
        ]
    return found


def is_stricter(first: Shape | None, second: Shape | None) -> bool:
    """Whether ``second`` rejects dims that ``first`` takes. Symbols reject nothing: runtimes do not compare them."""
    if second is None:
        return False
    if first is None or len(first) != len(second):
        return True
    return any(isinstance(other, int) and one != other for one, other in zip(first, second))


def shared_symbols(built: Built) -> list[str]:
    """The symbols that stand for more than one dim of the inputs."""
    dims = Counter(dim for kind in built.declared.values() for dim in dims_of(kind) or () if isinstance(dim, str))
    return [name for name, count in dims.items() if count > 1]
