"""Curves as SVG: one small chart for each model and language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

WIDTH, HEIGHT, GAP, COLUMNS = 300, 200, 46, 2
FONT = 'font-family="sans-serif" font-size="11"'
COLOURS = ("#9a9a9a", "#d08a2e", "#2b6cb0", "#2f855a")


def svg(charts: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """All charts; each maps a name to its values at equal steps of the cloud share, 0 to 1."""
    rows = -(-len(charts) // COLUMNS)
    wide, high = COLUMNS * (WIDTH + GAP) + GAP, rows * (HEIGHT + GAP) + 2 * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" {FONT}>',
        f'<rect width="{wide}" height="{high}" fill="white"/>',
    ]
    for number, (title, lines) in enumerate(charts.items()):
        left = GAP + number % COLUMNS * (WIDTH + GAP)
        top = GAP + number // COLUMNS * (HEIGHT + GAP)
        parts.append(f'<g transform="translate({left},{top})">{_chart(title, lines)}</g>')
    names = list(dict.fromkeys(name for lines in charts.values() for name in lines))
    parts += [
        f'<text x="{GAP + 150 * place}" y="{high - 14}" fill="{COLOURS[place]}">■ {name}</text>'
        for place, name in enumerate(names)
    ]
    return "\n".join(parts) + "\n</svg>\n"


def _chart(title: str, lines: Mapping[str, Sequence[float]]) -> str:
    low = min(min(values) for values in lines.values())
    low, high = int(low * 10) / 10, 1.0
    drawn = [
        f'<text y="-8" font-weight="bold">{title}</text>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#cccccc"/>',
        f'<text x="-6" y="8" text-anchor="end">{high:.1f}</text>',
        f'<text x="-6" y="{HEIGHT}" text-anchor="end">{low:.1f}</text>',
        f'<text y="{HEIGHT + 14}">0 % cloud</text>',
        f'<text x="{WIDTH}" y="{HEIGHT + 14}" text-anchor="end">100 %</text>',
    ]
    for colour, values in zip(COLOURS, lines.values(), strict=False):
        points = " ".join(
            f"{WIDTH * place / (len(values) - 1):.1f},{HEIGHT * (high - value) / (high - low):.1f}"
            for place, value in enumerate(values)
        )
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    return "".join(drawn)
