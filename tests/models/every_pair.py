"""All pairs of models that look alike and differ, by the kind of the difference."""

from __future__ import annotations

from itertools import chain

from crafted_pair import Pair
from pairs_of_amounts import amount_pairs, mode_pairs
from pairs_of_graphs import body_pairs, graph_pairs
from pairs_of_sizes import size_pairs
from pairs_of_values import value_pairs
from pairs_of_windows import window_pairs

KINDS: dict[str, list[Pair]] = {
    made.__name__.removesuffix("_pairs"): made()
    for made in (value_pairs, amount_pairs, mode_pairs, size_pairs, body_pairs, graph_pairs, window_pairs)
}
PAIRS: dict[str, Pair] = {made.name: made for made in chain(*KINDS.values())}
