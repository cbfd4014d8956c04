"""Changes of a file of text, whatever it is a text of: bytes, numbers, encodings."""

from __future__ import annotations

import codecs
import random
import re

# What a number of a file may become, as digits; some are beyond what any type holds.
NUMBERS = (
    *("0", "-0", "1", "-1", "2", "3", "7", "16", "33", "255", "256", "65536", "1000000", "100000000", "1000000000"),
    *(str(2**power + more) for power in (31, 32, 59, 63, 64, 70) for more in (-1, 0, 1)),
    *(str(-(2**power)) for power in (31, 63, 70)),
    *(
        "1e9",
        "1e400",
        "-1e400",
        "1.5",
        ".5",
        "nan",
        "NaN",
        "inf",
        "-Infinity",
        "0x10",
        "1_0",
        "٣",
        " 4 ",
        "",
        "?",
        "1..2",
    ),
    *("9" * 400, "9" * 5_000),
)
INSERTED = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"<",
    b">",
    b"&",
    b'"',
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "latin-1", "cp037")


def change_text(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Changes a file in one way; says in which."""
    return rng.choice((_bytes, _bytes, _number, _number, _number, _cut, _remove, _repeat, _move, _encode))(content, rng)


def _bytes(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    made, places = bytearray(content), [rng.randrange(len(content)) for _ in range(rng.choice((1, 1, 2, 6)))]
    for place in places:
        if rng.random() < 0.5:
            made[place] = rng.randrange(256)
        else:
            made[place:place] = rng.choice(INSERTED) * rng.choice((1, 1, 1, 70))
    return f"bytes at {places} changed", bytes(made)


def _number(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    found = list(re.finditer(rb"-?\d+", content))
    if not found:
        return _bytes(content, rng)
    match, number = rng.choice(found), rng.choice(NUMBERS)
    done = f"{match[0].decode()} at {match.start()} -> {ascii(number[:30])}"
    return done, content[: match.start()] + number.encode() + content[match.end() :]


def _slice(content: bytes, rng: random.Random) -> tuple[int, int]:
    first = rng.randrange(len(content))
    return first, min(first + rng.choice((1, 2, 5, 20, 200)), len(content))


def _cut(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    end = rng.randrange(len(content))
    return f"cut off at byte {end}", content[:end]


def _remove(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    first, last = _slice(content, rng)
    return f"bytes {first} to {last} removed", content[:first] + content[last:]


def _repeat(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    first, last = _slice(content, rng)
    times = rng.choice((2, 3, 50, 2_000))
    return f"bytes {first} to {last} {times} times", content[:first] + content[first:last] * times + content[last:]


def _move(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    first, last = _slice(content, rng)
    rest = content[:first] + content[last:]
    place = rng.randrange(len(rest) + 1)
    return f"bytes {first} to {last} moved to {place}", rest[:place] + content[first:last] + rest[place:]


def _encode(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    name = rng.choice(ENCODINGS)
    mark = rng.choice((b"", b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return f"encoded as {name} behind {mark!r}", mark + content.decode(errors="replace").encode(name, errors="replace")
