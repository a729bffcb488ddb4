# SPDX-License-Identifier: MIT
"""Results as tables and as a picture."""
from . import arrow, remote, scale, targets, ttree
from .comparison import OPENING, RANDOM, comparisons
from .rounds import FEWEST, median, names, ratios, series
from .tables import heading, mebibytes, row, spread, table

RATIOS = [("library, {all}", "codec alone, {all}"), ("library, 1 thread", "codec alone, 1 thread"),
          ("library, {all}", "ROOT bulk"), ("library, {all}", "uproot"),
          ("mount, whole", "codec alone, 1 thread"),
          ("mount, whole", "ROOT bulk"), ("mount, 1 MiB pieces", "ROOT bulk"), ("mount, whole", "uproot"),
          ("mount, whole again", "tmpfs, whole"), ("mount, mapped again", "tmpfs, mapped"),
          ("mount direct, whole", "mount, whole"), ("mount direct, whole", "codec alone, 1 thread"),
          ("mount direct, whole", "ROOT bulk")]
PEER_OPENING = ["ROOT, process", "ROOT, open"]
OCCUPIED = ["memory", "memory at last", "library, memory", "ROOT, memory"]


def prefixes_of(results):
    return ["", *(f"{build['label']}: " for build in results["machine"]["builds"][1:])]


def about(results):
    machine, builds = results["machine"], results["machine"]["builds"]
    loads = " to ".join(f"{machine[when][0]:.1f}" for when in ("load at start", "load at end")
                        if when in machine)

    def versions(part):
        return [f"{name} {version}" for name, version in part.items()
                if name in ("libzstd", "liblz4", "libdeflate", "liblzma", "root", "uproot", "numpy")]
    lines = [f"{machine['date']}; {machine['processors']} processors ({machine['processor']}), Linux "
             f"{machine['kernel']}, load {loads}; others kept {machine['processors of others']:.1f} "
             f"processors busy; scheduling group: {machine['scheduling group']}; "
             f"{', '.join(versions(machine))}; rounds: {machine['rounds']}. Medians, with the quartiles."]
    lines += ["",
              *(f"- {build['label']}: commit {build['commit']} ({build['buildtype']}), "
                f"{', '.join(versions(build))}"
                    for build in builds)]
    if machine["rounds"] < FEWEST:
        lines += ["", f"Fewer than {FEWEST} rounds decide nothing."]
    return lines


def speed_tables(results, prefixes):
    cases = results["speed"]
    if not cases:
        return []
    every_round = [found for rounds in cases.values() for found in rounds]
    lines = table("GB/s", cases, [(what, "", lambda values: spread(values, 1e-9))
                                  for what in in_order(every_round, prefixes)])
    lines += heading("ratio of each round", *cases)
    count = targets.threads_word(results["machine"]["threads"])
    for above, below in ((above.format(all=count), below.format(all=count)) for above, below in RATIOS):
        cells = [spread(ratios(rounds, above, below)) for rounds in cases.values()]
        if any(cells):
            lines.append(row(f"{above} / {below}", *cells))
    used = [spread(series(rounds, "mount, whole")) for rounds in results["processors"].values()]
    return [*lines, row("processors that the daemon used, mount, whole", *used)]


def in_order(rounds, prefixes):
    """The measured values: those of the first build, then those of the others."""
    found = names(rounds)
    return list(dict.fromkeys(prefix + what for what in found for prefix in prefixes if prefix
                              + what in found))


def opening_table(files, kind, prefixes):
    if not files:
        return []
    rounds = {f"{file['count']:,}": file["rounds"] for file in files.values()}
    rows = [(prefix + what, unit, describe)
            for of, unit, describe in ((OPENING + PEER_OPENING, "", lambda values: spread(values, 1e3)),
                                   (["whole, bytes a second"], " / 10⁹", lambda values: spread(values, 1e-9)),
                                   (OCCUPIED, ", MiB at most", mebibytes))
            for what in of for prefix in prefixes]
    return table(f"ms, by {kind}", rounds, rows)


