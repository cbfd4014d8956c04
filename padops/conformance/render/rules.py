"""The rules in a line each, and the modes on a row of numbers: what a reader of the report needs at hand."""

from __future__ import annotations

from collections.abc import Iterator

from padops.spec.plan import Amounts, Crop, Mode, make_plan, source_index

# What each rule is about; ``docs/semantics.md`` has them in full.
RULES = {
    "P1": "How large the output is. Negative amounts crop; an output dim below 0 is an error, but for OpenVINO Pad 12.",
    "P2": "What each mode shows beyond the data, over any number of periods.",
    "P3": "Amounts of both signs: ONNX crops first and extends what is left, OpenVINO and nGraph extend first.",
    "P4": "How far a mode may reach: OpenVINO and nGraph have limits, ONNX has none.",
    "P5": "Data with nothing to extend are an error, unless the output is empty; data of rank 0 pass through.",
    "P6": "Interior padding, fill between any two elements, is nGraph's, and only in mode constant.",
    "P7": "The fill is one element of the data's type. Bits are copied, never converted.",
    "P8": "Pads have two amounts for each axis; axes lie in range and none comes twice.",
    "P9": "The mode is one that the version of the operator has.",
    "P10": "An axis or an output beyond 2^59 - 1 elements is an error, raised before any memory is taken.",
    "S1": "What SAME adds to each side, from size, kernel, stride and dilation.",
}

SIZE = 4  # elements of the row that the modes are shown on
SHOWN = tuple((mode.value, mode, Amounts(3, 3), Crop.CROP) for mode in Mode) + (
    ("reflect, begin -2, crop first", Mode.REFLECT, Amounts(-2, 5), Crop.CROP),
    ("reflect, begin -2, crop last", Mode.REFLECT, Amounts(-2, 5), Crop.FULL),
    ("constant, interior 1", Mode.CONSTANT, Amounts(1, 1, 1), Crop.FULL),
)


def shown_modes() -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """For each mode its name, and what becomes of 1 2 3 4: elements, and whether each lies where the data are."""
    for name, mode, amounts, crop in SHOWN:
        (axis,) = make_plan([SIZE], [amounts], mode, crop).axes
        row = [source_index(axis, mode, position) for position in range(axis.output)]
        last = amounts.begin + (SIZE - 1) * (amounts.interior + 1)
        yield (
            name,
            [
                ("0" if source is None else str(source + 1), source is not None and amounts.begin <= position <= last)
                for position, source in enumerate(row)
            ],
        )
