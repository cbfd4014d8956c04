"""A small landscape. No two corners and no two edges look alike, so that every mode is visible."""

from __future__ import annotations

# A letter for each colour: the sky from above, sun and glow, snow, rock and shade, roof and wall, wood, leaves, meadow,
# water.
COLOURS = {
    "1": "#8fc1ea", "2": "#a3cdee", "3": "#b9daf2", "4": "#d0e6f5", "5": "#e8e7dc", "6": "#f6dcb8",
    "O": "#ffd23f", "o": "#ffe58a", "^": "#ffffff", "/": "#7a7f8c", "#": "#565b69", "A": "#c8452f", "H": "#f3e7d3",
    "|": "#6b4a2f", "T": "#2f7d46", "t": "#22613a", ".": "#8fbf5a", ",": "#6fa446", "~": "#3f86b8", "-": "#9ecbe6",
}  # fmt: skip
PICTURE = """
11111111111111111111111111
11111o11111111111111111111
222oOOOo222222222^22222222
222OOOOO22222222^^^2222222
33oOOOOOo333333^^^^^333333
333OOOOO333333////###33333
444TOOOo444^4/////####4444
44TTto4444^^//////#####4^4
55TTt5555^^///////######^^
5TTTtt55//////////#######^
6TTTtt6//AAAA/////########
TTTTttt/AAAAAA////########
TTTTtttAAAAAAAA,.,.~~~~~~~
.,.|....HHHHHH.....~~~~~--
...|.,.,HHH|HH,.,.~~~~~~~~
,.,|....HHH|HH....--~~~~~-
....,.,.,......,.~~~~~~~~~
.,.,......,.,.,..~~--~~~~~
""".split()
WIDTH, HEIGHT = len(PICTURE[0]), len(PICTURE)


def colour(x: int, y: int) -> str:
    """The colour of the pixel in a column, from the left, and a row, from above."""
    return COLOURS[PICTURE[y][x]]
