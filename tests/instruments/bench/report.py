"""The results: JSON, a table in Markdown, and a plot."""

import math
import os
import platform
from collections.abc import Sequence
from html import escape
from typing import Any

from tests.instruments.bench.pairs import Limit, Pair
from tests.instruments.bench.rounds import Figures
from tests.instruments.bench.stage import Stage

ROW = 44
LEFT = 330
WIDTH = 760
SCALE = 380
GRID = (0.1, 0.2, 0.5, 1, 2, 5, 10)


def as_json(
    stage: Stage, figures: Figures, pairs: Sequence[Pair], limits: Sequence[Limit]
) -> dict[str, Any]:
    return {
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "processors": os.cpu_count(),
            "fdatasync_per_s": round(stage.fsyncs),
            "memory_mb": round(stage.api.memory_mb()),
        },
        "size": {"sessions": stage.size.sessions, "sample": stage.size.sample},
        "pairs": {
            pair.name: {
                "ratio": round(figures.ratio(pair), 3),
                "least": round(min(figures.ratios(pair)), 3),
                "most": round(max(figures.ratios(pair)), 3),
                "target": pair.target,
            }
            for pair in pairs
        },
        "limits": {
            limit.name: {
                "ms": round(figures.figure(limit), 2),
                "least": round(min(figures.rounds[limit.measure]), 2),
                "most": round(max(figures.rounds[limit.measure]), 2),
                "target": limit.target,
            }
            for limit in limits
        },
        "rounds": {
            name: [round(value, 2) for value in values]
            for name, values in figures.rounds.items()
        },
    }


def as_markdown(
    figures: Figures, pairs: Sequence[Pair], limits: Sequence[Limit]
) -> str:
    lines = [
        "| what | against | median ratio (least, most) | must reach |",
        "|---|---|---|---|",
    ]
    for pair in pairs:
        ratios = figures.ratios(pair)
        lines.append(
            f"| {pair.what} | {pair.opponent} | {figures.ratio(pair):.2f} "
            f"({min(ratios):.2f}, {max(ratios):.2f}) | {pair.target} |"
        )
    for limit in limits:
        values = figures.rounds[limit.measure]
        lines.append(
            f"| {limit.what} | - | {figures.figure(limit):.1f} "
            f"({min(values):.1f}, {max(values):.1f}) | under {limit.target} |"
        )
    return "\n".join(lines) + "\n"


def as_svg(figures: Figures, pairs: Sequence[Pair]) -> str:
    """Draw each ratio as a part of what it must reach, on a logarithmic scale."""
    height = ROW * len(pairs) + 60
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">\n'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        '<text x="12" y="22" font-size="14">Ratios, as parts of what they must reach'
        "</text>"
    )
    grid = [_grid(part, height) for part in GRID]
    bars = [_bar(figures, pair, ROW * n + 44) for n, pair in enumerate(pairs)]
    return "\n".join([head, *grid, *bars, "</svg>"]) + "\n"


def _grid(part: float, height: int) -> str:
    x = _place(part)
    colour = "#333333" if part == 1 else "#dddddd"
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="36" y2="{height - 20}" '
        f'stroke="{colour}"/><text x="{x:.1f}" y="{height - 6}" '
        f'text-anchor="middle">{part:g}</text>'
    )


def _bar(figures: Figures, pair: Pair, y: int) -> str:
    ratios = [ratio / pair.target for ratio in figures.ratios(pair)]
    middle = figures.ratio(pair) / pair.target
    colour = "#2b7a4b" if middle >= 1 else "#b3541e"
    start, end = _place(0.1), _place(middle)
    least, most = _place(min(ratios)), _place(max(ratios))
    return (
        f'<text x="12" y="{y + 14}">{escape(pair.name)}</text>'
        f'<text x="{LEFT - 16}" y="{y + 14}" text-anchor="end">'
        f"{figures.ratio(pair):.2f} of {pair.target:g}</text>"
        f'<rect x="{start:.1f}" y="{y}" width="{max(1.0, end - start):.1f}" '
        f'height="20" fill="{colour}"/>'
        f'<line x1="{least:.1f}" x2="{most:.1f}" y1="{y + 10}" y2="{y + 10}" '
        'stroke="#000000" stroke-width="2"/>'
    )


def _place(part: float) -> float:
    bounded = min(10.0, max(0.1, part))
    return LEFT + SCALE * (math.log10(bounded) + 1) / 2
