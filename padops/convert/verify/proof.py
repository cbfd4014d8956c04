"""Proves two models equal by structure, moves and folds, region by region."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import onnx

from padops.convert.inputs.given import overridable_inputs
from padops.convert.records import Certainty, ProofRecord, RegionRecord
from padops.convert.verify import folds, following
from padops.convert.verify.build import TOP, Builder, Built, differ
from padops.convert.verify.constants import Constants
from padops.convert.verify.fallbacks import check_fallbacks
from padops.convert.verify.inference import dims_of
from padops.convert.verify.interface import other_interface
from padops.convert.verify.matching import UNUSED, Matcher, Pair, Prove, named
from padops.convert.verify.moves import NEW_ERROR, Moves
from padops.convert.verify.pad_terms import names_all_axes
from padops.convert.verify.result import Outcome
from padops.convert.verify.terms import Kind, Shape, Terms

Model = onnx.ModelProto
Folders = tuple[Path | None, Path | None]
# Exceptions of a proof that meets missing, mistyped or too large attributes or inputs.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
DECLARED = "the converted model declares dims [{}] of the value '{}', which neither the original nor its inputs give"


def prove(original: Model, converted: Model, *, folders: Folders = (None, None)) -> ProofRecord:
    """Proves that wherever the original runs, the converted model returns the same bits.

    Neither model runs or changes. External data are read block by block; ``folders`` has each model's data folder.
    """
    try:
        return _prove(original, converted, folders)
    except UNREADABLE as error:
        why = f"a node of the models is not as its operator needs it: {type(error).__name__}: {error}"
    return ProofRecord("unknown", why=why)


def _prove(original: Model, converted: Model, folders: Folders) -> ProofRecord:
    terms = Terms()
    constants, overridable = Constants(terms), overridable_inputs(original)
    first = Builder(terms, constants, original, folders[0], overridable, original=True).build()
    kept = overridable & overridable_inputs(converted)
    second = Builder(terms, constants, converted, folders[1], kept, original=False).build()
    if why := _differences(original, converted, first, second):
        return ProofRecord("unknown", why="; ".join(why))
    moves = Moves(terms)
    matcher = Matcher(terms, first, second, lambda a, b, prove: _decide(terms, moves, a, b, prove))
    matcher.hint(TOP, TOP)
    failed: dict[Pair, RegionRecord] = {}
    for (_, _, one), (_, _, other) in zip(first.outputs, second.outputs):
        if not matcher.prove(one, other):
            failed |= matcher.causes(one, other)
    reasons = [UNUSED.format(f"the value '{terms.names.get(term, named(terms, term))}'")
               for term in matcher.uncovered(second.unused, TOP)]  # fmt: skip
    reasons += [f"the converted model has {odd}" for odd in sorted(second.odd - first.odd)]
    reasons += _declared(terms, first, second)
    fallbacks = check_fallbacks(original, converted)
    regions = (*matcher.proved, *failed.values(), *fallbacks)
    verdicts = {region.verdict for region in regions}
    verdict: Certainty = "unknown" if reasons or verdicts - {"proved"} else "proved"
    verdict = "different" if "different" in verdicts else verdict
    assumed = [f"dims of the inputs that have the name '{name}' are equal" for name in _shared_symbols(first)]
    used = any(region.rule == "moves" for region in matcher.proved)
    new_errors = sum(region.why.startswith(NEW_ERROR) for region in regions)
    given, same = tuple(assumed if used else ()), _same(terms, first, second)
    return ProofRecord(verdict, regions, same, given, new_errors, "; ".join(dict.fromkeys(reasons)))


def _decide(terms: Terms, moves: Moves, a: int, b: int, prove: Prove) -> Outcome:
    """The outcome of the rules for a pair: a fold if both are windows, else moves."""
    found = folds.same(terms, a, b, prove)
    if found is not None:
        return found
    if names_all_axes(terms, a, b):
        return Outcome("proved", "amounts", "all data, all dims")
    if any(following.is_followed(terms, term) for term in (a, b)):
        return moves.decide(a, b)
    one, other = named(terms, a), named(terms, b)
    why = f"no rule relates {one} and {other}"
    if terms.head(a) == terms.head(b):
        why = f"two {one} are applied to values that are not proved equal"
    return Outcome("unknown", why=why)


def _declared(terms: Terms, first: Built, second: Built) -> list[str]:
    """Dims that only the converted model declares; onnxruntime uses them."""
    known: dict[int, list[Shape | None]] = {}
    for term, dims, _, _ in first.declares:
        known.setdefault(terms.find(term), []).append(dims)
    for _, kind, term in first.outputs:
        known.setdefault(terms.find(term), []).append(dims_of(kind) or ())
    return [
        DECLARED.format(", ".join("?" if dim is None else str(dim) for dim in dims), name)
        for term, dims, name, follows in second.declares
        if not follows and all(differ(dims, one) for one in [terms.shape(term), *known.get(terms.find(term), ())])
    ]


def _same(terms: Terms, first: Built, second: Built) -> int:
    """The number of the original's operators that the converted model has unchanged."""
    one, other = ({term for names in built.scopes.values() for term in names.values()} for built in (first, second))
    return sum(terms.head(term).kind in (Kind.OPERATOR, Kind.PAD) for term in one & other)


def _differences(original: Model, converted: Model, first: Built, second: Built) -> list[str]:
    """Lists interface differences: calls that the converted model refuses, or other outputs."""
    found = list(other_interface(original, converted))
    for name in first.declared.keys() & second.declared.keys():
        one, other = dims_of(first.declared[name]), dims_of(second.declared[name])
        # Symbols refuse nothing: runtimes do not compare them.
        if other is not None and (one is None or len(one) != len(other) or differ(other, one)):
            found.append(f"the converted model declares other dims of the input '{name}'")
        if first.defaults.get(name) != second.defaults.get(name):
            found.append(f"the default of the input '{name}' differs")
    return sorted(found)


def _shared_symbols(built: Built) -> list[str]:
    """The symbols that stand for more than one dim of the inputs."""
    dims = Counter(dim for kind in built.declared.values() for dim in dims_of(kind) or () if isinstance(dim, str))
    return [name for name, count in dims.items() if count > 1]