def reader_tables(rounds, prefixes):
    if not rounds:
        return []
    lines = heading("16 columns at once", "")
    for what, unit, scale in (("codec alone", ", all processors, GB/s", 1e-9),
                              ("readers together", ", GB/s", 1e-9),
                              ("slowest reader / mean", "", 1)):
        lines += [row(prefix + what + unit, spread(series(rounds, prefix + what), scale))
                  for prefix in prefixes]
    lines += heading("calls, ms", "number", "median", "99 of 100", "longest", "median, no readers",
                     "99 of 100", "longest")
    for prefix in prefixes:
        without = targets.calls_of(rounds, prefix, "calls without readers")
        for what, of_rounds in targets.calls_of(rounds, prefix).items():
            cells = [spread([choose(seconds) for seconds in series], 1e3, 3)
                     for series in (of_rounds, without[what])
                     for choose in (median, targets.hundredth, max)]
            lines.append(row(prefix + what, sum(map(len, of_rounds)), *cells))
    return lines


def memory_table(files, prefixes):
    if not files:
        return []
    lines = heading("the daemon's memory, MiB", *files)
    for what in [*(f"{prefix}memory" for prefix in prefixes), "bound", "metadata", "largest page"]:
        lines.append(row(what, *(mebibytes([file[what]]) for file in files.values())))
    return [*lines, row("pages", *(file["pages"] for file in files.values()))]


def random_table(files, prefixes):
    if not files:
        return []
    lines = heading("1,000 random reads of 4 KiB", *files)
    for what in ("pages", "touched"):
        lines.append(row(what, *(file[what] for file in files.values())))
    rows = [(prefix + what, "", lambda values: f"{max(values, default=0)}")
            for what in ("decoded", "decoded again")
            for prefix in prefixes]
    rows += [(prefix + what, ", in µs", lambda values: spread(values, 1e6, 1)) for what in RANDOM
             for prefix in prefixes]
    return lines + table("", {name: file["rounds"] for name, file in files.items()}, rows)[3:]


def rows_table(rounds, prefixes):
    if not rounds:
        return []
    lines = heading("a million rows as text", "seconds", "MB of memory")
    for what in in_order(rounds, prefixes):
        values = series(rounds, what)
        lines.append(row(what, spread([seconds for seconds, _ in values]),
                         f"{max(memory for _, memory in values) / 1e6:.0f}"))
    return lines


def arrow_tables(cases, prefixes):
    if not cases:
        return []
    measured = measured_in(cases, prefixes)
    seconds = [what for what in measured if arrow.SECONDS in what]
    return (table("3 of 60 columns through table.arrow, pages decoded", cases,
                  [(what, "", spread) for what in measured if what not in seconds]) +
            table("the same, ms", cases, [(what, "", lambda values: spread(values, 1e3))
                                           for what in seconds]))


def chains_table(cases, prefixes):
    if not cases:
        return []
    every_round = [found for rounds in cases.values() for found in rounds]
    measured = in_order(every_round, prefixes)
    return table("first read of a column, ms", cases,
                 [(what, "", (lambda values: f"{max(values)}") if what.endswith(": pages")
                   else lambda values: spread(values, 1e3))
                  for what in measured])


def scale_tables(cases, prefixes):
    lines = []
    for name, rounds in cases.items():
        measured = measured_in({name: rounds}, prefixes)
        memory = [what for what in measured if scale.MEMORY in what]
        requests = [what for what in measured if scale.REQUESTS in what]
        lines += table(name, {"measured": rounds}, [
            (what, " (MiB)", mebibytes) if what in memory else (what, "", spread) if what in requests
            else (what, " (ms)", lambda values: spread(values, 1e3, 0)) for what in measured])
    return lines


def remote_tables(cases, prefixes):
    """Times and counts for each line."""
    if not cases:
        return []
    measured = in_order([found for rounds in cases.values() for found in rounds], prefixes)
    counted = [what for what in measured if any(word in what
                                                for word in (remote.REQUESTS, remote.BEYOND, remote.RATE))]
    return (table("a file on a server, ms", cases, [(what, "", lambda values: spread(values, 1e3, 0))
                                                    for what in measured
                                                    if what not in counted and remote.MEMORY not in what]) +
            table("the same", cases, [(what, "", spread) for what in counted]) +
            table("occupied, MiB", cases, [(what, "", mebibytes) for what in measured
                                           if remote.MEMORY in what]))


def python_table(cases, prefixes):
    if not cases:
        return []
    every_round = [found for rounds in cases.values() for found in rounds]
    return table("Python, GB/s", cases, [(what, "", lambda values: spread(values, 1e-9))
                                         for what in in_order(every_round, prefixes)])


