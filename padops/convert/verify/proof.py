"""Proves that two models are equal, region by region, from the outputs back to the inputs.

Two terms are equal if they are the same term, if they apply the same operator to equal inputs, or if a rule proves them
equal. A pair that a rule decides is a region. Equal names prove nothing, but the proof tries values with equal names
first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import onnx

from padops.convert.inputs.given import overridable_inputs
from padops.convert.records import Certainty, ProofRecord, RegionRecord
from padops.convert.verify import folds
from padops.convert.verify.build import TOP, Builder, Built, differ
from padops.convert.verify.constants import Constants
from padops.convert.verify.fallbacks import check_fallbacks
from padops.convert.verify.inference import dims_of
from padops.convert.verify.interface import other_interface
from padops.convert.verify.moves import NEW_ERROR, decide
from padops.convert.verify.moves.definitions import cone, is_followed, is_total, moves_data
from padops.convert.verify.pad_terms import names_all_axes
from padops.convert.verify.terms import ABSENT, GIVEN, Head, Kind, Shape, Terms, outcome

Pair = tuple[int, int]
Goal = Generator["Goal", bool | None, bool]
DEEPEST = 40  # the most levels of nested goals: a rule may need the proof of another pair first
OTHERS = "they are two different inputs or constants"
UNUSED = "only the converted model computes {}, which nothing uses and which might fail"
Model = onnx.ModelProto
Folders = tuple[Path | None, Path | None]  # of the external data of each model
# Exceptions of a proof that reads missing, mistyped or too large attributes or inputs.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
DECLARED = "the converted model declares dims [{}] of the value '{}', which do not follow from the inputs"


def prove(original: Model, converted: Model, *, folders: Folders = (None, None)) -> ProofRecord:
    """Proves that the converted model returns the same bits wherever the original runs; runs neither model."""
    try:
        return _prove(original, converted, folders)
    except UNREADABLE as error:
        why = f"the proof cannot evaluate a node of the models: {type(error).__name__}: {error}"
        return ProofRecord("unknown", why=why)


def _prove(original: Model, converted: Model, folders: Folders) -> ProofRecord:
    terms = Terms()
    constants, overridable = Constants(terms), overridable_inputs(original)
    first = Builder(constants, original, folders[0], overridable, original=True).build()
    kept = overridable & overridable_inputs(converted)
    second = Builder(constants, converted, folders[1], kept, original=False).build()
    if why := _differences(original, converted, first, second):
        return ProofRecord("unknown", why="; ".join(why))
    matcher = Matcher(terms, first, second)
    matcher.hint(TOP, TOP)
    failed: dict[Pair, RegionRecord] = {}
    for (_, _, one), (_, _, other) in zip(first.outputs, second.outputs):
        if not matcher.prove(one, other):
            failed |= matcher.causes(one, other)
    reasons = [UNUSED.format(f"the value '{terms.names.get(term, named(terms, term))}'")
               for term in matcher.uncovered(second.unused, TOP)]  # fmt: skip
    reasons += [f"the converted model has {odd}" for odd in sorted(second.odd - first.odd)]
    reasons += _declared(terms, first, second)
    regions = (*matcher.proved, *failed.values(), *check_fallbacks(original, converted))
    verdicts = {region.verdict for region in regions}
    verdict: Certainty = "unknown" if reasons or verdicts - {"proved"} else "proved"
    verdict = "different" if "different" in verdicts else verdict
    dims = Counter(dim for kind in first.declared.values() for dim in dims_of(kind) or () if isinstance(dim, str))
    assumed = tuple(f"dims of the inputs that have the name '{name}' are equal" for name, n in dims.items() if n > 1)
    assumed = assumed if any(region.rule == "moves" for region in matcher.proved) else ()
    new_errors = sum(region.why.startswith(NEW_ERROR) for region in regions)
    # The original's operators that the converted model has unchanged
    mine, theirs = ({term for names in built.scopes.values() for term in names.values()} for built in (first, second))
    same = sum(terms.head(term).kind in (Kind.OPERATOR, Kind.PAD) for term in mine & theirs)
    return ProofRecord(verdict, regions, same, assumed, new_errors, "; ".join(dict.fromkeys(reasons)))


def _declared(terms: Terms, first: Built, second: Built) -> list[str]:
    """Returns a text for each value with dims that only the converted model declares: onnxruntime trusts these dims."""
    known: dict[int, list[Shape | None]] = defaultdict(list)
    declared = [row[:2] for row in first.declares] + [(term, dims_of(kind) or ()) for _, kind, term in first.outputs]
    for term, dims in declared:
        known[terms.find(term)].append(dims)
    return [
        DECLARED.format(", ".join("?" if dim is None else str(dim) for dim in dims), name)
        for term, dims, name, follows in second.declares
        if not follows and all(differ(dims, one) for one in (terms.shape(term), *known[terms.find(term)]))
    ]


def _differences(original: Model, converted: Model, first: Built, second: Built) -> list[str]:
    """Lists the differences of the interfaces: calls that the converted model refuses, and different outputs."""
    found = list(other_interface(original, converted))
    for name in first.declared.keys() & second.declared.keys():
        one, other = dims_of(first.declared[name]), dims_of(second.declared[name])
        # A symbol as a dim causes no refusal: runtimes do not compare symbols.
        if other is not None and (one is None or len(one) != len(other) or differ(other, one)):
            found.append(f"the converted model declares other dims of the input '{name}'")
        if first.defaults.get(name) != second.defaults.get(name):
            found.append(f"the default of the input '{name}' differs")
    return sorted(found)


class Matcher:
    def __init__(self, terms: Terms, original: Built, converted: Built) -> None:
        self._terms, self._original, self._converted = terms, original, converted
        self._known: dict[object, RegionRecord] = {}  # the outcomes of the rule "moves" so far
        self._failed: dict[Pair, dict[Pair, RegionRecord]] = {}
        self._depth = 0
        self.proved: list[RegionRecord] = []
        self._theirs = {term for names in converted.scopes.values() for term in names.values()}
        # For each body of the original, the values that the body always computes, because its results need them
        live = set(terms.walk(*(term for _, _, term in original.outputs)))
        self._live = {scope: set(names.values()) & live for scope, names in original.scopes.items()}
        self._live[TOP] |= set(original.inputs.values())
        for body in self._live.keys() - {TOP}:
            self._live[body] -= set(terms.inputs(body)[terms.head(body).outputs :])
        self._bodies = [TOP]
        terms.computed = self._is_computed
        terms.shared = lambda term: term in terms.united or (term in self._theirs and self._is_computed(term))

    def prove(self, a: int, b: int) -> bool:
        """Returns whether the original's term ``a`` equals the converted model's term ``b``; unites equal terms."""
        if self._depth >= DEEPEST:
            return False
        self._depth += 1
        stack, answer = [self._goal(a, b)], None
        while stack:
            try:
                stack.append(stack[-1].send(answer))
                answer = None
            except StopIteration as end:
                stack.pop()
                answer = end.value
        self._depth -= 1
        return bool(answer)

    def causes(self, a: int, b: int) -> dict[Pair, RegionRecord]:
        """Returns the deepest unproved regions of a pair, at least one."""
        return self._failed.get((a, b)) or {(a, b): self._region(a, b, outcome("unknown", why=OTHERS))}

    def hint(self, scope: int, other: int) -> None:
        """Tries to prove that values of the same name are equal, in two bodies or in the two main graphs."""
        names = self._converted.scopes[other]
        for name, term in self._original.scopes[scope].items():
            if term in self._live[scope] and name in names and self._terms.find(term) != self._terms.find(names[name]):
                self.prove(term, names[name])

    def uncovered(self, unused: tuple[int, ...], scope: int) -> list[int]:
        """Lists unused values of the converted model that may fail and that the original does not compute."""

        def computation(term: int) -> tuple[Head, tuple[int, ...]]:
            return terms.head(term), tuple(map(terms.find, terms.inputs(term)))

        terms = self._terms
        known = set(map(computation, self._original.scopes[scope].values()))
        return [term for term in unused if computation(term) not in known and not is_total(terms, term)]

    def _is_computed(self, term: int) -> bool:
        """Returns whether the original computes a value equal to the term, in a body that is being compared."""
        if self._terms.head(term).kind in GIVEN or term in self._terms.united:
            return True
        return any(term in self._live.get(body, ()) for body in self._bodies)

    def _goal(self, a: int, b: int) -> Goal:
        terms = self._terms
        if terms.find(a) == terms.find(b):
            return True
        if ABSENT in (a, b) or (a, b) in self._failed:
            return False
        kinds = terms.head(a).kind, terms.head(b).kind
        if kinds[0] in GIVEN and kinds[1] in GIVEN:
            self._failed[a, b] = {}  # the term that uses these values is the region
            return False
        if Kind.BODY in kinds:
            return bool((yield self._graphs(a, b)))
        causes: dict[Pair, RegionRecord] = {}
        equal = terms.head(a) == terms.head(b) and len(terms.inputs(a)) == len(terms.inputs(b))
        for one, other in zip(terms.inputs(a), terms.inputs(b)) if equal else ():
            if not (yield self._goal(one, other)):
                equal = False
                causes |= self._failed.get((one, other), {})
                if moves_data(terms, a):
                    break
        if equal:
            terms.unite(a, b)
            return True
        region = self._region(a, b, self._decide(a, b))
        if region.verdict == "proved":
            terms.unite(a, b)
            self.proved.append(region)
            return True
        if region.verdict == "different" or not causes:  # a run of the models checks the counterexample
            causes[a, b] = region
        self._failed[a, b] = causes
        return False

    def _decide(self, a: int, b: int) -> RegionRecord:
        """Returns the outcome of the first rule that applies: fold, amounts or moves; "unknown" if none applies."""
        terms = self._terms
        if (found := folds.same(terms, a, b, self.prove)) is not None:
            return found
        if names_all_axes(terms, a, b):
            return outcome("proved", "amounts", "all data, all dims")
        if any(is_followed(terms, term) for term in (a, b)):
            return decide(terms, self._known, a, b)
        one, other = named(terms, a), named(terms, b)
        if terms.head(a) == terms.head(b):
            return outcome("unknown", why=f"two {one} are applied to values that are not proved equal")
        return outcome("unknown", why=f"no rule relates {one} and {other}")

    def _graphs(self, a: int, b: int) -> Goal:
        """Compares two bodies, whose inputs are already the same terms."""
        terms, one, other = self._terms, self._terms.head(a), self._terms.head(b)
        inputs, others = terms.inputs(a), terms.inputs(b)
        if one != other or inputs[: one.output] != others[: one.output]:
            self._failed[a, b] = {(a, b): self._region(a, b, outcome("unknown", why="two bodies of different form"))}
            return False
        self._bodies.append(a)
        causes: dict[Pair, RegionRecord] = {}
        self.hint(a, b)
        for result, given in zip(inputs[one.output : one.outputs], others[one.output : one.outputs]):
            if not (yield self._goal(result, given)):
                causes |= self.causes(result, given)
        for term in self.uncovered(others[one.outputs :], a):
            causes[a, b] = self._region(a, b, outcome("unknown", why=UNUSED.format(named(terms, term))))
        self._bodies.pop()
        if causes:
            self._failed[a, b] = causes
        return not causes

    def _region(self, a: int, b: int, found: RegionRecord) -> RegionRecord:
        """Adds the name of the pair, and the operators that only one model has, to a rule's outcome."""
        terms = self._terms
        mine, theirs = (set(cone(terms, root, terms.shared)) for root in (a, b))
        sides = [
            tuple(sorted(named(terms, one) for one in own if terms.head(one).kind in (Kind.OPERATOR, Kind.PAD)))
            for own in (mine - theirs, theirs - mine)
        ]
        name = terms.names.get(a) or named(terms, a)
        return replace(found, name=name, original=sides[0], converted=sides[1])


def named(terms: Terms, term: int) -> str:
    """Describes a term in words, by its operator or its kind."""
    head = terms.head(term)
    if head.kind is Kind.CONSTANT:
        return f"a constant of dims {list(head.dims)}"
    return "Pad" if head.kind is Kind.PAD else f"{head.name or head.kind.value}"
