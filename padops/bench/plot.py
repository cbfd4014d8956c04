"""The speed against the built-in Pad, drawn as a self-contained SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from padops.bench.tables import by_workload, speed

if TYPE_CHECKING:
    from padops.bench.runner import Measurement

_WIDTH, _LEFT, _ROW, _TOP, _BAR = 760, 170, 22, 54, 8
_COLOURS = ("#8fa8c8", "#2f5f9e", "#17304f")


def svg(results: Sequence[Measurement], machine: Mapping[str, str]) -> str:
    """One group of bars per workload, one bar per number of threads; the line is the speed of the built-in Pad."""
    counts = sorted({result.threads for result in results})
    tables = [by_workload(result for result in results if result.threads == count) for count in counts]
    names = [name for name in tables[0] if any(speed(table[name], "built-in") for table in tables)]
    most = max((speed(table[name], "built-in") or 1 for table in tables for name in names), default=1)
    top = 2 ** math.ceil(math.log2(max(most, 2)))
    scale = (_WIDTH - _LEFT - 50) / (math.log2(top) + 1)  # from half the speed on

    def x(value: float) -> float:
        return _LEFT + (math.log2(max(value, 0.5)) + 1) * scale

    height = _TOP + _ROW * len(names) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="18" font-size="13" fill="#111">'
        "Speed of padops as a multiple of ONNX Runtime's Pad</text>",
    ]
    for i, count in enumerate(counts):
        left = _LEFT + 110 * i
        parts.append(f'<rect x="{left}" y="27" width="12" height="8" fill="{_COLOURS[i % 3]}"/>')
        parts.append(f'<text x="{left + 17}" y="35" fill="#333">{count} thread{"s" * (count > 1)}</text>')
    for power in range(-1, int(math.log2(top)) + 1):
        at, colour = x(2.0**power), "#333" if power == 0 else "#ddd"
        parts.append(f'<line x1="{at:.1f}" y1="{_TOP - 8}" x2="{at:.1f}" y2="{height - 24}" stroke="{colour}"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - 10}" text-anchor="middle" fill="#333">{2.0**power:g}×</text>')
    for i, name in enumerate(names):
        y = _TOP + _ROW * i
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end" fill="#111">{escape(name)}</text>')
        for j, table in enumerate(tables):
            value = speed(table[name], "built-in")
            if value is not None:
                bar = y + j * (_BAR + 1)
                width = max(x(value) - _LEFT, 1)
                parts.append(
                    f'<rect x="{_LEFT}" y="{bar}" width="{width:.1f}" height="{_BAR}" fill="{_COLOURS[j % 3]}"/>'
                )
                parts.append(
                    f'<text x="{_LEFT + width + 4:.1f}" y="{bar + 8}" font-size="9" fill="#333">{value:.2f}</text>'
                )
    facts = ", ".join(
        f"{key} {value}" for key, value in machine.items() if key in ("processor", "onnxruntime", "padops")
    )
    return "\n".join([*parts, f"<desc>{escape(facts)}</desc>", "</svg>"]) + "\n"