def lance_tables(found, prefixes):
    """Whole columns, random reads, opening."""
    whole = found.get("whole", {})
    lines = []
    if whole:
        every_round = [one for rounds in whole.values() for one in rounds]
        lines += table("Lance, GB/s", whole, [(what, "", lambda values: spread(values, 1e-9))
                                              for what in in_order(every_round, prefixes)])
        for above in ("library", "mount, numpy.fromfile"):
            lines.append(row(f"{above} / pylance", *(spread(ratios(rounds, above, "pylance"))
                                                     for rounds in whole.values())))
    reads = {f"Lance {version}": file for version, file in found.get("random", {}).items()}
    lines += random_table(reads, prefixes)
    if reads:
        take = "pylance, take_rows of as many rows"
        lines.append(row(f"{take}, in µs", *(spread(series(file["rounds"], take), 1e6, 1)
                                             for file in reads.values())))
    files = found.get("open", {})
    return lines + (table("Lance, ms", {name: file["rounds"] for name, file in files.items()},
                          [(what, "", lambda values: spread(values, 1e3))
                           for what in in_order([one for file in files.values() for one in file["rounds"]],
                                                prefixes)])
                    if files else [])


def ttree_tables(found, prefixes):
    """Whole columns, a column through the mount, opening, a column of a file on a server."""
    lines = []
    for part, title in (("whole", "TTree, all branches of a shape, GB/s"),
                        ("column", "TTree, one branch, GB/s")):
        cases = {name: targets.with_fastest_root(rounds) for name, rounds in found.get(part, {}).items()}
        if cases:
            lines += table(title, cases, [(what, "", lambda values: spread(values, 1e-9))
                                          for what in measured_in(cases, prefixes)])
            above = ttree.LIBRARY if part == "whole" else ttree.MOUNT
            lines += [row(f"{above} / {below}", *cells)
                      for below in (ttree.CODEC, targets.FASTEST_ROOT + ttree.IN_NEW_PROCESS,
                                    targets.FASTEST_ROOT, ttree.UPROOT)
                      for cells in [[spread(ratios(rounds, above, below)) for rounds in cases.values()]]
                      if any(cells)]
    for part, title in (("open", "TTree, 1,000 branches, from opening to the first value, ms"),
                        ("remote", f"TTree, a branch by http, line of {ttree.ROUND_TRIP} ms, ms")):
        cases = {name: rounds for name, rounds in found.get(part, {}).items() if rounds}
        if cases:
            lines += table(title, cases, [(what, "", lambda values: spread(values, 1e3))
                                          for what in measured_in(cases, prefixes)])
    return lines


def measured_in(cases, prefixes):
    return in_order([found for rounds in cases.values() for found in rounds], prefixes)


def markdown(results):
    prefixes = prefixes_of(results)
    lines = [*about(results), *speed_tables(results, prefixes)]
    for kind in ("fields", "pages"):
        lines += opening_table(results[kind], kind, prefixes)
    lines += [*reader_tables(results["readers"], prefixes), *memory_table(results["memory"], prefixes),
              *random_table(results["random"], prefixes), *rows_table(results["rows"], prefixes),
              *arrow_tables(results["arrow"], prefixes),
              *chains_table(results["chains"], prefixes), *scale_tables(results["scale"], prefixes),
              *python_table(results["python"], prefixes),
              *remote_tables(results["remote"], prefixes),
              *lance_tables(results["lance"], prefixes), *ttree_tables(results["ttree"], prefixes),
              *comparisons(results), "",
              *targets.table(results)]
    return "\n".join(lines) + "\n"


def svg(results):
    """Bars of the medians, one group per case."""
    if not results["speed"]:
        return ""
    medians = {case: {what: median(series(rounds, what)) for what in names(rounds)
                      if not any(word in what for word in ("again", "tmpfs", "mapped"))}
               for case, rounds in results["speed"].items()}
    highest = max(speed for found in medians.values() for speed in found.values())
    left, width, height, lines, y = 230, 520, 15, [], 10
    for case, found in medians.items():
        y += 24
        lines.append(f'<text x="10" y="{y}" font-weight="bold">{case}</text>')
        for name in in_order([found], prefixes_of(results)):
            y += height
            color = "#2a78b5" if "mount" in name or "library" in name else "#9a9a9a"
            bar = width * found[name] / highest
            lines.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{name}</text>'
                         f'<rect x="{left}" y="{y - 10}" width="{bar:.1f}" height="11" fill="{color}"/>'
                         f'<text x="{left + bar + 6:.1f}" y="{y}">{found[name] / 1e9:.2f} GB/s</text>')
    body = "\n".join(lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 100} {y + 16}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>'
            f'\n{body}\n</svg>\n')
