"""Folds Pads that need not run, in a pass before the conversion and one after it.

A Pad is folded if the model without it gives the same bits for every input. Each rule has a file, with its measurements
(onnxruntime 1.31.1 on x86-64; optimisation off, basic, extended and all):

================ ===================================================================================
``fold.py``      the pass; a Pad that changes nothing; two successive Pads
``consumers.py`` a constant Pad in front of a convolution or a pooling that can pad by itself
``casts.py``     a Pad between a Cast to a wider type and the Cast back
``candidate.py`` a Pad, as the rules read it, and as they write its amounts and its fill
================ ===================================================================================

The rules apply to every form that ``matchers/`` knows, operators of padops included, in all graphs and functions; not
to forms of several nodes, nor to fallback functions. A Pad that was not selected (``select="needed"``) stays.

An invalid model may lose its error: nothing checks the amounts of a folded Pad. Only a Pad whose amounts are known to
be wrong stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from padops.convert.analysis import Analysis
from padops.convert.folding.fold import FoldPads
from padops.convert.records import PadRecord
from padops.convert.rewrite import Request, Rewritten, convert_pads


def convert_and_fold(analysis: Analysis, request: Request) -> tuple[Rewritten, list[PadRecord]]:
    """Folds Pads, converts the rest, and folds Pads that only the conversion has made foldable; in the original order.

    All decisions cannot be made before the first change, since earlier folds and conversions decide which Pad can be
    folded. Of three successive Pads, the first two become one, and only this one can go into the convolution; a
    convolution can take amounts once its own ``auto_pad`` has become pads; TensorFlow's Pads are read in their
    converted form. So each pass folds until nothing is left to fold.
    """
    passes = [FoldPads(analysis, request)]
    rewritten = convert_pads(analysis, request)
    if any(record.status == "converted" for record in rewritten.records.values()):
        passes.append(FoldPads(analysis, request, passes[0].paths))
    return rewritten, _in_order(rewritten.records, passes)


def _in_order(records: dict[ir.Node, PadRecord], passes: Sequence[FoldPads]) -> list[PadRecord]:
    """All records, each with its notes about folding and the original path of its node."""
    paths = passes[0].paths
    records = {node: replace(record, path=paths.get(node, record.path)) for node, record in records.items()}
    for folding in passes:
        for node, record in folding.records.items():
            if node in paths:  # else the conversion has made it
                records[node] = replace(record, form=records[node].form if node in records else record.form)
        for node, notes in folding.notes.items():
            if node in records:
                records[node] = replace(records[node], notes=(*dict.fromkeys((*records[node].notes, *notes)),))
    positions = {node: position for position, node in enumerate(paths)}
    return [records[node] for node in sorted(records, key=lambda node: positions.get(node, len(positions)))]
