"""docs/modes.svg: it is what the plan gives, NumPy pads the same way, and it shows wherever a picture does."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"
MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@pytest.fixture
def draw_modes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("draw_modes")


@pytest.fixture
def drawing() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "docs" / "modes.svg").getroot()


def test_the_drawing_is_that_of_the_plan(
    draw_modes: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert draw_modes.main(["--check"]) == 0, "run python3 scripts/draw_modes.py"
    stale = tmp_path / "docs" / "modes.svg"
    stale.parent.mkdir()
    monkeypatch.setattr(draw_modes, "ROOT", tmp_path)
    monkeypatch.setattr(draw_modes, "FILE", stale)
    assert draw_modes.main(["--check"]) == 1
    assert "run python3 scripts/draw_modes.py" in capsys.readouterr().out
    assert draw_modes.main([]) == 0 and draw_modes.main(["--check"]) == 0
    assert stale.read_bytes() == (ROOT / "docs" / "modes.svg").read_bytes()
    stale.write_text(stale.read_text(encoding="utf-8").replace("constant", "Constant", 1), encoding="utf-8")
    assert draw_modes.main(["--check"]) == 1


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


def test_pictures_are_padded_as_numpy_pads(draw_modes: ModuleType, drawing: ElementTree.Element) -> None:
    data, *padded = map(painted, drawing.findall(SVG + "g"))
    photo = draw_modes.photo
    assert data.tolist() == [[photo.colour(x, y) for x in range(photo.WIDTH)] for y in range(photo.HEIGHT)]
    around = ((4, 4), (13, 13))
    for mode, picture in zip(MODES, padded):
        fill = {"constant_values": draw_modes.FILL_PIXEL} if mode == "constant" else {}
        assert (picture == np.pad(data, around, mode, **fill)).all(), mode
    crop_first, crop_last, interior = padded[len(MODES) :]
    assert (crop_first == np.pad(data[:, 12:], ((0, 0), (0, 24)), "reflect")).all()
    assert (crop_last == np.pad(data, ((0, 0), (0, 24)), "reflect")[:, 12:]).all()
    assert (crop_first != crop_last).any()
    assert (interior[::2, ::2] == data).all()
    gaps = np.ones(interior.shape, bool)
    gaps[::2, ::2] = False
    assert set(interior[gaps]) == {draw_modes.FILL_PIXEL}


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


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_it_reads_on_any_page(draw_modes: ModuleType, drawing: ElementTree.Element) -> None:
    """It brings its own ground, which no page shows through, and the words on it have WCAG's contrast."""
    card = drawing.find(SVG + "rect")
    assert card.get("fill") == draw_modes.CARD and "opacity" not in card.attrib
    grounds = [draw_modes.CARD, *(fill for fill, _ in draw_modes.KINDS.values())]
    for ground in grounds:
        assert (luminance(ground) + 0.05) / (luminance(draw_modes.TEXT) + 0.05) > 7
    assert (luminance(draw_modes.CARD) + 0.05) / (luminance(draw_modes.QUIET) + 0.05) > 7
    sizes = [int(text.get("font-size")) for text in drawing.iter(SVG + "text")]
    assert min(sizes) * 368 / int(drawing.get("width")) > 9  # on a telephone, 400 px wide
