"""Draw docs/modes.svg: each mode of Pad on a row of numbers and on a small picture.

    python3 scripts/draw_modes.py            write it
    python3 scripts/draw_modes.py --check    compare it with the file on disk; exit 1 if they differ

padops/spec/plan.py places every element. The file has no style sheet and no script, which some sites remove, and its
own light background, so that it reads the same on light and dark pages.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import photo

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # use this checkout's plan, installed or not

from padops.spec.plan import Amounts, Crop, Mode, Plan, make_plan, source_index  # noqa: E402

FILE = ROOT / "docs" / "modes.svg"
NUMBERS = 4  # the row is 1 2 3 4
CELL, PIXEL = 30, 3
LEFT, PICTURE, WIDTH, ROW = 16, 404, 576, 90
TITLE, SAYS, DIGIT = 18, 15, 18  # sizes of type; on a telephone the drawing is two thirds as large
TEXT, QUIET, LINE, CARD = "#1f2328", "#4d555e", "#c3cad2", "#ffffff"
# What an element of the row is: fill and border.
KINDS = {"data": ("#cfe3ff", "#0b57b0"), "added": ("#fff1cf", "#b98a1d"), "fill": ("#e3e6ea", "#8b939c")}
FILL_PIXEL = "#d5d9de"


@dataclass(frozen=True)
class Band:
    """One line of the drawing.

    Attributes:
        title: Its name.
        says: Its effect, in a few words.
        mode: The mode of the Pad.
        row: The amounts of the row of numbers.
        picture: The amounts of the picture, down and across.
        crop: The effect of negative amounts.
        pixel: The size of a pixel of the picture.
    """

    title: str
    says: str
    mode: Mode
    row: Amounts = Amounts(3, 5)
    picture: tuple[Amounts, Amounts] = (Amounts(4, 4), Amounts(13, 13))
    crop: Crop = Crop.CROP
    pixel: int = PIXEL


CROPPED, ACROSS = Amounts(-2, 5), (Amounts(0, 0), Amounts(-12, 24))
BANDS = (
    Band("constant", "one value, the fill; here 0", Mode.CONSTANT),
    Band("edge", "repeats the outermost element", Mode.EDGE),
    Band("reflect", "turns back, the outermost element comes once", Mode.REFLECT),
    Band("symmetric", "turns back, the outermost element comes twice", Mode.SYMMETRIC),
    Band("wrap", "starts again at the other end", Mode.WRAP),
    Band("begin −2, crop first", "reflect in ONNX: crop, then extend what is left", Mode.REFLECT, CROPPED, ACROSS),
    Band(
        "begin −2, crop last", "reflect in OpenVINO: extend all, then crop",
        Mode.REFLECT, CROPPED, ACROSS, Crop.FULL,
    ),
    Band(
        "interior 1", "constant in nGraph: a fill between any two",
        Mode.CONSTANT, Amounts(1, 2, 1), (Amounts(0, 0, 1), Amounts(0, 0, 1)), pixel=2,
    ),
)  # fmt: skip


def sources(size: int, amounts: Amounts, mode: Mode, crop: Crop) -> list[int | None]:
    """The source position of each element of a padded axis, None for the fill."""
    (axis,) = make_plan([size], [amounts], mode, crop).axes
    return [source_index(axis, mode, position) for position in range(axis.output)]


def shows_itself(position: int, amounts: Amounts, size: int) -> bool:
    """Return whether an output element is an element of the data in its own place."""
    place, gap = divmod(position - amounts.begin, amounts.interior + 1)
    return not gap and max(-amounts.begin, 0) <= place < size


def text(x: float, y: float, content: str, size: int, attributes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" {attributes}>{escape(content)}</text>'


def cell(x: float, y: float, label: str, kind: str) -> Iterator[str]:
    fill, border = KINDS[kind]
    weight = 'font-weight="bold" ' if kind == "data" else ""
    yield (
        f'<rect x="{x + 1:g}" y="{y + 1:g}" width="{CELL - 2}" height="{CELL - 2}" rx="3" '
        f'fill="{fill}" stroke="{border}" '
        f'stroke-width="{2 if kind == "data" else 1}"/>'
    )
    yield text(x + CELL / 2, y + CELL / 2 + 6, label, DIGIT, f'{weight}text-anchor="middle"')


def gone(x: float, y: float, label: str) -> Iterator[str]:
    """Draws a cropped element, or the place of an added element."""
    yield (
        f'<rect x="{x + 2:g}" y="{y + 2:g}" width="{CELL - 4}" height="{CELL - 4}" rx="3" fill="none" '
        f'stroke="{QUIET}" stroke-dasharray="3 3"/>'
    )
    if label:
        yield text(x + CELL / 2, y + CELL / 2 + 6, label, DIGIT, f'text-anchor="middle" fill="{QUIET}"')


def row_of_numbers(band: Band, y: float) -> Iterator[str]:
    """Draws the row, with its data below the other bands' data."""
    first = LEFT + 3 * CELL  # where the data of every band begin
    for place in range(max(-band.row.begin, 0)):
        yield from gone(first + place * CELL, y, str(place + 1))
    for position, source in enumerate(sources(NUMBERS, band.row, band.mode, band.crop)):
        kind = "data" if shows_itself(position, band.row, NUMBERS) else "fill" if source is None else "added"
        x = first + (position - band.row.begin) * CELL
        yield from cell(x, y, "0" if source is None else str(source + 1), kind)


