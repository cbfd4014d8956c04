"""Pads that need not run: a pass before and after the one that converts them.

A Pad is folded where the model without it gives the same bits for every input; each rule stands in a file of its own,
with what has been measured about it (onnxruntime 1.31.1 on x86-64; optimisation off, basic, extended and all):

============== =======================================================================================
``removal.py`` a Pad that changes nothing
``consumers.py`` a constant Pad in front of a convolution or a pooling that can pad by itself
``pairs.py``   two Pads in a row
``casts.py``   a Pad between a Cast to a wider type and the Cast back
``candidate.py`` a Pad, as the rules ask of it; ``forms.py``: its amounts and its fill, written
============== =======================================================================================

All of them look at every form that ``sources/`` knows, at operators of padops too, in all graphs and functions; not at
forms of several nodes, nor at fallback functions. A Pad that was not asked for (``select="needed"``) stays.

A model that is wrong may lose its error: nothing checks the amounts of a Pad that is gone. Only those that are known to
be wrong keep their Pad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from padops.convert.folding.fold import FoldPads
from padops.convert.model.document import Document
from padops.convert.records import PadRecord
from padops.convert.rewrite import ConvertPads
from padops.convert.sources import SOURCES, Source
from padops.progress import Progress


def convert_and_fold(
    document: Document,
    convert_pads: ConvertPads,
    select: str = "all",
    target: str = "padops",
    asked: Sequence[Source] = SOURCES,
    progress: Progress | None = None,
) -> list[PadRecord]:
    """Folds what can be folded, converts the rest, and folds what only the conversion has made plain.

    To decide all before anything is changed would not give the same: which Pad can be folded follows from what was folded
    and converted before. Of three Pads in a row, the first two become one, and only that one can go into the convolution; a
    convolution can take amounts once its own ``auto_pad`` has been written out; and TensorFlow's Pads are read as what
    they have become. So each pass folds until nothing is left to fold.

    Args:
        document: The model; all that has changed is written back.
        convert_pads: The pass of the rest.
        select: As for ``convert``.
        target: As for ``convert``.
        asked: The sources of Pads.
        progress: Who is told how far it is.

    Returns:
        A record of each Pad, in the order in which they stood at first.
    """
    first = FoldPads(document, select, target, asked, progress=progress)
    first(document.model)
    document.write_back()
    convert_pads(document.model)
    document.write_back()
    passes = [first]
    if any(record.status == "converted" for record in convert_pads.records.values()):
        passes.append(FoldPads(document, select, target, asked, first.paths, progress))
        passes[1](document.model)
        document.write_back()
    return _in_order(convert_pads.records, passes)


def _in_order(records: dict[ir.Node, PadRecord], passes: Sequence[FoldPads]) -> list[PadRecord]:
    """All records, each with the notes of the folding and the path that its node had at first."""
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
