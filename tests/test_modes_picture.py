"""docs/modes.svg shows what NumPy gives, and needs nothing that a page may take out."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"
FILL = "#d5d9de"  # of a pixel
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@pytest.fixture
def drawing() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "docs" / "modes.svg").getroot()


def painted(group: ElementTree.Element) -> np.ndarray:
    """The colours of a picture in the drawing, pixel by pixel."""
    ground = group.find(SVG + "rect")
    colours = np.full((int(ground.get("height")), int(ground.get("width"))), ground.get("fill"), object)
    for path in group.findall(SVG + "path"):
        runs = re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\3z", path.get("d"))
        assert "".join("M{} {}h{}v{}h-{}z".format(*run, run[2]) for run in runs) == path.get("d")
        for x, y, width, height in (map(int, run) for run in runs):
            colours[y : y + height, x : x + width] = path.get("fill")
    return colours


def test_pictures_are_padded_as_numpy_pads(drawing: ElementTree.Element) -> None:
    data, *padded = map(painted, drawing.findall(SVG + "g"))
    around = ((4, 4), (13, 13))
    for mode, picture in zip(MODES, padded):
        fill = {"constant_values": FILL} if mode == "constant" else {}
        assert (picture == np.pad(data, around, mode, **fill)).all(), mode
    crop_first, crop_last, interior = padded[len(MODES) :]
    assert (crop_first == np.pad(data[:, 12:], ((0, 0), (0, 24)), "reflect")).all()
    assert (crop_last == np.pad(data, ((0, 0), (0, 24)), "reflect")[:, 12:]).all()
    assert (crop_first != crop_last).any()
    assert (interior[::2, ::2] == data).all()
    gaps = np.ones(interior.shape, bool)
    gaps[::2, ::2] = False
    assert set(interior[gaps]) == {FILL}


def test_rows_are_padded_as_numpy_pads(drawing: ElementTree.Element) -> None:
    description = drawing.find(SVG + "desc").text
    rows = dict(re.findall(r"(?:\. |; )(\w+) \([^)]*\): ([\d ]+)", description))
    for mode in MODES:
        assert rows[mode] == " ".join(map(str, np.pad([1, 2, 3, 4], (3, 5), mode))), mode
    numbers = [text.text for text in drawing.findall(SVG + "text") if text.text.isdigit()]
    shown = " ".join(["1 2 3 4", *(rows[mode] for mode in MODES), "1 2 3 4 3 4 3 4 3", "1 2 3 4 3 2 1 2 3"])
    assert " ".join(numbers) == f"{shown} 0 1 0 2 0 3 0 4 0 0"


def test_it_needs_nothing_that_a_page_may_take_out(drawing: ElementTree.Element) -> None:
    """GitHub and PyPI show a picture from elsewhere, without style sheets, scripts and further files."""
    tags = {element.tag.removeprefix(SVG) for element in drawing.iter()}
    assert tags == {"svg", "title", "desc", "rect", "g", "path", "text"}
    names = {name for element in drawing.iter() for name in element.keys()}
    assert not {name for name in names if "href" in name or name in ("style", "class") or name.startswith("on")}
    assert drawing.get("width") and drawing.get("height") and drawing.get("role") == "img"