def picture(band: Band, top: float) -> Iterator[str]:
    """Draws the padded landscape, centred in its place, with a frame around the data and a veil over added pixels."""
    plan = make_plan((photo.HEIGHT, photo.WIDTH), band.picture, band.mode, band.crop)
    (down, across), pixel = band.picture, band.pixel
    ghost = max(-across.begin, 0)  # cropped columns are framed beside the picture
    height, width = plan.shape
    x = PICTURE + (WIDTH - LEFT - PICTURE - (width + ghost) * pixel) / 2 + ghost * pixel
    y = top + (ROW - 12 - height * pixel) / 2
    yield from pixels(plan, x, y, pixel)
    if across.interior:
        return
    left, right = max(across.begin, 0), across.begin + photo.WIDTH
    frame = (x + left * pixel, y + down.begin * pixel, (right - left) * pixel, photo.HEIGHT * pixel)
    if band.mode is not Mode.CONSTANT:
        inside = f"M{frame[0]:g} {frame[1]:g}h{frame[2]:g}v{frame[3]:g}h-{frame[2]:g}z"
        yield (
            f'<path d="M{x:g} {y:g}h{width * pixel}v{height * pixel}h-{width * pixel}z{inside}" fill="{CARD}" '
            f'fill-opacity="0.4" fill-rule="evenodd"/>'
        )
    yield outline(frame, KINDS["data"][1], 2)
    if ghost:
        yield outline((x - ghost * pixel, y, ghost * pixel, photo.HEIGHT * pixel), QUIET, 1, ' stroke-dasharray="3 3"')


def outline(frame: tuple[float, float, float, float], colour: str, width: int, more: str = "") -> str:
    x, y, across, down = frame
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{across:g}" height="{down:g}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}"{more}/>'
    )


def pixels(plan: Plan, x: float, y: float, size: int = PIXEL) -> Iterator[str]:
    """Draws the padded landscape; the fill lies below all else, so that fewer paths are needed."""
    height, width = plan.shape
    yield f'<g transform="translate({x:g} {y:g}) scale({size})" shape-rendering="crispEdges">'
    yield f'<rect width="{width}" height="{height}" fill="{FILL_PIXEL}"/>'
    yield from (f'<path fill="{colour}" d="{path}"/>' for colour, path in paths(plan).items() if colour != FILL_PIXEL)
    yield "</g>"


