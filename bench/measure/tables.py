# SPDX-License-Identifier: MIT
"""Tables of Markdown, and the text of their cells."""
from .mount import MEBIBYTE
from .rounds import quartiles, series


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def heading(*cells):
    return ["", row(*cells), "|---" * len(cells) + "|"]


def spread(values, scale=1, digits=2):
    """Median and quartiles; empty without values."""
    if not values:
        return ""
    low, middle, high = (f"{scale * value:.{digits}f}" for value in quartiles(values))
    return middle if low == high else f"{middle} ({low}–{high})"


def mebibytes(values):
    return f"{max(values) / MEBIBYTE:.1f}" if values else ""


def table(title, rounds, rows):
    """A column for each of {name: rounds}, a row for each of (what, unit, function of its values)."""
    lines = heading(title, *rounds)
    for what, unit, describe in rows:
        cells = [describe(series(found, what)) for found in rounds.values()]
        if any(cells):
            lines.append(row(what + unit, *cells))
    return lines
