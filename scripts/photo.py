"""A small landscape, made by code: no two of its corners and no two of its edges look alike, so that a mode shows."""

from __future__ import annotations

WIDTH, HEIGHT = 26, 18
SKY = ("#8fc1ea", "#a3cdee", "#b9daf2", "#d0e6f5", "#e8e7dc", "#f6dcb8")
SUN, GLOW = "#ffd23f", "#ffe58a"
SNOW, ROCK, SHADE = "#ffffff", "#7a7f8c", "#565b69"
MEADOW, GRASS, TRUNK, LEAVES, DARK = "#8fbf5a", "#6fa446", "#6b4a2f", "#2f7d46", "#22613a"
WATER, GLINT = "#3f86b8", "#9ecbe6"
ROOF, WALL, DOOR = "#c8452f", "#f3e7d3", "#6b4a2f"


def colour(x: int, y: int) -> str:
    """The colour of a pixel.

    Args:
        x: The column, from 0 on the left to WIDTH - 1.
        y: The row, from 0 at the top to HEIGHT - 1.
    """
    return _tree(x, y) or _house(x, y) or _ground(x, y) or _mountain(x, y) or _sky(x, y)


def _sky(x: int, y: int) -> str:
    distance = (x - 5) ** 2 + (y - 4) ** 2
    return SUN if distance <= 5 else GLOW if distance <= 9 else SKY[min(y // 2, len(SKY) - 1)]


def _mountain(x: int, y: int) -> str | None:
    ridges = ((17, 2), (11, 6), (24, 7))
    for peak, top in ridges:
        if abs(x - peak) <= y - top:
            return SNOW if y - top < 3 else SHADE if x > peak else ROCK
    return None


def _ground(x: int, y: int) -> str | None:
    if y < 12:
        return None
    shore = 19 - (y - 12) // 2
    if x >= shore:
        return GLINT if (x + 3 * y) % 7 < 2 and y % 2 else WATER
    return GRASS if (x * 5 + y * 3) % 11 < 3 else MEADOW


def _tree(x: int, y: int) -> str | None:
    if x == 3 and 13 <= y <= 15:
        return TRUNK
    if 6 <= y <= 12 and abs(x - 3) <= (y - 5) // 2:
        return DARK if x > 3 else LEAVES
    return None


def _house(x: int, y: int) -> str | None:
    if 10 <= y <= 12 and abs(2 * x - 21) <= 2 * (y - 9) + 1:
        return ROOF
    if 13 <= y <= 15 and 8 <= x <= 13:
        return DOOR if x == 11 and y >= 14 else WALL
    return None
