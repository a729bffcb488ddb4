# SPDX-License-Identifier: MIT
"""Results as tables and as a picture."""
import statistics

from . import targets
from .mount import MEBIBYTE

RATIOS = [("library, {all}", "codec alone, {all}"), ("library, 1 thread", "codec alone, 1 thread"),
          ("library, {all}", "ROOT bulk"), ("library, {all}", "uproot"), ("mount, whole", "codec alone, 1 thread"),
          ("mount, whole", "ROOT bulk"), ("mount, 1 MiB pieces", "ROOT bulk"), ("mount, whole", "uproot"),
          ("mount, whole again", "tmpfs, whole"), ("mount, mapped again", "tmpfs, mapped"),
          ("mount direct, whole", "mount, whole")]
OPENING = ["mount", "first stat", "list and stat all", "again", "first MiB", "ls -l column.0", "library, process",
           "library, open", "ROOT, process", "ROOT, open"]
OCCUPIED = ["memory", "memory at last", "library, memory", "ROOT, memory"]

median = statistics.median


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def heading(*cells):
    return ["", row(*cells), "|---" * len(cells) + "|"]


def spread(values, scale, digits=2):
    """Median, and lowest to highest."""
    low, middle, high = (f"{scale * value:.{digits}f}" for value in (min(values), median(values), max(values)))
    return middle if low == high else f"{middle} ({low}–{high})"


def mebibytes(values):
    return f"{max(values) / MEBIBYTE:.1f}"


def names_of(results):
    return list(dict.fromkeys(what for case in results["speed"].values() for what in case))


def about(results):
    machine = results["machine"]
    build = machine["build"]
    loads = " to ".join(f"{machine[when][0]:.1f}" for when in ("load at start", "load at end") if when in machine)
    versions = [f"{name} {version}" for part in (build, machine) for name, version in part.items()
                if name in ("libzstd", "liblz4", "libdeflate", "liblzma", "root", "uproot", "numpy")]
    return [f"{machine['date']}, commit {build['commit']} ({build['buildtype']}); {machine['processors']} processors "
            f"({machine['processor']}), Linux {machine['kernel']}, load {loads}; {', '.join(versions)}; "
            f"rounds: {machine['rounds']}."]


def speed_tables(results):
    cases = results["speed"]
    if not cases:
        return []
    lines = heading("GB/s, median (lowest–highest)", *cases)
    for what in names_of(results):
        lines.append(row(what, *(spread(case[what], 1e-9) if what in case else "" for case in cases.values())))
    lines += heading("ratio", *cases)
    count = targets.threads_word(results["machine"]["threads"])
    for above, below in ((above.format(all=count), below.format(all=count)) for above, below in RATIOS):
        cells = [f"{median(case[above]) / median(case[below]):.2f}" if above in case and below in case else ""
                 for case in cases.values()]
        lines.append(row(f"{above} / {below}", *cells))
    used = [results["processors"][case].get("mount, whole") for case in cases]
    return [*lines, row("processors that the daemon used, mount, whole",
                        *(f"{median(values):.2f}" if values else "" for values in used))]


def opening_table(files, kind):
    if not files:
        return []
    lines = heading(f"ms, by {kind}", *(f"{file['count']:,}" for file in files.values()))
    for what, unit, tell in ([(what, "", lambda values: spread(values, 1e3)) for what in OPENING]
                             + [(what, ", MiB at most", mebibytes) for what in OCCUPIED]):
        cells = [tell(file[what]) if what in file else "" for file in files.values()]
        if any(cells):
            lines.append(row(what + unit, *cells))
    if kind == "pages":
        speeds = [[size / seconds for size, seconds in zip(file["bytes"], file["whole"])] for file in files.values()]
        lines.append(row("whole, GB/s", *(spread(values, 1e-9) for values in speeds)))
    return lines


def reader_tables(readers):
    if not readers:
        return []
    lines = heading("16 columns at once", "median (lowest–highest)")
    lines += [row("codec alone, all processors, GB/s", spread(readers["codec alone"], 1e-9)),
              row("readers together, GB/s", spread(readers["total"], 1e-9)),
              row("slowest reader / mean", spread(readers["slowest reader"], 1))]
    lines += heading("calls, ms", "number", "median", "99 of 100", "longest", "median, no readers", "99 of 100", "longest")
    for what, values in readers["calls"].items():
        cells = []
        if not values:  # none began while the readers read
            continue
        for series in (sorted(values), sorted(readers["calls without readers"][what])):
            cells += [f"{1e3 * value:.3f}" for value in (median(series), series[99 * len(series) // 100], series[-1])]
        lines.append(row(what, len(values), *cells))
    return lines


def memory_table(files):
    if not files:
        return []
    lines = heading("the daemon's memory, MiB", *files)
    for what in ("memory", "bound", "metadata", "largest page"):
        lines.append(row(what, *(mebibytes([file[what]]) for file in files.values())))
    return [*lines, row("pages", *(file["pages"] for file in files.values()))]


def random_table(files):
    if not files:
        return []
    lines = heading("1,000 random reads of 4 KiB", *files)
    for what in ("pages", "touched", "decoded", "decoded again"):
        lines.append(row(what, *(file[what] for file in files.values())))
    for what in ("seconds per read", "seconds per read again"):
        lines.append(row(what.replace("seconds", "µs"), *(f"{1e6 * file[what]:.0f}" for file in files.values())))
    return lines


def rows_table(rows):
    if not rows:
        return []
    lines = heading("a million rows as text", "seconds", "MB of memory")
    for what, values in rows.items():
        lines.append(row(what, f"{median(seconds for seconds, _ in values):.2f}",
                         f"{max(memory for _, memory in values) / 1e6:.0f}"))
    return lines


def markdown(results):
    lines = [*about(results), *speed_tables(results)]
    for kind in ("fields", "pages"):
        lines += opening_table(results[kind], kind)
    lines += [*reader_tables(results["readers"]), *memory_table(results["memory"]), *random_table(results["random"]),
              *rows_table(results["rows"]), "", *targets.table(results)]
    return "\n".join(lines) + "\n"


def svg(results):
    """Bars of the medians, one group per case."""
    if not results["speed"]:
        return ""
    shown = [name for name in names_of(results) if "again" not in name and "tmpfs" not in name and "mapped" not in name]
    highest = max(statistics.median(values) for case in results["speed"].values()
                  for name, values in case.items() if name in shown)
    left, width, row, lines, y = 230, 520, 15, [], 10
    for case, values in results["speed"].items():
        y += 24
        lines.append(f'<text x="10" y="{y}" font-weight="bold">{case}</text>')
        for name in (name for name in shown if name in values):
            y += row
            speed = statistics.median(values[name])
            color = "#2a78b5" if name.startswith(("mount", "library")) else "#9a9a9a"
            bar = width * speed / highest
            lines.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{name}</text>'
                         f'<rect x="{left}" y="{y - 10}" width="{bar:.1f}" height="11" fill="{color}"/>'
                         f'<text x="{left + bar + 6:.1f}" y="{y}">{speed / 1e9:.2f} GB/s</text>')
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 100} {y + 16}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')