def paths(plan: Plan) -> dict[str, str]:
    """Return one SVG path per colour; equal runs of one colour in consecutive rows become one rectangle."""
    found: dict[tuple[str, int, int], list[list[int]]] = {}
    for y in range(plan.shape[0]):
        for colour, columns in groupby(range(plan.shape[1]), key=lambda x: pixel(plan, y, x)):
            start, *rest = columns
            heights = found.setdefault((colour, start, 1 + len(rest)), [])
            if heights and sum(heights[-1]) == y:
                heights[-1][1] += 1
            else:
                heights.append([y, 1])
    made: dict[str, str] = {}
    for (colour, start, length), heights in found.items():
        made[colour] = made.get(colour, "") + "".join(f"M{start} {y}h{length}v{h}h-{length}z" for y, h in heights)
    return made


def pixel(plan: Plan, y: int, x: int) -> str:
    """The colour of one pixel of the padded picture."""
    row, column = (source_index(axis, plan.mode, place) for axis, place in zip(plan.axes, (y, x)))
    return FILL_PIXEL if row is None or column is None else photo.colour(column, row)


def data_band(y: float) -> Iterator[str]:
    """Draws the first line: the data, and the places of added elements."""
    yield text(LEFT, y + 14, "the data, with begin 3 and end 5", TITLE, 'font-weight="bold"')
    yield text(LEFT, y + 33, "3 elements are added before them and 5 behind", SAYS, f'fill="{QUIET}"')
    for place in range(3 + NUMBERS + 5):
        inside = 3 <= place < 3 + NUMBERS
        x = LEFT + place * CELL
        yield from cell(x, y + 43, str(place - 2), "data") if inside else gone(x, y + 43, "")
    down, across = Band("", "", Mode.CONSTANT).picture
    plan = make_plan((photo.HEIGHT, photo.WIDTH), [Amounts(0, 0)] * 2, Mode.CONSTANT, Crop.FULL)
    x, top = PICTURE + across.begin * PIXEL, y + down.begin * PIXEL
    inside = (x, top, photo.WIDTH * PIXEL, photo.HEIGHT * PIXEL)
    around = (PICTURE, y, inside[2] + 2 * across.begin * PIXEL, inside[3] + 2 * down.begin * PIXEL)
    yield outline(around, QUIET, 1, ' stroke-dasharray="3 3"')
    yield from pixels(plan, x, top)
    yield outline(inside, KINDS["data"][1], 2)


def svg(bands: Sequence[Band] = BANDS) -> str:
    """The drawing."""
    height = 2 * LEFT + ROW * (len(bands) + 1) - 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" fill="{TEXT}">',
        '<title id="title">The modes of Pad</title>',
        f'<desc id="description">{escape(description(bands))}</desc>',
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="{CARD}" stroke="{LINE}"/>',
        *data_band(LEFT),
    ]
    for number, band in enumerate(bands, start=1):
        y = LEFT + number * ROW
        parts += [
            text(LEFT, y + 14, band.title, TITLE, 'font-weight="bold"'),
            text(LEFT, y + 33, band.says, SAYS, f'fill="{QUIET}"'),
            *row_of_numbers(band, y + 43),
            *picture(band, y),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def description(bands: Sequence[Band]) -> str:
    """The rows of numbers in words, for readers who cannot see the drawing."""
    lines = []
    for band in bands:
        row = sources(NUMBERS, band.row, band.mode, band.crop)
        elements = " ".join("0" if source is None else str(source + 1) for source in row)
        lines.append(f"{band.title} ({band.says}): {elements}")
    return f"What becomes of 1 2 3 4, begin 3 and end 5. {'; '.join(lines)}."


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing; exit 1 where they differ")
    options = parser.parse_args(arguments)
    drawing = svg()
    if not options.check:
        FILE.write_text(drawing, encoding="utf-8", newline="\n")
        print(FILE.relative_to(ROOT))
        return 0
    if FILE.is_file() and FILE.read_text(encoding="utf-8") == drawing:
        return 0
    print(f"{FILE.relative_to(ROOT)} is not what padops/spec/plan.py gives: run python3 scripts/draw_modes.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
